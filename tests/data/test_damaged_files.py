"""A damaged file costs one sentence, and runs nothing.

UFSELECT_FUZZ=50 damages fifty times as many files, others in every run.
"""

import os
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from seeds.file_seeds import SEEDS, SPARSE, VALUES, damaged, damaged_inside

from ufselect import MaxVariance, load_selector, save_selector
from ufselect.data import TableError, read_labelled, read_table
from ufselect.data.tables.isolation import EndedError, isolated
from ufselect.experiments.plan import plan_path, read_plan
from ufselect.models import ModelError

pytestmark = pytest.mark.slow
WRITERS = {
    ".h5ad": "h5py",
    ".mat": "h5py",
    ".parquet": "pyarrow",
    ".feather": "pyarrow",
}
WRITERS |= {".xlsx": "openpyxl"}

MORE = int(os.environ.get("UFSELECT_FUZZ", "1"))
KEPT = sorted(Path(__file__).parents[1].glob("seeds/[!_]*/*"))
MAX_SENTENCE, MAX_SECONDS, MAX_BYTES = 2000, 25, 2 << 30
# What nothing that is read may bring about.
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "subprocess.", "socket.connect")


def read_whole(path):
    """Read a table as the commands do, and see that it fits together."""
    table = read_table(path, isolate=True)
    values = table.values.data if sp.issparse(table.values) else table.values
    float(np.sum(np.asarray(values), where=np.isfinite(values)))
    for names, length in zip(
        (table.sample_names, table.feature_names), table.shape, strict=True
    ):
        assert names is None or len(names) == length


def write_labelled(path):
    scipy.io.savemat(path, {"X": SPARSE, "Y": np.arange(len(VALUES)) % 2})


def write_selector(path):
    save_selector(MaxVariance(2).fit(VALUES), path)


def read_selector(path):
    load_selector(path).transform(VALUES)


def write_plan(path):
    path.write_text(plan_path("quick").read_text("utf-8"), "utf-8")


KINDS = {
    **{name: (write, read_whole, TableError) for name, write in SEEDS.items()},
    "labelled.mat": (write_labelled, read_labelled, ValueError),
    "fitted.selector": (write_selector, read_selector, ModelError),
    "plan.toml": (write_plan, read_plan, ValueError),
}


def watch(event, arguments):
    if event.startswith(FORBIDDEN):
        raise SystemExit(f"{event} was called")


def judged(read, path, refusal):
    """Return what is wrong with how a file is read, if anything is."""
    sys.addaudithook(watch)
    try:
        read(path)
    except refusal as error:
        said = str(error)
        if len(said) > MAX_SENTENCE or "\n" in said:
            return f"not one sentence: {said[:300]}"
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is a fault
        return f"{type(error).__name__}: {error}"[:300]
    return None


@pytest.mark.skipif(sys.platform != "linux", reason="it needs limits of Linux")
@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_is_refused_in_one_sentence_or_read(tmp_path, name):
    pytest.importorskip(WRITERS.get(Path(name).suffix, "numpy"))
    write, read, refusal = KINDS[name]
    write(tmp_path / name)
    read(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    random = np.random.default_rng(list(KINDS).index(name) if MORE == 1 else None)
    faults = {}
    for number in range(15 * MORE):
        path = tmp_path / str(number) / name
        path.parent.mkdir()
        path.write_bytes((damaged, damaged_inside)[number % 2](content, random))
        limits = {"seconds": MAX_SECONDS, "memory": MAX_BYTES}
        try:
            fault = isolated(partial(judged, read, path, refusal), **limits)
        except EndedError as error:
            fault = str(error)
        if fault:
            faults[path] = fault

    assert faults == {}


@pytest.mark.skipif(sys.platform != "linux", reason="it needs limits of Linux")
@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_a_file_that_once_found_a_fault_is_refused_in_one_sentence_or_read(
    tmp_path, path
):
    ending = {"detection": ".h5ad", "matlab": ".mat"}[path.parent.name]
    file = tmp_path / f"a{ending}"
    content = path.read_bytes()
    # The first byte of these chose the end of the name.
    file.write_bytes(content[1:] if path.parent.name == "detection" else content)
    limits = {"seconds": MAX_SECONDS, "memory": MAX_BYTES}

    assert isolated(partial(judged, read_whole, file, TableError), **limits) is None

"""A command that is killed, or has no space, leaves the old file or the new one.

Experiments that are killed are in ``tests/experiments``.
"""

import os
import resource
import signal
import subprocess
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
from real_command import COMMAND, run

pytestmark = pytest.mark.slow

OLD = b"what was here before\n"
SELECT = ("select", "t.csv", "--method=MaxVariance", "--features=3")
OUTPUTS = [f"--output=out.{end}" for end in ("csv", "npy", "parquet", "xlsx")]
OUTPUTS += ["--scores=out.csv", "--report=out.html"]


@pytest.fixture
def folder(tmp_path):
    values = np.random.default_rng(0).normal(size=(200, 50))
    names = [f"gene {place}" for place in range(50)]
    pd.DataFrame(values, columns=names).to_csv(tmp_path / "t.csv")
    return tmp_path


def started(folder, arguments, **options):
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **options,
    )


def test_a_selection_that_is_killed_leaves_the_old_file_or_the_new_one(folder):
    output = folder / "out.csv"
    start = time.monotonic()
    assert run([*SELECT, "--output=out.csv"], folder=folder).code == 0
    taken = time.monotonic() - start
    new, codes = output.read_bytes(), set()
    # Most often at the end, where the file is written.
    for share in (0.3, 0.6, 0.8, 0.9, 0.95, 1.0):
        output.write_bytes(OLD)
        process = started(folder, [*SELECT, "--output=out.csv"])
        time.sleep(share * taken)
        process.kill()
        codes.add(process.wait())

        assert output.read_bytes() in (OLD, new)
    assert -signal.SIGKILL in codes


def test_of_standard_input_nothing_stays_when_the_command_is_terminated(folder):
    spool = folder / "spool"
    spool.mkdir()
    process = started(
        folder,
        ["select", "-", "--no-files"],
        stdin=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(spool)},
    )
    process.stdin.write(b"a,b\n" * 10_000)
    process.stdin.flush()
    time.sleep(2)
    process.terminate()
    process.communicate()

    assert sum(path.stat().st_size for path in spool.rglob("*") if path.is_file()) == 0


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("there", ["an old file", "no file"])
def test_without_space_the_old_file_stays_and_one_sentence_says_why(
    folder, output, there
):
    target = folder / output.partition("=")[2]
    if there == "an old file":
        target.write_bytes(OLD)
    before = {path.name for path in folder.iterdir()}
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (500, 500))
    done = subprocess.run(
        [*COMMAND, *SELECT, output],
        cwd=folder,
        capture_output=True,
        text=True,
        preexec_fn=limit,
    )
    last = done.stderr.splitlines()[-1]

    assert done.returncode == 1
    assert last.startswith("ufselect: ")
    assert "Traceback" not in done.stderr
    assert {path.name for path in folder.iterdir()} == before
    assert there == "no file" or target.read_bytes() == OLD

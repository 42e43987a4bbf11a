"""Does every selector class return a ranking or a clear error for any object as X?

Each unusual input, an expression in ``odd_inputs.txt``, is given to each class, in a
process with limits of 25 seconds and 2 GB. "Answered" means a finite ranking; if the
input is another representation of a plain table, it must be the ranking of that table.
"Refused" means a ValueError or TypeError with a message of one line. Inputs that are no
table, or have missing values, must be refused.

    python -m studies odd_inputs
"""

import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import anndata
import dask.array as da
import h5py
import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

from studies.findings import Outcome
from studies.reliability.fuzzed_matrices import made
from studies.reliability.watched import Trial, counted, verdicts
from studies.settings import Settings
from ufselect import AutoSelect, Consensus, StabilitySelection, all_selectors

DURATION = "10 minutes"
SECONDS = 25
CLASSES = {
    **all_selectors(),
    **{each.__name__: each for each in (AutoSelect, Consensus, StabilitySelection)},
}
random = np.random.default_rng(0)
T = random.normal(size=(12, 5)).round(2)
T[:6, :3] += 4
COUNTS = np.abs(T * 10).astype(int)
WITH_GAPS = np.where(np.eye(12, 5) > 0, np.nan, T)
THIN = np.where(np.abs(T) > 0.8, T, 0.0)
NAMES = list("abcde")
FRAME = pd.DataFrame(T, columns=NAMES)
DATES = np.datetime64("2020-01-01") + COUNTS
# How far scores may be apart, as a share of their range.
CLOSE, CLOSE_IN_SINGLE = 1e-6, 0.05


class Odd(NamedTuple):
    """An expression that makes an input, and what the input means."""

    family: str
    expression: str
    # The plain table that it is, or how it must end, or that it may end in either way.
    means: Any
    # Whether methods that need X in memory may refuse it.
    lazy: bool

    def make(self) -> Any:
        """Return the input."""
        others = {name: import_module(MODULES[name]) for name in MODULES}
        return eval(self.expression, {**globals(), **others})


class Plain(np.ndarray):
    """An array by another name."""


class Lying(np.ndarray):
    """An array that says it has more rows."""

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return (10**6, 5)


class Failing:
    """What fails when it is asked for its numbers."""

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise RuntimeError("no numbers today")


class Giving:
    """What gives something else for an array."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        return self.given


class Endless:
    """A sequence without end."""

    def __len__(self) -> int:
        return sys.maxsize

    def __getitem__(self, place: int) -> list[float]:
        return [1.0, 2.0]


def circle() -> list[Any]:
    """Return a list that holds itself."""
    found: list[Any] = []
    found.append(found)
    return found


def deep() -> Any:
    """Return lists in lists, a thousand deep."""
    found: Any = [1.0]
    for _ in range(1000):
        found = [found]
    return found


def mapped(kind: Any = "f8", mode: str = "r", values: Any = T) -> Any:
    """Return an array of a file that has no name any more."""
    with tempfile.NamedTemporaryFile() as file:
        np.memmap(file.name, kind, "w+", shape=values.shape)[:] = values
        return np.memmap(file.name, kind, mode, shape=values.shape)


def unaligned() -> Any:
    """Return numbers that begin at an odd byte."""
    raw = np.zeros(T.nbytes + 1, np.uint8)
    view = np.ndarray(T.shape, "f8", raw.data, 1)
    view[:] = T
    return view


def unsorted() -> Any:
    """Return a sparse matrix whose columns are in backward order within rows."""
    order = np.lexsort((-sp.coo_array(THIN).col, sp.coo_array(THIN).row))
    X, stored = sp.csr_array(THIN), sp.coo_array(THIN)
    return sp.csr_array((stored.data[order], stored.col[order], X.indptr), (12, 5))


def twice() -> Any:
    """Return a sparse matrix that holds a half of each value twice."""
    stored = sp.coo_array(THIN)
    row, col = np.tile(stored.row, 2), np.tile(stored.col, 2)
    return sp.coo_array((np.tile(stored.data / 2, 2), (row, col)), (12, 5))


def blocks(change: Callable[[Any], Any], chunks: Any = (4, 5), kind: Any = "f8") -> Any:
    """Return a Dask array whose blocks are not what it says of them."""
    return da.from_array(T, chunks=chunks).map_blocks(change, dtype=kind, meta=T[:0])


def fail(block: Any) -> Any:
    """Fail as a block of a file does that is gone."""
    raise RuntimeError("the disk is gone")


def in_hdf5(values: Any, close: bool = False) -> Any:
    """Return a data set of an HDF5 file in memory."""
    file = h5py.File("x", "w", driver="core", backing_store=False)
    found = file.create_dataset("X", data=values)
    if close:
        file.close()
    return found


def backed(close: bool = False) -> Any:
    """Return AnnData whose matrix stays in its file."""
    path = Path(tempfile.mkdtemp(), "a.h5ad")
    anndata.AnnData(T).write_h5ad(path)
    found = anndata.read_h5ad(path, backed="r")
    if close:
        found.file.close()
    return found


def damaged(form: str, part: str, place: Any = None, value: Any = None) -> Any:
    """Return a sparse matrix one part of which is cut, of another type, or changed."""
    X = sp.csr_array(THIN).asformat(form)
    array = getattr(X, part).copy()
    if place is None:
        array = array[: len(array) // 2]
    elif value is None:
        array = array.astype(place)
    else:
        array[place] = value
    setattr(X, part, array)
    return X


def with_key(key: tuple[int, int]) -> Any:
    """Return a matrix of keys, one of which is outside."""
    X = sp.dok_array(THIN)
    X._dict[key] = 1.0
    return X


def first(cell: Any) -> Any:
    """Return an array of objects, the first of which is another one."""
    X = T.astype(object)
    X[0, 0] = cell
    return X


def last(values: Any, kind: Any = None) -> Any:
    """Return a frame whose last column is another one."""
    return FRAME.assign(e=pd.Series(values, dtype=kind))


def polar(**columns: Any) -> Any:
    """Return a frame of polars with other columns."""
    return pl.from_pandas(FRAME).with_columns(**columns)


NO, EITHER = "refused", "either"
DAYS = pd.date_range("2020", periods=12)
ROWS = T.tolist()
MODULES = {name: name for name in ("array", "collections", "datetime", "decimal", "io")}
MODULES |= {name: name for name in ("fractions", "pathlib", "types", "zarr")}
MODULES |= {"arrow": "pyarrow", "mock": "unittest.mock"}


def scores_of(name: str, X: Any) -> Any:
    """Return the scores of a class fitted to X."""
    # Half of the samples would be neighbours of each other, and all scores would tie.
    selector = made(CLASSES[name], fraction=0.9).fit(X)
    scores, order = np.asarray(selector.scores_), np.asarray(selector.order_)
    assert np.isfinite(scores).all(), "scores are not finite"
    assert sorted(order) == list(range(len(scores))), "the order is none"
    return scores


def fit(name: str, odd: Odd, expected: Any) -> None:
    """Fit a class to an input and hold its scores against those that are expected."""
    X = odd.make()
    if odd.lazy and not CLASSES[name].READS_OUT_OF_CORE:
        expected = None
    try:
        scores = scores_of(name, X)
    except (ValueError, TypeError) as error:
        if isinstance(expected, np.ndarray):
            raise AssertionError(f"it is refused: {error}") from None
        raise
    assert expected is not NO, "it is ranked, and must be refused"
    if isinstance(expected, np.ndarray):
        assert scores.shape == expected.shape, f"{len(scores)} scores"
        share = np.abs(scores - expected).max() / (np.ptp(expected) or 1.0)
        single = getattr(odd.means, "dtype", None) == np.float32
        assert share <= (CLOSE_IN_SINGLE if single else CLOSE), f"{share:.1g} apart"


def read_inputs() -> list[Odd]:
    """Return the expressions of ``odd_inputs.txt``, one for each line."""
    found, family, means, lazy = [], "", None, False
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines():
        if heading := re.fullmatch(r"\[([a-z ]+)\] (.+?)( LAZY)?", line):
            family, lazy = heading[1], bool(heading[3])
            means = eval(heading[2], globals())
        elif line and not line.startswith("#"):
            found.append(Odd(family, line, means, lazy))
    return found


INPUTS = read_inputs()


def trials(names: Any, inputs: list[Odd]) -> Iterator[Trial]:
    """Yield a trial for each input and class."""
    known: dict[Any, Any] = {}
    for odd in inputs:
        for name in names:
            expected = odd.means
            if isinstance(expected, np.ndarray):
                key = id(expected), name
                if key not in known:
                    known[key] = scores_of(name, expected)
                expected = known[key]
            work = partial(fit, name, odd, expected)
            title = f"{name}().fit({odd.expression})"
            yield Trial(title, work, (ValueError, TypeError), SECONDS)


def measure(settings: Settings) -> Iterator[Outcome]:
    """Yield one outcome for every family of inputs."""
    names = ["SCFS", "MCFS", "AutoSelect"] if settings.quick else list(CLASSES)
    for family in dict.fromkeys(odd.family for odd in INPUTS):
        some = [odd for odd in INPUTS if odd.family == family]
        tried = list(verdicts(list(trials(names, some)), foreign=False))
        for trial, kind, said in tried:
            if kind not in ("answered", "refused"):
                print(f"  {kind}: {trial.what}: {' '.join(said.split())[:200]}")
        yield counted(f"{family}: {len(some)} inputs", tried)

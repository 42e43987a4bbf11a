"""Is anything much slower than it was?

A few small ratios to computations that do not depend on ufselect, by processor time
with one thread, so that a busy machine does not matter. Each may be at most ``MARGIN``
times the value in guard.toml, which was measured when that file was written.

    python -m studies guard --check
"""

import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_limits

from studies.findings import Row, compared
from studies.measuring import Timed, interleaved
from studies.settings import Settings
from studies.speed.protocol_speed import plain_scores
from ufselect import MCFS, SCFS
from ufselect.data import planted, read_table
from ufselect.evaluation import judge_by_k_means

DURATION = "half a minute"
BOUNDS = Path(__file__).with_suffix(".toml")
MARGIN = 2.5


class Pair(NamedTuple):
    """Ours and what it is held against."""

    ours: Timed
    against: str
    theirs: Timed


def wide_fit(folder: Path) -> Pair:
    """SCFS of many columns, by the Gram matrix of the samples."""
    X = planted(n_samples=300, n_useful=100, n_noise=1900).table
    return Pair(
        lambda seed: SCFS(n_clusters=3, random_state=seed).fit(X),
        "KMeans(3, n_init=10)",
        lambda seed: KMeans(3, n_init=10, random_state=seed).fit(X),
    )


def tall_fit(folder: Path) -> Pair:
    """SCFS of many rows, by the Gram matrix of the features."""
    X = planted(n_samples=20_000, n_useful=10, n_noise=90).table
    return Pair(
        lambda seed: SCFS(n_clusters=3, random_state=seed).fit(X),
        "ten products X.T @ X",
        lambda _: [X.T @ X for _ in range(10)],
    )


def judging(folder: Path) -> Pair:
    """The judge of a selection, seed by seed in the other."""
    data = planted(n_samples=300, n_useful=40, n_noise=60)
    seeds = range(8)

    def loop(_: int) -> None:
        for seed in seeds:
            model = KMeans(3, n_init=10, random_state=seed).fit(data.table)
            plain_scores(data.classes, model.labels_)

    return Pair(
        lambda _: judge_by_k_means(data.table, data.classes, seeds=seeds),
        "a loop over scikit-learn",
        loop,
    )


def reading(folder: Path) -> Pair:
    """A table of text."""
    path = folder / "table.csv"
    values = np.random.default_rng(0).standard_normal((200, 1000))
    names = ",".join(f"g{place}" for place in range(values.shape[1]))
    np.savetxt(path, values, delimiter=",", header=names, comments="")
    return Pair(
        lambda _: read_table(path),
        "numpy.loadtxt",
        lambda _: np.loadtxt(path, delimiter=",", skiprows=1),
    )


def graph_method(folder: Path) -> Pair:
    """MCFS: neighbours, eigenvectors, least angles."""
    X = planted(n_samples=1000, n_useful=20, n_noise=180).table
    return Pair(
        lambda _: MCFS(20, n_clusters=3).fit(X),
        "kneighbors_graph",
        lambda _: kneighbors_graph(X, 5),
    )


COMPARISONS: dict[str, Callable[[Path], Pair]] = {
    "SCFS of a wide table": wide_fit,
    "SCFS of a tall table": tall_fit,
    "judging a selection": judging,
    "reading a CSV": reading,
    "MCFS": graph_method,
}


def read_bounds(path: Path = BOUNDS) -> dict[str, float]:
    """Return the ratios that were usual."""
    bounds: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    return bounds["bounds"]


def guarded(
    comparisons: Mapping[str, Callable[[Path], Pair]],
    bounds: Mapping[str, float],
    repeats: int,
) -> Iterator[Row]:
    """Yield every ratio with the most that it may be."""
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for what, prepare in comparisons.items():
            pair = prepare(Path(folder))
            functions = {"ours": pair.ours, "theirs": pair.theirs}
            found = interleaved(functions, repeats)
            yield compared(
                what,
                found["ours"],
                pair.against,
                found["theirs"],
                target=MARGIN * bounds[what],
                judged_by="processor",
                note=f"usually {bounds[what]:g}",
            )


def measure(settings: Settings) -> Iterator[Row]:
    """Yield a row for every comparison."""
    yield from guarded(COMPARISONS, read_bounds(), settings.repetitions(5))

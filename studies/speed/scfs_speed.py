"""How does the time of SCFS grow with columns and with rows, next to k-means?

``SCFS().fit`` with default settings on standard normal data, compared with
``KMeans(n_clusters=8, n_init=10)`` on the same matrix. The note has the exponents of
growth, from the first shape and from the one before; 1 is linear.

    python -m studies scfs_speed
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from sklearn.cluster import KMeans

from studies.findings import Row, compared
from studies.measuring import interleaved, limit, scfs_operations
from studies.settings import Settings
from ufselect import SCFS

DURATION = "4 minutes"
SHAPES = {
    "p": [(100, 1_000), (100, 5_000), (100, 20_000)],
    "n": [(1_000, 100), (10_000, 100), (20_000, 100), (100_000, 100)],
}
# As SCFS takes by default.
CLUSTERS = 8


def row_of(shape: tuple[int, int], repeats: int) -> Row:
    """Return the times of either on standard normal data."""
    iterations: list[int] = []
    X = np.random.default_rng(0).standard_normal(shape)

    def fit(seed: int) -> None:
        iterations.append(SCFS(n_clusters=CLUSTERS, random_state=seed).fit(X).n_iter_)

    def cluster(seed: int) -> None:
        KMeans(CLUSTERS, n_init=10, random_state=seed).fit(X)

    found = interleaved({"SCFS": fit, "KMeans": cluster}, repeats, warm_up=False)
    return compared(
        f"{shape[0]} x {shape[1]}",
        found["SCFS"],
        f"KMeans({CLUSTERS}, n_init=10)",
        found["KMeans"],
        limit=limit(scfs_operations(X, CLUSTERS, int(np.median(iterations)))),
    )


def exponent(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the growth from one (length, seconds) to another."""
    return float(np.log(after[1] / before[1]) / np.log(after[0] / before[0]))


def measure(settings: Settings) -> Iterator[Row]:
    """Yield a row for every shape."""
    SCFS().fit(np.random.default_rng(0).standard_normal((50, 60)))
    for side, shapes in SHAPES.items():
        place = {"n": 0, "p": 1}[side]
        points: list[tuple[float, float]] = []
        for shape in shapes[:-1] if settings.quick else shapes:
            row = row_of(shape, settings.repetitions(3))
            assert row.ours is not None
            points.append((shape[place], row.ours.median))
            yield with_growth(row, side, points)


def with_growth(row: Row, side: str, points: Sequence[Sequence[float]]) -> Row:
    """Return the row with the exponents of growth as its note."""
    if len(points) == 1:
        return row
    first = exponent(points[0], points[-1])
    last = exponent(points[-2], points[-1])
    note = f"exponent in {side} {first:.2f}, of the last step {last:.2f}"
    return replace(row, note=note)

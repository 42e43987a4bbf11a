"""How long does a fit of SCFS with a given number of clusters take, in k-means runs?

``SCFS(n_clusters=c).fit`` with other parameters at their defaults, including its start,
compared with ``KMeans(n_clusters=c, n_init=10)`` on the same matrix; c is the number of
classes. The limit is the time of the products that every exact solver needs, at the
BLAS speed measured just before: the smaller Gram matrix (half of it, by symmetry), and
in every iteration one product of X X' with an n x c matrix. The table of noise is
sparse, with 2 % ones: there beta="auto" is lowered, and no feature is found.

    python -m studies scfs_against_k_means
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from studies.findings import Row, compared
from studies.measuring import interleaved, limit, scfs_operations
from studies.settings import Settings, find_set
from ufselect import SCFS
from ufselect.data import read_labelled

DURATION = "5 minutes"
SETS = ("Isolet", "COIL20", "ORL", "Prostate-GE", "lymphoma", "BASEHOCK")
NOISE_SHAPE, NOISE_DENSITY, NOISE_CLUSTERS = (20_000, 5_000), 0.02, 8
TARGET, NOISE_TARGET = 1.8, 3.0


def measure(settings: Settings) -> Iterator[Row]:
    """Yield a row for every data set."""
    for name in settings.names_of_sets(SETS, quick=("ORL", "lymphoma")):
        data = read_labelled(find_set(name))
        yield row_of(name, data.table, len(np.unique(data.classes)), settings)
    if settings.sets is None and not settings.quick:
        random = np.random.RandomState(settings.seed)
        noise = sp.random(*NOISE_SHAPE, NOISE_DENSITY, "csr", random_state=random)
        noise.data[:] = 1.0
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "SCFS finds no")
            yield row_of("noise", noise, NOISE_CLUSTERS, settings, NOISE_TARGET)


def row_of(
    name: str, X: Any, c: int, settings: Settings, target: float = TARGET
) -> Row:
    """Return both times on one data set, and the limit."""
    iterations: list[int] = []

    def fit(seed: int) -> None:
        iterations.append(SCFS(n_clusters=c, random_state=seed).fit(X).n_iter_)

    def cluster(seed: int) -> None:
        KMeans(c, n_init=10, random_state=seed).fit(X)

    functions = {"SCFS": fit, "KMeans": cluster}
    found = interleaved(functions, settings.repetitions(7))
    usual = int(np.median(iterations))
    return compared(
        f"{name}, {X.shape[0]} x {X.shape[1]}, c = {c}",
        found["SCFS"],
        f"KMeans({c}, n_init=10)",
        found["KMeans"],
        target=target,
        limit=limit(scfs_operations(X, c, usual)),
        note=f"{usual} iterations",
    )

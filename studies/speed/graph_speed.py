"""How does the time of methods with a neighbour graph grow with the number of samples?

LaplacianScore, MCFS, SPEC (phi=3), NDFS, GraphEnergy and AutoSelect on 5,000 and on
200,000 samples of 100 columns; the target is an exponent of 1.2 of the processor time.
There are two tables: ``factors``, where all columns depend on ten factors, as in most
measurements, and ``clusters``, with eight clusters of independent noise in all columns,
within which a search cannot skip many samples. The note has the exponent, and the
recall of nearest neighbours in the graph, from all distances of 1,000 samples. The last
row is LaplacianScore on a million samples, compared with 200,000.

Before that, LaplacianScore on 20,000 x 200, and on sparse counts of 50,000 x 20,000 in
ten clusters, is compared with scikit-learn's ``kneighbors_graph`` alone, and the search
with an exact one: on the two tables, and on noise without structure, the worst case.

    python -m studies graph_speed [--quick] [--sets factors,clusters]
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from studies.findings import Row, compared
from studies.measuring import interleaved, timed
from studies.settings import Settings
from ufselect import MCFS, NDFS, SPEC, AutoSelect, GraphEnergy, LaplacianScore
from ufselect.solvers.neighbours import nearest_neighbours, neighbour_recall

DURATION = "10 minutes"
N_COLUMNS, N_NEIGHBOURS, LARGEST_EXPONENT = 100, 5, 1.2
FEW, MANY = 5_000, 200_000

METHODS: dict[str, Callable[[], Any]] = {
    "LaplacianScore": lambda: LaplacianScore(20),
    "MCFS": lambda: MCFS(20),
    "AutoSelect": lambda: AutoSelect(random_state=0),
    "GraphEnergy": lambda: GraphEnergy(20, random_state=0),
    "SPEC": lambda: SPEC(20, phi=3),
    "NDFS": lambda: NDFS(20, random_state=0),
}


def factors(n: int, p: int = N_COLUMNS) -> Any:
    """Return ten factors with loadings on all columns, and some noise."""
    random = np.random.default_rng(0)
    loadings = random.standard_normal((10, p)) / np.sqrt(10)
    signal = random.standard_normal((n, 10)) @ loadings
    return signal + 0.3 * random.standard_normal((n, p))


def clusters(n: int, p: int = N_COLUMNS) -> Any:
    """Return eight clusters that half of the columns tell apart."""
    random = np.random.default_rng(0)
    centres = np.zeros((8, p))
    centres[:, : p // 2] = random.standard_normal((8, p // 2))
    return centres[random.integers(8, size=n)] + random.standard_normal((n, p))


def noise(n: int, p: int = N_COLUMNS) -> Any:
    """Return independent noise."""
    return np.random.default_rng(0).standard_normal((n, p))


def counts(n: int, p: int) -> sp.csr_array:
    """Return sparse counts, 0.5 % of them not zero, with ten profiles of columns."""
    random = np.random.default_rng(0)
    profiles = random.gamma(0.5, size=(10, p))
    profiles /= profiles.sum(axis=1, keepdims=True)
    columns = [
        random.choice(p, (n // 10, p // 200), p=profile).ravel() for profile in profiles
    ]
    rows = np.repeat(np.arange(n // 10 * 10), p // 200)
    values = np.ones(len(rows))
    return sp.csr_array((values, (rows, np.concatenate(columns))))


TABLES = {"factors": factors, "clusters": clusters, "noise": noise}


def fit(made: Callable[[], Any], X: Any, repetition: int) -> None:
    """Fit a new selector."""
    made().fit(X)


def growth(
    name: str, sizes: tuple[int, int], methods: Sequence[str] = tuple(METHODS)
) -> Iterator[Row]:
    """Yield the time of many samples over that of few, for each method."""
    few, many = sizes
    tables = {n: TABLES[name](n) for n in sizes}
    recall = neighbour_recall(tables[many], N_NEIGHBOURS)
    for method in methods:
        made = METHODS[method]
        fits = {n: partial(fit, made, X) for n, X in tables.items()}
        repeats = 3 if few < MANY else 1
        before = interleaved({str(few): fits[few]}, repeats)[str(few)]
        least = min(before, key=lambda timing: timing.processor)
        after = timed(fits[many])
        ratio = after.processor / least.processor
        found = (
            "" if "Auto" in method or "Energy" in method else f", recall {recall:.1%}"
        )
        yield compared(
            *(f"{method}, {many:,} x {N_COLUMNS} {name}", [after]),
            *(f"{few:,} x {N_COLUMNS}", [least]),
            target=(many / few) ** LARGEST_EXPONENT,
            judged_by="processor",
            note=f"exponent {np.log(ratio) / np.log(many / few):.2f}{found}",
        )


def against_the_graph_alone(X: Any, name: str, repeats: int) -> Row:
    """Return the time of the Laplacian score over that of the neighbours alone."""
    taken = interleaved(
        {
            "fit": lambda _: LaplacianScore(20).fit(X),
            "graph": lambda _: kneighbors_graph(X, N_NEIGHBOURS),
        },
        repeats,
    )
    return compared(
        *(f"LaplacianScore, {X.shape[0]:,} x {X.shape[1]:,} {name}", taken["fit"]),
        *("kneighbors_graph alone", taken["graph"]),
        target=1.5,
        judged_by="processor",
    )


def against_all_distances(name: str, n: int) -> Row:
    """Return the time of the search over that of all distances."""
    X = TABLES[name](n)
    ours = timed(lambda _: nearest_neighbours(X, N_NEIGHBOURS))
    search = NearestNeighbors(n_neighbors=N_NEIGHBOURS, algorithm="brute").fit(X)
    theirs = timed(lambda _: search.kneighbors())
    return compared(
        *(f"neighbours, {n:,} x {N_COLUMNS} {name}", [ours]),
        *("all distances", [theirs]),
        note=f"recall {neighbour_recall(X, N_NEIGHBOURS):.1%}",
    )


def measure(settings: Settings) -> Iterator[Row]:
    """Yield growth, and ratios to searches of scikit-learn."""
    dense = factors(20_000, 200)
    yield against_the_graph_alone(dense, "factors", settings.repetitions(3))
    sparse = counts(*((12_000, 5_000) if settings.quick else (50_000, 20_000)))
    yield against_the_graph_alone(sparse, "sparse counts", 1)
    for name in TABLES:
        yield against_all_distances(name, settings.count(50_000, 12_000))
    sizes = (2_000, 20_000) if settings.quick else (FEW, MANY)
    for name in settings.names_of_sets(("factors", "clusters"), ("factors",)):
        yield from growth(name, sizes)
    if not settings.quick and settings.sets is None:
        yield from growth("factors", (MANY, 5 * MANY), ["LaplacianScore"])

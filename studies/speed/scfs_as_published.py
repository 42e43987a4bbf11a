"""How much does an iteration of the paper solver cost, next to the published formulas?

The formulas are transcribed as they are printed, with a p x p inverse and an n x n
matrix of ones; ours includes the Gram matrix and the objective. Data: Prostate-GE.

    python -m studies scfs_as_published
"""

from collections.abc import Callable, Iterator

import numpy as np

from studies.findings import Row, compared
from studies.measuring import Timing, interleaved, iteration_operations, limit
from studies.settings import Settings, find_set
from ufselect.data import read_labelled
from ufselect.matrix import Float, as_matrix
from ufselect.solvers.scfs_paper import fit_paper
from ufselect.solvers.soft_partition import indicator
from ufselect.solvers.starts import kernel_matrix, start_memberships

DURATION = "1 minute"
ITERATIONS = 20
WEIGHTS = {"alpha": 1.0, "beta": 1.0, "gamma": 1e6}


def published_iteration(
    X: Float, G: Float, alpha: float, beta: float, gamma: float
) -> Float:
    """Do one iteration exactly as the formulas of the paper are written."""
    n, p = X.shape
    ones = np.ones((n, n))
    W = np.linalg.inv(alpha * X.T @ X + beta * np.eye(p)) @ (alpha * X.T @ G)
    M = (X @ X.T + n * gamma * ones) @ G
    G = G * (2 * M + alpha * X @ W) / (M @ G.T @ G + G @ G.T @ M + alpha * G)
    np.diag(1 / (2 * np.linalg.norm(W, axis=1) + 2e-16))
    return G


def own_iterations(X: Float, G: Float) -> Callable[[int], None]:
    """Return a function that does some iterations as we do them."""
    matrix = as_matrix(X)

    def iterate(_: int) -> None:
        fit_paper(
            G,
            matrix,
            kernel_matrix(matrix),
            **WEIGHTS,
            max_iter=ITERATIONS,
            tol=0.0,
            report=lambda iteration, objective: False,
        )

    return iterate


def measure(settings: Settings) -> Iterator[Row]:
    """Yield one row."""
    name = settings.names_of_sets(["Prostate-GE"], quick=["lymphoma"])[0]
    X = np.asarray(read_labelled(find_set(name)).table, dtype=float)
    random = np.random.RandomState(0)
    G = indicator(start_memberships("k-means", as_matrix(X), 2, random))
    functions = {
        "ours": own_iterations(X, G),
        "published": lambda _: published_iteration(X, G, **WEIGHTS),
    }
    found = interleaved(functions, settings.repetitions(3), warm_up=False)
    each = [Timing(*(time / ITERATIONS for time in all_)) for all_ in found["ours"]]
    what = f"one iteration on {name}, {X.shape[0]} x {X.shape[1]}"
    yield compared(
        what,
        each,
        "the formulas as published",
        found["published"],
        limit=limit(iteration_operations(X, G.shape[1])),
    )

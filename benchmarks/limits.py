"""The time of matrix products that cannot be avoided, at the speed of this machine.

Additions and multiplications are counted, over what BLAS does of them in a second in
a product of a favourable size. No program computes the same answer in less; most of
what takes longer is spent on products of less favourable shapes, and on passes over
memory that multiply nothing.
"""

from typing import Any

import scipy.sparse as sp
from machine import product_speed


def limit(operations: float, threads: int | None = None) -> float:
    """Return the seconds of so many additions and multiplications."""
    return operations / product_speed(threads)


def scfs_operations(X: Any, n_clusters: int, n_iterations: int) -> float:
    """Return what a fit of SCFS by any exact solver needs.

    The smaller Gram matrix, half of it by symmetry, and per cluster and iteration one
    product, formed either with a known ``X X'`` or with X twice. That of a sparse X
    counts only what is stored, and no Gram matrix.
    """
    n, p = X.shape
    once = 0 if sp.issparse(X) else n * p * min(n, p)
    return once + iteration_operations(X, n_clusters) * n_iterations


def iteration_operations(X: Any, n_clusters: int) -> float:
    """Return those of a product of X X' with as many columns as there are clusters."""
    n, p = X.shape
    stored = X.nnz if sp.issparse(X) else n * p
    return float(n_clusters * min(2 * n * n, 4 * stored))


def distance_operations(shape: tuple[int, int]) -> float:
    """Return those of the distances of all pairs of samples, each pair once."""
    n, p = shape
    return float(n * n * p)


def k_means_operations(shape: tuple[int, int], n_clusters: int, n_init: int) -> float:
    """Return those of assigning the samples to centres once in every restart."""
    n, p = shape
    return 2.0 * n * p * n_clusters * n_init

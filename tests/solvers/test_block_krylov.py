"""Largest eigenvectors by blocks, against a dense decomposition."""

import numpy as np
from each_case import each

from ufselect.solvers.spectral import block_width, largest_eigenvectors


def symmetric(values, seed=0):
    shape = (len(values), len(values))
    vectors = np.linalg.qr(np.random.RandomState(seed).standard_normal(shape))[0]
    return (vectors * values) @ vectors.T, vectors


def found_in(matrix, n_vectors):
    order = len(matrix)
    start = np.random.RandomState(1).standard_normal(
        (order, block_width(n_vectors, order))
    )
    return largest_eigenvectors(lambda block: matrix @ block, start, n_vectors)


@each("order", [4, 15, 60, 300])
@each("n_vectors", [1, 3])
def test_it_equals_the_dense_decomposition(order, n_vectors):
    matrix, vectors = symmetric(np.linspace(1, 10, order)[::-1] ** 2)

    found = found_in(matrix, n_vectors)

    expected = np.abs(np.eye(n_vectors))
    overlap = np.abs(vectors[:, :n_vectors].T @ found)
    np.testing.assert_allclose(overlap, expected, atol=1e-8)
    np.testing.assert_allclose(found.T @ found, np.eye(n_vectors), atol=1e-12)


@each("n_equal", [2, 5, 40])
def test_an_eigenvalue_is_found_as_often_as_it_occurs(n_equal):
    values = np.concatenate([np.full(n_equal, 2.0), np.linspace(0, 1.9, 200)])
    matrix, _ = symmetric(values)

    found = found_in(matrix, 2)

    np.testing.assert_allclose(found.T @ matrix @ found, 2 * np.eye(2), atol=1e-10)


def test_wanted_and_unwanted_may_be_close():
    matrix, vectors = symmetric(1 / (1 + 1e-4 * np.arange(400)))

    found = found_in(matrix, 2)

    overlap = np.linalg.svd(vectors[:, :2].T @ found, compute_uv=False)
    np.testing.assert_allclose(overlap, 1.0, atol=1e-9)

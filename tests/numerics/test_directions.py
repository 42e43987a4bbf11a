"""Directions beyond chance, against a full decomposition."""

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect.matrix import as_matrix
from ufselect.numerics.directions import leading_variances, n_directions
from ufselect.numerics.permutation import permuted_columns


def low_rank(rank, n_samples=80, n_features=120, noise=1.0):
    random = np.random.default_rng(rank)
    signal = random.normal(size=(n_samples, rank)) @ random.normal(
        size=(rank, n_features)
    )
    X = 2.0 * signal + noise * random.normal(size=(n_samples, n_features))
    return X - X.mean(axis=0)


@pytest.mark.parametrize("rank", [0, 1, 2, 5])
def test_the_rank_under_noise_is_found(rank):
    X = as_matrix(low_rank(rank))

    assert n_directions(X, 7, np.random.RandomState(0)) == rank


def test_numbers_beyond_the_most_are_not_told_apart():
    X = as_matrix(low_rank(6))

    assert n_directions(X, 3, np.random.RandomState(0)) == 3


@pytest.mark.parametrize("shape", [(30, 90), (90, 30)])
def test_variances_are_squared_singular_values(shape):
    X = low_rank(3, *shape)
    expected = np.linalg.svd(X, compute_uv=False)[:3] ** 2

    found = leading_variances(as_matrix(X), 3, np.random.RandomState(0))

    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_sparse_and_dense_are_told_the_same():
    X = np.abs(low_rank(3, noise=0.5))
    X[X < 3.0] = 0.0
    mean = X.mean(axis=0)
    sparse = as_matrix(sp.csr_array(X)).affine(mean, np.ones(len(mean)))

    found = n_directions(sparse, 7, np.random.RandomState(0))

    assert found == n_directions(as_matrix(X - mean), 7, np.random.RandomState(0))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_permuted_columns_keep_their_values_and_x_is_not_changed(form):
    X = form(
        np.where(np.arange(40).reshape(8, 5) % 3 == 0, 0.0, np.arange(40).reshape(8, 5))
    )
    before = X.copy()

    permuted = permuted_columns(X, np.random.default_rng(0))

    as_array = (lambda Z: Z.toarray()) if sp.issparse(X) else np.asarray
    np.testing.assert_array_equal(as_array(X), as_array(before))
    np.testing.assert_array_equal(
        np.sort(as_array(permuted), axis=0), np.sort(as_array(X), axis=0)
    )
    assert (as_array(permuted) != as_array(X)).any()

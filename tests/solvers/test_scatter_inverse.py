"""Inverse of a scatter matrix plus a diagonal, against the plain one."""

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect.matrix import as_matrix
from ufselect.solvers.udfs import (
    inverse_through_features,
    inverse_through_samples,
)

RANDOM = np.random.RandomState(0)


def positive_semi_definite(order):
    half = np.where(RANDOM.uniform(size=(order, order)) < 0.2, 1.0, 0.0)
    return sp.csr_array(half.T @ half)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("shape", [(12, 30), (30, 12)])
def test_both_ways_are_the_inverse(container, shape):
    X, L = RANDOM.standard_normal(shape), positive_semi_definite(shape[0])
    block = RANDOM.standard_normal((shape[1], 3))
    M = X.T @ L.toarray() @ X
    ways = [
        inverse_through_features(M),
        inverse_through_samples(as_matrix(container(X)), L),
    ]

    for scale in (1.0, 1e-3):
        weights = scale * RANDOM.uniform(0.5, 5, shape[1])
        expected = np.linalg.solve(M + np.diag(weights), block)
        for inverse in ways:
            found = inverse(weights)(block)

            np.testing.assert_allclose(found, expected, atol=1e-9 / scale)


def test_what_is_inverted_is_left_as_it_was():
    M = np.diag([1.0, 2.0])
    inverse_through_features(M)(np.ones(2))

    np.testing.assert_array_equal(M, np.diag([1.0, 2.0]))

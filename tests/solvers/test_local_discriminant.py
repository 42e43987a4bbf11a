"""The local discriminant matrix, against reference numbers and its definition."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from each_case import each
from sklearn.metrics.pairwise import rbf_kernel

from ufselect.matrix import as_matrix
from ufselect.solvers.neighbourhoods import (
    clique_scatters,
    gaussian_scatters,
    local_discriminant_matrix,
    neighbour_cliques,
    neighbour_distance,
)

ORACLES = Path(__file__).resolve().parents[1] / "oracles"
# With three features there are fewer of them than neighbours.
SHAPES = each("shape", [(30, 3), (30, 12), (20, 45)])


def discriminant(X, ridge, n_neighbors=5):
    cliques = neighbour_cliques(X, n_neighbors)
    scatters = clique_scatters(as_matrix(X), cliques)
    return local_discriminant_matrix(scatters, cliques, ridge).toarray()


def by_features(X, ridge, n_neighbors=5):
    """Return the matrix from scatters of features, divided by the ridge."""
    n, p = X.shape
    total = np.zeros((n, n))
    for i in range(n):
        order = np.argsort(np.sum((X - X[i]) ** 2, axis=1))
        clique = order[: n_neighbors + 1]
        Z = X[clique] - X[clique].mean(axis=0)
        m = len(clique)
        inside = np.eye(m) - 1 / m
        inside = inside - Z @ np.linalg.inv(Z.T @ Z + ridge * np.eye(p)) @ Z.T
        total[np.ix_(clique, clique)] += inside / ridge
    return total


def test_it_equals_the_numbers_of_the_public_code():
    inputs = json.loads((ORACLES / "inputs_A.json").read_text())
    given = json.loads((ORACLES / "udfs_A.json").read_text())["parameters"]
    X = np.array(inputs["X"])

    found = discriminant(X, given["lam"], given["n_neighbors"])

    np.testing.assert_allclose(found, given["L_ld"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(X.T @ found @ X, given["M"], rtol=1e-6, atol=1e-6)


@SHAPES
@each("ridge", [0.1, 1.0, 50.0])
def test_it_equals_its_definition_by_scatters_of_features(shape, ridge):
    # B3. Code that turns the ridge into its inverse where p <= n_neighbors fails here,
    # as does code in which the places of a clique do not depend on its sample.
    X = np.random.RandomState(0).standard_normal(shape)

    found = discriminant(X, ridge)

    np.testing.assert_allclose(found, by_features(X, ridge), rtol=0, atol=1e-9)


@SHAPES
def test_it_is_symmetric_and_positive_and_blind_to_constants(shape):
    X = np.random.RandomState(0).standard_normal(shape)

    found = discriminant(X, 1.0)

    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found.sum(axis=0), 0.0, atol=1e-12)
    assert np.linalg.eigvalsh(found).min() > -1e-12


def test_sparse_data_give_the_same_matrix():
    X = np.random.RandomState(0).poisson(1.0, (30, 12)) + 0.0
    X[:, 0] = np.random.RandomState(1).standard_normal(30)
    cliques = neighbour_cliques(X, 5)

    dense = clique_scatters(as_matrix(X), cliques)
    sparse = clique_scatters(as_matrix(sp.csr_array(X)), cliques)

    np.testing.assert_allclose(sparse, dense, atol=1e-12)


def test_a_clique_begins_with_its_sample_also_among_equal_ones():
    cliques = neighbour_cliques(np.zeros((8, 2)), 3)

    np.testing.assert_array_equal(cliques[:, 0], np.arange(8))
    assert all(len(set(clique)) == 4 for clique in cliques)


def test_there_are_at_most_as_many_neighbours_as_other_samples():
    assert neighbour_cliques(np.eye(3), 10).shape == (3, 3)


class TestGaussianCliques:
    @SHAPES
    @each("bandwidth", [None, 0.3, 2.0])
    def test_they_equal_a_kernel_of_pairs(self, shape, bandwidth):
        X = 5.0 + np.random.RandomState(0).standard_normal(shape)
        cliques = neighbour_cliques(X, 5)

        scatters = clique_scatters(as_matrix(X), cliques)
        found = gaussian_scatters(scatters, bandwidth)
        width = bandwidth
        if width is None:
            to_neighbours = X[cliques[:, 1:]] - X[:, np.newaxis]
            width = np.median(np.linalg.norm(to_neighbours, axis=2))
        H = np.eye(6) - 1 / 6
        expected = np.array(
            [
                H @ rbf_kernel(X[clique], gamma=1 / (2 * width**2)) @ H
                for clique in cliques
            ]
        )

        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)

    @SHAPES
    @each("ridge", [0.01, 1.0, 100.0])
    def test_their_matrix_is_positive_and_blind_to_constants(self, shape, ridge):
        X = np.random.RandomState(0).standard_normal(shape)
        cliques = neighbour_cliques(X, 5)
        scatters = gaussian_scatters(clique_scatters(as_matrix(X), cliques))

        found = local_discriminant_matrix(scatters, cliques, ridge).toarray()
        size = np.abs(found).max()

        np.testing.assert_array_equal(found, found.T)
        np.testing.assert_allclose(found @ np.ones(len(X)), 0.0, atol=1e-12 * size)
        assert np.linalg.eigvalsh(found).min() > -1e-12 * size

    def test_a_very_wide_kernel_leaves_the_laplacian_of_the_cliques(self):
        # All kernels are one, which H removes: what is left is H / ridge.
        X = np.random.RandomState(0).standard_normal((30, 12))
        cliques = neighbour_cliques(X, 5)
        scatters = gaussian_scatters(clique_scatters(as_matrix(X), cliques), 1e8)

        found = local_discriminant_matrix(scatters, cliques, 4.0).toarray()
        expected = np.zeros((30, 30))
        for clique in cliques:
            expected[np.ix_(clique, clique)] += (np.eye(6) - 1 / 6) / 4

        np.testing.assert_allclose(found, expected, atol=1e-10)

    def test_equal_neighbours_do_not_make_the_bandwidth_zero(self):
        X = np.repeat([[0.0, 0.0], [3.0, 4.0]], [9, 1], axis=0)

        def width(points):
            cliques = neighbour_cliques(points, 3)
            return neighbour_distance(clique_scatters(as_matrix(points), cliques))

        assert width(X) == pytest.approx(5.0)
        assert width(np.ones((8, 2))) == 1.0

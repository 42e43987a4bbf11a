"""Matrices of neighbourhoods: local linearity, tangent spaces, discriminants."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracle_files import inputs, read
from sklearn.metrics.pairwise import rbf_kernel

from ufselect.matrix import as_matrix
from ufselect.solvers import graphs
from ufselect.solvers.graphs import (
    gaussian_matrices,
    local_discriminant_matrix,
    local_linear_matrix,
    neighbour_distance,
    neighbourhoods_of,
    scatter_matrices,
    tangent_alignment_matrix,
    weights_of,
)


def points(n_samples=30, n_features=8, seed=0):
    return np.random.default_rng(seed).normal(size=(n_samples, n_features))


def naive(X, n_neighbors, regularisation):
    """Return (I - S)'(I - S), one sample at a time."""
    n = len(X)
    S = np.zeros((n, n))
    for i in range(n):
        distances = np.linalg.norm(X - X[i], axis=1)
        distances[i] = np.inf
        near = np.argsort(distances)[:n_neighbors]
        Z = X[near] - X[i]
        C = Z @ Z.T
        C = C + regularisation * np.trace(C) * np.eye(n_neighbors)
        w = np.linalg.inv(C) @ np.ones(n_neighbors)
        S[i, near] = w / w.sum()
    return (np.eye(n) - S).T @ (np.eye(n) - S)


@pytest.mark.parametrize("name", ["A", "B"])
def test_it_equals_the_numbers_of_the_public_code(name):
    X, table = inputs(name)["X"], read(f"lle_{name}")
    expected = np.array(table["outputs"]["runs"][0]["values"]["L_LLE"])

    found = local_linear_matrix(X, 5, regularisation=1e-12).toarray()

    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * expected.max())


@pytest.mark.parametrize("shape", [(30, 8), (15, 40), (20, 2)])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_it_equals_the_transcription(shape, convert, monkeypatch):
    X = points(*shape)

    whole, large = (local_linear_matrix(convert(unit * X), 4) for unit in (1.0, 1e3))
    with monkeypatch.context() as patched:
        patched.setattr(graphs, "BLOCK_BYTES", 2000)
        in_blocks = local_linear_matrix(convert(X), 4)

    for found in (whole, large, in_blocks):
        np.testing.assert_allclose(found.toarray(), naive(X, 4, 1e-3), atol=1e-10)
        np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-12)


def test_equal_samples_and_few_ones_do_no_harm():
    repeated = np.repeat(points(5, 3), 8, axis=0)
    linear = local_linear_matrix(repeated, 5)
    aligned = tangent_alignment_matrix(repeated, 5)
    neighbourhoods = neighbourhoods_of(np.zeros((8, 2)), 3)
    X = points(4)

    np.testing.assert_allclose(weights_of(np.zeros((2, 4, 3)), 1e-3), 0.25)
    assert np.isfinite(linear.data).all()
    np.testing.assert_allclose(aligned @ np.ones(40), 0, atol=1e-10)
    # A neighbourhood begins with its sample also among equal ones.
    np.testing.assert_array_equal(neighbourhoods[:, 0], np.arange(8))
    assert all(len(set(neighbourhood)) == 4 for neighbourhood in neighbourhoods)
    # There are no more neighbours than other samples.
    assert neighbourhoods_of(np.eye(3), 10).shape == (3, 3)
    many, all_of_them = (local_linear_matrix(X, k).toarray() for k in (50, 3))
    np.testing.assert_allclose(many, all_of_them)


def test_coordinates_of_a_plane_cost_nothing():
    # Each point of a plane is an exact mixture of three others.
    plane = points(60, 2)
    matrix = local_linear_matrix(plane @ points(2, 5, seed=1), 6, regularisation=1e-9)

    assert np.abs(matrix @ plane).max() < 1e-4


# Tangent spaces


def naive_alignment(X, n_neighbors, n_components):
    """Return the alignment matrix, one neighbourhood at a time."""
    B = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        near = np.argsort(np.linalg.norm(X - X[i], axis=1))[: n_neighbors + 1]
        H = np.eye(len(near)) - 1 / len(near)
        values, vectors = np.linalg.eigh(H @ X[near] @ X[near].T @ H)
        V = vectors[:, np.argsort(-values)[:n_components]]
        G = np.column_stack([np.full(len(near), len(near) ** -0.5), V])
        B[np.ix_(near, near)] += np.eye(len(near)) - G @ G.T
    return B


@pytest.mark.parametrize("shape", [(30, 8), (15, 40)])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_alignment_equals_the_transcription(shape, convert):
    X = points(*shape)

    found = tangent_alignment_matrix(convert(X), 5, n_components=2).toarray()

    np.testing.assert_allclose(found, naive_alignment(X, 5, 2), atol=1e-9)


@pytest.mark.parametrize("n_neighbors", [4, 7])
def test_alignment_annihilates_constants_and_coordinates_of_flat_data(n_neighbors):
    flat = points(40, 2)
    X = flat @ points(2, 9, seed=1) + 5.0
    matrix = tangent_alignment_matrix(X, n_neighbors, n_components=2)
    coordinates = np.column_stack([np.ones(40), flat])

    assert np.abs(matrix @ coordinates).max() < 1e-9
    assert np.abs(matrix @ flat**2).max() > 0.1
    assert np.linalg.eigvalsh(matrix.toarray()).min() > -1e-10


# With three features there are fewer of them than neighbours.
SHAPES = pytest.mark.parametrize("shape", [(30, 3), (30, 12), (20, 45)])


def discriminant(X, ridge, n_neighbors=5):
    neighbourhoods = neighbourhoods_of(X, n_neighbors)
    K = scatter_matrices(as_matrix(X), neighbourhoods)
    return local_discriminant_matrix(K, neighbourhoods, ridge).toarray()


def by_features(X, ridge, n_neighbors=5):
    """Return the matrix from scatter matrices of features, divided by the ridge."""
    n, p = X.shape
    total = np.zeros((n, n))
    for i in range(n):
        order = np.argsort(np.sum((X - X[i]) ** 2, axis=1))
        neighbourhood = order[: n_neighbors + 1]
        Z = X[neighbourhood] - X[neighbourhood].mean(axis=0)
        m = len(neighbourhood)
        inside = np.eye(m) - 1 / m
        inside = inside - Z @ np.linalg.inv(Z.T @ Z + ridge * np.eye(p)) @ Z.T
        total[np.ix_(neighbourhood, neighbourhood)] += inside / ridge
    return total


def test_the_discriminant_equals_the_numbers_of_the_public_code():
    X, given = inputs("A")["X"], read("udfs_A")["parameters"]

    found = discriminant(X, given["lam"], given["n_neighbors"])

    np.testing.assert_allclose(found, given["L_ld"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(X.T @ found @ X, given["M"], rtol=1e-6, atol=1e-6)


@SHAPES
@pytest.mark.parametrize("ridge", [0.1, 1.0, 50.0])
def test_it_equals_its_definition_by_scatter_matrices_of_features(shape, ridge):
    # B3. Code that turns the ridge into its inverse where p <= n_neighbors fails here,
    # as does code in which the places of a neighbourhood do not depend on its sample.
    X = np.random.RandomState(0).standard_normal(shape)
    neighbourhoods = neighbourhoods_of(X, 5)

    found = discriminant(X, ridge)
    dense = scatter_matrices(as_matrix(X), neighbourhoods)
    sparse = scatter_matrices(as_matrix(sp.csr_array(X)), neighbourhoods)

    np.testing.assert_allclose(found, by_features(X, ridge), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(sparse, dense, atol=1e-12)


@SHAPES
@pytest.mark.parametrize("bandwidth", [None, 0.3, 2.0])
def test_gaussian_neighbourhoods_equal_a_kernel_of_pairs(shape, bandwidth):
    X = 5.0 + np.random.RandomState(0).standard_normal(shape)
    neighbourhoods = neighbourhoods_of(X, 5)

    found = gaussian_matrices(scatter_matrices(as_matrix(X), neighbourhoods), bandwidth)

    width = bandwidth
    if width is None:
        to_neighbours = X[neighbourhoods[:, 1:]] - X[:, np.newaxis]
        width = np.median(np.linalg.norm(to_neighbours, axis=2))
    H = np.eye(6) - 1 / 6
    for scatter, neighbourhood in zip(found, neighbourhoods, strict=True):
        expected = H @ rbf_kernel(X[neighbourhood], gamma=1 / (2 * width**2)) @ H
        np.testing.assert_allclose(scatter, expected, rtol=0, atol=1e-10)


@SHAPES
@pytest.mark.parametrize("ridge", [0.01, 1.0, 100.0])
def test_the_matrix_of_gaussian_neighbourhoods_is_positive_and_blind_to_constants(
    shape, ridge
):
    X = np.random.RandomState(0).standard_normal(shape)
    neighbourhoods = neighbourhoods_of(X, 5)
    plain, wide = (
        gaussian_matrices(scatter_matrices(as_matrix(X), neighbourhoods), bandwidth)
        for bandwidth in (None, 1e8)
    )

    found = local_discriminant_matrix(plain, neighbourhoods, ridge).toarray()
    limit = local_discriminant_matrix(wide, neighbourhoods, ridge).toarray()

    size = np.abs(found).max()
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found @ np.ones(len(X)), 0.0, atol=1e-12 * size)
    assert np.linalg.eigvalsh(found).min() > -1e-12 * size
    # All kernels of a very wide one are one, which H removes: H / ridge is left.
    expected = np.zeros_like(limit)
    for neighbourhood in neighbourhoods:
        expected[np.ix_(neighbourhood, neighbourhood)] += (np.eye(6) - 1 / 6) / ridge
    np.testing.assert_allclose(limit, expected, atol=1e-10)


def test_equal_neighbours_do_not_make_the_bandwidth_zero():
    X = np.repeat([[0.0, 0.0], [3.0, 4.0]], [9, 1], axis=0)

    def width(points):
        neighbourhoods = neighbourhoods_of(points, 3)
        return neighbour_distance(scatter_matrices(as_matrix(points), neighbourhoods))

    assert width(X) == pytest.approx(5.0)
    assert width(np.ones((8, 2))) == 1.0

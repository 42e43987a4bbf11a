"""Neighbour graphs, their Laplacians, and kernels."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from memory import traced_memory
from oracle_files import inputs
from scipy.spatial.distance import pdist, squareform
from sklearn import config_context

from ufselect.solvers import neighbours
from ufselect.solvers.graphs import (
    centred_kernel,
    degrees,
    gaussian_kernel,
    kernel_root,
    laplacian,
    median_distance,
    neighbour_graph,
    normalised_laplacian,
    squared_distances_of,
)
from ufselect.solvers.neighbours import nearest_neighbours


def points(n_samples=30, n_features=4, seed=0):
    return np.random.RandomState(seed).standard_normal((n_samples, n_features))


def naive_graph(X, k, sigma=None):
    distances = np.linalg.norm(X[:, np.newaxis] - X, axis=2)
    np.fill_diagonal(distances, np.inf)
    graph = np.zeros_like(distances)
    for i, row in enumerate(distances):
        for j in np.argsort(row)[:k]:
            weight = 1.0 if sigma is None else np.exp(-(row[j] ** 2) / (2 * sigma**2))
            graph[i, j] = graph[j, i] = weight
    return graph


@pytest.mark.parametrize("letter", ["A", "B"])
def test_graph_and_laplacians_are_those_of_the_reference(letter):
    given_arrays = inputs(letter)
    graph = neighbour_graph(given_arrays["X"], given_arrays["n_neighbors"])

    np.testing.assert_array_equal(graph.toarray(), given_arrays["S"])
    np.testing.assert_allclose(laplacian(graph).toarray(), given_arrays["L"])
    np.testing.assert_allclose(
        normalised_laplacian(graph).toarray(), given_arrays["Ln"], atol=1e-12
    )


@pytest.mark.parametrize("sigma", [None, 0.7])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_graph_equals_the_naive_one(sigma, convert):
    X = points()
    X.flags.writeable = False
    weights = "binary" if sigma is None else "heat"
    graph = neighbour_graph(convert(X), 4, weights=weights, bandwidth=sigma)
    of_itself, large = (
        neighbour_graph(unit * X, weights="heat").toarray() for unit in (1.0, 1e6)
    )

    np.testing.assert_allclose(graph.toarray(), naive_graph(X, 4, sigma), atol=1e-7)
    np.testing.assert_allclose(of_itself, large)
    # A bandwidth that isolates samples leaves binary weights.
    alone = neighbour_graph(1e6 * X, weights="heat", bandwidth=1.0)
    assert degrees(alone).min() >= 1
    # No sample is its own neighbour, not even among duplicates.
    repeated = neighbour_graph(np.repeat(X[:5], 4, axis=0), 3, weights="heat")
    assert repeated.diagonal().sum() == 0
    assert (degrees(repeated) > 0).all()


def sparse_points(n_samples, n_features):
    keep = np.random.RandomState(1).uniform(size=(n_samples, n_features)) < 0.3
    return sp.csr_array(points(n_samples, n_features) * keep)


@pytest.mark.parametrize("convert", [sp.csr_array, sp.csr_array.toarray])
@pytest.mark.parametrize("megabytes", [None, 0.01])
def test_neighbours_are_those_of_all_distances(convert, megabytes, monkeypatch):
    X = sparse_points(300, 20)
    everything = np.linalg.norm(X.toarray()[:, np.newaxis] - X.toarray(), axis=2)
    np.fill_diagonal(everything, np.inf)
    if megabytes is not None:
        monkeypatch.setattr(neighbours, "SEARCH_MEGABYTES", megabytes)

    distances, index = nearest_neighbours(convert(X), 4)

    np.testing.assert_array_equal(index, np.argsort(everything, axis=1)[:, :4])
    np.testing.assert_allclose(distances, np.sort(everything, axis=1)[:, :4])


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("unit", [1, 1 / 3, 1e-9])
def test_of_samples_at_equal_distances_those_of_lower_index_are_neighbours(
    convert, unit
):
    counts = np.random.RandomState(0).poisson(1.0, size=(200, 30))
    squares = ((counts[:, np.newaxis] - counts) ** 2).sum(axis=2)
    np.fill_diagonal(squares, squares.max() + 1)

    _, index = nearest_neighbours(convert(unit * counts), 5)

    expected = np.argsort(squares, axis=1, kind="stable")[:, :5]
    np.testing.assert_array_equal(index, expected)
    last = np.take_along_axis(squares, expected[:, 4:], axis=1)
    assert (np.count_nonzero(squares <= last, axis=1) > 5).mean() > 0.3  # many ties


def test_search_keeps_to_a_working_memory_set_lower():
    X = sparse_points(1500, 20)
    with traced_memory() as memory, config_context(working_memory=1):
        nearest_neighbours(X, 5)

    assert memory.peak < 8 * 1500**2


@settings(deadline=None)
@given(st.integers(0, 50), st.integers(2, 12), st.integers(1, 15))
def test_laplacian_has_zero_row_sums_and_no_negative_eigenvalue(seed, n, k):
    graph = neighbour_graph(points(n, 3, seed), k, weights="heat")
    dense = laplacian(graph).toarray()

    np.testing.assert_allclose(dense.sum(axis=1), 0, atol=1e-12)
    assert np.linalg.eigvalsh(dense).min() > -1e-10
    assert np.linalg.eigvalsh(normalised_laplacian(graph).toarray()).max() < 2 + 1e-10


# Kernels

X = np.random.default_rng(0).normal(size=(12, 5))


@pytest.mark.parametrize("name", ["A", "B"])
def test_kernel_bandwidth_and_root_equal_the_reference(name):
    given = inputs(name)
    squared = squared_distances_of(given["Xc"] @ given["Xc"].T)

    median = median_distance(squared)
    kernel = gaussian_kernel(squared, median)

    assert median == pytest.approx(float(given["sigma"]), rel=1e-10)
    np.testing.assert_allclose(kernel, given["K"], rtol=1e-9)
    np.testing.assert_allclose(kernel_root(kernel, n_columns=3), given["Yk"], rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-140, 1.0, 1e140])
def test_kernels_are_those_of_all_distances_in_any_unit(unit):
    squared, scaled = squareform(pdist(X, "sqeuclidean")), unit * X
    expected = np.exp(-squared / median_distance(squared) ** 2)
    centring = np.eye(12) - 1 / 12

    kernel = gaussian_kernel(squared_distances_of(scaled @ scaled.T))
    centred = centred_kernel(kernel)
    root = kernel_root(centred)

    np.testing.assert_allclose(kernel, expected, rtol=1e-9)
    np.testing.assert_allclose(centred, centring @ kernel @ centring, atol=1e-14)
    assert root.shape == (12, 11)
    np.testing.assert_allclose(root @ root.T, centred, atol=1e-12)


def test_mostly_equal_points_have_the_median_of_the_others():
    squared = squared_distances_of(np.outer([0, 0, 0, 0, 3.0], [0, 0, 0, 0, 3.0]))

    assert median_distance(squared) == 3.0
    assert median_distance(np.zeros((3, 3))) == 1.0


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_a_truncated_root_keeps_its_share_and_not_a_column_more(share):
    kernel = gaussian_kernel(squared_distances_of(X @ X.T))

    squares = np.sum(kernel_root(kernel, share=share) ** 2, axis=0)

    assert squares.sum() >= share * 12
    assert squares[:-1].sum() < share * 12

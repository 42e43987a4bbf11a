"""Neighbours found in cells, against those of all distances."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from ufselect import MCFS, LaplacianScore
from ufselect.matrix.base import libraries
from ufselect.solvers import cells, neighbours
from ufselect.solvers.graphs import neighbour_graph
from ufselect.solvers.neighbours import nearest_neighbours, neighbour_recall

RANDOM = np.random.RandomState(0)


def counts(n_samples, n_features):
    profiles = RANDOM.gamma(0.3, size=(6, n_features))
    rates = profiles[RANDOM.randint(6, size=n_samples)]
    return np.log1p(RANDOM.poisson(0.3 * rates))


TABLES = {
    "clusters": make_blobs(3000, 20, centers=8, random_state=0)[0],
    "uniform": RANDOM.uniform(size=(3000, 10)),
    "noise": RANDOM.standard_normal((3000, 40)),
    "near a plane": RANDOM.standard_normal((3000, 3)) @ RANDOM.standard_normal((3, 50)),
    "counts": counts(3000, 60),
    "far apart": make_blobs(3000, 20, centers=4, random_state=0)[0] * 1e-2
    + 1e3 * RANDOM.randint(4, size=(3000, 1)),
}


@pytest.fixture
def by_cells(monkeypatch):
    """Search in cells, though there are few samples."""
    monkeypatch.setattr(neighbours, "MAX_EXACT_SAMPLES", 500)


@pytest.mark.parametrize("name", list(TABLES))
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_nearly_all_neighbours_are_found(by_cells, name, convert):
    points = convert(TABLES[name])

    distances, index = nearest_neighbours(points, 5)

    assert neighbour_recall(points, 5, n_queries=3000) >= 0.95
    expected = np.linalg.norm(TABLES[name][:, np.newaxis] - TABLES[name][index], axis=2)
    np.testing.assert_allclose(distances, expected, rtol=1e-6)
    assert (np.diff(distances) >= 0).all()
    assert all(len(set(row) - {i}) == 5 for i, row in enumerate(index))


def test_sparse_noise_is_compared_with_all_samples(by_cells, monkeypatch):
    noise = sp.random(1980, 300, 0.05, "csr", random_state=0)
    points = sp.vstack([noise, sp.csr_array((20, 300))], "csr")
    monkeypatch.setattr(cells, "MAX_SPARSE_SHARE", 0.0)
    # In several blocks, with several updates.
    monkeypatch.setattr(cells, "MAX_DISTANCES", 20_000)

    distances, _ = nearest_neighbours(points, 5)

    exact, _ = neighbours._exact(points, 5, np.arange(2000))
    np.testing.assert_allclose(distances, exact, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_graph_of_cells_is_a_graph_and_always_the_same(by_cells, dtype):
    points = TABLES["clusters"].astype(dtype)

    graph = neighbour_graph(points, 5, weights="heat")

    assert (graph != graph.T).nnz == 0
    assert not graph.diagonal().any()
    assert (np.diff(graph.indptr) >= 5).all()
    assert (graph != neighbour_graph(points, 5, weights="heat")).nnz == 0


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_number_of_threads_does_not_matter(by_cells, convert):
    points = convert(TABLES["noise"])
    with libraries().limit(limits=1, user_api="blas"):
        alone = nearest_neighbours(points, 5)
    with libraries().limit(limits=2, user_api="blas"):
        found = nearest_neighbours(points, 5)

    np.testing.assert_array_equal(found[1], alone[1])
    np.testing.assert_array_equal(found[0], alone[0])


@pytest.mark.parametrize("n_distinct", [1, 2, 40])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_copies_of_few_samples_find_each_other(by_cells, n_distinct, convert):
    points = RANDOM.uniform(size=(n_distinct, 6))[RANDOM.randint(n_distinct, size=2000)]

    distances, index = nearest_neighbours(convert(points), 5)

    np.testing.assert_allclose(distances, 0.0, atol=1e-7)
    assert all(len(set(row) - {i}) == 5 for i, row in enumerate(index))


@pytest.mark.parametrize("unit", [1e-140, 1e140])
def test_units_do_not_matter(by_cells, unit):
    points = TABLES["clusters"]

    found = nearest_neighbours(unit * points, 5)[1]

    assert np.mean(found == nearest_neighbours(points, 5)[1]) > 0.99


def test_all_distances_for_few_samples_or_features_or_many_neighbours(monkeypatch):
    monkeypatch.setattr(neighbours, "neighbours_in_cells", None)
    nearest_neighbours(TABLES["uniform"], 5)
    monkeypatch.setattr(neighbours, "MAX_EXACT_SAMPLES", 500)
    nearest_neighbours(TABLES["uniform"][:, :4], 5)
    nearest_neighbours(TABLES["uniform"], 750)


@pytest.mark.parametrize("method", [LaplacianScore(10), MCFS(10, n_clusters=7)])
def test_ranking_is_that_of_all_distances(method, monkeypatch):
    X = TABLES["clusters"]
    exact = method.fit(X).scores_
    monkeypatch.setattr(neighbours, "MAX_EXACT_SAMPLES", 500)
    found = method.fit(X).scores_

    assert np.corrcoef(exact, found)[0, 1] > 0.99
    np.testing.assert_array_equal(method.fit(X).scores_, found)


def test_recall_is_one_of_all_distances_and_high_beyond_the_size_of_a_cell(monkeypatch):
    assert neighbour_recall(TABLES["counts"], 5) == 1.0
    monkeypatch.setattr(neighbours, "MAX_EXACT_SAMPLES", 500)
    assert neighbour_recall(TABLES["clusters"], 300, n_queries=200) >= 0.95
    # Sparse samples without structure have all distances compared.
    assert neighbour_recall(sp.csr_array(TABLES["noise"]), 5) == 1.0

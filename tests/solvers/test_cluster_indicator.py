"""Cluster indicators from a graph."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score
from solvers.naive import planted

from ufselect.solvers.graphs import neighbour_graph
from ufselect.solvers.spectral_regression import (
    clusters_of_graph,
    indicator_from_labels,
)

ORACLES = Path(__file__).resolve().parents[1] / "oracles"


def graph_of(n_samples=60, n_neighbors=12):
    X, labels = planted(n_samples, 12, distance=1.0)
    return neighbour_graph(X, n_neighbors), labels


@pytest.mark.parametrize("name", ["A", "B"])
def test_it_equals_the_start_of_the_reference_numbers(name):
    inputs = json.loads((ORACLES / f"inputs_{name}.json").read_text())

    found = indicator_from_labels(np.array(inputs["partition"]), 3)

    np.testing.assert_allclose(found, inputs["F0"], atol=1e-12)


def test_without_offset_the_columns_are_orthonormal():
    F = indicator_from_labels(np.arange(20) % 3, 3, 0.0)

    np.testing.assert_allclose(F.T @ F, np.eye(3), atol=1e-12)


def test_clusters_are_those_of_spectral_clustering():
    graph, _ = graph_of()
    model = SpectralClustering(
        3, affinity="precomputed", n_init=10, assign_labels="cluster_qr", random_state=0
    )
    expected = model.fit_predict(graph.toarray())

    found = clusters_of_graph(graph, 3, np.random.RandomState(0))

    assert adjusted_rand_score(expected, found) > 0.9


def test_planted_clusters_are_found():
    X, labels = planted(60, 12)
    graph = neighbour_graph(X)

    found = clusters_of_graph(graph, 3, np.random.RandomState(0))

    assert adjusted_rand_score(labels, found) == 1.0


@pytest.mark.parametrize("n_clusters", [1, 5, 6])
def test_as_many_clusters_as_samples_allow(n_clusters):
    X = np.random.default_rng(0).normal(size=(6, 3))
    graph = neighbour_graph(X, 2)

    labels = clusters_of_graph(graph, n_clusters, np.random.RandomState(0))

    assert len(set(labels)) == n_clusters

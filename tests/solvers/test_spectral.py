"""The spectral embedding, against a dense generalised eigenproblem."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from memory import traced_memory
from oracle_files import inputs, read
from scipy.sparse.linalg import ArpackNoConvergence

from ufselect.matrix.cache import cached_results
from ufselect.solvers import neighbours, spectral
from ufselect.solvers.graphs import (
    degrees,
    laplacian,
    neighbour_graph,
    normalised_similarity,
)
from ufselect.solvers.spectral import (
    block_width,
    largest_beside,
    largest_eigenvectors,
    smoothest_vectors,
    spectral_embedding,
)


def cloud(n_samples, centres=(0.0,), seed=0):
    random = np.random.RandomState(seed)
    points = random.standard_normal((n_samples, 3))
    points[:, 0] += np.asarray(centres)[np.arange(n_samples) % len(centres)]
    return points


def up_to_sign(vectors):
    peaks = np.abs(vectors).argmax(axis=0)
    return vectors * np.sign(vectors[peaks, np.arange(vectors.shape[1])])


@pytest.mark.parametrize("name", "AB")
def test_it_equals_the_numbers_of_the_public_code(name):
    expected = np.array(read(f"mcfs_{name}")["parameters"]["embedding"])

    found = spectral_embedding(sp.csr_array(inputs(name)["S"]), 3)

    np.testing.assert_allclose(found, up_to_sign(expected), rtol=0, atol=1e-6)


@pytest.mark.parametrize("small", [0, 1000])
def test_it_solves_the_generalised_problem(monkeypatch, small):
    monkeypatch.setattr(spectral, "MAX_DENSE_SAMPLES", small)
    graph = neighbour_graph(cloud(250), 5, weights="heat")
    L, D = laplacian(graph).toarray(), np.diag(degrees(graph))
    vectors = up_to_sign(scipy.linalg.eigh(L, D)[1][:, 1:6])

    np.testing.assert_allclose(spectral_embedding(graph, 5), vectors, atol=1e-8)
    # Where the first solver gives up, the second finds the same.
    monkeypatch.setattr(spectral, "eigsh", gives_up)
    np.testing.assert_allclose(spectral_embedding(graph, 5), vectors, atol=1e-8)


@pytest.mark.parametrize("small", [0, 1000])
@pytest.mark.parametrize("n_components", [1, 2, 3, 6])
def test_parts_of_a_graph_are_told_apart_and_only_the_constant_is_left_out(
    monkeypatch, small, n_components
):
    monkeypatch.setattr(spectral, "MAX_DENSE_SAMPLES", small)
    graph = neighbour_graph(cloud(60, [0.0, 100.0, 200.0]), 5, weights="heat")
    L, D = laplacian(graph).toarray(), np.diag(degrees(graph))
    values = scipy.linalg.eigh(L, D, eigvals_only=True)[1 : n_components + 1]

    found = spectral_embedding(graph, n_components)

    assert np.ptp(found[::3, 0]) < 1e-10
    np.testing.assert_allclose(L @ found, D @ found * values, atol=1e-8)
    np.testing.assert_allclose(found.T @ D @ found, np.eye(n_components), atol=1e-8)
    np.testing.assert_allclose(found.T @ D @ np.ones(60), 0.0, atol=1e-8)


def test_few_samples_have_few_functions_and_one_without_edges_does_no_harm():
    graph = sp.csr_array(np.diag([1.0, 1.0, 0.0], 1) + np.diag([1.0, 1.0, 0.0], -1))

    assert np.isfinite(spectral_embedding(graph, 3)).all()
    for n_samples in (2, 3, 9):
        found = spectral_embedding(neighbour_graph(cloud(n_samples), 5), 20)
        assert found.shape == (n_samples, n_samples - 1)
        peaks = np.abs(found).argmax(axis=0)
        assert (found[peaks, np.arange(n_samples - 1)] > 0).all()


def test_no_vector_of_a_part_is_missed():
    graph = neighbour_graph(cloud(300, np.arange(10) * 100.0), 5)

    vectors = smoothest_vectors(graph, 10)

    smooth = normalised_similarity(graph) @ vectors
    np.testing.assert_allclose(smooth, vectors, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(10), atol=1e-10)


def test_many_parts_take_no_more_memory_than_the_vectors_wanted():
    n_pairs = 1500
    pair = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    graph = sp.csr_array(sp.block_diag([pair] * n_pairs))
    with traced_memory() as memory:
        found = spectral_embedding(graph, 3)

    assert found.shape == (2 * n_pairs, 3)
    assert memory.peak < 8 * n_pairs**2


@pytest.mark.parametrize("heavier", range(3))
def test_of_equally_heavy_parts_rounding_errors_choose_none(heavier):
    pair = np.array([[0.0, 1.0], [1.0, 0.0]])
    weights = np.where(np.arange(3) == heavier, 1 + 4e-16, 1.0)
    graph = sp.block_diag([weight * pair for weight in weights], format="csr")

    found = spectral_embedding(sp.csr_array(graph), 2)

    expected = np.repeat([[2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]], 2, axis=0)
    np.testing.assert_allclose(
        np.abs(unit(found).T @ unit(expected)), np.eye(2), atol=1e-9
    )


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=0)


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


@pytest.mark.parametrize("order", [4, 15, 60, 300])
@pytest.mark.parametrize("n_vectors", [1, 3])
def test_it_equals_the_dense_decomposition(order, n_vectors):
    matrix, vectors = symmetric(np.linspace(1, 10, order)[::-1] ** 2)

    found = found_in(matrix, n_vectors)

    expected = np.abs(np.eye(n_vectors))
    overlap = np.abs(vectors[:, :n_vectors].T @ found)
    np.testing.assert_allclose(overlap, expected, atol=1e-8)
    np.testing.assert_allclose(found.T @ found, np.eye(n_vectors), atol=1e-12)


@pytest.mark.parametrize("n_equal", [2, 5, 40])
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


def test_eigenvectors_are_shared_by_all_numbers_of_them(monkeypatch):
    graph = neighbour_graph(cloud(300), 5)
    alone = [smoothest_vectors(graph, count) for count in (9, 3, 6)]
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return largest_beside(*arguments)

    monkeypatch.setattr(spectral, "largest_beside", counted)
    with cached_results():
        shared = [smoothest_vectors(graph, count) for count in (9, 3, 6)]

    assert len(calls) == 1
    for one, other in zip(alone, shared, strict=True):
        np.testing.assert_allclose(np.abs(one), np.abs(other), atol=1e-9)


def gives_up(*arguments, **options):
    raise ArpackNoConvergence("no convergence", [], [])


def test_single_precision_changes_less_than_missed_neighbours(monkeypatch):
    points = np.random.RandomState(0).uniform(size=(3000, 16)) * ([9, 5] + 14 * [1])
    exact = smoothest_vectors(neighbour_graph(points, 5), 5)
    monkeypatch.setattr(neighbours, "MAX_EXACT_SAMPLES", 500)
    graph = neighbour_graph(points, 5)
    double = smoothest_vectors(graph, 5)
    monkeypatch.setattr(spectral, "MAX_EXACT_SAMPLES", 500)
    single = smoothest_vectors(graph, 5)
    # Where the first solver gives up, the second finds the same.
    monkeypatch.setattr(spectral, "eigsh", gives_up)
    by_blocks = smoothest_vectors(graph, 5)

    changes = [
        1 - np.linalg.svd(double.T @ other, compute_uv=False).min()
        for other in (single, by_blocks, exact)
    ]
    assert max(changes[:2]) < 1e-5 < 1e-3 < changes[2]
    for vectors in (single, by_blocks):
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-12)

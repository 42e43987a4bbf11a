"""The matrix of locally linear embedding."""

import json
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from each_case import each

from ufselect.solvers.neighbourhoods import (
    local_linear_matrix,
    tangent_alignment_matrix,
    weights_of,
)

ORACLES = Path(__file__).resolve().parents[1] / "oracles"


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


@each("name", ["A", "B"])
def test_it_equals_the_numbers_of_the_public_code(name):
    X = np.array(json.loads((ORACLES / f"inputs_{name}.json").read_text())["X"])
    table = json.loads((ORACLES / f"lle_{name}.json").read_text())
    expected = np.array(table["outputs"]["runs"][0]["values"]["L_LLE"])

    found = local_linear_matrix(X, 5, regularisation=1e-12).toarray()

    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * expected.max())


@each("shape", [(30, 8), (15, 40), (20, 2)])
@each("convert", [np.asarray, sp.csr_array])
def test_it_equals_the_transcription(shape, convert):
    X = points(*shape)

    found = local_linear_matrix(convert(X), 4).toarray()

    np.testing.assert_allclose(found, naive(X, 4, 1e-3), atol=1e-10)


def test_rows_and_columns_sum_to_zero():
    matrix = local_linear_matrix(points())

    np.testing.assert_allclose(matrix.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(matrix.sum(axis=1), 0, atol=1e-12)


def test_coordinates_of_a_plane_cost_nothing():
    # Each point of a plane is an exact mixture of three others.
    plane = points(60, 2)
    matrix = local_linear_matrix(plane @ points(2, 5, seed=1), 6, regularisation=1e-9)

    assert np.abs(matrix @ plane).max() < 1e-4


def test_equal_samples_get_equal_weights():
    np.testing.assert_allclose(weights_of(np.zeros((2, 4, 3)), 1e-3), 0.25)


def test_equal_samples_leave_the_matrix_finite():
    matrix = local_linear_matrix(np.repeat(points(4), 6, axis=0), 5)

    assert np.isfinite(matrix.data).all()


def test_no_more_neighbours_than_there_are():
    X = points(4)

    np.testing.assert_allclose(
        local_linear_matrix(X, 50).toarray(), local_linear_matrix(X, 3).toarray()
    )


def test_the_unit_does_not_matter():
    X = points()

    np.testing.assert_allclose(
        local_linear_matrix(1e3 * X).toarray(),
        local_linear_matrix(X).toarray(),
        atol=1e-10,
    )


def test_samples_in_blocks_give_the_same(monkeypatch):
    X = points()
    whole = local_linear_matrix(X).toarray()
    monkeypatch.setattr("ufselect.solvers.neighbourhoods.BLOCK_BYTES", 2000)

    np.testing.assert_allclose(local_linear_matrix(X).toarray(), whole, atol=1e-12)


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


@each("shape", [(30, 8), (15, 40)])
@each("convert", [np.asarray, sp.csr_array])
def test_alignment_equals_the_transcription(shape, convert):
    X = points(*shape)

    found = tangent_alignment_matrix(convert(X), 5, n_components=2).toarray()

    np.testing.assert_allclose(found, naive_alignment(X, 5, 2), atol=1e-9)


@each("n_neighbors", [4, 7])
def test_alignment_annihilates_constants_and_coordinates_of_flat_data(n_neighbors):
    flat = points(40, 2)
    X = flat @ points(2, 9, seed=1) + 5.0
    matrix = tangent_alignment_matrix(X, n_neighbors, n_components=2)
    coordinates = np.column_stack([np.ones(40), flat])

    assert np.abs(matrix @ coordinates).max() < 1e-9
    assert np.abs(matrix @ flat**2).max() > 0.1
    assert np.linalg.eigvalsh(matrix.toarray()).min() > -1e-10


def test_equal_samples_leave_the_constant_alone():
    X = np.repeat(points(5, 3), 8, axis=0)

    matrix = tangent_alignment_matrix(X, 5)

    np.testing.assert_allclose(matrix @ np.ones(40), 0, atol=1e-10)

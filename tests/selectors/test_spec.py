"""SPEC against reference numbers, the full spectrum and its direction."""

import numpy as np
import oracle_files
import pytest
import scipy.sparse as sp

from ufselect import SPEC
from ufselect.matrix import as_matrix
from ufselect.solvers.graph_scores import leading_agreement, nontrivial_spectrum
from ufselect.solvers.graphs import normalised_laplacian


def naive_functions(X, graph, n_clusters, exponent=1.0):
    """Return phi1, phi2 and phi3 from all eigenvectors."""
    values, vectors = np.linalg.eigh(
        normalised_laplacian(sp.csr_array(graph)).toarray()
    )
    values = np.maximum(values, 0.0) ** exponent
    weighted = np.sqrt(graph.sum(axis=1))[:, np.newaxis] * X
    squares = (vectors.T @ (weighted / np.linalg.norm(weighted, axis=0))) ** 2
    few = slice(1, n_clusters)
    return (
        values @ squares,
        values[1:] @ squares[1:] / (1 - squares[0]),
        (2**exponent - values[few]) @ squares[few],
    )


@pytest.mark.parametrize("letter", ["A", "B"])
def test_scores_are_the_reference_numbers(letter):
    X = oracle_files.inputs(letter)["X"]

    for parameters, values in oracle_files.runs("spec", letter):
        phi = parameters["phi"]
        selector = SPEC(phi=phi, n_clusters=3, weights="binary").fit(X)
        expected = np.array(values["score"])
        expected = expected if phi == 3 else 1 - expected

        np.testing.assert_allclose(selector.scores_, expected, rtol=1e-6)


@pytest.mark.parametrize("phi", [1, 2, 3])
@pytest.mark.parametrize("exponent", [0.25, 1.0, 4.0])
def test_scores_equal_those_of_the_full_spectrum(phi, exponent):
    given = oracle_files.inputs("A")
    expected = naive_functions(given["X"], given["S"], 4, exponent)[phi - 1]
    selector = SPEC(phi=phi, n_clusters=4, weights="binary", exponent=exponent)
    found = selector.fit(given["X"]).scores_

    # The rounded eigenvalue zero of the transcription is 1e-4 after a quarter power.
    np.testing.assert_allclose(
        found,
        expected if phi == 3 else 1 - expected,
        rtol=1e-3 if exponent < 1 else 1e-8,
    )


def test_trivial_vector_is_left_out_of_a_graph_in_two_pieces():
    piece = np.ones((4, 4)) - np.eye(4)
    graph = sp.csr_array(np.kron(np.eye(2), piece))
    values, vectors = nontrivial_spectrum(graph, 1)

    assert values[0] == pytest.approx(0, abs=1e-10)
    assert np.ptp(np.sign(vectors[:, 0])) == 2


def test_a_feature_that_tells_the_pieces_apart_agrees_most():
    piece = np.ones((4, 4)) - np.eye(4)
    graph = sp.csr_array(np.kron(np.eye(2), piece))
    X = np.column_stack([np.repeat([1.0, -1.0], 4), np.tile([1.0, -1.0], 4)])
    agreement = leading_agreement(as_matrix(X), graph, 2)

    np.testing.assert_allclose(agreement, [2.0, 0.0], atol=1e-10)


def test_graph_is_not_the_identity_in_many_dimensions():
    # B7. With a Gaussian kernel of width one all samples would be alone.
    X = np.random.RandomState(0).standard_normal((30, 1000))

    assert np.ptp(SPEC().fit(X).scores_) > 0.1

"""MCFS against reference numbers, a plain transcription, and known faults of others."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from oracle_files import all_runs, inputs
from sklearn.linear_model import lars_path

from ufselect import MCFS
from ufselect.matrix import as_matrix
from ufselect.selectors.mcfs import unit_columns
from ufselect.solvers.graphs import degrees, laplacian, neighbour_graph
from ufselect.solvers.lars import elastic_net_points
from ufselect.solvers.ridge import ranked_below
from ufselect.solvers.spectral import spectral_embedding


def unit_length(X):
    centred = X - X.mean(axis=0)
    return centred / np.linalg.norm(centred, axis=0)


def raw_coefficients(X, embedding, n_nonzero, ridge=1e-3):
    points = elastic_net_points(as_matrix(X), embedding, n_nonzero, ridge)
    entry = np.max([point.entry for point in points], axis=0)
    return np.column_stack([point.coef for point in points]), entry


@pytest.mark.parametrize(("name", "run"), list(all_runs("mcfs")))
def test_it_equals_the_numbers_of_the_public_code(name, run):
    given, values, data = run["parameters"], run["values"], inputs(name)
    X = data["X"] if given["X"] == "X" else unit_length(data["X"])
    embedding = spectral_embedding(sp.csr_array(data["S"]), given["K"])

    coef, entry = raw_coefficients(X, embedding, given["d"], given["ridge"])
    coef = unit_columns(coef)
    scores = ranked_below(np.abs(coef).max(axis=1), entry)
    inside = np.array(values["score"]) > 0

    largest = np.abs(coef).max(axis=1)
    expected = np.abs(values["coefficients"])
    np.testing.assert_allclose(np.abs(coef), expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(largest, values["score"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(scores[inside], largest[inside], rtol=1e-12)
    assert np.argsort(-scores)[: given["d"]].tolist() == values["selected"]


def transcription(X, n_clusters, n_nonzero, ridge=1e-3):
    """Return the scores by dense algebra and scikit-learn's path."""
    Z = unit_length(X)
    graph = neighbour_graph(Z, 5, weights="heat")
    L, D = laplacian(graph).toarray(), np.diag(degrees(graph))
    functions = scipy.linalg.eigh(L, D)[1][:, 1 : n_clusters + 1]
    augmented = np.vstack([Z, np.sqrt(ridge) * np.eye(X.shape[1])])
    scores = np.zeros(X.shape[1])
    for y in functions.T:
        target = np.concatenate([y, np.zeros(X.shape[1])])
        _, _, path = lars_path(augmented, target, method="lasso")
        counts = np.count_nonzero(path, axis=0)
        a = path[:, np.flatnonzero(counts == n_nonzero)[0]]
        scores = np.maximum(scores, np.abs(a) / np.linalg.norm(a))
    return scores


@pytest.mark.parametrize("shape", [(60, 12), (24, 40), (15, 50)])
@pytest.mark.parametrize("n_nonzero", [2, 6, 11])
def test_it_equals_the_transcription(planted, shape, n_nonzero):
    # Close enough for one graph: of several parts any basis would do.
    X = planted(*shape, n_informative=6, distance=1.0).X

    expected = transcription(X, 3, n_nonzero)
    selector = MCFS(n_nonzero, n_clusters=3, standardize="features").fit(X)
    inside = expected > 0

    np.testing.assert_allclose(selector.scores_[inside], expected[inside], rtol=1e-6)
    assert selector.scores_[~inside].max(initial=0) < expected[inside].min()


def test_more_features_than_samples_can_be_had(planted):
    selector = MCFS(40, n_clusters=2).fit(planted(15, 50).X)

    assert (np.count_nonzero(selector.coef_, axis=0) == 40).all()


# Faults of public code


def test_regressions_count_alike_whatever_their_size(planted):
    # Without unit length, the easily predicted functions would decide alone.
    X = planted(60, 12, n_informative=6).X
    selector = MCFS(4, n_clusters=3).fit(X)
    plain, _ = raw_coefficients(unit_length(X), selector.embedding_, 4)
    sizes = np.linalg.norm(plain, axis=0)

    np.testing.assert_allclose(np.linalg.norm(selector.coef_, axis=0), 1.0)
    np.testing.assert_allclose(selector.coef_, plain / sizes, atol=1e-6)
    assert sizes.max() > 1.1 * sizes.min()


# Parameters


def test_the_bandwidth_is_in_units_of_X(planted):
    X = planted(40, 12, distance=1.0).X
    graph = neighbour_graph(X, 5, weights="heat", bandwidth=1.0)
    expected = spectral_embedding(graph, 3)

    found = MCFS(3, n_clusters=3, sigma=1.0, standardize=False).fit(X).embedding_

    np.testing.assert_allclose(found, expected, atol=1e-8)

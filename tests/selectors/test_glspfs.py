"""GLSPFS: what its solvers prove, seen through the selector."""

import numpy as np
import pytest
from each_case import each
from sklearn.base import clone

from ufselect import GLSPFS, SPFS
from ufselect.selectors.glspfs import AUTO_R1
from ufselect.solvers.graphs import (
    centred_kernel,
    gaussian_kernel,
    kernel_root,
    laplacian,
    neighbour_graph,
)
from ufselect.solvers.neighbourhoods import (
    local_linear_matrix,
    tangent_alignment_matrix,
)

SHAPE = each("shape", [(60, 30), (40, 100)])


def local_matrix(X, kind):
    if kind == "lle":
        return local_linear_matrix(X, 5).toarray()
    if kind == "ltsa":
        return tangent_alignment_matrix(X, 5, n_components=3).toarray()
    return laplacian(neighbour_graph(X, 5, weights="heat")).toarray()


def naive(X, r1, r2, n_iterations, local):
    """Return W with every matrix written out, p x p, for centred X."""
    squared = np.sum((X[:, np.newaxis] - X) ** 2, axis=2)
    target = kernel_root(centred_kernel(gaussian_kernel(squared)), share=0.999)
    metric = np.eye(len(X)) + r2 * local_matrix(X, local)
    weights = np.ones(X.shape[1])
    for _ in range(n_iterations):
        system = X.T @ metric @ X + r1 * np.diag(weights)
        coef = np.linalg.solve(system, X.T @ target)
        weights = 1 / (2 * np.linalg.norm(coef, axis=1))
    return coef


@SHAPE
@each("local", ["neighbours", "lle", "ltsa"])
def test_it_equals_the_formulas_written_out(planted, shape, local):
    # In units where |X - mean|^2 = n the selector changes nothing but the mean.
    X = planted(*shape).X
    X = X - X.mean(axis=0)
    X *= np.sqrt(len(X) / np.sum(X**2))
    structure = {"local": local, "n_components": 3}
    selector = GLSPFS(
        r1=0.05, r2=0.5, standardize=False, tol=1e-9, max_iter=2000, **structure
    )

    coef = selector.fit(X + 7.0).coef_
    expected = naive(X, 0.05, 0.5, selector.n_iter_, local)

    norms, others = np.linalg.norm(coef, axis=1), np.linalg.norm(expected, axis=1)
    np.testing.assert_allclose(norms, others, atol=1e-6 * others.max())


@SHAPE
def test_it_finds_the_columns_that_carry_clusters(planted, shape):
    hits = []
    for seed in range(5):
        given = planted(*shape, n_informative=8, seed=seed)
        found = GLSPFS(8).fit(given.X).get_support(indices=True)
        hits.append(len(np.intersect1d(found, given.informative)))

    assert np.mean(hits) >= 5


def test_without_local_structure_it_is_the_group_lasso_of_spfs(planted):
    # With every column of Y in both, and r1 = 2 lam for the half before the error.
    X = planted(30, 12).X
    peer = SPFS(
        strategy="group-lasso", n_clusters=30, lam=0.05, standardize=False, tol=1e-12
    )
    selector = GLSPFS(r1=0.1, r2=0.0, standardize=False, tol=1e-13, max_iter=5000)

    scores = selector.fit(X).scores_
    expected = np.linalg.norm(peer.fit(X).coef_, axis=1)

    # Y is cut off at 99.9 % of the trace.
    np.testing.assert_allclose(scores, expected, atol=2e-2 * expected.max())


def test_a_given_r1_is_that_of_the_printed_objective(planted):
    X = planted(40, 30).X
    automatic = GLSPFS().fit(X)

    given = clone(automatic).set_params(r1=automatic.r1_).fit(X)

    np.testing.assert_allclose(given.scores_, automatic.scores_, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:GLSPFS stopped after")
@each("shape", [(30, 60), (60, 40)])
def test_rows_that_underflow_are_ranked_by_their_distance_to_the_model(shape):
    random = np.random.default_rng(0)
    X = random.normal(size=shape) * np.geomspace(1.0, 0.2, shape[1])
    places = random.permutation(shape[1])
    largest = GLSPFS(standardize=False).fit(X).r1_ / AUTO_R1
    selector = GLSPFS(r1=0.95 * largest, standardize=False, tol=0.0, max_iter=1500)

    scores, permuted = (selector.fit(each).scores_ for each in (X, X[:, places]))

    assert len(np.unique(scores)) == shape[1]
    np.testing.assert_array_equal(np.argsort(-scores), places[np.argsort(-permuted)])

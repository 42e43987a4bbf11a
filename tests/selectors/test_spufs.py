"""SPUFS: the p x p formulas, the multi-task lasso, and the peer that took columns."""

import numpy as np
import pytest
from each_case import each
from sklearn.base import clone
from sklearn.linear_model import MultiTaskLasso

from ufselect import SPUFS
from ufselect.matrix import as_matrix
from ufselect.selectors.spufs import AUTO_ALPHA
from ufselect.solvers.graphs import laplacian, neighbour_graph
from ufselect.solvers.structured_ridge import fit_structured, self_expression

SHAPE = each("shape", [(60, 30), (25, 60)])


def unit_size(X):
    """Return centred X in units where ``|X|^2 = p``, as the fit has it."""
    X = X - X.mean(axis=0)
    return X * np.sqrt(X.shape[1] / np.sum(X**2))


def naive(X, alpha, beta, n_iterations, axis=1):
    """Return W with every matrix written out; axis=0 is the fault of a peer."""
    graph = laplacian(neighbour_graph(X, 5, weights="heat")).toarray()
    weights = np.ones(X.shape[1])
    for _ in range(n_iterations):
        system = X.T @ X + beta * X.T @ graph @ X + alpha * np.diag(weights)
        coef = np.linalg.solve(system, X.T @ X)
        weights = 1 / (2 * np.linalg.norm(coef, axis=axis))
    return coef


@SHAPE
def test_it_equals_the_formulas_written_out_and_not_those_by_columns(planted, shape):
    X = unit_size(planted(*shape).X)
    selector = SPUFS(alpha=0.5, beta=0.3, standardize=False).fit(X + 7.0)

    rows = np.linalg.norm(naive(X, 0.5, 0.3, selector.n_iter_), axis=1)
    columns = np.linalg.norm(naive(X, 0.5, 0.3, selector.n_iter_, axis=0), axis=0)

    np.testing.assert_allclose(selector.scores_, rows, atol=1e-6 * rows.max())
    assert np.abs(selector.scores_ - columns).max() > 0.1 * rows.max()


@SHAPE
def test_without_a_graph_it_is_the_multi_task_lasso(planted, shape):
    X = unit_size(planted(*shape).X)
    selector = SPUFS(alpha=1.0, beta=0.0, standardize=False, tol=1e-12, max_iter=20_000)
    peer = MultiTaskLasso(
        alpha=1.0 / (2 * len(X)), fit_intercept=False, tol=1e-12, max_iter=100_000
    )

    expected = np.linalg.norm(peer.fit(X, X).coef_.T, axis=1)

    np.testing.assert_allclose(
        selector.fit(X).scores_, expected, atol=1e-3 * expected.max()
    )


@SHAPE
def test_it_satisfies_the_optimality_conditions(planted, shape):
    X = unit_size(planted(*shape).X)
    graph = laplacian(neighbour_graph(X, 5, weights="heat"))
    problem, _ = self_expression(as_matrix(X), graph, 0.3)
    coef = fit_structured(problem, 0.5, max_iter=20_000, tol=1e-12).coef
    target = X if shape[1] <= shape[0] else problem.target

    force = 2 * X.T @ (target - X @ coef) - 2 * 0.3 * X.T @ (graph @ X @ coef)
    norms = np.linalg.norm(coef, axis=1)
    active = norms > 1e-2 * norms.max()
    direction = coef[active] / norms[active, np.newaxis]

    np.testing.assert_allclose(force[active], 0.5 * direction, atol=5e-3)
    assert np.linalg.norm(force, axis=1).max() <= 0.5 * (1 + 1e-2)


@SHAPE
def test_it_finds_the_columns_that_carry_clusters(planted, shape):
    hits = []
    for seed in range(5):
        given = planted(*shape, n_informative=8, seed=seed)
        found = SPUFS(8, standardize=False).fit(given.X).get_support(indices=True)
        hits.append(len(np.intersect1d(found, given.informative)))

    assert np.mean(hits) >= 5


def test_a_given_alpha_is_that_of_the_printed_objective(planted):
    X = planted(40, 30).X
    automatic = SPUFS().fit(X)

    given = clone(automatic).set_params(alpha=automatic.alpha_).fit(X)

    np.testing.assert_allclose(given.scores_, automatic.scores_, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:SPUFS stopped after")
@each("shape", [(30, 60), (60, 40)])
def test_rows_that_underflow_are_ranked_by_their_distance_to_the_model(shape):
    random = np.random.default_rng(0)
    X = random.normal(size=shape) * np.geomspace(1.0, 0.2, shape[1])
    places = random.permutation(shape[1])
    largest = SPUFS(standardize=False).fit(X).alpha_ / AUTO_ALPHA
    selector = SPUFS(alpha=0.95 * largest, standardize=False, tol=0.0, max_iter=1500)

    scores, permuted = (selector.fit(each).scores_ for each in (X, X[:, places]))

    assert len(np.unique(scores)) == shape[1]
    np.testing.assert_array_equal(np.argsort(-scores), places[np.argsort(-permuted)])

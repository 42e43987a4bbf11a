"""The formulas of GLSPFS and SPUFS, every matrix written out."""

import numpy as np
from regression_properties import DescentProperties, row_norms

from ufselect.solvers.graphs import laplacian, neighbour_graph


def heat_laplacian(X):
    return laplacian(neighbour_graph(X, 5, weights="heat"))


def unit_size(X, size):
    """Return centred X in units where ``|X|^2 = size``, as the fit has it."""
    X = X - X.mean(axis=0)
    return X * np.sqrt(size / np.sum(X**2))


def reweighted(X, Y, L, rho, penalty, n_iterations, axis=1):
    """Return W and the objectives, p x p, as printed; axis=0 is the fault of a peer."""
    L = L.toarray()
    D, history = np.ones(X.shape[1]), []
    for _ in range(n_iterations):
        system = X.T @ (np.eye(len(X)) + rho * L) @ X + penalty * np.diag(D)
        W = np.linalg.solve(system, X.T @ Y)
        norms = np.linalg.norm(W, axis=axis)
        D = 1 / (2 * norms)
        smooth = np.trace(W.T @ X.T @ L @ X @ W)
        error = np.sum((X @ W - Y) ** 2)
        history.append(error + rho * smooth + penalty * norms.sum())
    return W, history


def ranked(X, Y, L, rho, penalty, W):
    """Return row norms, and below them the KKT ratios of rows that are nearly zero."""
    norms = row_norms(W)
    inside = norms > 1e-12 * norms.max()
    W = np.where(inside[:, np.newaxis], W, 0.0)
    ratios = 2 * row_norms(X.T @ (Y - X @ W - rho * L @ X @ W)) / penalty
    return np.where(inside, norms, 0.999 * norms[inside].min() * np.minimum(ratios, 1))


class ConvexProperties(DescentProperties):
    """Tests that GLSPFS and SPUFS inherit, beside those of all methods."""

    SHAPES = ((60, 30), (25, 60))
    # For p <= n the error is a difference of numbers as large as |Y|^2.
    ROUNDING = 1e-8

    def test_rows_that_underflow_are_ranked_by_their_kkt_ratio(self, X):
        random = np.random.default_rng(0)
        X = random.normal(size=X.shape) * np.geomspace(1.0, 0.2, X.shape[1])
        places, name = random.permutation(X.shape[1]), self.METHOD.PENALTY
        automatic = self.fitted(X, standardize=False)
        # Close to the penalty at which W = 0, of which "auto" is a share of 0.6.
        settings = {name: 0.95 / 0.6 * getattr(automatic, f"{name}_")}
        settings |= {"standardize": False, "tol": 0.0, "max_iter": 1500}

        scores = self.fitted(X, **settings).scores_
        permuted = self.fitted(X[:, places], **settings).scores_

        assert len(np.unique(scores)) == X.shape[1]
        np.testing.assert_array_equal(
            np.argsort(-scores), places[np.argsort(-permuted)]
        )

    def test_scores_without_a_graph_are_those_of_the_multi_task_lasso(self, X):
        name = self.METHOD.PENALTY
        fitted = self.fitted(
            X, standardize=False, tol=0.0, max_iter=20_000, **{self.RHO: 0.0}
        )

        W = self.multi_task_lasso(X, getattr(fitted, f"{name}_"))

        norms, inside = row_norms(W), np.any(W != 0, axis=1)
        np.testing.assert_allclose(
            fitted.scores_[inside], norms[inside], atol=1e-4 * norms.max()
        )
        assert fitted.scores_[~inside].max(initial=0) <= 1e-4 * norms.max()

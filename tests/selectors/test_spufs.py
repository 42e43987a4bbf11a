"""SPUFS: its formulas written out, an independent library, and its properties."""

import numpy as np
from regression_properties import weight_in
from sklearn.linear_model import MultiTaskLasso
from structured_formulas import (
    ConvexProperties,
    heat_laplacian,
    ranked,
    reweighted,
    unit_size,
)

from ufselect import SPUFS


class TestSPUFS(ConvexProperties):
    METHOD = SPUFS
    RHO = "beta"
    SETTINGS = (
        {"alpha": 5.0, "beta": 0.3, "standardize": False},
        {"standardize": False, "beta": 2.0},
    )

    def test_scores_are_the_row_norms_of_the_coefficients(self, X):
        # For p > n, W is known up to an orthogonal matrix: it is not kept.
        assert not hasattr(self.fitted(X), "coef_")

    def written_out(self, fitted, X):
        X = X - X.mean(axis=0)
        unit = np.sqrt(X.shape[1]) / np.linalg.norm(X)
        X, alpha = unit * X, weight_in(fitted, "alpha") * unit**2
        problem = X, X, heat_laplacian(X), fitted.beta, alpha
        W, history = reweighted(*problem, fitted.n_iter_)
        return ranked(*problem, W), np.array(history) / unit**2

    def multi_task_lasso(self, X, alpha):
        X = X - X.mean(axis=0)
        peer = MultiTaskLasso(
            alpha / (2 * len(X)), fit_intercept=False, tol=1e-10, max_iter=100_000
        )
        return peer.fit(X, X).coef_.T

    def test_scores_are_not_those_by_columns(self, X):
        # A public implementation weighs and ranks by columns of W.
        X = unit_size(X, X.shape[1])
        fitted = self.fitted(X, beta=0.3, standardize=False)

        problem = X, X, heat_laplacian(X), 0.3, fitted.alpha_, fitted.n_iter_
        columns = np.linalg.norm(reweighted(*problem, axis=0)[0], axis=0)

        assert np.abs(fitted.scores_ - columns).max() > 0.1 * fitted.scores_.max()

"""Responses: a ridge regression as a linear map, and the bound that it is."""

import numpy as np
import pytest
from numerics.naive import group_lasso_objective, planted

from ufselect.matrix import as_matrix
from ufselect.numerics.least_squares import Target
from ufselect.numerics.responses import FeatureResponse, SampleResponse
from ufselect.numerics.row_sparse import RowSparseRegression

INDEX = np.array([7, 2, 5, 11])


@pytest.fixture
def data():
    X, _ = planted(20, 12)
    return X - X.mean(axis=0), np.random.default_rng(0).normal(size=(20, 3))


def responses(X, slack):
    Z = X[:, INDEX]
    return {
        "features": FeatureResponse(as_matrix(X), INDEX, Z.T @ Z, slack),
        "samples": SampleResponse(as_matrix(Z), slack),
    }


@pytest.mark.parametrize("kind", ["features", "samples"])
@pytest.mark.parametrize("slack", [np.full(4, 0.3), np.array([2.0, 0.0, 1e-6, 40.0])])
def test_both_are_the_ridge_regression(data, kind, slack):
    X, Y = data
    Z = X[:, INDEX] * np.sqrt(slack)
    coef = np.linalg.solve(Z.T @ Z + np.eye(4), Z.T @ Y) * np.sqrt(slack)[:, None]

    response = responses(X, slack)[kind]

    np.testing.assert_allclose(response.rows(Target.of(Y)), coef, atol=1e-12)
    np.testing.assert_allclose(response.fitted(Y), X[:, INDEX] @ coef, atol=1e-10)


def test_coefficients_have_a_row_for_every_feature(data):
    X, Y = data
    response = responses(X, np.full(4, 0.3))["features"]

    coef = response.coef(X.T @ Y)

    np.testing.assert_allclose(coef[INDEX], response.rows(Target.of(Y)))
    assert not np.delete(coef, INDEX, axis=0).any()


class TestOfRegression:
    def regression(self, X, Y, penalty):
        regression = RowSparseRegression(as_matrix(X), 3)
        regression.improve(Target.of(Y), penalty)
        return regression

    @pytest.mark.parametrize("shape", [(60, 20), (10, 40)])
    def test_following_a_target_that_moved_never_rises(self, shape):
        X, _ = planted(*shape)
        X = X - X.mean(axis=0)
        Y, other = np.random.default_rng(0).normal(size=(2, shape[0], 3))
        penalty = 0.3 * np.linalg.norm(2 * X.T @ Y, axis=1).max()

        for share in (0.0, 0.1, 1.0):
            regression = self.regression(X, Y, penalty)
            response = regression.sample_response(penalty)
            moved = Y + share * other
            before = group_lasso_objective(X, moved, regression.full_coef(), penalty)
            regression.follow(response, Target.of(moved))
            after = group_lasso_objective(X, moved, regression.full_coef(), penalty)

            assert after <= before * (1 + 1e-12)

    def test_there_is_none_for_nothing(self, data):
        X, Y = data

        regression = self.regression(X, Y, 1e9)

        assert regression.sample_response(1e9) is None
        assert regression.feature_response(1e9) is None

    def test_there_is_none_through_features_without_their_gram_matrix(self, data):
        X, Y = data
        regression = RowSparseRegression(as_matrix(X), 3, form="dual")

        regression.improve(Target.of(Y), 1e-3)

        assert regression.feature_response(1e-3) is None
        assert regression.sample_response(1e-3) is not None

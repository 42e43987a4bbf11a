"""Ridge regression with one weight per feature."""

import numpy as np
import pytest

from ufselect.matrix import as_matrix
from ufselect.solvers.ridge import (
    ridge_through_features,
    ridge_through_samples,
    solve_identity_plus,
)

SHAPES = [(30, 8), (8, 30), (12, 12)]


def problem(shape, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=shape)
    target = random.normal(size=(shape[0], 3))
    inverse_D = random.uniform(0.01, 10, size=shape[1])
    return X, target, inverse_D


def explicit(X, target, inverse_D):
    return np.linalg.inv(X.T @ X + np.diag(1 / inverse_D)) @ X.T @ target


@pytest.mark.parametrize("shape", SHAPES)
def test_through_features_equals_the_explicit_inverse(shape):
    X, target, inverse_D = problem(shape)

    coef = ridge_through_features(X.T @ X, X.T @ target, inverse_D)

    np.testing.assert_allclose(
        coef, explicit(X, target, inverse_D), rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_through_samples_equals_the_explicit_inverse(shape):
    X, target, inverse_D = problem(shape)

    coef, residual = ridge_through_samples(as_matrix(X), target, inverse_D)

    np.testing.assert_allclose(
        coef, explicit(X, target, inverse_D), rtol=1e-8, atol=1e-10
    )
    np.testing.assert_allclose(residual, target - X @ coef, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_feature_without_inverse_weights_has_no_part(shape):
    X, target, inverse_D = problem(shape)
    inverse_D[[1, 4]] = 0.0
    rest = np.flatnonzero(inverse_D)

    features = ridge_through_features(X.T @ X, X.T @ target, inverse_D)
    samples, _ = ridge_through_samples(as_matrix(X), target, inverse_D)

    expected = explicit(X[:, rest], target, inverse_D[rest])
    for coef in (features, samples):
        assert not coef[[1, 4]].any()
        np.testing.assert_allclose(coef[rest], expected, rtol=1e-8, atol=1e-10)


def test_inverse_D_of_very_different_size_do_no_harm():
    X, target, _ = problem((20, 20))
    inverse_D = np.logspace(-300, 4, 20)

    features = ridge_through_features(X.T @ X, X.T @ target, inverse_D)
    samples, _ = ridge_through_samples(as_matrix(X), target, inverse_D)

    np.testing.assert_allclose(features, samples, rtol=1e-6, atol=1e-9)


def test_the_gram_matrix_is_left_alone():
    X, target, inverse_D = problem((30, 8))
    gram = X.T @ X
    kept = gram.copy()

    ridge_through_features(gram, X.T @ target, inverse_D)

    np.testing.assert_array_equal(gram, kept)


def test_identity_plus_zero_returns_the_right_side():
    right = np.arange(6.0).reshape(3, 2)

    np.testing.assert_array_equal(solve_identity_plus(np.zeros((3, 3)), right), right)


def test_rounding_beside_huge_entries_is_not_taken_for_a_direction():
    # Two equal features, whose Gram matrix rounding makes indefinite.
    gram = 1e20 * np.array([[1.0, 1.0 + 1e-15], [1.0 + 1e-15, 1.0]])

    coef = ridge_through_features(gram, 1e20 * np.ones((2, 1)), np.ones(2))

    np.testing.assert_allclose(coef, 0.5, rtol=1e-6)

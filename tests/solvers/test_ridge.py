"""Ridge regression with one weight per feature."""

import numpy as np
import pytest

from ufselect.matrix import as_matrix
from ufselect.solvers.ridge import (
    FeatureRidge,
    IdentityPlus,
    ReweightedRidge,
    SampleRidge,
    column_lengths,
    has_vanished,
)


def problem(shape, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=shape)
    target = random.normal(size=(shape[0], 3))
    return X, target, random.uniform(0.01, 10, size=shape[1])


@pytest.mark.parametrize("shape", [(30, 8), (8, 30), (12, 12)])
@pytest.mark.parametrize("left_out", [[], [1, 4], [0, 1, 2, 3]])
def test_every_form_equals_the_explicit_inverse(shape, left_out):
    X, target, inverse_D = problem(shape)
    inverse_D[left_out] = 0.0  # a feature without an inverse weight has no part
    rest, gram, XtY = np.flatnonzero(inverse_D), X.T @ X, X.T @ target
    inverse = np.linalg.inv(gram[np.ix_(rest, rest)] + np.diag(1 / inverse_D[rest]))
    expected = np.zeros((shape[1], 3))
    expected[rest] = inverse @ XtY[rest]
    ridge, samples = ReweightedRidge(as_matrix(X)), SampleRidge(as_matrix(X), inverse_D)
    residual_matrix = ridge.residual_matrix(inverse_D)
    # The same through the other side, and for some of the columns.
    fewer = ridge.only(rest)
    solved = (
        ridge.solve(target, inverse_D),
        ridge.solve(target, inverse_D, residual_matrix),
    )

    for coef in (
        FeatureRidge(gram, inverse_D).inverse(XtY),
        samples.inverse(XtY),
        *(coef for coef, _ in solved),
    ):
        assert not coef[left_out].any()
        np.testing.assert_allclose(coef, expected, rtol=1e-8, atol=1e-9)
    for residual in (
        samples.residual(target),
        residual_matrix @ target,
        *(residual for _, residual in solved),
    ):
        np.testing.assert_allclose(residual, target - X @ expected, atol=1e-9)
    np.testing.assert_allclose(
        fewer.solve(target, inverse_D[rest])[0], expected[rest], atol=1e-9
    )
    assert (fewer.gram is None) == (shape[1] > shape[0])
    np.testing.assert_array_equal(gram, X.T @ X)


def test_inverse_weights_of_very_different_size_do_no_harm():
    X, target, _ = problem((20, 20))
    inverse_D, XtY = np.logspace(-300, 4, 20), X.T @ target

    features = FeatureRidge(X.T @ X, inverse_D).inverse(XtY)
    samples = SampleRidge(as_matrix(X), inverse_D).inverse(XtY)

    np.testing.assert_allclose(features, samples, rtol=1e-6, atol=1e-9)


def test_rounding_beside_huge_entries_is_not_taken_for_a_direction():
    # Two equal features, whose Gram matrix rounding makes indefinite.
    gram = 1e20 * np.array([[1.0, 1.0 + 1e-15], [1.0 + 1e-15, 1.0]])
    right = np.arange(6.0).reshape(3, 2)

    coef = FeatureRidge(gram, np.ones(2)).inverse(1e20 * np.ones((2, 1)))

    np.testing.assert_allclose(coef, 0.5, rtol=1e-6)
    np.testing.assert_array_equal(IdentityPlus(np.zeros((3, 3))).solve(right), right)


@pytest.mark.parametrize("shape", [(20, 30), (30, 20)])
def test_reweighting_lowers_the_row_sparse_objective(shape):
    X, target, inverse_D = problem(shape)
    ridge, values = ReweightedRidge(as_matrix(X)), []

    for _ in range(20):
        coef, residual = ridge.solve(target, inverse_D / 4.0)
        norms = np.linalg.norm(coef, axis=1)
        values.append(np.sum(residual**2) + 4.0 * norms.sum())
        inverse_D = 2 * norms

    assert (np.diff(values) <= 1e-12 * values[0]).all()


def test_a_prediction_of_rounding_size_has_vanished():
    X, coef = problem((20, 5))[0] + 3.0, np.array([[1e-9, 0.0], [0.0, 0.0]])

    lengths = column_lengths(as_matrix(X))
    np.testing.assert_allclose(lengths, np.linalg.norm(X, axis=0), rtol=1e-12)
    assert has_vanished(coef, np.array([1e-4, 1.0]))
    assert not has_vanished(coef, np.array([1.0, 1.0]))

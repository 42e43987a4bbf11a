"""The path of CPFS, against its optimality and a plain transcription."""

import numpy as np
import oracle_files
import pytest

from ufselect.matrix import as_matrix
from ufselect.solvers import group_lasso
from ufselect.solvers.cpfs import (
    PathTooLong,
    fit_path,
    self_representation,
    thin_factor,
)

LETTER = pytest.mark.parametrize("letter", ["A", "B"], ids=["tall", "wide"])


def never(iteration, value):
    return False


def centred(letter):
    X = oracle_files.inputs(letter)["X"]
    return X - X.mean(axis=0)


def path(X, fractions, max_rows=None, **options):
    """Return the path at fractions of the largest penalty, and its penalties."""
    factor = thin_factor(as_matrix(X))
    penalties = largest_row_penalty(factor) * np.asarray(fractions)
    settings = {"max_iter": 100_000, "tol": 1e-10, "report": never} | options
    lasso = self_representation(factor, max_rows)
    return fit_path(lasso, penalties, **settings), penalties


def largest_row_penalty(factor):
    return self_representation(factor).kkt_ratios(1.0).max()


def full(fit, p):
    coef = np.zeros((p, p))
    coef[fit.active] = fit.coef
    return coef


def objective(X, coef, penalty):
    return np.sum((X - X @ coef) ** 2) + penalty * np.abs(coef).max(axis=1).sum()


def naive_prox(rows, amount):
    """Return rows minus their projection on the l1 ball, found by bisection."""
    sizes = np.abs(rows)
    low, high = np.zeros((len(rows), 1)), sizes.max(axis=1, keepdims=True)
    for _ in range(60):
        middle = (low + high) / 2
        below = np.maximum(sizes - middle, 0).sum(axis=1, keepdims=True) > amount
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    outside = sizes.sum(axis=1, keepdims=True) > amount
    return np.where(outside, np.clip(rows, -high, high), 0.0)


def naive_fista(X, penalty, n_steps):
    """Return W after textbook FISTA steps on the dense p x p problem."""
    G = X.T @ X
    L = 2 * np.linalg.norm(X, 2) ** 2
    W = Y = np.zeros_like(G)
    t = 1.0
    for _ in range(n_steps):
        Z = Y - (2 / L) * (G @ Y - G)
        new = naive_prox(Z, penalty / L)
        following = (1 + np.sqrt(1 + 4 * t * t)) / 2
        Y = new + ((t - 1) / following) * (new - W)
        W, t = new, following
    return W


# The factor


@LETTER
def test_factor_has_the_gram_matrix_of_the_data(letter):
    X = centred(letter)
    factor = thin_factor(as_matrix(X))

    assert len(factor) <= min(X.shape)
    np.testing.assert_allclose(factor.T @ factor, X.T @ X, atol=1e-10)


# The solution


@LETTER
@pytest.mark.parametrize("fraction", [0.8, 0.3, 0.05])
def test_solution_satisfies_the_optimality_conditions(letter, fraction):
    X = centred(letter)
    fit, (penalty,) = path(X, [fraction], tol=1e-13)
    coef = full(fit, X.shape[1])
    gradient = 2 * X.T @ (X @ coef - X)
    sums = np.abs(gradient).sum(axis=1)
    sizes = np.abs(coef).max(axis=1)
    aligned = -np.sum(gradient * coef, axis=1)

    assert (sums <= penalty * (1 + 1e-4)).all()
    np.testing.assert_allclose(sums[sizes > 1e-6], penalty, rtol=1e-4)
    np.testing.assert_allclose(aligned, penalty * sizes, atol=1e-4 * penalty)


@LETTER
def test_end_of_a_path_equals_the_plain_transcription(letter):
    X = centred(letter)
    fit, penalties = path(X, [0.7, 0.4, 0.2], tol=1e-12)
    expected = naive_fista(X, penalties[-1], 1500)
    found = full(fit, X.shape[1])

    assert objective(X, found, penalties[-1]) == pytest.approx(
        objective(X, expected, penalties[-1]), rel=1e-9
    )
    np.testing.assert_allclose(X @ found, X @ expected, atol=1e-3 * np.abs(X).max())


@LETTER
def test_gap_bounds_the_distance_to_the_minimum(letter):
    X = centred(letter)
    best, (penalty,) = path(X, [0.2], tol=1e-12)
    lowest = objective(X, full(best, X.shape[1]), penalty)

    for tol in [1e-2, 1e-4, 1e-6]:
        fit, _ = path(X, [0.2], tol=tol)
        excess = objective(X, full(fit, X.shape[1]), penalty) - lowest
        assert fit.gaps[0] <= tol
        assert excess <= fit.gaps[0] * np.sum(X**2) + 1e-9


@LETTER
def test_nothing_enters_above_the_largest_penalty_and_one_feature_just_below(letter):
    X = centred(letter)
    sums = 2 * np.abs(X.T @ X).sum(axis=1)
    largest = largest_row_penalty(thin_factor(as_matrix(X)))
    fit, _ = path(X, [0.9999])

    assert largest == pytest.approx(sums.max())
    assert not naive_fista(X, largest * 1.0001, 50).any()
    np.testing.assert_array_equal(fit.active, [sums.argmax()])


def test_orthogonal_features_shrink_one_by_one():
    X = np.diag([3.0, 2.0, 1.0])
    fit, (penalty,) = path(X, [0.2], tol=1e-14)

    assert penalty == pytest.approx(3.6)
    np.testing.assert_array_equal(fit.active, [0, 1])
    np.testing.assert_allclose(fit.coef[:, :2], np.diag([0.8, 0.55]), atol=1e-6)


@LETTER
def test_objective_never_rises_along_the_path(letter):
    X = centred(letter)
    fit, _ = path(X, np.geomspace(0.9, 0.05, 10), tol=1e-8)

    assert (np.diff(fit.history) <= 1e-12 * np.sum(X**2)).all()


@LETTER
def test_last_objective_is_that_of_the_coefficients(letter):
    X = centred(letter)
    fit, penalties = path(X, [0.5, 0.1])

    assert fit.history[-1] == pytest.approx(
        objective(X, full(fit, X.shape[1]), penalties[-1])
    )


@LETTER
def test_pace_of_growth_does_not_matter(letter, monkeypatch):
    X = centred(letter)
    at_once, _ = path(X, [0.1])
    monkeypatch.setattr(group_lasso, "LEAST_GROWTH", 1)
    slowly, _ = path(X, [0.1])

    assert len(slowly.history) > len(at_once.history)
    assert slowly.history[-1] == pytest.approx(at_once.history[-1], rel=1e-8)


@LETTER
def test_factor_and_data_give_the_same_path(letter):
    X = centred(letter)
    factor = thin_factor(as_matrix(X))
    penalties = largest_row_penalty(factor) * np.array([0.5, 0.2])
    options = {"max_iter": 100_000, "tol": 1e-10, "report": never}
    through_factor = fit_path(self_representation(factor), penalties, **options)
    through_data = fit_path(self_representation(X), penalties, **options)

    np.testing.assert_array_equal(through_factor.entry, through_data.entry)
    assert through_factor.history[-1] == pytest.approx(through_data.history[-1])


# Limits


def test_penalties_at_which_nothing_enters_are_solved_by_zero():
    fit, _ = path(centred("A"), [1.0 + 1e-6, 0.5])

    assert fit.gaps[0] == 0.0
    assert fit.entry.max() == 1


def test_working_set_beyond_the_allowed_rows_is_refused_with_the_place():
    X = centred("B")
    largest = largest_row_penalty(X)

    with pytest.raises(PathTooLong) as caught:
        path(X, [0.9, 0.05], max_rows=10)
    assert caught.value.n_rows > 10
    assert caught.value.last_lam == pytest.approx(0.9 * largest)


def test_path_ends_when_steps_run_out():
    fit, _ = path(centred("B"), [0.5, 0.2], max_iter=7)

    assert len(fit.history) == 7
    assert len(fit.lams) == 1
    assert not fit.converged


def test_path_ends_when_the_listener_says_so():
    fit, _ = path(centred("B"), [0.5], report=lambda iteration, value: iteration == 2)

    assert len(fit.history) == 3

"""Row-sparse regression: optimality, agreement of its forms, and its bounds."""

import numpy as np
import pytest
import scipy.sparse as sp
from numerics.naive import group_lasso_objective, planted, proximal_gradient
from sklearn.linear_model import MultiTaskLasso

from ufselect.matrix import as_matrix
from ufselect.numerics.least_squares import Target, choose_form
from ufselect.numerics.row_sparse import (
    RowSparseRegression,
    duality_gap,
    largest_penalty,
)
from ufselect.numerics.rows import row_norms, shrink_rows
from ufselect.numerics.working_set import TallWorkingSet, working_set

FORMS = ["auto", "primal", "dual", "first-order"]
SHAPES = [(60, 20), (25, 80), (40, 300)]


def problem(shape, share=0.2, seed=0):
    """Return X, a target that some columns explain, and a share of the largest."""
    random = np.random.default_rng(seed)
    X, _ = planted(*shape, seed=seed)
    X = X - X.mean(axis=0)
    coef = random.normal(size=(shape[1], 3)) * (random.random((shape[1], 1)) < 0.2)
    target = X @ coef + random.normal(size=(shape[0], 3))
    target -= target.mean(axis=0)
    return X, target, share * largest_penalty(as_matrix(X), target)


def moments(target, residual):
    """Return the sums from which a duality gap is computed."""
    fitted = target - residual
    return np.sum(target**2), (np.vdot(target, fitted), np.sum(fitted**2))


def solve(X, target, penalty, form="auto", tol=1e-8, max_rounds=100):
    regression = RowSparseRegression(as_matrix(X), target.shape[1], form=form)
    return regression.solve(Target.of(target), penalty, tol=tol, max_rounds=max_rounds)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", FORMS)
def test_conditions_of_optimality_hold(shape, form, share):
    X, target, penalty = problem(shape, share)

    coef = solve(X, target, penalty, form).coef
    pull = 2 * X.T @ (target - X @ coef) / penalty
    norms = np.linalg.norm(coef, axis=1)
    zero = norms == 0

    assert zero.any()
    assert not zero.all()
    assert np.linalg.norm(pull[zero], axis=1).max(initial=0.0) <= 1 + 1e-3
    large = norms > 1e-3 * norms.max()
    directions = coef[large] / norms[large, np.newaxis]
    np.testing.assert_allclose(pull[large], directions, atol=5e-3)


@pytest.mark.parametrize("share", [0.5, 0.1])
@pytest.mark.parametrize("shape", SHAPES)
def test_result_is_that_of_multi_task_lasso(shape, share):
    X, target, penalty = problem(shape, share)
    model = MultiTaskLasso(
        alpha=penalty / (2 * len(X)), fit_intercept=False, tol=1e-10, max_iter=100_000
    )

    expected = model.fit(X, target).coef_.T
    coef = solve(X, target, penalty).coef

    objectives = [
        group_lasso_objective(X, target, W, penalty) for W in (coef, expected)
    ]
    np.testing.assert_allclose(coef, expected, atol=1e-3 * np.abs(expected).max())
    np.testing.assert_allclose(objectives[0], objectives[1], rtol=1e-6)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("shape", SHAPES)
def test_all_forms_reach_the_same_objective(shape, share):
    X, target, penalty = problem(shape, share)

    objectives = [
        group_lasso_objective(X, target, solve(X, target, penalty, form).coef, penalty)
        for form in FORMS
    ]

    np.testing.assert_allclose(objectives, objectives[0], rtol=1e-6)


def test_no_objective_is_above_that_of_plain_proximal_gradient():
    X, target, penalty = problem((25, 80))
    plain = proximal_gradient(X, target, penalty, np.zeros((80, 3)), 5000)

    best = group_lasso_objective(X, target, plain, penalty)
    found = group_lasso_objective(X, target, solve(X, target, penalty).coef, penalty)

    assert found <= best * (1 + 1e-6)


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("form", FORMS)
def test_sparse_columns_give_the_same_rows(container, form):
    X, target, _ = problem((30, 60))
    X = np.where(np.abs(X) > 1, X, 0.0)
    shift, scale = X.mean(axis=0), np.linspace(0.5, 2, 60)
    explicit = (X - shift) * scale
    penalty = 0.1 * largest_penalty(as_matrix(explicit), target)
    matrix = as_matrix(container(X)).affine(shift, scale)

    found = RowSparseRegression(matrix, 3, form=form).solve(
        Target.of(target), penalty, tol=1e-8
    )
    expected = solve(explicit, target, penalty)

    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-3)


@pytest.mark.parametrize("form", FORMS)
def test_error_and_proximity_belong_to_the_coefficients(form):
    X, target, penalty = problem((25, 80))

    solution = solve(X, target, penalty, form)
    pull = 2 * np.linalg.norm(X.T @ (target - X @ solution.coef), axis=1) / penalty

    assert solution.error == pytest.approx(np.sum((target - X @ solution.coef) ** 2))
    np.testing.assert_allclose(solution.proximity, pull, atol=1e-8)


@pytest.mark.parametrize("max_rounds", [1, 2, 3])
@pytest.mark.parametrize("form", FORMS)
def test_a_solve_cut_short_returns_what_it_has(form, max_rounds):
    X, target, penalty = problem((25, 80))
    regression = RowSparseRegression(as_matrix(X), 3, form=form)

    solution = regression.solve(
        Target.of(target), penalty, tol=0.0, max_rounds=max_rounds
    )

    np.testing.assert_allclose(row_norms(solution.coef).sum(), regression.norm())


class TestDualityGap:
    @pytest.mark.parametrize("max_rounds", [1, 2, 3, 5, 10])
    @pytest.mark.parametrize("shape", SHAPES)
    def test_excess_is_never_above_the_gap(self, shape, max_rounds):
        X, target, penalty = problem(shape)
        optimum = group_lasso_objective(
            X, target, solve(X, target, penalty, tol=1e-9).coef, penalty
        )

        solution = solve(X, target, penalty, tol=0.0, max_rounds=max_rounds)
        value = group_lasso_objective(X, target, solution.coef, penalty)

        assert (value - optimum) / np.sum(target**2) <= solution.gap + 1e-9

    @pytest.mark.parametrize("seed", range(10))
    def test_it_bounds_the_excess_of_any_coefficients(self, seed):
        X, target, penalty = problem((25, 80))
        optimum = group_lasso_objective(
            X, target, solve(X, target, penalty, tol=1e-9).coef, penalty
        )
        coef = 0.1**seed * np.random.default_rng(seed).normal(size=(80, 3))
        residual = target - X @ coef
        proximity = 2 * row_norms(X.T @ residual).max() / penalty

        norm = row_norms(coef).sum()
        gap = duality_gap(*moments(target, residual), penalty, norm, proximity)
        excess = group_lasso_objective(X, target, coef, penalty) - optimum

        assert excess / np.sum(target**2) <= gap + 1e-9

    def test_it_is_reached(self):
        X, target, penalty = problem((25, 80))

        assert solve(X, target, penalty, tol=1e-9).gap <= 1e-9

    def test_it_is_zero_where_nothing_enters(self):
        target = np.ones((4, 2))

        assert duality_gap(*moments(target, target), 1.0, 0.0, 0.5) == 0.0


class TestLargestPenalty:
    @pytest.mark.parametrize("factor", [1.0, 1 + 1e-12, 1.5, 1e6])
    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("form", FORMS)
    def test_nothing_is_left_from_there_on(self, shape, form, factor):
        X, target, _ = problem(shape)
        penalty = factor * largest_penalty(as_matrix(X), target)

        coef = solve(X, target, penalty, form, tol=1e-14).coef

        assert not coef.any()

    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("form", FORMS)
    def test_something_is_left_just_below(self, shape, form):
        X, target, _ = problem(shape)
        penalty = (1 - 1e-4) * largest_penalty(as_matrix(X), target)

        coef = solve(X, target, penalty, form, tol=1e-14, max_rounds=20).coef

        assert coef.any()

    def test_it_is_the_largest_correlation_twice(self):
        X, target, _ = problem((30, 10))
        expected = max(2 * np.linalg.norm(column @ target) for column in X.T)

        assert largest_penalty(as_matrix(X), target) == pytest.approx(expected)


class TestMovingTarget:
    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("form", FORMS)
    def test_a_warm_start_ends_where_a_cold_one_does(self, shape, form):
        X, target, penalty = problem(shape)
        other = problem(shape, seed=1)[1]
        warm = RowSparseRegression(as_matrix(X), 3, form=form)

        for share in np.linspace(1, 0, 6):
            warm.improve(Target.of(target + share * other), penalty)
        values = [
            group_lasso_objective(X, target, solution.coef, penalty)
            for solution in (
                warm.solve(Target.of(target), penalty, tol=1e-8),
                solve(X, target, penalty, form),
            )
        ]

        assert values[0] == pytest.approx(values[1], rel=1e-6)

    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("form", FORMS)
    def test_improving_never_raises_the_objective(self, shape, form):
        X, target, penalty = problem(shape, 0.05)
        other = problem(shape, seed=1)[1]
        regression = RowSparseRegression(as_matrix(X), 3, form=form)
        fitted = np.zeros_like(target)

        for share in [1, 1, 1, 0.5, 0.4, 0.3, 0.3, 0.3, 0, 0, 0]:
            moved = target + share * other
            before = np.sum((moved - fitted) ** 2) + penalty * regression.norm()
            regression.improve(Target.of(moved), penalty)
            fitted = regression.fitted()
            after = np.sum((moved - fitted) ** 2) + penalty * regression.norm()

            assert after <= before * (1 + 1e-12)

    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("share", [0.1, 0.01])
    def test_a_long_rest_does_not_freeze_the_rows(self, shape, share):
        X, target, penalty = problem(shape, share)
        other = target + 0.3 * problem(shape, seed=1)[1]
        rested = RowSparseRegression(as_matrix(X), 3)
        for _ in range(200):
            rested.improve(Target.of(target), penalty)

        solution = rested.solve(Target.of(other), penalty, tol=1e-5)

        assert solution.gap <= 1e-5

    def test_improving_moves_from_nothing(self):
        X, target, penalty = problem((25, 80))
        regression = RowSparseRegression(as_matrix(X), 3)

        regression.improve(Target.of(target), penalty)

        assert regression.norm() > 0

    def test_rows_leave_when_the_target_no_longer_needs_them(self):
        X, target, penalty = problem((25, 80))
        regression = RowSparseRegression(as_matrix(X), 3)
        regression.solve(Target.of(target), penalty)

        coef = regression.solve(Target.of(0.1 * target), penalty, tol=1e-12).coef

        assert not coef.any()


class TestColumnsThatCancel:
    """Sums of columns that vanish, as those of centred dummy variables do."""

    @pytest.mark.parametrize("form", FORMS)
    def test_columns_and_their_negatives(self, form):
        X, target, _ = problem((30, 8))
        X = np.hstack([X, -X])
        penalty = 0.1 * largest_penalty(as_matrix(X), target)

        assert solve(X, target, penalty, form, tol=1e-8).gap <= 1e-8

    @pytest.mark.parametrize("form", FORMS)
    def test_dummy_variables(self, form):
        codes = np.arange(32) % 4
        X = np.eye(4)[codes] - 0.25
        target = np.random.default_rng(0).normal(size=(32, 3))
        penalty = 0.1 * largest_penalty(as_matrix(X), target)

        assert solve(X, target, penalty, form, tol=1e-8).gap <= 1e-8


def test_columns_of_zeros_stay_out():
    X, target, penalty = problem((30, 10))
    X[:, 4] = 0.0

    assert not solve(X, target, penalty).coef[4].any()


class TestForm:
    @pytest.mark.parametrize(
        ("shape", "form"),
        [
            ((1000, 50), "primal"),
            ((50, 5000), "dual"),
            ((50_000, 50_000), "first-order"),
        ],
    )
    def test_the_cheapest_is_chosen(self, shape, form):
        assert choose_form(*shape, 3) == form

    def test_more_targets_favour_factorisations(self):
        forms = [choose_form(5000, 5000, n_targets) for n_targets in (1, 100)]

        assert forms == ["first-order", "primal"]

    def test_few_features_share_one_gram_matrix(self):
        tall, wide = as_matrix(np.ones((9, 3))), as_matrix(np.ones((3, 10)))

        assert isinstance(working_set(tall, 2), TallWorkingSet)
        assert not isinstance(working_set(wide, 2), TallWorkingSet)

    def test_a_form_asked_for_is_used(self):
        X, target, penalty = problem((60, 20))

        for form in FORMS[1:]:
            regression = RowSparseRegression(as_matrix(X), 3, form=form)
            regression.improve(Target.of(target), penalty)
            name = type(regression._set.problem).__name__

            assert name.lower().startswith(form.replace("-", ""))


def test_shrinking_shortens_rows_by_the_amount():
    rows = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0], [0.0, 1.0]])

    expected = [[2.4, 3.2], [0, 0], [0, 0], [0, 0]]

    np.testing.assert_allclose(shrink_rows(rows, 1.0), expected)


def test_the_working_set_lets_go_of_rows_that_may_stay_zero():
    X, Y, penalty = problem((60, 30), share=0.01)
    regression = RowSparseRegression(as_matrix(X), Y.shape[1])
    regression.solve(Target.of(Y), penalty)
    before = len(regression._set.index)

    solution = regression.solve(Target.of(Y), 50 * penalty)

    n_rows = np.count_nonzero(solution.coef.any(axis=1))
    assert n_rows <= len(regression._set.index) < before

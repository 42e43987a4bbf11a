"""The group lasso: optimality for both penalties, agreement of its forms, bounds."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import MultiTaskLasso
from solvers.naive import group_lasso_objective, planted, proximal_gradient

from ufselect.matrix import RowBlockMatrix, as_matrix
from ufselect.selectors.cpfs import L1Inf
from ufselect.solvers.group_lasso import (
    CG_TOLERANCE,
    INEXACT_CG_STEPS,
    L21,
    GroupLasso,
    conjugate_gradients,
    largest_penalty,
    makes_gram,
)
from ufselect.solvers.ridge import row_norms
from ufselect.solvers.soft_partition import project_rows_to_simplex

FORMS = ["gram", "features", "samples", "neither", "blocks"]
SHAPES = [(60, 20), (25, 80), (40, 300)]
FORM = pytest.mark.parametrize("form", FORMS, indirect=True)
SHAPE = pytest.mark.parametrize("shape", SHAPES)


@pytest.fixture
def form(request, monkeypatch):
    """Let the group lasso factorise on one side; "gram" and "blocks" always can."""
    if request.param in ("features", "samples", "neither"):
        monkeypatch.setattr(GroupLasso, "_cheaper_side", lambda self: request.param)
    return request.param


def problem(shape, share=0.2, seed=0):
    """Return X, a target that some columns explain, and a share of the largest."""
    random = np.random.default_rng(seed)
    X, _ = planted(*shape, seed=seed)
    X = X - X.mean(axis=0)
    coef = random.normal(size=(shape[1], 3)) * (random.random((shape[1], 1)) < 0.2)
    target = X @ coef + random.normal(size=(shape[0], 3))
    target -= target.mean(axis=0)
    return X, target, share * largest_penalty(as_matrix(X), target)


def lasso_of(X, Y, form="columns"):
    """Return a group lasso with its target set."""
    matrix = as_matrix(X)
    if form == "blocks":
        matrix = RowBlockMatrix(X, block_bytes=8 * 7 * X.shape[1])
        matrix.out_of_core = True
    gram = matrix.feature_gram() if form == "gram" else None
    lasso = GroupLasso(matrix, Y.shape[1], gram=gram)
    set_target(lasso, Y, form)
    return lasso


def set_target(lasso, Y, form="columns"):
    XtY = lasso.X.transpose_dot(Y) if form == "blocks" else None
    lasso.set_target(np.sum(Y**2), Y=None if form == "blocks" else Y, XtY=XtY)


def solve(X, Y, lam, form="columns", tol=1e-8, max_rounds=100):
    return lasso_of(X, Y, form).solve(lam, tol=tol, max_rounds=max_rounds)


@SHAPE
@FORM
def test_conditions_of_optimality_hold(shape, form):
    for share in (0.5, 0.1, 0.01):
        X, target, lam = problem(shape, share)
        solution = solve(X, target, lam, form)
        coef, residual = solution.coef, target - X @ solution.coef
        pull = 2 * X.T @ residual / lam
        norms = np.linalg.norm(coef, axis=1)
        zero = norms == 0

        assert zero.any()
        assert not zero.all()
        assert np.linalg.norm(pull[zero], axis=1).max(initial=0.0) <= 1 + 1e-3
        large = norms > 1e-3 * norms.max()
        directions = coef[large] / norms[large, np.newaxis]
        np.testing.assert_allclose(pull[large], directions, atol=5e-3)
        assert solution.error == pytest.approx(np.sum(residual**2))
        ratios = np.linalg.norm(pull, axis=1)
        np.testing.assert_allclose(solution.kkt_ratios, ratios, atol=1e-8)


@SHAPE
def test_result_is_that_of_multi_task_lasso(shape):
    for share in (0.5, 0.1):
        X, target, lam = problem(shape, share)
        model = MultiTaskLasso(
            alpha=lam / (2 * len(X)), fit_intercept=False, tol=1e-10, max_iter=100_000
        )
        expected = model.fit(X, target).coef_.T
        coef = solve(X, target, lam).coef

        values = [group_lasso_objective(X, target, W, lam) for W in (coef, expected)]
        np.testing.assert_allclose(coef, expected, atol=1e-3 * np.abs(expected).max())
        np.testing.assert_allclose(values[0], values[1], rtol=1e-6)


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("form", FORMS[:4], indirect=True)
def test_sparse_columns_give_the_same_rows(container, form):
    X, target, _ = problem((30, 60))
    X = np.where(np.abs(X) > 1, X, 0.0)
    shift, scale = X.mean(axis=0), np.linspace(0.5, 2, 60)
    explicit = (X - shift) * scale
    lam = 0.1 * largest_penalty(as_matrix(explicit), target)
    matrix = as_matrix(container(X)).affine(shift, scale)
    gram = matrix.feature_gram() if form == "gram" else None

    lasso = GroupLasso(matrix, 3, gram=gram)
    set_target(lasso, target)
    found = lasso.solve(lam, tol=1e-8)

    np.testing.assert_allclose(found.coef, solve(explicit, target, lam).coef, atol=1e-3)


def test_the_duality_gap_bounds_the_excess_of_any_coefficients():
    X, target, lam = problem((25, 80))
    best = solve(X, target, lam, tol=1e-9)
    plain = proximal_gradient(X, target, lam, np.zeros((80, 3)), 5000)
    optimum = group_lasso_objective(X, target, best.coef, lam)
    lasso = lasso_of(X, target)
    lasso.admit(np.full(80, 2.0))

    assert best.gap <= 1e-9
    assert optimum <= group_lasso_objective(X, target, plain, lam) * (1 + 1e-6)
    for seed in range(10):
        coef = 0.1**seed * np.random.default_rng(seed).normal(size=(80, 3))
        lasso.place(coef)
        gap = lasso.gap(lam, lasso.kkt_ratios(lam).max())
        excess = group_lasso_objective(X, target, coef, lam) - optimum
        assert excess / np.sum(target**2) <= gap + 1e-9
    for max_rounds in (1, 2, 3, 5, 10):
        lasso = lasso_of(X, target)
        solution = lasso.solve(lam, tol=0.0, max_rounds=max_rounds)
        value = group_lasso_objective(X, target, solution.coef, lam)
        assert (value - optimum) / np.sum(target**2) <= solution.gap + 1e-9
        np.testing.assert_array_equal(solution.coef, lasso.coef())
    assert solve(X, target, 10 * lam).gap == pytest.approx(0.0, abs=1e-15)


@SHAPE
@FORM
def test_nothing_is_left_from_the_largest_penalty_on(shape, form):
    X, target, _ = problem(shape)
    largest = largest_penalty(as_matrix(X), target)
    below = solve(X, target, (1 - 1e-4) * largest, form, tol=1e-14, max_rounds=20)
    expected = max(2 * np.linalg.norm(column @ target) for column in X.T)

    for factor in (1.0, 1 + 1e-12, 1.5, 1e6):
        assert not solve(X, target, factor * largest, form, tol=1e-14).coef.any()
    assert below.coef.any()
    assert largest == pytest.approx(expected)


@SHAPE
@FORM
def test_no_step_rises_and_a_warm_start_ends_where_a_cold_one_does(shape, form):
    X, target, lam = problem(shape, 0.05)
    other = problem(shape, seed=1)[1]
    warm = lasso_of(X, target, form)

    for share in [1, 1, 1, 0.5, 0.4, 0.3, 0.3, 0.3, 0, 0, 0]:
        moved = target + share * other
        before = group_lasso_objective(X, moved, warm.coef(), lam)
        set_target(warm, moved, form)
        warm.admit(warm.kkt_ratios(lam))
        warm.descend(lam, 1, INEXACT_CG_STEPS)
        after = group_lasso_objective(X, moved, warm.coef(), lam)
        assert after <= before * (1 + 1e-12)
    solutions = warm.solve(lam, tol=1e-8), solve(X, target, lam, form)
    values = [group_lasso_objective(X, target, each.coef, lam) for each in solutions]

    assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_rows_leave_when_they_are_no_longer_needed():
    X, target, lam = problem((60, 30), share=0.01)
    lasso = lasso_of(X, target)
    lasso.solve(lam)
    before = len(lasso.S)

    solution = lasso.solve(50 * lam)

    n_rows = np.count_nonzero(solution.coef.any(axis=1))
    assert n_rows <= len(lasso.S) < before
    set_target(lasso, 0.001 * target)
    assert not lasso.solve(50 * lam, tol=1e-12).coef.any()


class TestRidge:
    """The ridge regression that touches, and the Newton step that it makes quick."""

    def at_some_W(self, shape, form, share=0.1):
        X, target, lam = problem(shape, share)
        lasso = lasso_of(X, target, form)
        lasso.solve(lam, tol=1e-1)
        return X, target, lam, lasso

    @SHAPE
    @pytest.mark.parametrize("form", ["features", "samples"], indirect=True)
    def test_it_lies_nowhere_below_and_touches(self, shape, form):
        X, target, lam, lasso = self.at_some_W(shape, form)
        V = lasso.coef()
        norms = row_norms(V)
        inside = norms > 0

        def majoriser(W):
            squares = np.sum(W[inside] ** 2, axis=1) / (2 * norms[inside])
            penalty = np.sum(squares + norms[inside] / 2)
            return np.sum((X @ W - target) ** 2) + lam * penalty

        solution = np.zeros_like(V)
        solution[lasso.S] = lasso.ridge(lam).inverse(lasso.ZtY)
        value = group_lasso_objective(X, target, V, lam)

        assert majoriser(V) == pytest.approx(value, rel=1e-10)
        for seed in range(5):
            noise = np.random.default_rng(seed).normal(size=V.shape)
            W = V + 0.1 * noise * inside[:, np.newaxis]
            assert majoriser(W) >= group_lasso_objective(X, target, W, lam)
            assert majoriser(solution) <= majoriser(W)

    @SHAPE
    @pytest.mark.parametrize("form", ["features", "samples"], indirect=True)
    def test_conjugate_gradients_solve_with_the_second_derivative(self, shape, form):
        X, _, lam, lasso = self.at_some_W(shape, form)
        norms = row_norms(lasso.W)
        inside = norms > 0
        lengths = np.where(inside, norms, 1.0)
        weights, unit = inside * lam / (2 * lengths), lasso.W.T / lengths
        descent = ((lasso.ZtY - lasso.ZtZW).T - weights * lasso.W.T) * inside
        ridge, Z = lasso.ridge(lam), X[:, lasso.S]

        V = conjugate_gradients(descent, ridge, weights, unit, 500)
        along = np.sum(unit * V, axis=0)
        product = ((Z.T @ (Z @ V.T)).T + weights * (V - along * unit)) * inside

        error = np.linalg.norm(product - descent)
        assert error <= 1.01 * CG_TOLERANCE * np.linalg.norm(descent)

    @SHAPE
    @pytest.mark.parametrize("form", FORMS[:3], indirect=True)
    @pytest.mark.parametrize("n_steps", [1, 4, 30])
    def test_no_newton_step_rises(self, shape, form, n_steps):
        _, target, lam, lasso = self.at_some_W(shape, form)

        for share in (0.0, 0.5, 2.0):
            set_target(lasso, target + share * problem(shape, seed=1)[1], form)
            before = lasso.objective(lam, lasso.W, lasso.ZtZW)
            lasso.newton_step(lam, lasso.ridge(lam), n_steps)
            assert lasso.objective(lam, lasso.W, lasso.ZtZW) <= before


@FORM
def test_a_coordinate_step_minimises_over_its_row(form):
    X, target, lam = problem((30, 60), 0.05)
    lasso = lasso_of(X, target, form)
    lasso.admit(lasso.kkt_ratios(lam))
    lasso.descend(lam, 1, 1)
    ratios = lasso.kkt_ratios(lam)
    before = lasso.objective(lam, lasso.W, lasso.ZtZW)
    place = ratios[lasso.S].argmax()

    lasso.coordinate_steps(lam, ratios, 1)

    row = lasso.W[place]
    pull = 2 * X[:, lasso.S[place]] @ (target - X @ lasso.coef())
    assert ratios[lasso.S[place]] > 1.001
    np.testing.assert_allclose(pull, lam * row / np.linalg.norm(row), rtol=1e-8)
    np.testing.assert_allclose(lasso.ZtZW, lasso.normal(lasso.W), atol=1e-8)
    assert lasso.objective(lam, lasso.W, lasso.ZtZW) < before
    warm, cold = (lasso_of(X, target, form) for _ in range(2))
    found = warm.solve(lam, tol=1e-7, n_coordinate_steps=5)
    np.testing.assert_allclose(found.coef, cold.solve(lam, tol=1e-7).coef, atol=1e-3)


@FORM
def test_columns_that_cancel_and_columns_of_zeros(form):
    X, target, _ = problem((32, 8))
    X[:, 4] = 0.0
    dummies = np.eye(4)[np.arange(32) % 4] - 0.25
    for columns in (X, np.hstack([X, -X]), dummies):
        lam = 0.1 * largest_penalty(as_matrix(columns), target)
        solution = solve(columns, target, lam, form, tol=1e-8)
        assert solution.gap <= 1e-8
        if columns is X:
            assert not solution.coef[4].any()


@pytest.mark.parametrize(
    ("shape", "n_targets", "side"),
    [
        ((1000, 50), 3, "features"),
        ((50, 5000), 3, "samples"),
        ((50_000, 50_000), 3, "neither"),
        ((5000, 5000), 1, "neither"),
        ((5000, 5000), 100, "features"),
    ],
)
def test_the_cheapest_side_is_chosen(shape, n_targets, side):
    lasso = GroupLasso(as_matrix(np.zeros((1, 1))), n_targets)
    lasso.X.shape = shape
    lasso.S = np.arange(shape[1])

    assert lasso._cheaper_side() == side
    assert makes_gram((9, 3))
    assert not makes_gram((3, 10))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_have_the_digits_of_X_and_come_back_as_double(dtype):
    X, target, lam = problem((60, 20))
    lasso = lasso_of(X.astype(dtype), target)
    lasso.admit(lasso.kkt_ratios(lam))

    assert lasso._ZtZ.dtype == dtype
    assert lasso.normal(np.ones((len(lasso.S), 2))).dtype == np.float64


def test_the_proximal_map_of_row_lengths_and_of_largest_entries():
    rows = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(
        L21().prox(rows, 1.0), [[2.4, 3.2], [0, 0], [0, 0], [0, 0]]
    )
    # Of the largest entry it is what the projection on the l1 ball leaves.
    rows = np.random.RandomState(0).standard_normal((50, 30)) ** 3
    for amount in (1e-9, 0.1, 1.0, 5.0, 100.0):
        outside = np.abs(rows).sum(axis=1, keepdims=True) > amount
        ball = project_rows_to_simplex(np.abs(rows) / amount) * np.sign(rows)
        expected = np.where(outside, rows - amount * ball, 0.0)
        found = L1Inf().prox(rows, amount)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    ties = np.array([[2.0, -2.0, 2.0, 0.0], [1.0, 1.0, 0.0, 0.0]])
    found = L1Inf().prox(ties, 2.0)
    np.testing.assert_allclose(found[0], [4 / 3, -4 / 3, 4 / 3, 0.0])
    np.testing.assert_allclose(L1Inf().sizes(found), [4 / 3, 0.0])


@pytest.mark.parametrize("n_targets", [3, 13_000], ids=["one block", "two blocks"])
def test_dual_norms_do_not_depend_on_blocks(n_targets):
    X = problem((25, 80))[0]
    target = np.random.default_rng(0).normal(size=(25, n_targets))
    pull = 2 * np.abs(X.T @ target)
    for penalty, expected in [
        (L21(), np.linalg.norm(pull, axis=1)),
        (L1Inf(), pull.sum(axis=1)),
    ]:
        lasso = GroupLasso(as_matrix(X), n_targets, penalty)
        set_target(lasso, target)
        np.testing.assert_allclose(lasso.kkt_ratios(1.0), expected)

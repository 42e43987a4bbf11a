"""Soft partitions: their indicators, the function over them and its descent."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numerics.naive import (
    indicator_of,
    one_hot,
    partition_gradient,
    partition_objective,
    planted,
    soft_partition,
)
from sklearn.cluster import KMeans

from ufselect.matrix import RowBlockMatrix, as_matrix
from ufselect.matrix import base as matrix_base
from ufselect.numerics.partitions import KernelPartition
from ufselect.numerics.row_partition import RowPartition
from ufselect.numerics.simplex import project_rows_to_simplex
from ufselect.numerics.soft_clustering import (
    ALIVE,
    Segment,
    best_step,
    good_step,
    indicator,
    memberships_of,
    refine_partition,
    self_expression,
    slope_at,
)

WEIGHTS = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=8),
    elements=st.floats(0, 1, allow_subnormal=False),
)


def as_partition(weights):
    """Return the soft partition with these weights, if they make one."""
    assume(weights.sum(axis=1).min() > 1e-3)
    memberships = weights / weights.sum(axis=1, keepdims=True)
    assume(memberships.sum(axis=0).min() > 1e-6)
    return memberships


class Prediction:
    """A regression that predicts ``X coef``."""

    def __init__(self, X, coef):
        self.X, self.coef = X, coef

    def fitted(self):
        return self.X @ self.coef

    def full_coef(self):
        return self.coef

    def explained(self):
        return np.sum(self.fitted() ** 2)


class Problem:
    """A matrix, memberships, and what a regression predicts for the indicators."""

    def __init__(self, n_samples=18, n_features=7, n_clusters=3, seed=0):
        X, _ = planted(n_samples, n_features, n_clusters, seed)
        self.X = X - X.mean(axis=0)
        self.memberships = soft_partition(n_samples, n_clusters, seed)
        coef = np.random.default_rng(seed).normal(size=(n_features, n_clusters))
        self.regression = Prediction(self.X, 0.3 * coef / np.abs(self.X).max())
        self.kernel, self.fitted = self.X @ self.X.T, self.regression.fitted()

    def partition(self, kind, memberships=None):
        if memberships is None:
            memberships = self.memberships
        partition = PARTITIONS[kind](self.X, memberships)
        partition.aim(self.regression)
        return partition

    def value(self, memberships, alpha):
        return partition_objective(self.kernel, memberships, self.fitted, alpha)


class Linear:
    """A regression whose prediction is linear in its target, and its own response."""

    def __init__(self, X, seed=0):
        weights = np.random.default_rng(seed).random(X.shape[1])
        self.matrix = np.linalg.inv(X.T @ X + np.diag(1 / weights))
        self.X, self.hat = X, X @ self.matrix @ X.T

    def feature_response(self, penalty):
        return self

    sample_response = feature_response

    def coef(self, cross):
        return self.matrix @ cross

    def fitted(self, values):
        return self.hat @ values

    def value(self, kernel, memberships, alpha):
        """Return the function whose last term is ``tr(C) - <G, H G>``."""
        G = indicator_of(memberships)
        last = np.sum(G**2) - np.sum(G * (self.hat @ G))
        return partition_objective(kernel, memberships, 0.0, 0.0) + alpha * last


def beside_kernel(X, memberships):
    return KernelPartition(memberships, X @ X.T)


def beside_rows(X, memberships):
    matrix = as_matrix(X)
    return RowPartition(matrix, matrix.beside(memberships))


def beside_blocks(X, memberships):
    matrix = RowBlockMatrix(X)
    return RowPartition(matrix, matrix.beside(memberships))


PARTITIONS = {
    "kernel": beside_kernel,
    "rows": beside_rows,
    "blocks": beside_blocks,
}


@pytest.fixture(params=PARTITIONS)
def kind(request, monkeypatch):
    # Five rows of seven columns to a block.
    monkeypatch.setattr(matrix_base, "BLOCK_BYTES", 8 * 5 * 7)
    return request.param


def sums_of(X, memberships):
    return beside_rows(X, memberships).sums


class TestReparametrisation:
    @settings(deadline=None)
    @given(WEIGHTS)
    def test_indicators_satisfy_the_constraint(self, weights):
        G = indicator(as_partition(weights))

        assert G.min() >= 0
        np.testing.assert_allclose(G @ G.T @ np.ones(len(G)), 1, rtol=1e-12)

    @settings(deadline=None)
    @given(WEIGHTS)
    def test_memberships_return_from_their_indicator(self, weights):
        memberships = as_partition(weights)

        returned = memberships_of(indicator(memberships))

        np.testing.assert_allclose(returned, memberships, rtol=1e-12)

    @settings(deadline=None)
    @given(WEIGHTS)
    def test_feasible_indicators_return_from_their_memberships(self, weights):
        memberships = as_partition(weights)
        G = indicator_of(memberships)

        np.testing.assert_allclose(memberships_of(G).sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(indicator(memberships_of(G)), G, rtol=1e-12)

    def test_feasible_matrices_found_otherwise_are_soft_partitions(self):
        weights = np.random.default_rng(0).random((6, 3))
        for _ in range(2000):
            weights /= np.sqrt(weights @ weights.sum(axis=0))[:, np.newaxis]

        np.testing.assert_allclose(weights @ weights.T @ np.ones(6), 1, rtol=1e-12)
        np.testing.assert_allclose(memberships_of(weights).sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(indicator(memberships_of(weights)), weights)


class TestSelfExpression:
    @pytest.mark.parametrize("seed", range(3))
    def test_it_is_the_error_of_the_full_projection(self, kind, seed):
        problem = Problem(seed=seed)

        sums = problem.partition(kind).sums
        value = self_expression(sums, np.trace(problem.kernel))
        expected = partition_objective(problem.kernel, problem.memberships, 0.0, 0.0)

        assert value == pytest.approx(expected, rel=1e-12)

    def test_crisp_clusters_give_the_inertia_of_k_means(self):
        X, _ = planted(30, 6, seed=2)
        model = KMeans(3, n_init=3, random_state=0).fit(X)
        crisp = one_hot(model.labels_)

        value = self_expression(sums_of(X, crisp), np.sum(X**2))

        assert value == pytest.approx(model.inertia_, rel=1e-10)

    def test_a_constant_row_added_to_the_data_changes_nothing(self):
        X, _ = planted(20, 6)
        memberships = soft_partition(20, 3)
        shifted = X + np.arange(6.0)

        values = [
            self_expression(sums_of(Z, memberships), np.sum(Z**2)) for Z in (X, shifted)
        ]

        assert values[0] == pytest.approx(values[1], rel=1e-10)

    def test_rounding_never_makes_it_negative(self):
        points = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 5, axis=0)
        crisp = one_hot(np.repeat(np.arange(3), 5))

        value = self_expression(sums_of(points, crisp), 0.0)

        assert value == 0.0


def gradient(problem, memberships, alpha):
    """Return the slope with its parts put together."""
    partition = problem.partition("kernel", memberships)
    slope = slope_at(partition.sums, alpha)
    return (
        problem.kernel @ memberships @ slope.of_product
        + memberships @ slope.of_memberships
        - problem.fitted * slope.of_fitted
        + slope.of_ones
    )


class TestSlope:
    @pytest.mark.parametrize("alpha", [0.0, 0.1, 50.0])
    @pytest.mark.parametrize("seed", range(3))
    def test_it_equals_central_differences(self, alpha, seed):
        problem = Problem(seed=seed)
        memberships, step = problem.memberships, 1e-6

        expected = np.empty_like(memberships)
        for place in np.ndindex(*memberships.shape):
            there, back = memberships.copy(), memberships.copy()
            there[place] += step
            back[place] -= step
            rise = problem.value(there, alpha) - problem.value(back, alpha)
            expected[place] = rise / (2 * step)
        found = gradient(problem, memberships, alpha)

        np.testing.assert_allclose(
            found, expected, rtol=0, atol=1e-6 * np.abs(expected).max()
        )

    @pytest.mark.parametrize("alpha", [0.0, 3.0])
    def test_it_equals_the_formula_with_full_products(self, alpha):
        problem = Problem()
        kernel, memberships = problem.kernel, problem.memberships

        found = gradient(problem, memberships, alpha)
        expected = partition_gradient(kernel, memberships, problem.fitted, alpha)

        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)

    @pytest.mark.parametrize("step", [0.0, 0.4])
    def test_its_product_with_a_direction_needs_sums_only(self, kind, step):
        problem = Problem()
        start = problem.memberships
        there, partition = problem.partition(kind), problem.partition(kind)
        before = slope_at(partition.sums, 2.0)
        there.propose(before, 0.1)
        there.move(1.0)
        direction = there.memberships - start

        change = partition.propose(before, 0.1)
        partition.move(step)
        found = slope_at(partition.sums, 2.0).along(change, step)
        expected = gradient(problem, start + step * direction, 2.0)

        assert found == pytest.approx(np.vdot(direction, expected), rel=1e-9)


class TestProposal:
    @pytest.mark.parametrize("alpha", [0.0, 2.0])
    @pytest.mark.parametrize("length", [1e-3, 1.0])
    def test_it_is_the_projected_step(self, kind, alpha, length):
        problem = Problem()
        partition = problem.partition(kind)
        step = problem.memberships - length * gradient(
            problem, problem.memberships, alpha
        )

        partition.propose(slope_at(partition.sums, alpha), length)
        partition.move(1.0)
        expected = project_rows_to_simplex(step)

        assert expected.sum(axis=0).min() > 1e-3
        np.testing.assert_allclose(partition.memberships, expected, atol=1e-10)

    @pytest.mark.parametrize("alpha", [0.0, 2.0, 1e4])
    def test_the_segment_is_the_function_along_the_line(self, kind, alpha):
        problem = Problem()
        partition = problem.partition(kind)
        start, steps = problem.memberships, np.array([0.0, 1e-3, 0.25, 0.7, 1.0])

        sums = partition.sums
        change = partition.propose(slope_at(sums, alpha), 1e-2)
        partition.move(1.0)
        direction = partition.memberships - start
        constant = np.trace(problem.kernel) + alpha * np.sum(problem.fitted**2)
        found = Segment(sums, change, alpha)(steps) + constant
        expected = [problem.value(start + t * direction, alpha) for t in steps]

        np.testing.assert_allclose(found, expected, rtol=1e-10)

    def test_sums_follow_the_moves(self, kind):
        problem = Problem()
        partition = problem.partition(kind)

        for step in (0.3, 1.0, 0.7):
            partition.propose(slope_at(partition.sums, 1.0), 0.1)
            partition.move(step)
        afresh = problem.partition("kernel", partition.memberships).sums

        for found, expected in zip(partition.sums, afresh, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


class TestFollowing:
    """T is what a linear regression predicts, wherever the partition goes."""

    def following(self, kind):
        problem = Problem()
        partition, regression = problem.partition(kind), Linear(problem.X)
        assert partition.follow(regression, 1.0) is regression
        return problem, partition, regression

    @pytest.mark.parametrize("alpha", [0.0, 2.0, 1e4])
    def test_the_segment_is_the_function_along_the_line(self, kind, alpha):
        problem, partition, regression = self.following(kind)
        steps = np.array([0.0, 1e-3, 0.25, 0.7, 1.0])

        sums = partition.sums
        change = partition.propose(slope_at(sums, alpha), 1e-2)
        partition.move(1.0)
        direction = partition.memberships - problem.memberships
        found = Segment(sums, change, alpha)(steps) + np.trace(problem.kernel)
        expected = [
            regression.value(problem.kernel, problem.memberships + t * direction, alpha)
            for t in steps
        ]

        np.testing.assert_allclose(found, expected, rtol=1e-10)

    @pytest.mark.parametrize("step", [0.0, 0.4])
    def test_the_slope_is_that_of_the_function(self, kind, step):
        problem, partition, regression = self.following(kind)
        start, tiny = problem.memberships, 1e-6

        _, there, _ = self.following(kind)
        there.propose(slope_at(there.sums, 2.0), 0.1)
        there.move(1.0)
        direction = there.memberships - start
        change = partition.propose(slope_at(partition.sums, 2.0), 0.1)
        partition.move(step)
        found = slope_at(partition.sums, 2.0).along(change, step)
        values = [
            regression.value(problem.kernel, start + t * direction, 2.0)
            for t in (step - tiny, step + tiny)
        ]

        assert found == pytest.approx((values[1] - values[0]) / (2 * tiny), rel=1e-5)

    def test_sums_follow_the_moves(self, kind):
        problem, partition, regression = self.following(kind)

        for step in (0.3, 1.0, 0.7):
            partition.propose(slope_at(partition.sums, 1.0), 0.1)
            partition.move(step)
        afresh = problem.partition("kernel", partition.memberships)
        afresh.follow(regression, 1.0)

        for found, expected in zip(partition.sums, afresh.sums, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)

    def test_refining_never_rises(self, kind):
        problem, partition, regression = self.following(kind)
        value, length = np.inf, 1.0

        for _ in range(15):
            length = refine_partition(
                partition, 1e3, length=length, max_steps=1, tol=0.0
            )
            previous = value
            value = regression.value(problem.kernel, partition.memberships, 1e3)

            assert value <= previous * (1 + 1e-12)

    def test_a_fixed_aim_ends_it(self, kind):
        problem, partition, _ = self.following(kind)

        partition.aim(problem.regression)
        fixed = problem.partition(kind).sums

        for found, expected in zip(partition.sums, fixed, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


class TestBestStep:
    @settings(deadline=None)
    @given(st.lists(st.floats(-10, 10), min_size=1, max_size=6))
    def test_no_polynomial_is_higher_than_at_zero(self, coefficients):
        polynomial = np.polynomial.Polynomial(coefficients)

        step, gain = best_step(polynomial)

        assert 0 <= step <= 1
        assert gain == polynomial(0.0) - polynomial(step) >= 0

    @pytest.mark.parametrize("minimum", [1e-6, 1e-3, 0.04, 0.33, 0.96])
    def test_it_comes_near_the_minimum(self, minimum):
        def parabola(t):
            return (t - minimum) ** 2

        assert best_step(parabola)[1] >= 0.75 * parabola(0.0)

    def test_a_full_step_that_gains_is_good_enough(self):
        def parabola(t):
            return (t - 0.55) ** 2

        assert good_step(parabola) == (1.0, parabola(0.0) - parabola(1.0))
        assert good_step(lambda t: (t - 0.3) ** 2) == best_step(
            lambda t: (t - 0.3) ** 2
        )
        assert good_step(lambda t: t) == (0.0, 0.0)

    def test_it_goes_all_the_way_when_that_is_best(self):
        assert best_step(lambda t: -t) == (1.0, 1.0)

    def test_it_stays_when_every_step_rises(self):
        assert best_step(lambda t: t) == (0.0, 0.0)


def empty_column(n_samples, amount):
    """Return a soft partition of three clusters with next to nothing in the last."""
    memberships = one_hot(np.arange(n_samples) % 2)
    return np.hstack([memberships * (1 - amount), np.full((n_samples, 1), amount)])


STARTS = {
    "random": soft_partition(18, 3),
    "crisp": one_hot(np.arange(18) % 3),
    "uniform": np.full((18, 3), 1 / 3),
    "almost empty": empty_column(18, 1e-12),
    "hardly anything": empty_column(18, 1e-200),
}


class TestRefining:
    @pytest.mark.parametrize("start", STARTS)
    @pytest.mark.parametrize("alpha", [0.0, 1.0, 1e4, 1e8, 1e12])
    @pytest.mark.parametrize("length", [1.0, 1e-8, 1e8])
    def test_every_step_keeps_a_partition_and_never_rises(
        self, kind, start, alpha, length
    ):
        problem = Problem()
        partition = problem.partition(kind, STARTS[start])
        value = problem.value(STARTS[start], alpha)

        for _ in range(15):
            length = refine_partition(
                partition, alpha, length=length, max_steps=1, tol=0.0
            )
            memberships = partition.memberships
            previous, value = value, problem.value(memberships, alpha)

            assert value <= previous * (1 + 1e-12)
            assert memberships.min() >= -1e-15
            assert memberships.sum(axis=0).min() > 0
            np.testing.assert_allclose(memberships.sum(axis=1), 1, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("alpha", [0.0, 10.0])
    def test_it_ends_where_no_projected_step_gains(self, kind, alpha):
        problem = Problem()
        partition = problem.partition(kind)

        refine_partition(partition, alpha, length=1.0, max_steps=2000, tol=0.0)
        memberships = partition.memberships
        slope = partition_gradient(problem.kernel, memberships, problem.fitted, alpha)
        possible = np.sum(slope * memberships, axis=1) - slope.min(axis=1)

        assert possible.sum() <= 1e-3 * problem.value(memberships, alpha)

    def test_clusters_far_apart_are_found_from_random_memberships(self, kind):
        X, labels = planted(18, 7, distance=20)
        partition = PARTITIONS[kind](X - X.mean(axis=0), soft_partition(18, 3))

        refine_partition(partition, 0.0, length=1.0, max_steps=200, tol=0.0)
        found = partition.memberships.argmax(axis=1)

        assert len(set(zip(found, labels, strict=True))) == 3

    def test_no_step_is_no_change(self, kind):
        problem = Problem()
        partition = problem.partition(kind)

        refine_partition(partition, 1.0, length=1.0, max_steps=0, tol=0.0)

        np.testing.assert_array_equal(partition.memberships, problem.memberships)

    def test_a_cluster_that_would_empty_is_kept_alive(self, kind):
        problem = Problem()
        partition = problem.partition(kind, empty_column(18, 1e-12))

        partition.propose(slope_at(partition.sums, 0.0), 1e-30)
        partition.move(1.0)
        sizes = partition.memberships.sum(axis=0)

        assert sizes.min() >= 0.99 * ALIVE * 18 / 3

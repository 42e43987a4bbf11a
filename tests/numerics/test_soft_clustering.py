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

from ufselect.numerics.soft_clustering import (
    Clustering,
    Segment,
    best_step,
    gradient,
    indicator,
    kept_alive,
    memberships_of,
    refine_partition,
    self_expression,
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


def problem(n_samples=18, n_features=7, n_clusters=3, seed=0):
    X, _ = planted(n_samples, n_features, n_clusters, seed)
    X = X - X.mean(axis=0)
    memberships = soft_partition(n_samples, n_clusters, seed)
    fitted = np.random.default_rng(seed).normal(scale=0.3, size=memberships.shape)
    return X @ X.T, memberships, fitted


def clustering_of(kernel, memberships):
    return Clustering(memberships, kernel @ memberships)


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
    def test_it_is_the_error_of_the_full_projection(self, seed):
        kernel, memberships, _ = problem(seed=seed)

        value = self_expression(clustering_of(kernel, memberships), np.trace(kernel))
        expected = partition_objective(kernel, memberships, 0.0, 0.0)

        assert value == pytest.approx(expected, rel=1e-12)

    def test_crisp_clusters_give_the_inertia_of_k_means(self):
        X, _ = planted(30, 6, seed=2)
        model = KMeans(3, n_init=3, random_state=0).fit(X)
        crisp = one_hot(model.labels_)

        value = self_expression(clustering_of(X @ X.T, crisp), np.sum(X**2))

        assert value == pytest.approx(model.inertia_, rel=1e-10)

    def test_a_constant_row_added_to_the_data_changes_nothing(self):
        X, _ = planted(20, 6)
        memberships = soft_partition(20, 3)
        shifted = X + np.arange(6.0)

        values = [
            self_expression(clustering_of(Z @ Z.T, memberships), np.sum(Z**2))
            for Z in (X, shifted)
        ]

        assert values[0] == pytest.approx(values[1], rel=1e-10)

    def test_rounding_never_makes_it_negative(self):
        points = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 5, axis=0)
        crisp = one_hot(np.repeat(np.arange(3), 5))

        value = self_expression(clustering_of(points @ points.T, crisp), 0.0)

        assert value == 0.0


class TestGradient:
    @pytest.mark.parametrize("alpha", [0.0, 0.1, 50.0])
    @pytest.mark.parametrize("seed", range(3))
    def test_it_equals_central_differences(self, alpha, seed):
        kernel, memberships, fitted = problem(seed=seed)
        step = 1e-6

        expected = np.empty_like(memberships)
        for place in np.ndindex(*memberships.shape):
            there, back = memberships.copy(), memberships.copy()
            there[place] += step
            back[place] -= step
            expected[place] = (
                partition_objective(kernel, there, fitted, alpha)
                - partition_objective(kernel, back, fitted, alpha)
            ) / (2 * step)
        found = gradient(clustering_of(kernel, memberships), fitted, alpha)

        np.testing.assert_allclose(
            found, expected, rtol=0, atol=1e-6 * np.abs(expected).max()
        )

    @pytest.mark.parametrize("alpha", [0.0, 3.0])
    def test_it_equals_the_formula_with_full_products(self, alpha):
        kernel, memberships, fitted = problem()

        found = gradient(clustering_of(kernel, memberships), fitted, alpha)
        expected = partition_gradient(kernel, memberships, fitted, alpha)

        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


class TestSegment:
    @pytest.mark.parametrize("alpha", [0.0, 2.0, 1e4])
    def test_it_is_the_function_along_the_line(self, alpha):
        kernel, memberships, fitted = problem()
        direction = soft_partition(len(kernel), 3, seed=9) - memberships
        steps = np.array([0.0, 1e-3, 0.25, 0.7, 1.0])

        segment = Segment(
            clustering_of(kernel, memberships),
            direction,
            kernel @ direction,
            fitted,
            alpha,
        )
        constant = np.trace(kernel) + alpha * np.sum(fitted**2)
        expected = [
            partition_objective(kernel, memberships + t * direction, fitted, alpha)
            for t in steps
        ]

        np.testing.assert_allclose(segment(steps) + constant, expected, rtol=1e-10)


class TestBestStep:
    @settings(deadline=None)
    @given(st.lists(st.floats(-10, 10), min_size=1, max_size=6))
    def test_no_polynomial_is_higher_than_at_zero(self, coefficients):
        polynomial = np.polynomial.Polynomial(coefficients)

        step = best_step(polynomial)

        assert 0 <= step <= 1
        assert polynomial(step) <= polynomial(0.0)

    @pytest.mark.parametrize("minimum", [1e-6, 1e-3, 0.04, 0.33, 0.96])
    def test_it_comes_near_the_minimum(self, minimum):
        def parabola(t):
            return (t - minimum) ** 2

        gain = parabola(0.0) - parabola(best_step(parabola))

        assert gain >= 0.75 * parabola(0.0)

    def test_it_goes_all_the_way_when_that_is_best(self):
        assert best_step(lambda t: -t) == 1.0

    def test_it_stays_when_every_step_rises(self):
        assert best_step(lambda t: t) == 0.0


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
    def test_every_step_keeps_a_partition_and_never_rises(self, start, alpha, length):
        kernel, _, fitted = problem()
        clustering = clustering_of(kernel, STARTS[start])
        value = partition_objective(kernel, clustering.memberships, fitted, alpha)

        for _ in range(15):
            clustering, length = refine_partition(
                clustering,
                fitted,
                alpha,
                kernel.__matmul__,
                length=length,
                max_steps=1,
                tol=0.0,
            )
            memberships = clustering.memberships
            previous = value
            value = partition_objective(kernel, memberships, fitted, alpha)

            assert value <= previous * (1 + 1e-12)
            assert memberships.min() >= 0
            assert memberships.sum(axis=0).min() > 0
            np.testing.assert_allclose(memberships.sum(axis=1), 1, rtol=0, atol=1e-12)

    def test_the_product_stays_that_of_the_memberships(self):
        kernel, memberships, fitted = problem()

        refined = refine_partition(
            clustering_of(kernel, memberships),
            fitted,
            1.0,
            kernel.__matmul__,
            length=1.0,
            max_steps=100,
            tol=0.0,
        ).clustering

        np.testing.assert_allclose(
            refined.product, kernel @ refined.memberships, rtol=1e-9, atol=1e-9
        )

    @pytest.mark.parametrize("alpha", [0.0, 10.0])
    def test_it_ends_where_no_projected_step_gains(self, alpha):
        kernel, memberships, fitted = problem()

        refined = refine_partition(
            clustering_of(kernel, memberships),
            fitted,
            alpha,
            kernel.__matmul__,
            length=1.0,
            max_steps=2000,
            tol=0.0,
        ).clustering
        slope = partition_gradient(kernel, refined.memberships, fitted, alpha)
        possible = np.sum(slope * refined.memberships, axis=1) - slope.min(axis=1)
        value = partition_objective(kernel, refined.memberships, fitted, alpha)

        assert possible.sum() <= 1e-3 * value

    def test_clusters_far_apart_are_found_from_random_memberships(self):
        X, labels = planted(18, 7, distance=20)
        X = X - X.mean(axis=0)
        kernel = X @ X.T

        refined = refine_partition(
            clustering_of(kernel, soft_partition(18, 3)),
            np.zeros((18, 3)),
            0.0,
            kernel.__matmul__,
            length=1.0,
            max_steps=200,
            tol=0.0,
        ).clustering
        found = refined.memberships.argmax(axis=1)

        assert len(set(zip(found, labels, strict=True))) == 3

    def test_no_step_is_no_change(self):
        kernel, memberships, fitted = problem()
        start = clustering_of(kernel, memberships)

        refined = refine_partition(
            start, fitted, 1.0, kernel.__matmul__, length=1.0, max_steps=0, tol=0.0
        )

        np.testing.assert_array_equal(refined.clustering.memberships, memberships)


class TestKeptAlive:
    def test_partitions_without_empty_clusters_are_left_alone(self):
        memberships = soft_partition(10, 3)

        assert kept_alive(memberships) is memberships

    def test_an_empty_cluster_receives_a_little(self):
        memberships = kept_alive(empty_column(10, 0.0))

        assert memberships.sum(axis=0).min() > 0
        np.testing.assert_allclose(memberships.sum(axis=1), 1, rtol=1e-14)

"""Soft partitions: their indicators, the function over them and its descent."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.cluster import KMeans
from solvers.naive import (
    indicator_of,
    one_hot,
    partition_gradient,
    partition_objective,
    planted,
    project_by_enumeration,
    project_to_simplex,
    soft_partition,
)

from ufselect.matrix import RowBlockMatrix, as_matrix
from ufselect.solvers.soft_partition import (
    SEGMENT,
    Direction,
    SoftPartition,
    Sums,
    indicator,
    project_rows_to_simplex,
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


def beside_kernel(X, P, offset=None):
    return SoftPartition(as_matrix(X), (P,), K=X @ X.T)


def beside_rows(X, P, offset=None):
    return SoftPartition(as_matrix(X), (P,), offset=offset)


def beside_blocks(X, P, offset=None):
    # Five rows of seven columns to a block.
    matrix = RowBlockMatrix(X, block_bytes=8 * 5 * 7)
    return SoftPartition(matrix, matrix.aligned(P), offset=offset)


PARTITIONS = {"kernel": beside_kernel, "rows": beside_rows, "blocks": beside_blocks}


@pytest.fixture(params=PARTITIONS)
def kind(request):
    return request.param


class Problem:
    """X, memberships P, and fitted values, fixed or those of a ridge regression."""

    def __init__(self, n_samples=18, n_features=7, n_clusters=3, seed=0, offset=False):
        X, _ = planted(n_samples, n_features, n_clusters, seed)
        random = np.random.default_rng(seed)
        self.X = X - X.mean(axis=0)
        self.offset = random.normal(size=n_features) if offset else None
        self.regressors = self.X + (self.offset if offset else 0.0)
        self.P = soft_partition(n_samples, n_clusters, seed)
        self.W = random.normal(size=(n_features, n_clusters))
        self.W *= 0.3 / np.abs(self.X).max()
        self.K, self.T = self.X @ self.X.T, self.regressors @ self.W
        weights = np.diag(1 / random.random(n_features))
        gram = self.regressors.T @ self.regressors
        self.A = np.linalg.inv(gram + weights)
        self.H = self.regressors @ self.A @ self.regressors.T

    def partition(self, kind, P=None):
        P = self.P if P is None else P
        return PARTITIONS[kind](self.X, P, self.offset)

    def fitted(self, kind, hat=False):
        """Return what a descent is told about fitted values."""
        if hat:
            M = self.H if kind == "kernel" else self.A
            return {"hat": lambda BtP: M @ BtP}
        return {"V": self.T if kind == "kernel" else self.W}

    def value(self, P, alpha, hat=False):
        if not hat:
            return partition_objective(self.K, P, self.T, alpha)
        G = indicator_of(P)
        last = np.sum(G**2) - np.sum(G * (self.H @ G))
        return partition_objective(self.K, P, 0.0, 0.0) + alpha * last


def descend(partition, alpha, step_size=1.0, max_steps=1, tol=0.0, **fitted):
    options = {"step_size": step_size, "max_steps": max_steps, "tol": tol}
    return partition.descend(alpha, **options, **fitted)


@settings(deadline=None)
@given(WEIGHTS)
def test_memberships_and_feasible_indicators_are_one_to_one(weights):
    P = as_partition(weights)
    G = indicator(P)

    assert G.min() >= 0
    np.testing.assert_allclose(G @ G.T @ np.ones(len(G)), 1, rtol=1e-12)
    np.testing.assert_allclose(G, indicator_of(P), rtol=1e-12)
    np.testing.assert_allclose(G * G.sum(axis=0), P, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_self_expression_is_the_error_of_the_full_projection(kind, seed):
    problem = Problem(seed=seed)
    moved = problem.X + np.arange(7.0)
    model = KMeans(3, n_init=3, random_state=seed).fit(problem.X)
    clusters = beside_rows(problem.X, one_hot(model.labels_)).self_expression()

    value = np.sum(problem.X**2) + problem.partition(kind).self_expression()
    same = np.sum(moved**2) + beside_rows(moved, problem.P).self_expression()
    expected = partition_objective(problem.K, problem.P, 0.0, 0.0)

    assert value == pytest.approx(expected, rel=1e-12)
    # A constant row added to the data changes nothing.
    assert same == pytest.approx(expected, rel=1e-10)
    # Crisp clusters give the inertia of k-means.
    inertia = np.sum(problem.X**2) + clusters
    assert inertia == pytest.approx(model.inertia_, rel=1e-10)


HAT = pytest.mark.parametrize("hat", [False, True], ids=["fixed", "hat matrix"])
OFFSET = pytest.mark.parametrize("offset", [False, True], ids=["centred", "offset"])


def column_products(left, right):
    return np.einsum("ij,ij->j", left, right)


class TestStep:
    """What a step is made of: the gradient, the objective along it and its slope."""

    def sums(self, problem, P, hat):
        """Return the sums at P, and what the columns of P are multiplied with."""
        T = problem.H @ P if hat else problem.T
        PtKP = P.T @ problem.K @ P
        return Sums(P.sum(axis=0), P.T @ P, PtKP, column_products(P, T), hat), T

    def gradient(self, problem, P, alpha, hat):
        sums, T = self.sums(problem, P, hat)
        A, M, d, r = sums.gradient(alpha)
        return problem.K @ P @ A + P @ M - T * d + r

    @HAT
    @pytest.mark.parametrize("alpha", [0.0, 0.1, 50.0])
    @pytest.mark.parametrize("seed", range(3))
    def test_the_gradient_equals_central_differences(self, alpha, seed, hat):
        problem, step = Problem(seed=seed), 1e-6

        expected = np.empty_like(problem.P)
        for place in np.ndindex(*problem.P.shape):
            there, back = problem.P.copy(), problem.P.copy()
            there[place] += step
            back[place] -= step
            values = (problem.value(P, alpha, hat) for P in (there, back))
            expected[place] = (next(values) - next(values)) / (2 * step)
        found = self.gradient(problem, problem.P, alpha, hat)

        atol = 1e-6 * np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol)
        if not hat:
            formula = partition_gradient(problem.K, problem.P, problem.T, alpha)
            np.testing.assert_allclose(found, formula, rtol=1e-8, atol=1e-8)

    @HAT
    @OFFSET
    @pytest.mark.parametrize("alpha", [0.0, 2.0, 1e4])
    def test_sums_and_slope_along_a_direction_are_those_of_the_function(
        self, alpha, hat, offset
    ):
        problem, tiny = Problem(offset=offset), 1e-6
        P, K = problem.P, problem.K
        D = soft_partition(*P.shape, seed=1) - P
        sums, T = self.sums(problem, P, hat)
        DtHD = column_products(D, problem.H @ D) if hat else np.zeros(3)
        along = Direction(
            *(D.sum(axis=0), P.T @ D, D.T @ D, P.T @ K @ D, D.T @ K @ D),
            *(column_products(D, T), DtHD),
        )
        constant = np.trace(K) + (0.0 if hat else alpha * np.sum(problem.T**2))

        found = along.sums(sums, SEGMENT).objective(alpha) + constant
        expected = [problem.value(P + t * D, alpha, hat) for t in SEGMENT]
        slope = along.slope(along.sums(sums, 0.4).gradient(alpha), 0.4)
        ends = [problem.value(P + t * D, alpha, hat) for t in (0.4 - tiny, 0.4 + tiny)]

        np.testing.assert_allclose(found, expected, rtol=1e-10)
        assert slope == pytest.approx((ends[1] - ends[0]) / (2 * tiny), rel=1e-4)

    @HAT
    @OFFSET
    @pytest.mark.parametrize("alpha", [0.0, 2.0])
    def test_a_step_leads_towards_the_projection_of_a_gradient_step(
        self, kind, alpha, hat, offset
    ):
        problem = Problem(offset=offset)
        partition = problem.partition(kind)
        gradient = self.gradient(problem, problem.P, alpha, hat)
        D = project_rows_to_simplex(problem.P - 1e-2 * gradient) - problem.P

        descend(partition, alpha, 1e-2, **problem.fitted(kind, hat))
        moved = partition.rows[0] - problem.P

        t = np.vdot(moved, D) / np.vdot(D, D)
        assert 0 < t <= 1 + 1e-9
        np.testing.assert_allclose(moved, t * D, atol=1e-10)

    @HAT
    @OFFSET
    def test_sums_are_those_of_the_memberships(self, kind, hat, offset):
        problem = Problem(offset=offset)
        partition = problem.partition(kind)

        descend(partition, 1.0, max_steps=4, **problem.fitted(kind, hat))
        afresh = problem.partition(kind, np.array(partition.rows[0]))

        for name in ("BtP", "MBtP", "q", "PtP"):
            found, expected = getattr(partition, name), getattr(afresh, name)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


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


class TestDescent:
    @HAT
    @pytest.mark.parametrize("start", STARTS)
    @pytest.mark.parametrize("alpha", [0.0, 1.0, 1e4, 1e12])
    @pytest.mark.parametrize("step_size", [1.0, 1e-8, 1e8])
    def test_every_step_keeps_a_partition_and_never_rises(
        self, kind, start, alpha, step_size, hat
    ):
        problem = Problem()
        partition = problem.partition(kind, STARTS[start])
        value = problem.value(STARTS[start], alpha, hat)

        for _ in range(10):
            options = problem.fitted(kind, hat)
            step_size = descend(partition, alpha, step_size, **options)
            P = partition.rows[0]
            previous, value = value, problem.value(P, alpha, hat)

            assert value <= previous * (1 + 1e-12)
            assert P.min() >= -1e-15
            assert P.sum(axis=0).min() > 0
            np.testing.assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("alpha", [0.0, 10.0])
    def test_it_ends_where_no_projected_step_gains(self, kind, alpha):
        problem = Problem()
        partition = problem.partition(kind)

        descend(partition, alpha, max_steps=2000, **problem.fitted(kind))
        P = partition.rows[0]
        slope = partition_gradient(problem.K, P, problem.T, alpha)
        possible = np.sum(slope * P, axis=1) - slope.min(axis=1)

        assert possible.sum() <= 1e-3 * problem.value(P, alpha)


# The projection on the probability simplex.


POINTS = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.floats(-100, 100),
)


@settings(deadline=None)
@given(POINTS, st.sampled_from([0.0, 1e3, 1e6, -1e10]))
def test_projections_are_memberships_and_nearest(points, constant):
    projected = project_rows_to_simplex(points)
    expected = np.array([project_by_enumeration(row) for row in points])
    moved = project_rows_to_simplex(points + constant)

    np.testing.assert_allclose(projected, expected, atol=1e-12)
    np.testing.assert_allclose(moved, projected, atol=1e-15 * abs(constant) + 1e-12)
    np.testing.assert_allclose(moved.sum(axis=1), 1, atol=1e-12)
    assert min(projected.min(), moved.min()) >= 0


def test_large_points_and_many_columns_are_projected_too():
    points = np.array([[1.0, 0.0, -1.0], [-3.0, -2.0, -1.0], [0.0, 0.0, -1.0]])
    expected = np.array([[1, 0, 0], [0, 0, 1], [0.5, 0.5, 0]])
    wide = np.random.default_rng(0).normal(scale=2.0, size=(2000, 40))
    plain = np.array([project_to_simplex(row) for row in wide])

    for size in (1e8, 1e12, 1e17, 1e200):
        projected = project_rows_to_simplex(size * points)
        np.testing.assert_allclose(projected, expected, atol=1e-12)
    np.testing.assert_allclose(project_rows_to_simplex(wide), plain, atol=1e-14)

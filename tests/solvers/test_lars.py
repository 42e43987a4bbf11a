"""The path of the elastic net, against scikit-learn and its optimality conditions."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import lars_path

from ufselect.matrix import as_matrix
from ufselect.solvers.lars import (
    ActiveColumns,
    advance,
    elastic_net_paths,
    elastic_net_points,
    elastic_net_points_from_sums,
)

SHAPES = pytest.mark.parametrize("shape", [(40, 15), (20, 45), (12, 60)])


def problem(shape, seed=0):
    random = np.random.RandomState(seed)
    X = random.standard_normal(shape) @ (
        np.eye(shape[1]) + 0.2 * random.standard_normal((shape[1], shape[1]))
    )
    X /= np.linalg.norm(X, axis=0)
    return X, random.standard_normal(shape[0])


def elastic_net_point(matrix, y, n_nonzero, ridge):
    (point,) = elastic_net_points(matrix, y[:, np.newaxis], n_nonzero, ridge)
    return point


def first_with(path, count):
    """Return the first column of a path with so many coefficients."""
    # What has left is a rounding error, rather than zero, in some releases.
    counts = np.count_nonzero(np.abs(path) > 1e-15, axis=0)
    return path[:, np.flatnonzero(counts >= count)[0]]


@SHAPES
@pytest.mark.parametrize("ridge", [1e-3, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_it_equals_the_path_of_scikit_learn(shape, ridge, seed):
    X, y = problem(shape, seed)
    p = shape[1]
    augmented = np.vstack([X, np.sqrt(ridge) * np.eye(p)])
    target = np.concatenate([y, np.zeros(p)])
    _, _, path = lars_path(augmented, target, method="lasso")

    for count in (1, 5, 10, p // 2):
        found = elastic_net_point(as_matrix(X), y, count, ridge).coef
        expected = first_with(path, count)

        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


@SHAPES
def test_optimality_holds_at_every_event(shape):
    X, y = problem(shape)
    matrix = as_matrix(X)
    (path,) = elastic_net_paths(matrix, y[:, np.newaxis], 1e-3)

    while not path.exhausted:
        advance(matrix, [path])
        slope = X.T @ (y - X @ path.coef) - 1e-3 * path.coef
        inside = path.coef != 0

        expected = path.penalty * np.sign(path.coef[inside])
        np.testing.assert_allclose(slope[inside], expected, atol=1e-9)
        assert np.abs(slope).max() <= path.penalty + 1e-9


@SHAPES
def test_the_first_in_the_order_of_entry_enters_next(shape):
    X, y = problem(shape)
    X = as_matrix(X)
    n_checked = 0
    for count in range(1, 9):
        now, later = (elastic_net_point(X, y, d, 1e-3) for d in (count, count + 1))
        new = np.flatnonzero((later.coef != 0) & (now.coef == 0))
        if len(new) == 1:
            waiting = np.where(now.coef != 0, -1.0, now.entry)
            n_checked += 1
            # The newcomer is in the model by the entry that it was promised.
            assert waiting[new[0]] >= waiting.max() - 1e-9

    assert n_checked >= 5


def test_equal_columns_share_their_weight_and_an_unrelated_target_has_none():
    X, y = problem((30, 8))
    X = np.hstack([X, X[:, :3]])

    coef = elastic_net_point(as_matrix(X), y, 11, 1e-3).coef
    point = elastic_net_point(as_matrix(np.ones((4, 2))), np.zeros(4), 1, 1e-3)

    np.testing.assert_allclose(coef[:3], coef[8:], atol=1e-9)
    assert not point.coef.any()
    assert not point.entry.any()


@SHAPES
def test_paths_side_by_side_are_those_of_each_target(shape):
    X, y = problem(shape)
    # One is over at once, the others take different numbers of steps.
    targets = np.column_stack([y, np.zeros(shape[0]), X[:, 0], X @ np.arange(shape[1])])
    matrix = as_matrix(X)

    together = elastic_net_points(matrix, targets, 9, 1e-3)

    for point, target in zip(together, targets.T, strict=True):
        alone = elastic_net_point(matrix, target, 9, 1e-3)
        scale = max(np.abs(alone.coef).max(), 1.0)
        np.testing.assert_allclose(point.coef, alone.coef, atol=1e-10 * scale)
        np.testing.assert_allclose(point.entry, alone.entry, atol=1e-8)


@SHAPES
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_sums_over_the_samples_are_enough_and_sparse_data_give_the_same(shape, ridge):
    X, y = problem(shape)
    X = np.where(np.abs(X) > 0.1, X, 0.0)
    targets = np.column_stack([y, X[:, 0]])

    known = elastic_net_points(as_matrix(X), targets, 9, ridge)
    for found in (
        elastic_net_points_from_sums(X.T @ X, X.T @ targets, 9, ridge),
        elastic_net_points(as_matrix(sp.csr_array(X)), targets, 9, ridge),
        elastic_net_points(as_matrix(sp.csc_array(X)), targets, 9, ridge),
    ):
        for one, other in zip(known, found, strict=True):
            np.testing.assert_allclose(other.coef, one.coef, rtol=1e-8, atol=1e-10)
            np.testing.assert_allclose(other.entry, one.entry, atol=1e-8)


def test_a_ridge_below_rounding_errors_is_raised_to_them():
    X, y = problem((30, 8))
    X = np.hstack([X, X])

    points = elastic_net_points_from_sums(X.T @ X, X.T @ y[:, np.newaxis], 8, 1e-300)

    np.testing.assert_allclose(points[0].coef[:8], points[0].coef[8:], atol=1e-3)


@pytest.mark.parametrize(
    ("n_samples", "n_steps", "ridge"), [(6, 30, 0.1), (40, 150, 1e-3)]
)
def test_systems_are_solved_while_columns_come_and_go(n_samples, n_steps, ridge):
    random = np.random.RandomState(1)
    model = ActiveColumns(n_samples, ridge)
    for step in range(n_steps):
        # Past the first buffer and past a root, below them, and past them again.
        if step < 2 * n_samples - 10 or step % 3:
            model.append(random.standard_normal(n_samples) / np.sqrt(n_samples))
        else:
            model.delete(random.randint(model.columns.shape[1]))
        Z = model.columns
        right = random.standard_normal(Z.shape[1])
        system = Z.T @ Z + ridge * np.eye(Z.shape[1])

        np.testing.assert_allclose(
            model.solve(right), np.linalg.solve(system, right), rtol=1e-7, atol=1e-8
        )
        np.testing.assert_allclose(system @ model.even, 1.0, atol=1e-8)
        if step == n_steps // 2:
            kept, before = model.copy(), (Z.copy(), model.even.copy())

    # A copy keeps its columns.
    np.testing.assert_array_equal(kept.columns, before[0])
    np.testing.assert_array_equal(kept.even, before[1])
    np.testing.assert_allclose(kept.solve(np.ones(before[0].shape[1])), before[1])

"""Greedy and row-sparse similarity preservation, against formulas and numbers."""

import numpy as np
import pytest
import scipy.sparse as sp
from each_case import each
from oracle_files import all_runs, inputs
from sklearn.linear_model import MultiTaskLasso

from ufselect.matrix import as_matrix
from ufselect.solvers.spfs import (
    greedy_columns,
    row_sparse_columns,
    row_sparse_search,
)

SHAPE = each("shape", [(30, 12), (15, 40)])


def problem(shape, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=shape) / np.sqrt(shape[0])
    root = random.normal(size=(shape[0], 4))
    return X, root


def naive_greedy(X, kernel, n_selected):
    """Try every column with every matrix written out."""
    order, errors, left = [], [], kernel.copy()
    for _ in range(n_selected):
        rest = [j for j in range(X.shape[1]) if j not in order]
        after = [np.sum((left - np.outer(X[:, j], X[:, j])) ** 2) for j in rest]
        best = rest[int(np.argmin(after))]
        order.append(best)
        errors.append(min(after))
        left = left - np.outer(X[:, best], X[:, best])
    return order, errors


@each(("name", "run"), list(all_runs("spfs_sfs")))
def test_greedy_order_equals_that_of_the_public_code(name, run):
    given = inputs(name)
    X = given[run["parameters"]["X"]]

    found = greedy_columns(as_matrix(X), given["K"], X.shape[1])

    np.testing.assert_array_equal(found.order, run["values"]["order"])


@SHAPE
def test_greedy_equals_trying_every_column(shape):
    X, root = problem(shape)

    found = greedy_columns(as_matrix(X), root @ root.T, 10)
    order, errors = naive_greedy(X, root @ root.T, 10)

    np.testing.assert_array_equal(found.order, order)
    np.testing.assert_allclose(found.history, errors, rtol=1e-10)


@SHAPE
def test_fewer_picks_are_the_first_of_more(shape):
    X, root = problem(shape)
    kernel = root @ root.T

    few = greedy_columns(as_matrix(X), kernel, 4)
    more = greedy_columns(as_matrix(sp.csr_array(X)), kernel, 9)

    np.testing.assert_array_equal(few.order, more.order[:4])


def test_a_kernel_made_of_columns_is_taken_apart_again():
    X = problem((30, 12))[0]
    chosen = [2, 5, 7]
    kernel = X[:, chosen] @ X[:, chosen].T

    found = greedy_columns(as_matrix(X), kernel, 3)

    assert set(found.order) == set(chosen)
    assert found.history[-1] < 1e-12 * np.sum(kernel**2)


def test_only_candidates_are_picked():
    X, root = problem((30, 12))
    candidates = np.arange(12) % 2 == 0

    found = greedy_columns(as_matrix(X), root @ root.T, 12, candidates=candidates)

    assert set(found.order) == {0, 2, 4, 6, 8, 10}


def test_a_report_of_true_stops_the_picking():
    X, root = problem((30, 12))

    found = greedy_columns(
        as_matrix(X), root @ root.T, 9, report=lambda pick, _: pick == 2
    )

    assert len(found.order) == 3


@each(("name", "run"), list(all_runs("spfs_nes")))
def test_the_regression_equals_the_numbers_of_the_public_code(name, run):
    given, values = inputs(name), run["values"]
    X = given[run["parameters"]["X"]]

    found = row_sparse_columns(
        as_matrix(X), given["Yk"], run["parameters"]["lam"], tol=1e-12
    )
    norms, expected = np.linalg.norm(found.coef, axis=1), np.array(values["row_norms"])

    assert found.history == pytest.approx([values["objective"]], rel=1e-6)
    assert np.count_nonzero(norms) == values["n_nonzero_rows"]
    np.testing.assert_allclose(norms, expected, rtol=0, atol=1e-6 * expected.max())


@SHAPE
def test_the_regression_is_the_multi_task_lasso_with_a_half(shape):
    X, root = problem(shape)
    lam = 0.2 * np.linalg.norm(X.T @ root, axis=1).max()
    peer = MultiTaskLasso(
        alpha=lam / len(X), fit_intercept=False, tol=1e-12, max_iter=100_000
    )

    found = row_sparse_columns(as_matrix(X), root, lam, tol=1e-12)

    np.testing.assert_allclose(found.coef, peer.fit(X, root).coef_.T, atol=1e-6)


@SHAPE
@each("n_wanted", [3, 6, 10])
def test_the_search_ends_near_the_number_wanted(shape, n_wanted):
    X, root = problem(shape)

    found = row_sparse_search(as_matrix(X), root, n_wanted, tol=1e-10)
    direct = row_sparse_columns(as_matrix(X), root, found.lam, tol=1e-10)

    assert abs(np.count_nonzero(found.coef.any(axis=1)) - n_wanted) <= 1
    assert len(found.history) <= 10
    np.testing.assert_allclose(found.coef, direct.coef, atol=1e-4)


def test_a_number_out_of_reach_gets_the_nearest():
    X, root = problem((30, 12))
    X[:, 6:] = 0.0

    found = row_sparse_search(as_matrix(X), root, 12)

    assert np.count_nonzero(found.coef.any(axis=1)) == 6
    assert len(found.history) == 10

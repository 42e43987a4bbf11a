"""SPFS: both strategies find what was planted, in any unit."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracle_files import all_runs, inputs
from sklearn.base import clone
from sklearn.linear_model import MultiTaskLasso

from ufselect import SPFS
from ufselect.matrix import as_matrix
from ufselect.selectors.spfs import greedy_columns, row_sparse_columns
from ufselect.solvers.graphs import (
    centred_kernel,
    gaussian_kernel,
    kernel_root,
    squared_distances_of,
)

SHAPE = pytest.mark.parametrize("shape", [(60, 30), (40, 100)])


def unit_columns(X):
    """Return X as SPFS prepares measurements, and its centred kernel."""
    X = X - X.mean(axis=0)
    X = X / np.linalg.norm(X, axis=0)
    return X, centred_kernel(gaussian_kernel(squared_distances_of(X @ X.T)))


def test_columns_of_unit_norm_use_the_kernel_up(planted):
    # What the choice of scale is for: redundancy drives out the planted columns.
    given = planted(40, 100, n_informative=8)

    found = [
        SPFS(8, strategy="greedy", scale=scale, standardize=False)
        .fit(given.X)
        .get_support(indices=True)
        for scale in ("unit", "kernel")
    ]

    unit, kernel = (len(np.intersect1d(one, given.informative)) for one in found)
    assert unit < kernel


@SHAPE
def test_the_group_lasso_satisfies_its_optimality_conditions(planted, shape):
    X = planted(*shape).X
    selector = SPFS(
        8,
        strategy="group-lasso",
        n_clusters=3,
        scale="unit",
        standardize=True,
        tol=1e-12,
    ).fit(X)
    scaled, kernel = unit_columns(X)
    unit = np.linalg.norm(X - X.mean(axis=0), axis=0) / X.std(axis=0)
    coef = selector.coef_ * unit[:, np.newaxis]
    lam = selector.lam_ / unit[0]

    force = scaled.T @ (kernel_root(kernel, n_columns=3) - scaled @ coef)
    inside = coef.any(axis=1)
    direction = coef[inside] / np.linalg.norm(coef[inside], axis=1, keepdims=True)

    np.testing.assert_allclose(force[inside], lam * direction, atol=1e-4 * lam)
    assert np.linalg.norm(force[~inside], axis=1).max() <= lam * (1 + 1e-6)


def test_a_given_lam_is_that_of_the_printed_objective(planted):
    X = planted(60, 20).X
    searched = SPFS(strategy="group-lasso", n_clusters=3, tol=1e-10).fit(X)

    given = clone(searched).set_params(lam=searched.lam_).fit(X)

    np.testing.assert_allclose(given.coef_, searched.coef_, atol=1e-5)
    assert given.n_iter_ == 1


SMALL_SHAPE = pytest.mark.parametrize("shape", [(30, 12), (15, 40)])


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


@pytest.mark.parametrize(("name", "run"), list(all_runs("spfs_sfs")))
def test_greedy_order_equals_that_of_the_public_code(name, run):
    given = inputs(name)
    X = given[run["parameters"]["X"]]

    found = greedy_columns(as_matrix(X), given["K"], X.shape[1])

    np.testing.assert_array_equal(found.order, run["values"]["order"])


@SMALL_SHAPE
def test_greedy_equals_trying_every_column(shape):
    X, root = problem(shape)

    kernel, even = root @ root.T, np.arange(shape[1]) % 2 == 0
    found = greedy_columns(as_matrix(X), kernel, 10)
    few = greedy_columns(as_matrix(sp.csr_array(X)), kernel, 4)
    told = greedy_columns(as_matrix(X), kernel, 9, callback=lambda pick, _: pick == 2)
    some = greedy_columns(as_matrix(X), kernel, shape[1], candidates=even)
    order, errors = naive_greedy(X, kernel, 10)

    np.testing.assert_array_equal(found.order, order)
    np.testing.assert_allclose(found.history, errors, rtol=1e-10)
    np.testing.assert_array_equal(few.order, order[:4])
    np.testing.assert_array_equal(told.order, order[:3])
    np.testing.assert_array_equal(np.sort(some.order), np.flatnonzero(even))


@pytest.mark.parametrize(("name", "run"), list(all_runs("spfs_nes")))
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


@SMALL_SHAPE
def test_the_regression_is_the_multi_task_lasso_with_a_half(shape):
    X, root = problem(shape)
    lam = 0.2 * np.linalg.norm(X.T @ root, axis=1).max()
    peer = MultiTaskLasso(
        alpha=lam / len(X), fit_intercept=False, tol=1e-12, max_iter=100_000
    )

    found = row_sparse_columns(as_matrix(X), root, lam, tol=1e-12)

    np.testing.assert_allclose(found.coef, peer.fit(X, root).coef_.T, atol=1e-6)


@SMALL_SHAPE
@pytest.mark.parametrize("n_wanted", [3, 6, 10])
def test_the_search_ends_near_the_number_wanted(shape, n_wanted):
    X, root = problem(shape)

    found = row_sparse_columns(as_matrix(X), root, n_wanted=n_wanted, tol=1e-10)
    direct = row_sparse_columns(as_matrix(X), root, found.lam, tol=1e-10)

    assert abs(np.count_nonzero(found.coef.any(axis=1)) - n_wanted) <= 1
    assert len(found.history) <= 10
    np.testing.assert_allclose(found.coef, direct.coef, atol=1e-4)
    # A number out of reach gets the nearest.
    X[:, n_wanted:] = 0.0
    most = row_sparse_columns(as_matrix(X), root, n_wanted=shape[1])
    assert np.count_nonzero(most.coef.any(axis=1)) == n_wanted
    assert len(most.history) == 10

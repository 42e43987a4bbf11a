"""SPFS: both strategies find what was planted, in any unit."""

import numpy as np
import pytest
from each_case import each
from sklearn.base import clone

from ufselect import SPFS
from ufselect.solvers.graphs import (
    centred_kernel,
    gaussian_kernel,
    kernel_root,
    squared_distances_of,
)

SHAPE = each("shape", [(60, 30), (40, 100)])
STRATEGY = each("strategy", ["greedy", "group-lasso"])


def unit_columns(X):
    """Return X as SPFS prepares measurements, and its centred kernel."""
    X = X - X.mean(axis=0)
    X = X / np.linalg.norm(X, axis=0)
    return X, centred_kernel(gaussian_kernel(squared_distances_of(X @ X.T)))


@SHAPE
@STRATEGY
def test_it_finds_the_columns_that_carry_clusters(planted, shape, strategy):
    selector = SPFS(8, strategy=strategy, n_clusters=3, standardize=False)
    hits = []
    for seed in range(5):
        given = planted(*shape, n_informative=8, seed=seed)
        found = selector.fit(given.X).get_support(indices=True)
        hits.append(len(np.intersect1d(found, given.informative)))

    assert np.mean(hits) >= 5


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
def test_greedy_picks_bring_the_error_lowest(planted, shape):
    X = planted(*shape).X
    selector = SPFS(6, strategy="greedy", standardize=True, scale="unit").fit(X)
    scaled, left = unit_columns(X)

    for place, pick in enumerate(selector.order_[:6]):
        rest = selector.order_[place:]
        errors = [np.sum((left - np.outer(f, f)) ** 2) for f in scaled[:, rest].T]
        assert rest[np.argmin(errors)] == pick
        left = left - np.outer(scaled[:, pick], scaled[:, pick])
        assert selector.objective_history_[place] == pytest.approx(np.sum(left**2))


def test_asking_for_more_only_adds_to_the_greedy_picks(planted):
    X = planted(30, 40).X

    few, more = (
        SPFS(5, strategy="greedy").fit(X).order_,
        SPFS(20, strategy="greedy").fit(X).order_,
    )

    np.testing.assert_array_equal(few[:5], more[:5])


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


def test_about_as_many_rows_as_wanted_are_left(planted):
    X = planted(60, 50).X

    selector = SPFS(20, strategy="group-lasso", n_clusters=3).fit(X)

    assert 18 <= np.count_nonzero(selector.coef_.any(axis=1)) <= 22
    assert selector.n_iter_ <= 10


def test_a_given_lam_is_that_of_the_printed_objective(planted):
    X = planted(60, 20).X
    searched = SPFS(strategy="group-lasso", n_clusters=3, tol=1e-10).fit(X)

    given = clone(searched).set_params(lam=searched.lam_).fit(X)

    np.testing.assert_allclose(given.coef_, searched.coef_, atol=1e-5)
    assert given.n_iter_ == 1

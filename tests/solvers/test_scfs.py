"""The exact solver of SCFS, against Eq. (3) written out and a plain alternation."""

import numpy as np
import pytest
import scipy.sparse as sp
from solvers.naive import (
    alternation,
    eq3,
    indicator_of,
    one_hot,
    planted,
    soft_partition,
)

from ufselect.matrix import as_matrix
from ufselect.solvers.group_lasso import GroupLasso, largest_penalty
from ufselect.solvers.ridge import row_norms
from ufselect.solvers.scfs import Alternation, SCFSProblem, path_weights

SHAPES = [(40, 12), (24, 60)]


def never(iteration, value):
    return False


def begin(X, memberships, *, intercept=True):
    """Return the alternation, which has units of its own."""
    data = as_matrix(X)
    n_clusters = memberships.shape[1]
    problem = SCFSProblem(data, False, n_clusters, intercept)
    return Alternation(problem, problem.X.aligned(memberships))


def fit(X, memberships, alpha, beta, *, intercept=True, sparse=False, **options):
    """Return the exact fit in the units of X."""
    alternation = begin(
        sp.csr_array(X) if sparse else X, memberships, intercept=intercept
    )
    unit = alternation.problem.unit
    settings = {"max_iter": 300, "tol": 1e-7, "callback": never} | options
    weights = alternation.problem.weights(alpha, beta)
    found = alternation.fit(*weights, **settings)
    history = [value / unit**2 for value in found.history]
    return found._replace(coef=found.coef * unit, history=history)


def problem(shape, intercept=True, start="random", strength=1.0, share=0.1, seed=0):
    """Return X, a start, and alpha and beta of the same effect in any unit."""
    X, labels = planted(*shape, seed=seed)
    X = X + 1.0
    if start == "random":
        memberships = soft_partition(len(X), 3, seed)
    else:
        wrong = np.random.default_rng(seed).permutation(len(X))[: len(X) // 4]
        labels[wrong] = (labels[wrong] + 1) % 3
        memberships = one_hot(labels)
    centred = X - X.mean(axis=0)
    alpha = strength * np.sum(centred**2) / 3
    regressors = centred if intercept else X
    crisp = indicator_of(one_hot(planted(*shape, seed=seed)[1]))
    beta = share * alpha * largest_penalty(as_matrix(regressors), crisp)
    return X, memberships, alpha, beta


SETTINGS = pytest.mark.parametrize(
    ("strength", "share"), [(0.1, 0.05), (1.0, 0.1), (10.0, 0.01), (1e-3, 0.5)]
)
INTERCEPT = pytest.mark.parametrize("intercept", [True, False])
SHAPE = pytest.mark.parametrize("shape", SHAPES)
START = pytest.mark.parametrize("start", ["random", "crisp"])


@SHAPE
@START
@SETTINGS
@INTERCEPT
def test_history_never_rises_and_ends_with_eq_3(
    shape, start, strength, share, intercept
):
    X, memberships, alpha, beta = problem(shape, intercept, start, strength, share)
    memberships.flags.writeable = False

    for max_iter in (1, 60):
        options = {"intercept": intercept, "tol": 1e-12, "max_iter": max_iter}
        found = fit(X, memberships, alpha, beta, **options)
        history = np.array(found.history)
        value = eq3(X, found.memberships, found.coef, alpha, beta, intercept)
        P = found.memberships

        assert len(history) == 1 or max_iter > 1
        assert np.all(np.diff(history) <= 1e-12 * history[:-1])
        assert history[-1] == pytest.approx(value, rel=1e-9)
        assert P.min() >= 0
        assert P.sum(axis=0).min() > 0
        np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)


@SHAPE
@START
@INTERCEPT
def test_it_ends_no_higher_than_a_plain_alternation(shape, start, intercept):
    X, memberships, alpha, beta = problem(shape, intercept, start)

    plain = alternation(X, memberships, alpha, beta, intercept, 40)
    found = fit(X, memberships, alpha, beta, intercept=intercept)

    assert found.history[-1] <= 1.005 * eq3(X, *plain, alpha, beta, intercept)


@SHAPE
@INTERCEPT
def test_coefficients_are_optimal_for_the_final_memberships(shape, intercept):
    X, memberships, alpha, beta = problem(shape, intercept)

    found = fit(X, memberships, alpha, beta, intercept=intercept)
    regressors = X - X.mean(axis=0) if intercept else X
    target = indicator_of(found.memberships)
    target = target - target.mean(axis=0) if intercept else target
    residual = target - regressors @ found.coef
    pull = 2 * row_norms(regressors.T @ residual) * alpha / beta
    lasso = GroupLasso(as_matrix(regressors), 3)
    lasso.set_target(np.sum(target**2), Y=target)
    lasso.admit(np.full(shape[1], 2.0))
    lasso.place(found.coef)

    np.testing.assert_allclose(found.kkt_ratios, pull, rtol=1e-6)
    assert lasso.gap(beta / alpha, pull.max()) <= 1e-3


@SHAPE
@INTERCEPT
def test_order_containers_and_offsets_with_an_intercept_do_not_matter(shape, intercept):
    X, memberships, alpha, beta = problem(shape, intercept)
    X = np.where(np.abs(X) > 1, X, 0.0)
    weights, options = (alpha, beta), {"intercept": intercept}
    random = np.random.default_rng(1)
    samples, features = random.permutation(shape[0]), random.permutation(shape[1])
    offsets = 10 * random.normal(size=shape[1]) if intercept else 0.0
    moved = (X + offsets)[np.ix_(samples, features)]

    here = fit(X, memberships, *weights, **options)
    sparse = fit(X, memberships, *weights, sparse=True, **options)
    there = fit(moved, memberships[samples], *weights, **options)

    np.testing.assert_allclose(sparse.memberships, here.memberships, atol=1e-3)
    np.testing.assert_allclose(there.memberships, here.memberships[samples], atol=1e-3)
    np.testing.assert_allclose(
        there.coef, here.coef[features], atol=1e-3 * np.abs(here.coef).max()
    )
    for other in (sparse, there):
        assert other.history[-1] == pytest.approx(here.history[-1], rel=1e-8)


def test_it_stops_when_it_has_converged_or_is_told_to():
    seen = []

    def stop_at_third(iteration, value):
        seen.append((iteration, value))
        return iteration == 2

    loose, tight = (fit(*problem((40, 12)), tol=tol) for tol in (1e-3, 1e-9))
    cut = fit(*problem((40, 12)), tol=1e-12, max_iter=2)
    told = fit(*problem((40, 12)), tol=0.0, callback=stop_at_third)
    ratios = np.array(told.history[:2]) / [value for _, value in seen[:2]]

    assert loose.converged
    assert len(loose.history) < len(tight.history) <= 300
    assert tight.history[-1] <= loose.history[-1]
    assert (cut.converged, len(cut.history)) == (False, 2)
    assert [iteration for iteration, _ in seen] == [0, 1, 2]
    assert len(told.history) == 3
    assert ratios[0] == pytest.approx(ratios[1])


@SHAPE
def test_only_columns_with_clusters_are_chosen_and_none_by_a_large_penalty(shape):
    X, memberships, alpha, beta = problem(shape, share=0.3)

    chosen = np.flatnonzero(row_norms(fit(X, memberships, alpha, beta).coef))

    assert len(chosen)
    assert chosen.max() < shape[1] // 3
    assert not fit(X, memberships, alpha, 1e3 * beta).coef.any()


@SHAPE
def test_clustering_alone_finds_clusters_far_apart(shape):
    X, labels = planted(*shape, distance=20)
    alternation = begin(X, soft_partition(shape[0], 3))

    for _ in range(4):
        alternation.cluster_only()

    found = alternation.partition.rows[0].argmax(axis=1)
    assert len(set(zip(found, labels, strict=True))) == 3


def test_another_fit_goes_on_from_clusters_and_coefficients():
    alternation = begin(planted(30, 70)[0], one_hot(np.arange(30) % 3))

    def another(beta):
        return alternation.fit(0.1, beta, max_iter=100, tol=1e-5, callback=never)

    first, again = another(2e-3), another(2e-3)
    before = row_norms(alternation.lasso.W).sum()
    another(1e-3)

    assert len(again.history) < len(first.history)
    assert again.history[-1] <= first.history[-1]
    assert row_norms(alternation.lasso.W).sum() > before > 0


def test_pairs_come_by_falling_penalty_with_alphas_up_and_down_in_turns():
    alternation = begin(planted(12, 6)[0], soft_partition(12, 3))
    weights = [1e-4, 1e-2, 1, 1e2]
    pairs = list(path_weights(alternation, weights, weights))
    penalties = [round(np.log10(beta / alpha)) for alpha, beta in pairs]
    alphas = [alpha for alpha, _ in path_weights(alternation, [1, 2, 4], [1, 2, 4])]

    assert sorted(pairs) == [(a, b) for a in weights for b in weights]
    assert penalties == sorted(penalties, reverse=True)
    assert alphas == [1, 1, 2, 4, 2, 1, 2, 4, 4]
    assert list(path_weights(alternation, [1, 1], [2])) == [(1, 2), (1, 2)]

"""SCFS: the objective it reports, the start, the stop, both solvers."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from ufselect import SCFS
from ufselect.solvers import scfs as scfs_solver

SOLVERS = ["exact", "paper"]


@pytest.fixture(params=[(40, 60), (90, 20)], ids=["wide", "tall"])
def X(request, planted):
    return planted(*request.param, n_informative=8).X


def crisp(labels, n_clusters=3):
    return np.eye(n_clusters)[labels]


def indicators(memberships):
    return memberships / np.sqrt(memberships.sum(axis=0))


def centred(matrix):
    return matrix - matrix.mean(axis=0)


def equation_3(X, G, W, alpha, beta, *, intercept=False):
    """Return the objective term by term, with n x n matrices and no shortcut."""
    error = centred(X @ W - G) if intercept else X @ W - G
    return (
        np.sum((X - G @ G.T @ X) ** 2)
        + alpha * np.sum(error**2)
        + beta * np.sum(np.sqrt(np.sum(W**2, axis=1)))
    )


def as_scaled(X, kind):
    if kind == "features":
        return X / X.std(axis=0)
    if kind == "samples":
        return X / np.linalg.norm(X, axis=1, keepdims=True)
    return X


# What is learned


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_is_learned(X, solver, capsys):
    n, p = X.shape
    selector = SCFS(n_clusters=3, solver=solver, random_state=0).fit(X)
    memberships, norms = selector.memberships_, np.linalg.norm(selector.coef_, axis=1)

    assert selector.coef_.shape == (p, 3)
    assert memberships.shape == (n, 3)
    assert memberships.min() >= 0
    assert memberships.sum(axis=0).min() > 0
    np.testing.assert_allclose(memberships.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(selector.labels_, memberships.argmax(axis=1))
    assert selector.objective_history_.shape == (selector.n_iter_,)
    assert min(selector.alpha_, selector.beta_) > 0
    assert selector.standardize_ in {"features", "samples", "none"}
    np.testing.assert_allclose(selector.scores_[norms > 0], norms[norms > 0])
    assert capsys.readouterr() == ("", "")
    selector.set_params(verbose=True).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == selector.n_iter_
    assert lines[0].startswith("SCFS iteration 1: objective ")


def test_zero_rows_follow_the_others_nearest_first(planted):
    X = planted(40, 60).X
    selector = SCFS(n_clusters=3, standardize=False, random_state=0).fit(X)
    G, W = indicators(selector.memberships_), selector.coef_
    outside = np.flatnonzero(~W.any(axis=1))
    kkt_ratios = np.linalg.norm(centred(X).T @ (centred(G) - centred(X) @ W), axis=1)

    expected = outside[np.argsort(-kkt_ratios[outside])]

    assert 0 < len(outside) < X.shape[1]
    np.testing.assert_array_equal(selector.order_[-len(outside) :], expected)
    assert (2 * selector.alpha_ * kkt_ratios[outside] <= selector.beta_).all()


# The objective


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("standardize", [False, "features", "samples"])
def test_the_last_objective_is_equation_3(X, standardize, intercept):
    selector = SCFS(
        n_clusters=3, standardize=standardize, fit_intercept=intercept, random_state=0
    ).fit(X)

    expected = equation_3(
        as_scaled(X, standardize),
        indicators(selector.memberships_),
        selector.coef_,
        selector.alpha_,
        selector.beta_,
        intercept=intercept,
    )

    np.testing.assert_allclose(selector.objective_history_[-1], expected, rtol=1e-9)


@pytest.mark.parametrize("far", [0.0, 1e5])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_without_an_intercept_constant_and_far_columns_do_no_harm(planted, form, far):
    """Regressors keep their means then; constant columns are left out of them."""
    X = planted(90, 12, n_informative=6).X
    X[:, 3] += far
    settings = {"n_clusters": 2, "fit_intercept": False, "standardize": False}
    selector = SCFS(random_state=0, **settings).fit(form(X))
    with_constants = np.column_stack([X[:, :5], np.full(90, 7.0), X[:, 5:]])
    again = SCFS(random_state=0, **settings).fit(form(with_constants))

    np.testing.assert_allclose(np.delete(again.coef_, 5, axis=0), selector.coef_)
    assert not again.coef_[5].any()
    for each, table in ((selector, X), (again, with_constants)):
        G = indicators(each.memberships_)
        by_hand = equation_3(table, G, each.coef_, each.alpha_, each.beta_)
        assert each.objective_history_[-1] == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_numbers_are_the_weights_of_equation_3(X, solver):
    plain = {"standardize": False, "fit_intercept": False}
    asked = {"n_clusters": 3, "solver": solver, "random_state": 0}
    auto = SCFS(**asked).fit(X)
    given = SCFS(**asked, alpha=auto.alpha_, beta=auto.beta_).fit(X)

    np.testing.assert_allclose(given.alpha_, auto.alpha_, rtol=1e-12)
    np.testing.assert_allclose(given.beta_, auto.beta_, rtol=1e-12)
    np.testing.assert_allclose(given.scores_, auto.scores_, rtol=1e-6, atol=1e-12)
    if solver == "exact":
        fit = SCFS(**asked, **plain, alpha=20.0, beta=3.0).fit(X)
        expected = equation_3(X, indicators(fit.memberships_), fit.coef_, 20.0, 3.0)
        np.testing.assert_allclose(fit.objective_history_[-1], expected, rtol=1e-9)


@pytest.mark.parametrize("standardize", [False, "features", "samples"])
def test_units_do_not_change_the_order_and_auto_weights_follow_them(X, standardize):
    for fit_intercept in (True, False):
        selector = SCFS(
            n_clusters=3,
            standardize=standardize,
            fit_intercept=fit_intercept,
            random_state=0,
        ).fit(X)
        alpha, beta, order = selector.alpha_, selector.beta_, selector.order_
        for factor in (1e-150, 1e3, 1e150) if fit_intercept else (1e3,):
            np.testing.assert_array_equal(selector.fit(factor * X).order_, order)
            if factor == 1e3 and not standardize:
                np.testing.assert_allclose(selector.alpha_, 1e6 * alpha, rtol=1e-9)
                np.testing.assert_allclose(selector.beta_, 1e9 * beta, rtol=1e-9)


# What is found


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_samples", [60, 400], ids=["wide", "tall"])
@pytest.mark.parametrize("seed", [0, 1])
def test_planted_features_are_found(planted, solver, n_samples, seed):
    X, _, informative = planted(n_samples, 200, seed=seed)

    # Scaled to unit variance, the other 190 columns may mislead a single start.
    selector = SCFS(10, n_clusters=3, solver=solver, n_init=5, random_state=0).fit(X)

    assert len(np.intersect1d(selector.order_[:10], informative)) >= 9


# The start


def test_a_warm_start_goes_on_where_the_last_fit_ended(X):
    cold = SCFS(n_clusters=3, random_state=0).fit(X)

    warm = SCFS(
        n_clusters=3, init=cold.memberships_, alpha=cold.alpha_, beta=cold.beta_
    ).fit(X)

    last = cold.objective_history_[-1]
    assert warm.objective_history_[0] <= last * (1 + 1e-3)
    assert warm.objective_history_[-1] <= last * (1 + 1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_best_of_several_starts_is_kept(solver):
    X = np.random.RandomState(0).standard_normal((30, 10))
    parameters = {"n_clusters": 4, "solver": solver, "alpha": 5.0, "beta": 1.0}
    random = np.random.RandomState(1)

    ends = [
        SCFS(**parameters, random_state=random).fit(X).objective_history_[-1]
        for _ in range(4)
    ]
    best = SCFS(**parameters, n_init=4, random_state=1).fit(X)

    assert ends[0] > 1.01 * min(ends)
    np.testing.assert_allclose(best.objective_history_[-1], min(ends), rtol=1e-9)


# Progress and stopping


@pytest.mark.parametrize("solver", SOLVERS)
def test_too_few_iterations_warn_where_fit_was_called(X, solver):
    selector = SCFS(n_clusters=3, solver=solver, max_iter=1, random_state=0)

    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 .*raise max_iter") as seen:
        selector.fit(X)

    assert [warning.filename for warning in seen] == [__file__]
    assert selector.n_iter_ == 1


# The paper solver


def test_the_paper_solver_shifts_negative_data_and_leaves_others(X):
    positive = np.abs(X) + 1.0
    selector = SCFS(n_clusters=3, solver="paper", random_state=0).fit(positive)
    G, kind = indicators(selector.memberships_), selector.standardize_
    scores = selector.scores_
    expected = equation_3(positive, G, selector.coef_, selector.alpha_, selector.beta_)

    # Here G is feasible up to 1 / gamma, so that the constraint costs next to nothing.
    np.testing.assert_allclose(selector.objective_history_[-1], expected, rtol=1e-3)
    assert kind == "none"
    plain = selector.set_params(standardize=False).fit(positive)
    np.testing.assert_array_equal(plain.scores_, scores)
    # Negative data are shifted as a whole.
    moved, shifted = (selector.fit(table).scores_ for table in (X, X - X.min()))
    np.testing.assert_allclose(shifted, moved, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_paper_solver_never_leaves_a_crisp_start(X, seed):
    labels = np.random.RandomState(seed).permutation(np.arange(len(X)) % 3)

    selector = SCFS(n_clusters=3, solver="paper", init=crisp(labels)).fit(X)

    np.testing.assert_array_equal(selector.labels_, labels)
    np.testing.assert_array_equal(selector.memberships_, crisp(labels))


def test_a_beta_that_was_decided_is_lowered_once_or_nothing_is_found(monkeypatch):
    X = np.random.default_rng(0).normal(size=(90, 30))
    X[:30, :4] += 4
    X[30:60, 4:8] += 4
    selector = SCFS(n_clusters=3, random_state=0)
    plain = selector.fit(X).beta_

    with pytest.raises(ValueError, match='or use beta="auto"'):
        SCFS(n_clusters=3, beta=1e9, random_state=0).fit(X)
    monkeypatch.setattr(scfs_solver, "AUTO_BETA", 5.0)
    lowered = selector.fit(X)
    assert lowered.beta_ == pytest.approx(10 * plain)
    assert set(lowered.order_[:8]) == set(range(8))
    asked = SCFS(n_clusters=3, beta=lowered.beta_, random_state=0).fit(X)
    np.testing.assert_allclose(lowered.scores_, asked.scores_)
    # No feature even then, or most of them: there is nothing, and correlation ranks.
    for name, value in {"AUTO_BETA": 1e9, "MAX_SHARE": 0.05}.items():
        monkeypatch.setattr(scfs_solver, "AUTO_BETA", 5.0)
        monkeypatch.setattr(scfs_solver, name, value)
        with pytest.warns(UserWarning, match="finds no 3 clusters in X that depend"):
            nothing = selector.fit(X)
        assert not nothing.coef_.any()
        G = centred(indicators(nothing.memberships_))
        correlation = np.linalg.norm((centred(X) / X.std(axis=0)).T @ G, axis=1)
        ratio = nothing.scores_ / correlation
        np.testing.assert_allclose(ratio, ratio[0])


def test_three_groups_in_a_row_are_found_with_fewer_clusters():
    """As the page of the method says: with a cluster for each, noise comes first."""
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(60, 12))
        X[:, :3] += 4 * (np.arange(60) % 3)[:, np.newaxis]
        for n_clusters in (2, 3):
            fit = SCFS(3, n_clusters=n_clusters, random_state=0).fit(X)
            assert (set(fit.order_[:3]) == {0, 1, 2}) == (n_clusters == 2)

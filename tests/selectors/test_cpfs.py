"""CPFS: its path, against its optimality and what is known in closed form."""

import numpy as np
import oracle_files
import pytest
from memory import traced_memory
from sklearn.exceptions import ConvergenceWarning

from ufselect import CPFS
from ufselect.matrix import as_matrix
from ufselect.selectors.cpfs import (
    PathFit,
    fit_path,
    path_scores,
    self_representation,
    thin_factor,
)
from ufselect.solvers import group_lasso
from ufselect.solvers.group_lasso import WorkingSetTooLarge

# One tall and one wide.
LETTER = pytest.mark.parametrize("letter", "AB")


def data(letter):
    return oracle_files.inputs(letter)["X"]


def centred(letter):
    X = data(letter)
    return X - X.mean(axis=0)


def path(X, fractions, max_rows=None, factor=None, **options):
    """Return the path at fractions of the largest penalty, and its penalties."""
    factor = thin_factor(as_matrix(X)) if factor is None else factor
    lasso = self_representation(factor, max_rows)
    penalties = lasso.kkt_ratios(1.0).max() * np.asarray(fractions)
    settings = {"max_iter": 100_000, "tol": 1e-10, "callback": lambda *_: False}
    return fit_path(lasso, penalties, **settings | options), penalties


def full(fit, p):
    coef = np.zeros((p, p))
    coef[fit.active] = fit.coef
    return coef


def objective(X, coef, penalty):
    return np.sum((X - X @ coef) ** 2) + penalty * np.abs(coef).max(axis=1).sum()


@LETTER
@pytest.mark.parametrize("fraction", [0.8, 0.3, 0.05])
def test_solution_satisfies_the_optimality_conditions(letter, fraction):
    X = centred(letter)
    fit, (penalty,) = path(X, [fraction], tol=1e-13)
    coef = full(fit, X.shape[1])
    gradient = 2 * X.T @ (X @ coef - X)
    sums = np.abs(gradient).sum(axis=1)
    sizes = np.abs(coef).max(axis=1)
    aligned = -np.sum(gradient * coef, axis=1)

    assert (sums <= penalty * (1 + 1e-4)).all()
    np.testing.assert_allclose(sums[sizes > 1e-6], penalty, rtol=1e-4)
    np.testing.assert_allclose(aligned, penalty * sizes, atol=1e-4 * penalty)
    assert fit.history[-1] == pytest.approx(objective(X, coef, penalty))


@LETTER
def test_the_end_of_a_path_does_not_depend_on_the_way(letter, monkeypatch):
    X = centred(letter)
    fit, penalties = path(X, [0.7, 0.4, 0.2], tol=1e-12)
    by_data, _ = path(X, [0.7, 0.4, 0.2], tol=1e-12, factor=X)
    at_once, _ = path(X, [0.2], tol=1e-12)
    found, expected = (full(one, X.shape[1]) for one in (fit, at_once))
    with monkeypatch.context() as patched:
        patched.setattr(group_lasso, "MIN_GROWTH", 1)
        slowly, _ = path(X, [0.7, 0.4, 0.2], tol=1e-12)

    value = objective(X, expected, penalties[-1])
    assert objective(X, found, penalties[-1]) == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(X @ found, X @ expected, atol=1e-3 * np.abs(X).max())
    np.testing.assert_array_equal(fit.entry, by_data.entry)
    assert (np.diff(fit.history) <= 1e-12 * np.sum(X**2)).all()
    assert len(slowly.history) > len(fit.history)
    assert slowly.history[-1] == pytest.approx(fit.history[-1], rel=1e-8)


@LETTER
def test_gap_bounds_the_distance_to_the_minimum(letter):
    X = centred(letter)
    best, (penalty,) = path(X, [0.2], tol=1e-12)
    lowest = objective(X, full(best, X.shape[1]), penalty)

    for tol in [1e-2, 1e-4, 1e-6]:
        fit, _ = path(X, [0.2], tol=tol)
        excess = objective(X, full(fit, X.shape[1]), penalty) - lowest
        assert fit.gaps[0] <= tol
        assert excess <= fit.gaps[0] * np.sum(X**2) + 1e-9


@LETTER
def test_nothing_enters_above_the_largest_penalty_and_one_feature_just_below(letter):
    X = centred(letter)
    sums = 2 * np.abs(X.T @ X).sum(axis=1)
    fit, (penalty,) = path(X, [0.9999])
    above, _ = path(X, [1.0 + 1e-6, 0.5])

    assert penalty / 0.9999 == pytest.approx(sums.max())
    np.testing.assert_array_equal(fit.active, [sums.argmax()])
    assert above.gaps[0] == 0.0
    assert above.entry.max() == 1


def test_orthogonal_features_shrink_one_by_one():
    fit, (penalty,) = path(np.diag([3.0, 2.0, 1.0]), [0.2], tol=1e-14)

    assert penalty == pytest.approx(3.6)
    np.testing.assert_array_equal(fit.active, [0, 1])
    np.testing.assert_allclose(fit.coef[:, :2], np.diag([0.8, 0.55]), atol=1e-6)


def test_a_path_ends_at_a_limit_of_rows_or_steps_or_when_told():
    X = centred("B")
    with pytest.raises(WorkingSetTooLarge) as caught:
        path(X, [0.9, 0.05], max_rows=10)
    short, _ = path(X, [0.5, 0.2], max_iter=7)
    told, (penalty,) = path(X, [0.5], callback=lambda iteration, value: iteration == 2)

    assert caught.value.n_rows > 10
    assert caught.value.last_lam == pytest.approx(0.9 * penalty / 0.5)
    assert (len(short.history), len(short.lams), short.converged) == (7, 1, False)
    assert len(told.history) == 3


# The selector


@LETTER
def test_fit_satisfies_the_optimality_conditions_in_units_of_the_data(letter):
    X, Xc = data(letter), centred(letter)
    selector = CPFS(tol=1e-12).fit(X)
    coef = np.zeros((X.shape[1], X.shape[1]))
    coef[selector.active_] = selector.coef_
    sums = 2 * np.abs(Xc.T @ (Xc @ coef - Xc)).sum(axis=1)
    entry = selector.entry_[selector.order_]
    entered = entry[entry >= 0]

    assert (sums <= selector.lam_ * (1 + 1e-4)).all()
    # A row of 1e-4 or more is no leftover of an unfinished descent.
    large = np.abs(coef).max(axis=1) > 1e-4
    np.testing.assert_allclose(sums[large], selector.lam_, rtol=1e-3)
    last = objective(Xc, coef, selector.lam_)
    assert selector.objective_history_[-1] == pytest.approx(last)
    assert selector.lam_max_ == pytest.approx(2 * np.abs(Xc.T @ Xc).sum(axis=1).max())
    # Features that enter earlier come first.
    assert (np.diff(entered) >= 0).all()
    assert (entry[len(entered) :] == -1).all()
    assert selector.scores_.max() <= 1.0


@LETTER
def test_a_number_means_the_objective_as_printed(letter):
    X = data(letter)
    by_fraction = CPFS(lam_fraction=0.3).fit(X)
    by_number = CPFS(lam=0.3 * by_fraction.lam_max_).fit(X)

    np.testing.assert_allclose(by_number.scores_, by_fraction.scores_, rtol=1e-6)


@pytest.mark.parametrize("factor", [1e-150, 1e-6, 1e150])
def test_units_of_the_data_do_not_matter_and_equal_columns_are_equal(factor):
    X = np.column_stack([data("B"), data("B")[:, 3]])
    scores = CPFS().fit(X).scores_

    np.testing.assert_allclose(CPFS().fit(factor * X).scores_, scores, rtol=1e-6)
    assert scores[3] == pytest.approx(scores[-1], rel=1e-9)


def test_scores_put_entry_before_size_and_size_before_the_kkt_ratio():
    fit = PathFit(
        lams=np.array([5.0, 2.5]),
        entry=np.array([1, 0, -1, 0, -1]),
        size=np.array([9.0, 0.1, 0.0, 0.2, 0.0]),
        kkt_ratios=np.array([1.0, 1.0, 0.5, 1.0, 0.9]),
        active=np.array([0, 1, 3]),
        coef=np.ones((3, 5)),
        history=np.ones(3),
        gaps=np.zeros(2),
        converged=True,
    )
    scores = path_scores(fit, np.array([0.5, 0.25]))

    np.testing.assert_array_equal(np.argsort(-scores), [3, 1, 0, 4, 2])
    assert 0.25 < scores[0] < 0.5 < scores[1] < scores[3] < 1.0


def test_a_longer_path_keeps_the_head_of_a_shorter_one():
    X = data("B")
    short = CPFS(lam_fraction=0.25, n_lams=10).fit(X)
    long = CPFS(lam_fraction=0.0625, n_lams=20).fit(X)
    n_entered = int(np.count_nonzero(short.entry_ >= 0))

    np.testing.assert_array_equal(short.order_[:n_entered], long.order_[:n_entered])


def test_what_leaves_nothing_or_takes_too_long_is_said():
    X = data("A")
    largest = CPFS().fit(X).lam_max_

    for factor in (1.0, 1.5, 1e200):
        with pytest.raises(ValueError, match=r"lam=.*W = 0.*between 0 and"):
            CPFS(lam=factor * largest).fit(X)
    assert len(CPFS(lam_fraction=1 - 1e-9).fit(X).active_) == 1
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        assert CPFS(max_iter=3).fit(data("B")).n_iter_ == 3


def test_too_little_memory_for_the_model_is_refused_with_a_lam_that_fits():
    X = data("B")
    memory = 24 * 45 * 20 + 80 * 45 * 12

    with pytest.raises(ValueError, match=r"of 45 features at lam=.* or more") as caught:
        CPFS(max_memory=memory).fit(X)

    lam = float(str(caught.value).split("with lam=")[1].split()[0])
    assert len(CPFS(lam=1.01 * lam, max_memory=memory).fit(X).active_) <= 12


def test_no_array_is_as_large_as_features_times_features():
    n, p = 20, 2000
    X = np.random.RandomState(0).standard_normal((n, p))
    X[:, :50] += 5 * np.random.RandomState(1).standard_normal((n, 1))

    with traced_memory() as memory:
        selector = CPFS(lam_fraction=0.7, n_lams=3).fit(X)

    assert len(selector.active_) > 0
    assert memory.peak < 8 * p * p

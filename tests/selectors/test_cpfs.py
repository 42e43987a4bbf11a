"""CPFS: its path, its units, its limits. The solver has tests of its own."""

import tracemalloc

import numpy as np
import oracle_files
import pytest
from sklearn.exceptions import ConvergenceWarning

from ufselect import CPFS
from ufselect.selectors.cpfs import path_scores
from ufselect.solvers.cpfs import PathFit

LETTER = pytest.mark.parametrize("letter", ["A", "B"], ids=["tall", "wide"])


def data(letter):
    return oracle_files.inputs(letter)["X"]


@LETTER
def test_fit_satisfies_the_optimality_conditions_in_units_of_the_data(letter):
    X = data(letter)
    selector = CPFS(tol=1e-12).fit(X)
    centred = X - X.mean(axis=0)
    coef = np.zeros((X.shape[1], X.shape[1]))
    coef[selector.active_] = selector.coef_
    sums = 2 * np.abs(centred.T @ (centred @ coef - centred)).sum(axis=1)
    loss = np.sum((centred - centred @ coef) ** 2)
    norm = np.abs(coef).max(axis=1).sum()

    assert (sums <= selector.lam_ * (1 + 1e-4)).all()
    # A row of 1e-4 or more is no leftover of an unfinished descent.
    large = np.abs(coef).max(axis=1) > 1e-4
    np.testing.assert_allclose(sums[large], selector.lam_, rtol=1e-3)
    assert selector.objective_history_[-1] == pytest.approx(loss + selector.lam_ * norm)


@LETTER
def test_largest_lam_is_the_largest_sum_of_covariances(letter):
    X = data(letter)
    centred = X - X.mean(axis=0)

    assert CPFS().fit(X).lam_max_ == pytest.approx(
        2 * np.abs(centred.T @ centred).sum(axis=1).max()
    )


@LETTER
def test_a_number_means_the_objective_as_printed(letter):
    X = data(letter)
    by_fraction = CPFS(lam_fraction=0.3).fit(X)
    by_number = CPFS(lam=0.3 * by_fraction.lam_max_).fit(X)

    np.testing.assert_allclose(by_number.scores_, by_fraction.scores_, rtol=1e-6)


@pytest.mark.parametrize("factor", [1e-150, 1e-6, 1e4, 1e150])
def test_units_of_the_data_do_not_matter(factor):
    X = data("B")
    scores = CPFS().fit(X).scores_

    np.testing.assert_allclose(CPFS().fit(factor * X).scores_, scores, rtol=1e-6)


def test_offset_of_the_data_does_not_matter():
    X = data("A")
    scores = CPFS().fit(X).scores_

    np.testing.assert_allclose(CPFS().fit(X + 100.0).scores_, scores, rtol=1e-6)


@LETTER
def test_features_that_enter_earlier_come_first(letter):
    selector = CPFS().fit(data(letter))
    entry = selector.entry_[selector.order_]
    entered = entry[entry >= 0]

    assert (np.diff(entered) >= 0).all()
    assert (entry[len(entered) :] == -1).all()
    assert selector.scores_.max() <= 1.0


def test_scores_put_entry_before_size_and_size_before_proximity():
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


def test_equal_columns_have_equal_scores():
    X = data("A")
    scores = CPFS().fit(np.column_stack([X, X[:, 3]])).scores_

    assert scores[3] == pytest.approx(scores[-1], rel=1e-9)


@pytest.mark.parametrize("shape", [(90, 40), (40, 90)])
def test_useful_features_come_first(planted, shape):
    given = planted(*shape, n_informative=8)
    selector = CPFS(8).fit(given.X)

    assert len(set(selector.order_[:8]) & set(given.informative)) >= 7


def test_useful_features_come_first_when_all_have_the_same_variance(planted):
    # Without variance to go by, what counts is how much a feature explains.
    given = planted(90, 40, n_informative=8)
    selector = CPFS(8).fit(given.X / given.X.std(axis=0))

    assert len(set(selector.order_[:8]) & set(given.informative)) >= 7


def test_a_feature_that_rebuilds_the_others_comes_first():
    random = np.random.RandomState(0)
    common = random.standard_normal(60)
    X = 0.5 * random.standard_normal((60, 9)) + common[:, np.newaxis]
    X = np.column_stack([X, common, 0.5 * random.standard_normal((60, 5))])

    assert CPFS().fit(X / X.std(axis=0)).order_[0] == 9


def test_objective_never_rises(planted):
    history = CPFS(lam_fraction=0.05).fit(planted(30, 50).X).objective_history_

    assert (np.diff(history) <= 1e-12 * history[0]).all()


# Limits


@pytest.mark.parametrize("factor", [1.0, 1.5, 1e200])
def test_lam_that_leaves_nothing_is_refused_with_the_largest_useful(factor):
    X = data("A")
    largest = CPFS().fit(X).lam_max_

    with pytest.raises(ValueError, match=r"lam=.*W = 0.*between 0 and"):
        CPFS(lam=factor * largest).fit(X)


def test_lam_just_below_the_largest_is_enough_for_one_feature():
    assert len(CPFS(lam_fraction=1 - 1e-9).fit(data("A")).active_) == 1


def test_too_little_memory_for_the_data_is_refused():
    with pytest.raises(ValueError, match=r"max_memory=1e\+03; raise max_memory"):
        CPFS(max_memory=1000).fit(data("B"))


def test_too_little_memory_for_the_model_is_refused_with_a_lam_that_fits():
    X = data("B")
    memory = 24 * 45 * 20 + 80 * 45 * 12

    with pytest.raises(ValueError, match=r"of 45 features at lam=.* or more") as caught:
        CPFS(max_memory=memory).fit(X)

    lam = float(str(caught.value).split("with lam=")[1].split()[0])
    path = CPFS(lam=1.01 * lam, max_memory=memory).fit(X)
    assert len(path.active_) <= 12


def test_no_array_is_as_large_as_features_times_features():
    n, p = 20, 2000
    X = np.random.RandomState(0).standard_normal((n, p))
    X[:, :50] += 5 * np.random.RandomState(1).standard_normal((n, 1))

    tracemalloc.start()
    selector = CPFS(lam_fraction=0.7, n_lams=3).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert len(selector.active_) > 0
    assert peak < 8 * p * p


def test_too_few_iterations_warn():
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        selector = CPFS(max_iter=3).fit(data("B"))

    assert selector.n_iter_ == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lam", 0.0),
        ("lam", "best"),
        ("lam_fraction", 1.0),
        ("lam_fraction", 0.0),
        ("n_lams", 0),
        ("max_memory", 0),
        ("max_iter", 0),
        ("tol", -1.0),
    ],
)
def test_parameter_out_of_range_is_refused(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of CPFS must be"):
        CPFS(**{name: value}).fit(data("A"))

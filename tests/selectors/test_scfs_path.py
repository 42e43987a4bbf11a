"""SCFS over a grid of weights: the fits of a path, and what they share."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info

from ufselect import SCFS
from ufselect.matrix import DenseMatrix
from ufselect.solvers.iterations import showing_progress

ALPHAS, BETAS = [50.0, 200.0], [2.0, 20.0]


@pytest.fixture(params=[(40, 60), (90, 20)], ids=["wide", "tall"])
def X(request, planted):
    return planted(*request.param, n_informative=8).X


@pytest.fixture
def selector():
    return SCFS(5, n_clusters=3, random_state=0)


def blas_threads():
    return {
        each["filepath"]: each["num_threads"]
        for each in threadpool_info()
        if each["user_api"] == "blas"
    }


@pytest.mark.parametrize("init", ["k-means", "random"])
def test_no_objective_is_a_thousandth_above_that_of_a_fit_of_its_own(X, init):
    selector = SCFS(n_clusters=3, init=init, random_state=0)

    for fitted in selector.path(X, alphas=ALPHAS, betas=BETAS):
        alone = SCFS(**fitted.get_params()).fit(X)

        reached, expected = (each.objective_history_[-1] for each in (fitted, alone))
        assert reached <= 1.001 * expected


def test_the_first_of_a_path_is_a_fit_of_its_own(X, selector):
    way = selector.path(X, alphas=ALPHAS, betas=BETAS)
    first = next(way)
    # What was yielded stays as it was.
    first.memberships_.flags.writeable = first.coef_.flags.writeable = False
    pairs = [(each.alpha, each.beta) for each in (first, *way)]
    alone = SCFS(**first.get_params()).fit(X)

    assert pairs == [(50.0, 20.0), (200.0, 20.0), (50.0, 2.0), (200.0, 2.0)]

    np.testing.assert_array_equal(first.scores_, alone.scores_)
    np.testing.assert_array_equal(first.coef_, alone.coef_)
    np.testing.assert_array_equal(first.labels_, alone.labels_)
    assert first.standardize_ == alone.standardize_
    assert (first.alpha_, first.beta_) == (alone.alpha_, alone.beta_)


def test_a_point_transforms_a_table_with_names(selector, planted):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(planted(40, 12).X).add_prefix("gene ")
    fitted = next(selector.set_output(transform="pandas").path(table))

    chosen = [f"gene {index}" for index in sorted(fitted.order_[:5])]

    assert list(fitted.transform(table).columns) == chosen


def test_without_weights_they_lie_around_those_of_auto(X, selector):
    usual = SCFS(**selector.get_params()).fit(X)
    fitted = list(selector.path(X))

    pairs = {(round(one.alpha_, 6), round(one.beta_, 6)) for one in fitted}

    assert (round(usual.alpha_, 6), round(usual.beta_, 6)) in pairs
    assert len(pairs) == 25


def test_the_data_are_looked_at_and_multiplied_once(planted, selector, monkeypatch):
    seen = []
    for name in ("weighted_gram", "repetition", "_column_summary"):
        method = getattr(DenseMatrix, name)

        def counted(self, *weights, name=name, method=method):
            # With weights, it is another matrix every time.
            seen.extend([] if weights else [name])
            return method(self, *weights)

        monkeypatch.setattr(DenseMatrix, name, counted)
    list(selector.path(planted(20, 60).X, alphas=ALPHAS, betas=BETAS))

    assert seen == ["_column_summary", "repetition", "weighted_gram"]


def test_a_pair_without_features_is_left_out_and_said(X, selector):
    with pytest.warns(UserWarning, match=r"1 of 2 pairs .*\(100, 1e\+06\); lower beta"):
        (fitted,) = selector.path(X, alphas=[100.0], betas=[1e6, 10.0])

    assert fitted.beta == 10.0


def test_what_a_path_is_not_for_is_refused_at_once(X, selector):
    for parameters, complaint in [
        ({"solver": "paper"}, "solver='paper'"),
        ({"n_init": 3}, "n_init=3"),
    ]:
        with pytest.raises(ValueError, match=complaint):
            clone(selector).set_params(**parameters).path(X)
    for weights in ([0.0, 1.0], [], [np.nan]):
        with pytest.raises(ValueError, match="betas"):
            selector.path(X, betas=weights)
    with pytest.raises(ValueError, match="n_clusters=500"):
        next(SCFS(n_clusters=500).path(X))


def test_an_interrupted_path_keeps_what_it_has_and_gives_threads_back(X, selector):
    before, fitted, iterations = blas_threads(), [], []

    def interrupt(name, iteration):
        iterations.append(iteration)
        if fitted and iteration == 2:
            raise KeyboardInterrupt

    way = selector.path(X, alphas=ALPHAS, betas=BETAS)
    with pytest.raises(KeyboardInterrupt), showing_progress(interrupt):
        fitted.extend(next(way) for _ in range(4))

    assert fitted[0].transform(X).shape == (len(X), 5)
    assert len(iterations) == fitted[0].n_iter_ + 2
    assert blas_threads() == before


def test_an_end_without_convergence_is_said_at_the_line_that_asks(X, selector):
    with pytest.warns(ConvergenceWarning, match="max_iter=1") as caught:
        list(selector.set_params(max_iter=1).path(X, alphas=[200.0], betas=[2.0]))

    assert caught[0].filename == __file__

"""Many fits: sharing, time budgets, failures and seeds."""

import functools
import threading
import warnings
from typing import ClassVar

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ufselect import (
    MCFS,
    SCFS,
    AutoSelect,
    Consensus,
    LaplacianScore,
    MaxVariance,
    StabilitySelection,
)
from ufselect.matrix import as_matrix
from ufselect.solvers import iterations, neighbours
from ufselect.solvers.scfs import SCFSProblem
from ufselect.tuning import fits
from ufselect.tuning.fits import (
    Work,
    checked_selector,
    fit_all,
    seeded,
)

TOO_MANY = SCFS(n_clusters=1000)


@pytest.fixture
def X(planted):
    return planted(40, 12, n_informative=5).X


@pytest.fixture
def clock(monkeypatch):
    """Replace the clock by one that each look moves on by a second."""
    times = iter(range(10**6))
    monkeypatch.setattr(fits.time, "monotonic", lambda: next(times))


def works(*selectors):
    return [
        Work(f"work {number}", selector) for number, selector in enumerate(selectors)
    ]


def fit(X, works, **options):
    return fit_all(as_matrix(X), works, title="all", **options)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_do_not_matter(X, backend):
    selectors = [SCFS(n_clusters=c, random_state=0) for c in (2, 3, 4)]
    alone = fit(X, works(*selectors), share=True)

    with parallel_config(backend=backend):
        together = fit(X, works(*selectors), n_jobs=2, share=True)

    np.testing.assert_array_equal(together.scores, alone.scores)
    assert [work.name for work in together.works] == ["work 0", "work 1", "work 2"]


def calls_of(monkeypatch, module, name):
    """Return a list that gets the arguments of every call of a function."""
    seen, function = [], getattr(module, name)

    @functools.wraps(function)
    def counted(*arguments):
        seen.append(arguments)
        return function(*arguments)

    monkeypatch.setattr(module, name, counted)
    return seen


def test_neighbours_and_prepared_data_are_shared_where_asked_for(X, monkeypatch):
    searches = calls_of(monkeypatch, neighbours, "_search")
    problems = calls_of(monkeypatch, SCFSProblem, "__init__")
    by_graph = [LaplacianScore(), LaplacianScore(weights="heat")]
    seeds = [SCFS(n_clusters=3, random_state=seed) for seed in range(3)]
    members = [*seeds, SCFS(n_clusters=2, random_state=0)]

    fit(X, works(*by_graph), share=True)
    assert len(searches) == 1
    fit(X, works(*by_graph), share=False)
    assert len(searches) == 3
    found = fit(X, works(*members), share=True)
    # Once for three clusters, and once for two.
    assert len(problems) == 2
    np.testing.assert_array_equal(found.scores[1], seeds[1].fit(X).scores_)
    assert vars(fits._worker) == {}


def test_no_fit_is_started_after_the_time_budget(X, clock):
    with pytest.warns(UserWarning, match=r"3 of 5 fits; work 3 and later"):
        finished = fit(X, works(*[MaxVariance()] * 5), time_budget=2.5)

    # The clock is read at the start and before each fit but the first, which is free.
    assert [work.name for work in finished.works] == ["work 0", "work 1", "work 2"]
    with pytest.warns(UserWarning, match="1 of 2 fits"):
        fit(X, works(*[MaxVariance()] * 2), time_budget=1e-9)
    assert len(fit(X, works(*[MaxVariance()] * 3), time_budget=1e6).works) == 3


def test_failures_are_left_out_and_named_with_their_reason(X):
    with pytest.warns(
        UserWarning, match=r"2 of 3 fits failed: work 0, work 2 \(ValueError: n_cluste"
    ):
        finished = fit(X, works(TOO_MANY, MaxVariance(), TOO_MANY))

    assert [work.name for work in finished.works] == ["work 1"]
    with pytest.warns(UserWarning, match=r"work 7 and 2 more \(ValueError"):
        fit(X, works(*[TOO_MANY] * 10, MaxVariance()))
    with pytest.raises(ValueError, match=r"all of 2 fits failed: work 0, work 1 \(Val"):
        fit(X, works(TOO_MANY, TOO_MANY))


def test_progress_and_warnings_are_told_fit_by_fit(X, capsys):
    hasty = SCFS(n_clusters=3, max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        fit(X, works(hasty))
    with pytest.warns(UserWarning, match="1 of 2"):
        fit(X, works(TOO_MANY, MaxVariance()), verbose=True)

    assert capsys.readouterr().out.splitlines() == [
        "all: work 0 failed (1 of 2)",
        "all: work 1 done (2 of 2)",
    ]


# Threads


class Noting(MaxVariance):
    """Tells which thread of this process fitted it."""

    threads: ClassVar[set[int]] = set()

    def _score_features(self, data):
        self.threads.add(threading.get_ident())
        return super()._score_features(data)


def test_large_tables_are_fitted_by_threads_with_the_same_result(X, monkeypatch):
    monkeypatch.setattr(iterations, "MIN_THREADED_VALUES", X.size // 2)
    members = [Noting(), SCFS(n_clusters=3), LaplacianScore()]
    before = warnings.filters.copy()

    for selector in (
        StabilitySelection(Noting(), 4, n_subsamples=5, random_state=0),
        Consensus(members, 4, random_state=0),
        AutoSelect(random_state=0),
    ):
        alone, together = (clone(selector).set_params(n_jobs=n) for n in (1, 2))
        np.testing.assert_array_equal(alone.fit(X).scores_, together.fit(X).scores_)
        works = [Work(name, clone(together)) for name in "ab"]
        inside = fit(X, works, n_jobs=2).scores
        np.testing.assert_array_equal(inside, [alone.scores_] * 2)

    assert len(Noting.threads) > 1
    assert warnings.filters == before


# What is asked of members


def test_seeds_are_set_only_where_there_are_none():
    members = [("free", SCFS()), ("tied", SCFS(random_state=5)), ("ls", MCFS())]
    selector = Consensus(members)
    copy = seeded(selector, 7)
    seeds = {k: v for k, v in copy.get_params().items() if k.endswith("random_state")}

    assert seeds == {
        "random_state": 7,
        "free__random_state": 7,
        "tied__random_state": 5,
    }
    assert selector.get_params()["free__random_state"] is None
    assert seeded(LaplacianScore(), 7).get_params() == LaplacianScore().get_params()


def test_selectors_are_checked():
    for given in (SCFS, "SCFS", None, 3):
        with pytest.raises(TypeError, match=r"it got .* which is not a selector"):
            checked_selector(given, "it")
    with pytest.raises(ValueError, match="'alpha' parameter of SCFS"):
        checked_selector(SCFS(alpha=-1.0), "it")

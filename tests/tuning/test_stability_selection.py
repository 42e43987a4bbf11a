"""Stability selection, against its definition subsample by subsample."""

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect import (
    MCFS,
    SCFS,
    LaplacianScore,
    MaxVariance,
    RandomSelection,
    StabilitySelection,
)
from ufselect.data import planted as planted_set
from ufselect.evaluation import selection_stability


@pytest.fixture
def X(planted):
    return planted(40, 12, n_informative=5).X


@pytest.fixture
def seen(monkeypatch):
    """Return the tables that MaxVariance is given, as they come."""
    tables = []
    score = MaxVariance._score_features

    def noted(self, data, summary):
        tables.append(data.raw)
        return score(self, data, summary)

    monkeypatch.setattr(MaxVariance, "_score_features", noted)
    return tables


def test_scores_are_those_of_the_definition(X, seen):
    selector = StabilitySelection(MaxVariance(), 4, n_subsamples=7, random_state=0)
    selector.fit(X)

    ranks = np.array([(-t.var(axis=0)).argsort().argsort() + 1.0 for t in seen])
    times = (ranks <= 4).sum(axis=0)
    means = np.prod(ranks, axis=0) ** (1 / 7)
    np.testing.assert_allclose(selector.frequency_, times / 7)
    np.testing.assert_allclose(selector.scores_, (times + 1 / means) / 8)
    assert selector.stability_ == selection_stability(ranks <= 4, 12)


def test_subsamples_are_rows_of_X_without_replacement(X, seen):
    StabilitySelection(MaxVariance(), n_subsamples=3, fraction=0.3, random_state=0).fit(
        X
    )

    rows = [{row.tobytes() for row in table} for table in seen]
    assert [len(table) for table in seen] == [12, 12, 12]
    assert all(len(each) == 12 and each <= {r.tobytes() for r in X} for each in rows)
    assert rows[0] != rows[1]


def test_frequency_comes_first_and_ranks_break_ties(X):
    selector = StabilitySelection(
        SCFS(n_clusters=3), 5, n_subsamples=10, random_state=0
    ).fit(X)

    ordered = selector.frequency_[selector.order_]

    assert (np.diff(ordered) <= 0).all()
    assert len(np.unique(selector.scores_)) > len(np.unique(selector.frequency_))


def test_useful_features_are_chosen_more_often_than_noise():
    data = planted_set("blobs", n_samples=60, n_useful=10, n_noise=40)

    frequency = (
        StabilitySelection(LaplacianScore(), 10, n_subsamples=20, random_state=0)
        .fit(data.table)
        .frequency_
    )

    assert frequency[data.informative].min() > frequency[~data.informative].max()


def test_a_random_selector_has_a_stability_of_about_zero(X):
    stability = (
        StabilitySelection(RandomSelection(), 4, n_subsamples=100, random_state=0)
        .fit(X)
        .stability_
    )

    assert stability.lower - 0.01 < 0 < stability.upper + 0.01


def test_every_subsample_has_a_seed_of_its_own(X):
    frequency = (
        StabilitySelection(RandomSelection(), 4, n_subsamples=10, random_state=0)
        .fit(X)
        .frequency_
    )

    assert len(np.unique(frequency)) > 2


def test_the_selector_is_told_how_many_features_are_wanted(X):
    parameters = {"n_features_to_select": 3, "n_subsamples": 4, "random_state": 0}
    told = StabilitySelection(MCFS(9, n_clusters=3), **parameters).fit(X)
    plain = StabilitySelection(MCFS(3, n_clusters=3), **parameters).fit(X)

    np.testing.assert_array_equal(told.scores_, plain.scores_)


@pytest.mark.parametrize("parameters", [{"n_subsamples": 1}, {"n_features": 12}])
def test_without_a_choice_to_compare_there_is_no_stability(X, parameters):
    wanted = parameters.pop("n_features", 4)

    selector = StabilitySelection(MaxVariance(), wanted, random_state=0)

    assert selector.set_params(**parameters).fit(X).stability_ is None


def test_subsamples_that_fail_are_left_out(X):
    # Some subsamples hold none of the few rows in which the rare column varies.
    rare = np.zeros((40, 2))
    rare[:1, 0], rare[:2, 1] = 1.0, 2.0
    selector = StabilitySelection(MaxVariance(), 1, n_subsamples=12, random_state=0)

    with pytest.warns(UserWarning, match=r"of 12 fits failed: subsample .* constant"):
        selector.fit(rare)

    assert 1 <= selector.n_subsamples_ < 12


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_subsamples_of_sparse_data_are_sparse(X, seen, form):
    StabilitySelection(MaxVariance(), n_subsamples=2, random_state=0).fit(form(X))

    assert all(sp.issparse(table) for table in seen)


def test_a_mistake_in_a_parameter_of_the_selector_is_refused(X):
    with pytest.raises(ValueError, match="'n_clusters' parameter of SCFS"):
        StabilitySelection(SCFS(n_clusters=-1)).fit(X)


def test_what_is_no_selector_is_refused(X):
    with pytest.raises(ValueError, match="'selector' parameter of StabilitySelection"):
        StabilitySelection(SCFS).fit(X)

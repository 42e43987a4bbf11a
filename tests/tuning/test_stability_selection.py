"""Stability selection, against its definition subsample by subsample."""

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect import (
    MCFS,
    SCFS,
    AutoSelect,
    LaplacianScore,
    MaxVariance,
    RandomSelection,
    StabilitySelection,
)
from ufselect.data import planted as planted_set
from ufselect.evaluation import selection_stability, verdict
from ufselect.tuning import auto_select


@pytest.fixture
def X(planted):
    return planted(40, 12, n_informative=5).X


@pytest.fixture
def seen(monkeypatch):
    """Return the tables that MaxVariance is given, as they come."""
    tables = []
    score = MaxVariance._score_features

    def noted(self, data):
        tables.append(data.raw)
        return score(self, data)

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


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_subsamples_are_rows_of_X_without_replacement(X, seen, form):
    selector = StabilitySelection(MaxVariance(), n_subsamples=3, fraction=0.3)
    selector.set_params(random_state=0).fit(form(X))

    assert all(sp.issparse(table) == (form is not np.asarray) for table in seen)
    tables = [sp.csr_array(table).toarray() for table in seen]
    rows = [{row.tobytes() for row in table} for table in tables]
    assert [len(table) for table in tables] == [12, 12, 12]
    assert all(len(each) == 12 and each <= {r.tobytes() for r in X} for each in rows)
    assert rows[0] != rows[1]
    # One subsample, or all features, leave nothing to compare.
    for parameters in ({"n_subsamples": 1}, {"n_features_to_select": 12}):
        assert selector.set_params(**parameters).fit(X).stability_ is None


def test_useful_features_are_chosen_more_often_and_ranks_break_ties():
    data = planted_set("blobs", n_samples=60, n_useful=10, n_noise=40)
    options = {"n_subsamples": 20, "random_state": 0}
    selector = StabilitySelection(LaplacianScore(), 10, **options).fit(data.table)
    frequency = selector.frequency_

    assert frequency[data.informative].min() > frequency[~data.informative].max()
    assert (np.diff(frequency[selector.order_]) <= 0).all()
    assert len(np.unique(selector.scores_)) > len(np.unique(frequency))


def test_every_subsample_has_a_seed_and_the_number_of_features(X):
    selector = StabilitySelection(RandomSelection(), 4, n_subsamples=100)
    selector.set_params(random_state=0).fit(X)
    parameters = {"n_features_to_select": 3, "n_subsamples": 4, "random_state": 0}
    told, plain = (
        StabilitySelection(MCFS(number, n_clusters=3), **parameters).fit(X)
        for number in (9, 3)
    )

    assert selector.stability_.lower - 0.01 < 0 < selector.stability_.upper + 0.01
    assert len(np.unique(selector.frequency_)) > 2
    np.testing.assert_array_equal(told.scores_, plain.scores_)
    with pytest.raises(ValueError, match="'n_clusters' parameter of SCFS"):
        StabilitySelection(SCFS(n_clusters=-1)).fit(X)
    with pytest.raises(ValueError, match="'selector' parameter of StabilitySelection"):
        StabilitySelection(SCFS).fit(X)


def test_subsamples_that_fail_are_left_out(X):
    # Some subsamples hold none of the few rows in which the rare column varies.
    rare = np.zeros((40, 2))
    rare[:1, 0], rare[:2, 1] = 1.0, 2.0
    selector = StabilitySelection(MaxVariance(), 1, n_subsamples=12, random_state=0)

    with pytest.warns(UserWarning, match=r"of 12 fits failed: subsample .* constant"):
        selector.fit(rare)

    assert 1 <= selector.n_subsamples_ < 12


def test_a_subsample_never_splits_a_group(X, seen, monkeypatch):
    patients = np.repeat(np.arange(10), [2, 5, 3, 8, 1, 6, 4, 7, 2, 2])
    X = np.column_stack([X, patients])
    names = np.array([f"patient {number}" for number in patients], dtype=object)

    def whole_groups(table):
        found, counts = np.unique(table[:, -1], return_counts=True)
        np.testing.assert_array_equal(counts, np.bincount(patients)[found.astype(int)])
        return len(table)

    StabilitySelection(MaxVariance(), n_subsamples=9, random_state=0).fit(
        X, None, names
    )
    drawn = seen.copy()
    member_ranks = auto_select.member_ranks

    def noted(data, rows, *others):
        drawn.append(data.raw[rows])
        return member_ranks(data, rows, *others)

    monkeypatch.setattr(auto_select, "member_ranks", noted)
    automatic = AutoSelect(n_features_to_select=3, random_state=0)
    automatic.fit(X, groups=names)

    sizes = [whole_groups(table) for table in drawn]
    assert len(sizes) == 9 + auto_select.N_SUBSAMPLES
    # At least the share that was asked for, and never everything.
    assert min(sizes[:9]) >= 20
    assert min(sizes[9:]) >= 27
    assert max(sizes) < 40
    assert "_groups" not in vars(automatic)
    found = verdict(X, automatic, groups=names, n_random=9, random_state=0)
    assert found.n_samples < 40
    assert all(map(whole_groups, drawn[len(sizes) :]))
    for wrong, message in (
        (names[:7], r"groups has shape \(7,\)"),
        (["a"] * 40, "single"),
    ):
        with pytest.raises(ValueError, match=message):
            automatic.fit(X, groups=wrong)

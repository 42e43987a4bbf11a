"""Verdicts on selectors: selected on one half of the samples, judged on the other."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import kstest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.feature_selection import SelectorMixin, VarianceThreshold

from ufselect import SCFS, LaplacianScore, MaxVariance, RandomSelection
from ufselect.data import planted
from ufselect.evaluation import verdict, verdicts
from ufselect.evaluation.criteria import CRITERIA
from ufselect.evaluation.split_half import preparation_of, random_halves

N_TABLES = 60


class Chooser(SelectorMixin, BaseEstimator):
    """Selects the columns it is told, and notes in a list what it was fitted to."""

    def __init__(self, columns=(), seen=None):
        self.columns = columns
        self.seen = seen

    def __sklearn_clone__(self):
        return type(self)(self.columns, self.seen)

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        if self.seen is not None:
            self.seen.append(np.array(X))
        return self

    def _get_support_mask(self):
        return np.isin(np.arange(self.n_features_in_), self.columns)


def noise(seed):
    """Return independent columns, of unequal variance in every other table."""
    random = np.random.RandomState(seed)
    table = random.standard_normal((60, 80))
    return table * np.exp(random.standard_normal(80)) if seed % 2 else table


@pytest.mark.slow
@pytest.mark.parametrize("selector", [MaxVariance(8), LaplacianScore(8)])
@pytest.mark.parametrize("standardize", ["auto", "none"])
def test_in_noise_p_values_are_uniform(selector, standardize):
    options = {"n_random": 19, "standardize": standardize}
    found = np.array(
        [
            [
                each.p_value
                for each in verdicts(
                    noise(seed), selector, random_state=seed, **options
                )
            ]
            for seed in range(N_TABLES)
        ]
    )
    # Ranks are discrete.
    found -= np.random.RandomState(0).uniform(size=found.shape) / 20

    for name, p_values in zip(CRITERIA, found.T, strict=True):
        assert np.mean(p_values < 0.05) < 0.15, name
        assert kstest(p_values, "uniform").pvalue > 0.005, name


def test_the_test_of_noise_would_see_a_selection_that_is_judged_on_its_own_samples():
    p_values = [
        verdict(
            noise(seed),
            LaplacianScore(8).fit(noise(seed)).get_support(),
            n_random=19,
            random_state=seed,
        ).p_value
        for seed in range(0, 20, 2)
    ]

    assert kstest(p_values, "uniform").pvalue < 0.005


@pytest.mark.parametrize("selector", [SCFS(10, n_clusters=3), LaplacianScore(10)])
def test_planted_columns_are_found(selector):
    table = planted("blobs", n_samples=80, n_noise=90).table
    found = verdict(table, selector, n_random=59, random_state=0)

    assert found.p_value < 0.05
    assert found.n_samples == 40
    assert found.n_features == 10
    assert "samples that the selection did not see, with features" in found.sentence
    assert "valid only if" not in found.sentence


def test_the_samples_that_are_judged_took_no_part_in_the_selection(monkeypatch):
    fitted, judged = [], []

    def criterion(table):
        judged.append(table)
        return lambda columns: 0.0

    monkeypatch.setitem(CRITERIA, "structure", criterion)
    table = np.random.RandomState(0).standard_normal((31, 12))
    verdict(table, Chooser([1, 2], fitted), standardize="none", random_state=0)
    first, second = ({tuple(row) for row in part} for part in (fitted[0], judged[0]))

    assert len(fitted) == 1
    assert {len(first), len(second)} == {15, 16}
    assert first | second == {tuple(row) for row in table}


def test_groups_are_never_split():
    groups = np.repeat(list("abcdefghij"), [2, 5, 3, 8, 1, 6, 4, 7, 2, 9])
    for seed in range(10):
        random = np.random.RandomState(seed)
        fitted, judged = random_halves(len(groups), groups, random)

        assert sorted([*fitted, *judged]) == list(range(len(groups)))
        assert not set(groups[fitted]) & set(groups[judged])
        assert len(set(groups[fitted])) == 5


def test_repeated_samples_of_patients_look_like_a_discovery_unless_they_are_groups():
    random = np.random.RandomState(0)
    patients = np.repeat(np.arange(12), 8)
    split = []
    for seed in range(6):
        own = random.standard_normal((12, 60)) @ random.standard_normal((60, 60))
        table = own[patients] + 0.1 * random.standard_normal((96, 60))
        options = {"n_random": 19, "random_state": seed, "criterion": "structure"}
        alone = verdict(table, LaplacianScore(6), **options)
        together = verdict(table, LaplacianScore(6), groups=patients, **options)
        split.append((alone.effect_size, together.effect_size))
    alone, together = np.mean(split, axis=0)

    assert alone > together


def test_a_fitted_selector_selects_as_many_features_on_half_of_the_samples():
    table = planted("blobs", n_samples=60, n_noise=30).table
    fitted = LaplacianScore(7).fit(table).set_params(n_features_to_select=3)
    options = {"n_random": 9, "random_state": 0}

    assert verdict(table, fitted, **options).n_features == 7
    assert verdict(table, LaplacianScore(3), **options).n_features == 3
    assert fitted.n_features_to_select == 3
    assert fitted.get_support().sum() == 7


def test_selectors_of_scikit_learn_are_judged_too():
    table = noise(1)
    selector = VarianceThreshold(np.median(table.var(axis=0)))
    found = verdict(table, selector, n_random=9, random_state=0)

    assert 20 < found.n_features < 60
    assert found.p_value is not None


@pytest.mark.parametrize("columns", [[], range(12)])
def test_without_a_choice_there_is_no_p_value(columns):
    table = np.random.RandomState(0).standard_normal((30, 12))
    every = verdicts(table, Chooser(columns), n_random=9, random_state=0)
    found = verdict(table, Chooser(columns), n_random=9, random_state=0)

    assert [each.p_value for each in every] == [None] * 4
    assert found.p_value is None
    assert np.isnan(found.value)
    assert found.random_values == ()
    assert "no p value" in found.sentence
    assert ("no column" in found.sentence) == (not len(columns))


def test_a_single_column_is_judged_by_reconstruction():
    table = planted("rings", n_samples=40, n_noise=10).table
    found = verdict(table, MaxVariance(1), n_random=9, random_state=0)

    assert found.criterion == "reconstruction"
    assert found.sentence.startswith("The selected column predicts all columns ")
    assert [each.criterion for each in verdicts(table, MaxVariance(1), n_random=9)] == [
        "reconstruction",
        "neighbours",
    ]
    with pytest.raises(ValueError, match="criterion='structure' compares"):
        verdict(table, MaxVariance(1), criterion="structure")


def test_the_units_are_those_of_the_selector_unless_others_are_asked_for():
    table = planted("counts", n_samples=60, n_noise=30).table
    options = {"n_random": 9, "random_state": 0}
    own = SCFS(5, n_clusters=3, standardize=False)

    assert verdict(table, SCFS(5, n_clusters=3), **options).standardize == "samples"
    assert verdict(table, own, **options).standardize == "none"
    assert verdict(table, MaxVariance(5), **options).standardize == "samples"
    found = verdict(table, own, standardize="features", **options)
    assert found.standardize == "features"
    assert "with features scaled to unit variance" in found.sentence
    assert preparation_of(own.fit(table)) == "none"


def test_one_column_in_large_units_does_not_decide():
    table = planted("blobs", n_samples=60, n_noise=30).table
    immense = table.copy()
    immense[:, -1] *= 1e6
    options = {"n_random": 19, "random_state": 0, "criterion": "neighbours"}
    selector = SCFS(5, n_clusters=3, random_state=0)

    first, again = (verdict(each, selector, **options) for each in (table, immense))

    assert again.value == pytest.approx(first.value)
    assert verdict(immense, selector, standardize=False, **options).value != first.value


def test_a_seed_fixes_the_verdict_of_a_selector_without_one():
    table = noise(0)
    first, again, other = (
        verdict(table, RandomSelection(9), n_random=9, random_state=seed)
        for seed in (1, 1, 2)
    )

    assert first == again
    assert first.value != other.value


def test_sparse_samples_are_split_too():
    table = planted("counts", n_samples=60, n_noise=30).table
    options = {"n_random": 9, "random_state": 0}
    dense = verdict(table, MaxVariance(5), **options)
    sparse = verdict(sp.csr_array(table), MaxVariance(5), **options)

    assert sparse.value == pytest.approx(dense.value)


def test_of_several_splits_twice_the_median_p_value_is_given():
    table = planted("blobs", n_samples=80, n_noise=90).table
    options = {"n_random": 59, "random_state": 0}
    found = verdict(table, LaplacianScore(10), n_splits=3, **options)
    lost = verdict(noise(0), MaxVariance(10), n_splits=3, **options)

    assert found.p_value == pytest.approx(2 / 60)
    assert "over 3 splits" in found.sentence
    assert 0.05 < lost.p_value <= 1
    assert "not clearly more" in lost.sentence


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": noise(0)[:19]}, "X has 19 samples but a verdict needs 20: half"),
        ({"groups": [1, 2]}, r"groups has shape \(2,\) but X has 60 samples"),
        ({"groups": ["a"] * 60}, "groups holds a single group"),
        ({"groups": ["a"] * 55 + ["b"] * 5}, "hold 5 samples but a verdict needs 10"),
        ({"n_splits": 0}, "n_splits=0 must be at least 1"),
        ({"selector": KMeans(3)}, "KMeans has no get_support; give a selector"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_sentence(change, message):
    question = {"X": noise(0), "selector": MaxVariance(5), **change}
    with pytest.raises(ValueError, match=message):
        verdict(question.pop("X"), question.pop("selector"), **question)

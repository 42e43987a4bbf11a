"""Verdicts: uniform p-values for random sets and noise, small ones for planted columns.

First those on columns chosen beforehand, then those on selectors, which are fitted to
one half of the samples and judged on the other.
"""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import kstest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.feature_selection import SelectorMixin, VarianceThreshold

from ufselect import SCFS, LaplacianScore, MaxVariance, RandomSelection
from ufselect.data import GEOMETRIES, planted
from ufselect.evaluation import significance, verdict, verdicts
from ufselect.evaluation.criteria import CRITERIA
from ufselect.evaluation.subsamples import (
    matched_sets,
    preparation_of,
    random_halves,
)

SHAPES = {"tall": (90, 30), "wide": (40, 390)}


def data(geometry="blobs", shape="tall", seed=0):
    n_samples, n_noise = SHAPES[shape]
    return planted(geometry, n_samples=n_samples, n_noise=n_noise, seed=seed)


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


def rarely_varying():
    random = np.random.RandomState(0)
    table = (random.uniform(size=(60, 30)) < 0.04) * random.uniform(size=(60, 30))
    return sp.csr_array(table[:, table.any(axis=0)])


def copied(n_copied):
    column = np.random.RandomState(0).standard_normal((12, n_copied))
    return np.tile(column, (1, 6))


SMALL = planted(n_samples=20, n_useful=6, n_noise=12).table
slow = partial(pytest.param, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("table", "criterion", "size", "n_drawings", "n_random"),
    [
        slow(SMALL, "kernel alignment", 4, 200, 99),
        slow(SMALL, "explained variance", 4, 100, 49),
        slow(SMALL, "neighbourhood preservation", 4, 100, 19),
        # Columns vary in samples that are not used.
        slow(rarely_varying(), "kernel alignment", 4, 200, 39),
        # Many sets tie.
        (copied(1), "explained variance", 1, 200, 39),
        (copied(3), "explained variance", 1, 200, 39),
    ],
)
def test_p_values_of_random_sets_are_uniform(
    table, criterion, size, n_drawings, n_random, monkeypatch
):
    monkeypatch.setattr(significance, "MAX_SAMPLES", 20)
    random = np.random.RandomState(0)
    options = {"criterion": criterion, "n_random": n_random, "random_state": random}
    p_values = [
        verdict(
            table, random.choice(table.shape[1], size, replace=False), **options
        ).p_value
        for _ in range(n_drawings)
    ]

    assert kstest(p_values, "uniform").pvalue > 0.01


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_planted_columns_are_better_than_random_and_noise_is_not(geometry, shape, seed):
    table, _, _, informative = data(geometry, shape, seed)
    noise = np.flatnonzero(~informative)[:10]
    found = verdict(table, informative, n_random=99, random_state=seed)
    lost = verdict(table, noise, n_random=99, random_state=seed)

    assert found.p_value < 0.05
    assert lost.p_value > 0.05


def groups_of_copies(n_groups=5, n_copies=20, n_noise=100):
    """Return a table of groups of alike columns, and one column of each group."""
    random = np.random.RandomState(0)
    alike = np.repeat(random.standard_normal((60, n_groups)), n_copies, axis=1)
    alike += 0.3 * random.standard_normal(alike.shape)
    table = np.c_[alike, random.standard_normal((60, n_noise))]
    return table, np.arange(n_groups) * n_copies


@pytest.mark.parametrize(
    ("criterion", "claim"),
    [
        ("explained variance", "predict all columns better than random ones"),
        (
            "neighbourhood preservation",
            "keep the neighbours of samples better than random ones",
        ),
        ("low redundancy", "repeat one another not clearly less than random ones"),
    ],
)
def test_representatives_of_groups_stand_for_all_columns(criterion, claim):
    table, representatives = groups_of_copies()
    noise = np.arange(table.shape[1])[-5:]
    options = {"criterion": criterion, "n_random": 59, "random_state": 0}
    found = verdict(table, representatives, **options)

    assert claim in found.sentence
    assert (found.p_value < 0.05) == (criterion != "low redundancy")
    if criterion != "low redundancy":
        assert verdict(table, noise, **options).p_value > 0.5


def test_the_more_planted_columns_the_larger_the_effect():
    table, _, _, informative = data("rings", "wide")
    useful, noise = np.flatnonzero(informative), np.flatnonzero(~informative)
    effects = [
        verdict(
            table, [*useful[:count], *noise[: 10 - count]], n_random=49, random_state=0
        ).effect_size
        for count in (0, 4, 7, 10)
    ]

    assert effects == sorted(effects)
    assert effects[-1] > effects[0] + 5


def recorded_sets(monkeypatch, values=None):
    """Put in place of structure a criterion that notes what it is given.

    Its value on permuted copies of the table is 0.
    """
    tables, sets = [], []

    def criterion(table):
        tables.append(table.matrix.raw)
        return (lambda columns: 0.0) if len(tables) % 3 != 1 else judge

    def judge(columns):
        sets.append(columns)
        return float(columns[0]) if values is None else values[len(sets) - 1]

    monkeypatch.setitem(CRITERIA, "kernel alignment", criterion)
    return tables, sets


def test_random_sets_have_the_size_of_the_selection_and_no_constant_column(
    monkeypatch,
):
    table = data().table.copy()
    table[:, ::2] = 0.1
    tables, sets = recorded_sets(monkeypatch)
    verdict(table, [0, 1, 3], n_random=300, random_state=0)
    drawn = np.array(sets[1:])

    assert sets[0].tolist() == [0, 1, 3]
    assert drawn.shape == (300, 3)
    assert (np.diff(drawn, axis=1) > 0).all()
    assert set(drawn.ravel().tolist()) == set(range(1, 40, 2))
    # The table is compared with itself permuted.
    real, *permuted = tables
    assert len(permuted) == 2
    for other in permuted:
        assert np.sort(other, axis=0) == pytest.approx(np.sort(real, axis=0))
        assert (other != real)[:, 1::2].any(axis=0).all()


def test_in_the_units_of_the_table_random_sets_have_columns_of_similar_variance(
    monkeypatch,
):
    random = np.random.RandomState(0)
    deviations = np.exp(np.arange(400) / 40)
    table = random.standard_normal((50, 400)) * deviations
    _, sets = recorded_sets(monkeypatch)
    verdict(table, [100, 300], standardize="none", n_random=200, random_state=0)
    low, high = np.array(sets[1:]).T

    assert 60 < low.min() < 90 < 110 < low.max() < 140
    assert 260 < high.min() < 290 < 310 < high.max() < 340
    assert len(np.unique(low)) > 30


def test_what_columns_have_without_the_others_is_subtracted(monkeypatch):
    tables = []

    def criterion(table):
        tables.append(table)
        null = len(tables) > 1
        return lambda columns: 10.0 * columns[0] - null

    monkeypatch.setitem(CRITERIA, "kernel alignment", criterion)
    found = verdict(data().table, [3, 5], n_random=9, random_state=0)

    assert found.value == 30.0
    assert found.random_values == (30.0,) * 9
    assert found.effect_size == 0.0


def test_the_numbers_are_those_of_the_random_sets(monkeypatch):
    values = np.r_[7.0, np.arange(9.0)]
    recorded_sets(monkeypatch, values)
    table = data().table
    found = verdict(table, [0, 1], n_random=9, random_state=0)

    assert (found.criterion, found.value, found.random_mean) == (
        "kernel alignment",
        7.0,
        4.0,
    )
    assert found.random_deviation == pytest.approx(np.sqrt(60 / 9))
    assert found.effect_size == pytest.approx(3 / np.sqrt(60 / 9))
    assert found.p_value in (0.2, 0.3)
    assert found.band == pytest.approx((0.4, 7.6))
    assert (found.n_features, found.n_samples) == (2, 90)
    assert found.standardize == "features"
    assert found.random_values == tuple(range(9))
    assert "random_values" not in repr(found)
    assert "p_value=0." in repr(found)


def test_random_sets_without_any_variation_are_no_obstacle(monkeypatch):
    for value, effect in [(2.0, np.inf), (1.0, 0.0), (0, -np.inf)]:
        recorded_sets(monkeypatch, [value, *[1.0] * 9])
        found = verdict(data().table, [0, 1], n_random=9, random_state=0)
        assert found.effect_size == effect


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (50.0, "The 2 selected columns agree with one another more than random ones"),
        (20.5, "The 2 selected columns agree with one another not clearly more than"),
        (-1.0, "The 2 selected columns agree with one another less than random ones"),
    ],
)
def test_the_sentence_says_how_the_selection_compares(monkeypatch, value, expected):
    recorded_sets(monkeypatch, [value, *range(39)])
    table = data().table
    found = verdict(table, [0, 1], n_random=39, random_state=0)

    assert found.sentence.startswith(expected)
    assert f"(p = {found.p_value:.3g}, criterion 'kernel alignment'): {value:.3g}" in (
        found.sentence
    )
    assert f"{abs(found.effect_size):.1f} standard deviations" in found.sentence
    assert "39 random sets" in found.sentence
    assert "between 1.9 and 36.1" in found.sentence
    assert "90 samples, with features scaled to unit variance." in found.sentence
    assert "valid only if these columns were chosen on other" in found.sentence
    assert ("Copies of one column would" in found.sentence) == (value == 50.0)


def test_copies_agree_with_one_another_and_predict_little():
    random = np.random.RandomState(0)
    table = random.standard_normal((50, 40)) @ random.standard_normal((40, 40))
    table[:, 1:5] = table[:, :1] + 0.01 * random.standard_normal((50, 4))
    by = {
        name: verdict(table, range(5), criterion=name, n_random=49, random_state=0)
        for name in CRITERIA
    }

    assert by["kernel alignment"].p_value == 0.02
    assert by["explained variance"].p_value > 0.5
    assert by["neighbourhood preservation"].p_value > 0.5
    assert by["low redundancy"].p_value == 1.0


def test_a_seed_fixes_the_verdict_and_threads_and_orders_do_not_change_it():
    table, _, _, informative = data("subspaces")
    options = {"n_random": 19, "random_state": 3}
    first = verdict(table, informative, **options)
    other = verdict(table, informative, n_random=19, random_state=4)
    shuffled = np.random.RandomState(0).permutation(len(table))
    permuted = verdict(table[shuffled], informative, **options)

    assert first == verdict(table, informative, n_jobs=2, **options)
    assert first == verdict(table, np.flatnonzero(informative)[::-1], **options)
    assert first.value == other.value
    assert first.random_mean != other.random_mean
    assert permuted.value == pytest.approx(first.value)
    assert permuted.p_value == first.p_value


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("convert", [sp.csr_array, sp.csc_matrix])
def test_sparse_data_give_the_same_verdict(convert, criterion):
    # Counts have neighbours at equal distance, which may be taken in any order.
    geometry = "rings" if criterion == "neighbourhood preservation" else "counts"
    table, _, _, informative = data(geometry)
    options = {"criterion": criterion, "n_random": 19, "random_state": 0}
    dense = verdict(table, informative, **options)
    sparse = verdict(convert(table), informative, **options)

    assert sparse.value == pytest.approx(dense.value)
    assert sparse.standardize == dense.standardize
    # Columns are permuted in another way.
    assert sparse.p_value == pytest.approx(dense.p_value, abs=0.3)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_of_many_samples_some_are_used_for_all_sets(convert, monkeypatch):
    tables, _ = recorded_sets(monkeypatch)
    monkeypatch.setattr(significance, "MAX_SAMPLES", 25)
    table = data().table
    options = {"n_random": 9, "random_state": 0}
    verdict(convert(table), [0, 1], standardize=False, **options)
    rows = sp.csr_array(tables[0]).toarray()

    assert len(tables) == 3
    assert rows.shape == (25, 40)
    assert all((table == row).all(axis=1).any() for row in rows)
    assert len(np.unique(rows, axis=0)) == 25


def test_a_selection_of_constant_columns_gets_a_bad_verdict():
    table = data("rings").table.copy()
    table[:, :3] = 1.0
    options = {
        "criterion": "neighbourhood preservation",
        "n_random": 39,
        "random_state": 0,
    }

    assert verdict(table, [0, 1, 2], **options).p_value > 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"selector": [0, 1, 2, 3]}, "4 columns are selected but only 4 columns of X"),
        ({"selector": []}, "The selection is empty"),
        ({"selector": [5]}, "Column 5 is selected but the table has 5"),
        ({"criterion": "best"}, "criterion='best' is not known; use one of"),
        (
            {"selector": [0], "criterion": "kernel alignment"},
            "criterion='kernel alignment' compares",
        ),
        ({"X": np.eye(9, 5)}, "X has 9 samples but a verdict needs 10"),
        ({"n_random": 0}, "n_random=0 must be at least 1"),
        ({"standardize": "best"}, "standardize='best' is not known; use 'auto'"),
        ({"X": np.ones(5)}, "Expected 2D array, got 1D"),
        ({"selector": MaxVariance(5), "X": noise(0)[:19]}, "verdict needs 20, half"),
        ({"selector": MaxVariance(3), "groups": [1, 2]}, r"groups has shape \(2,\)"),
        ({"selector": MaxVariance(3), "groups": ["a"] * 90}, "a single group"),
        (
            {"selector": MaxVariance(3), "groups": ["a"] * 85 + ["b"] * 5},
            "have 5 samples but a verdict needs 10",
        ),
        ({"selector": MaxVariance(3), "n_splits": 0}, "n_splits=0 must be at least 1"),
        ({"selector": KMeans(3)}, "KMeans has no get_support; give a selector"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_sentence(change, message):
    table = data().table[:, :5].copy()
    table[:, 4] = 0.0
    question = {"X": table, "selector": [0, 1], **change}
    with pytest.raises(ValueError, match=message):
        verdict(question.pop("X"), question.pop("selector"), **question)


# Selectors


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
            for seed in range(60)
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
        judged.append(table.matrix.raw)
        return lambda columns: 0.0

    monkeypatch.setitem(CRITERIA, "kernel alignment", criterion)
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
        options = {
            "n_random": 19,
            "random_state": seed,
            "criterion": "kernel alignment",
        }
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


@pytest.mark.parametrize("columns", [[], range(12)])
def test_without_a_choice_there_is_no_p_value(columns):
    table = np.random.RandomState(0).standard_normal((30, 12))
    every = verdicts(table, Chooser(columns), n_random=9, random_state=0)
    found = verdict(table, Chooser(columns), n_random=9, random_state=0)

    assert [each.p_value for each in (found, *every)] == [None] * 5
    assert np.isnan(found.value)
    assert found.random_values == ()
    assert "no p-value" in found.sentence
    assert ("no column" in found.sentence) == (not len(columns))


def test_a_single_column_is_judged_by_reconstruction():
    table = planted("rings", n_samples=40, n_noise=10).table
    found = verdict(table, MaxVariance(1), n_random=9, random_state=0)

    assert found.criterion == "explained variance"
    assert found.sentence.startswith("The selected column predicts all columns ")
    assert [each.criterion for each in verdicts(table, MaxVariance(1), n_random=9)] == [
        "explained variance",
        "neighbourhood preservation",
    ]
    with pytest.raises(ValueError, match="criterion='kernel alignment' compares"):
        verdict(table, MaxVariance(1), criterion="kernel alignment")


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
    options = {
        "n_random": 19,
        "random_state": 0,
        "criterion": "neighbourhood preservation",
    }
    selector = SCFS(5, n_clusters=3, random_state=0)

    first, again = (verdict(each, selector, **options) for each in (table, immense))

    assert again.value == pytest.approx(first.value)
    assert verdict(immense, selector, standardize=False, **options).value != first.value


def test_a_seed_fixes_the_verdict_and_any_selector_and_sparse_samples_are_judged():
    table = noise(0)
    first, again, other = (
        verdict(table, RandomSelection(9), n_random=9, random_state=seed)
        for seed in (1, 1, 2)
    )

    assert first == again
    assert first.value != other.value
    table = planted("counts", n_samples=60, n_noise=30).table
    dense, sparse = (
        verdict(each, MaxVariance(5), n_random=9, random_state=0)
        for each in (table, sp.csr_array(table))
    )
    assert sparse.value == pytest.approx(dense.value)
    # One of scikit-learn.
    selector = VarianceThreshold(np.median(table.var(axis=0)))
    found = verdict(table, selector, n_random=9, random_state=0)
    assert 10 < found.n_features < 30
    assert found.p_value is not None


def test_of_several_splits_twice_the_median_p_value_is_given():
    table = planted("blobs", n_samples=80, n_noise=90).table
    options = {"n_random": 59, "random_state": 0}
    found = verdict(table, LaplacianScore(10), n_splits=3, **options)
    lost = verdict(noise(0), MaxVariance(10), n_splits=3, **options)

    assert found.p_value == pytest.approx(2 / 60)
    assert "over 3 splits" in found.sentence
    assert 0.05 < lost.p_value <= 1
    assert "not clearly more" in lost.sentence


@pytest.mark.parametrize("places", [[0], [3, 4, 5, 99], range(40, 65)])
def test_matched_sets_have_distinct_columns_near_the_given_places(places):
    order = np.random.RandomState(1).permutation(100)

    sets = matched_sets(order, np.array(places), 200, np.random.RandomState(0))

    assert sets.shape == (200, len(places))
    assert all(len(set(row)) == len(places) for row in sets.tolist())
    where = np.sort(np.argsort(order)[sets], axis=1)
    # Windows of ten columns on either side; crowded places take from further away.
    assert (np.abs(where - np.sort(places)) <= (10 if len(places) < 9 else 20)).all()
    assert len(np.unique(where)) > len(places)

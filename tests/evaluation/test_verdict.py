"""Verdicts on columns chosen beforehand: uniform for random sets, small for planted.

Those on selectors are in test_verdict_of_selectors.py.
"""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import kstest

from ufselect.data import GEOMETRIES
from ufselect.data import planted as planted_data
from ufselect.evaluation import verdict
from ufselect.evaluation.criteria import CRITERIA

# The package gives the name of the module to the function.
MODULE = sys.modules["ufselect.evaluation.verdict"]
SHAPES = {"tall": (90, 30), "wide": (40, 390)}


def data(geometry="blobs", shape="tall", seed=0):
    n_samples, n_noise = SHAPES[shape]
    return planted_data(geometry, n_samples=n_samples, n_noise=n_noise, seed=seed)


def p_values_of_random_sets(table, size, n_drawings, **options):
    random = np.random.RandomState(0)
    return [
        verdict(
            table,
            random.choice(table.shape[1], size, replace=False),
            random_state=random,
            **options,
        ).p_value
        for _ in range(n_drawings)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("criterion", "n_drawings", "n_random"),
    [("structure", 200, 99), ("reconstruction", 100, 49), ("neighbours", 100, 19)],
)
def test_p_values_of_random_sets_are_uniform(criterion, n_drawings, n_random):
    table = planted_data(n_samples=20, n_useful=6, n_noise=12).table
    options = {"criterion": criterion, "n_random": n_random}
    p_values = p_values_of_random_sets(table, 4, n_drawings, **options)

    assert kstest(p_values, "uniform").pvalue > 0.01


@pytest.mark.parametrize("n_copied", [1, 3])
def test_p_values_are_uniform_where_many_sets_tie(n_copied):
    column = np.random.RandomState(0).standard_normal((12, n_copied))
    table = np.tile(column, (1, 6))
    options = {"criterion": "reconstruction", "n_random": 39}
    p_values = p_values_of_random_sets(table, 1, 200, **options)

    assert kstest(p_values, "uniform").pvalue > 0.01


@pytest.mark.slow
def test_p_values_are_uniform_where_columns_vary_in_samples_that_are_not_used(
    monkeypatch,
):
    monkeypatch.setattr(MODULE, "MOST_SAMPLES", 20)
    random = np.random.RandomState(0)
    table = (random.uniform(size=(60, 30)) < 0.04) * random.uniform(size=(60, 30))
    table = sp.csr_array(table[:, table.any(axis=0)])
    p_values = p_values_of_random_sets(table, 4, 200, n_random=39)

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


@pytest.mark.parametrize("criterion", ["reconstruction", "neighbours"])
def test_representatives_of_groups_stand_for_all_columns(criterion):
    table, representatives = groups_of_copies()
    noise = np.arange(table.shape[1])[-5:]
    options = {"criterion": criterion, "n_random": 59, "random_state": 0}

    assert verdict(table, representatives, **options).p_value < 0.05
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
        tables.append(table)
        return (lambda columns: 0.0) if len(tables) % 3 != 1 else judge

    def judge(columns):
        sets.append(columns)
        return float(columns[0]) if values is None else values[len(sets) - 1]

    monkeypatch.setitem(CRITERIA, "structure", criterion)
    return tables, sets


def test_random_sets_have_the_size_of_the_selection_and_no_constant_column(
    monkeypatch,
):
    table = data().table.copy()
    table[:, ::2] = 0.1
    _, sets = recorded_sets(monkeypatch)
    verdict(table, [0, 1, 3], n_random=300, random_state=0)
    drawn = np.array(sets[1:])

    assert sets[0].tolist() == [0, 1, 3]
    assert drawn.shape == (300, 3)
    assert (np.diff(drawn, axis=1) > 0).all()
    assert set(drawn.ravel().tolist()) == set(range(1, 40, 2))


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


def test_the_table_is_compared_with_itself_permuted(monkeypatch):
    tables, _ = recorded_sets(monkeypatch)
    verdict(data().table, [0, 1], n_random=3, random_state=0)
    real, *permuted = tables

    assert len(permuted) == 2
    for table in permuted:
        assert np.sort(table, axis=0) == pytest.approx(np.sort(real, axis=0))
        assert (table != real).any(axis=0).all()


def test_what_columns_have_without_the_others_is_subtracted(monkeypatch):
    tables = []

    def criterion(table):
        tables.append(table)
        null = len(tables) > 1
        return lambda columns: 10.0 * columns[0] - null

    monkeypatch.setitem(CRITERIA, "structure", criterion)
    found = verdict(data().table, [3, 5], n_random=9, random_state=0)

    assert found.value == 30.0
    assert found.random_values == (30.0,) * 9
    assert found.effect_size == 0.0


def test_the_numbers_are_those_of_the_random_sets(monkeypatch):
    values = np.r_[7.0, np.arange(9.0)]
    recorded_sets(monkeypatch, values)
    table = data().table
    found = verdict(table, [0, 1], n_random=9, random_state=0)

    assert (found.criterion, found.value, found.random_mean) == ("structure", 7.0, 4.0)
    assert found.random_deviation == pytest.approx(np.sqrt(60 / 9))
    assert found.effect_size == pytest.approx(3 / np.sqrt(60 / 9))
    assert found.p_value in (0.2, 0.3)
    assert found.band == pytest.approx((0.4, 7.6))
    assert (found.n_features, found.n_samples) == (2, 90)
    assert found.standardize == "features"


def test_the_values_of_all_random_sets_are_kept_but_not_printed(monkeypatch):
    recorded_sets(monkeypatch, [3.5, *range(9)])
    found = verdict(data().table, [0, 1], n_random=9, random_state=0)

    assert found.random_values == tuple(range(9))
    assert "random_values" not in repr(found)
    assert "p_value=0." in repr(found)


@pytest.mark.parametrize(("value", "effect"), [(2.0, np.inf), (1.0, 0.0), (0, -np.inf)])
def test_random_sets_without_any_variation_are_no_obstacle(monkeypatch, value, effect):
    recorded_sets(monkeypatch, [value, *[1.0] * 9])
    table = data().table
    found = verdict(table, [0, 1], n_random=9, random_state=0)

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
    assert f"(p = {found.p_value:.3g}, criterion 'structure'): {value:.3g}" in (
        found.sentence
    )
    assert f"{abs(found.effect_size):.1f} standard deviations" in found.sentence
    assert "39 random sets" in found.sentence
    assert "between 1.9 and 36.1" in found.sentence
    assert "90 samples, with features scaled to unit variance." in found.sentence
    assert "valid only if these columns were chosen on other" in found.sentence
    assert ("Copies of one column would" in found.sentence) == (value == 50.0)


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [
        ("reconstruction", "predict all columns better than random ones"),
        ("neighbours", "keep the neighbours of samples better than random ones"),
        ("distinctness", "repeat one another not clearly less than random ones"),
    ],
)
def test_the_sentence_claims_what_the_criterion_tests(criterion, expected):
    table, representatives = groups_of_copies()
    found = verdict(table, representatives, criterion=criterion, random_state=0)

    assert expected in found.sentence


def test_copies_agree_with_one_another_and_predict_little():
    random = np.random.RandomState(0)
    table = random.standard_normal((50, 40)) @ random.standard_normal((40, 40))
    table[:, 1:5] = table[:, :1] + 0.01 * random.standard_normal((50, 4))
    by = {
        name: verdict(table, range(5), criterion=name, n_random=49, random_state=0)
        for name in CRITERIA
    }

    assert by["structure"].p_value == 0.02
    assert by["reconstruction"].p_value > 0.5
    assert by["neighbours"].p_value > 0.5
    assert by["distinctness"].p_value == 1.0


def test_a_seed_fixes_the_verdict_and_threads_do_not_change_it():
    table, _, _, informative = data("subspaces")
    first = verdict(table, informative, n_random=19, random_state=3)
    again = verdict(table, informative, n_random=19, random_state=3, n_jobs=2)
    other = verdict(table, informative, n_random=19, random_state=4)

    assert first == again
    assert first.value == other.value
    assert first.random_mean != other.random_mean


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("convert", [sp.csr_array, sp.csc_matrix])
def test_sparse_data_give_the_same_verdict(convert, criterion):
    # Counts have neighbours at equal distance, which may be taken in any order.
    geometry = "rings" if criterion == "neighbours" else "counts"
    table, _, _, informative = data(geometry)
    options = {"criterion": criterion, "n_random": 19, "random_state": 0}
    dense = verdict(table, informative, **options)
    sparse = verdict(convert(table), informative, **options)

    assert sparse.value == pytest.approx(dense.value)
    assert sparse.standardize == dense.standardize
    # Columns are permuted in another way.
    assert sparse.p_value == pytest.approx(dense.p_value, abs=0.3)


def test_the_order_of_samples_does_not_change_the_verdict():
    table, _, _, informative = data("rings")
    turned = np.random.RandomState(0).permutation(len(table))
    first = verdict(table, informative, n_random=19, random_state=0)
    again = verdict(table[turned], informative, n_random=19, random_state=0)

    assert again.value == pytest.approx(first.value)
    assert again.p_value == first.p_value


def test_a_mask_and_indices_in_any_order_give_the_same_verdict():
    table, _, _, informative = data()
    mask = verdict(table, informative, n_random=9, random_state=0)
    indices = np.flatnonzero(informative)[::-1]

    assert verdict(table, indices, n_random=9, random_state=0) == mask


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_of_many_samples_some_are_used_for_all_sets(convert, monkeypatch):
    tables, _ = recorded_sets(monkeypatch)
    monkeypatch.setattr(MODULE, "MOST_SAMPLES", 25)
    table = data().table
    options = {"n_random": 9, "random_state": 0}
    verdict(convert(table), [0, 1], standardize=False, **options)
    rows = sp.csr_array(tables[0]).toarray()

    assert len(tables) == 3
    assert rows.shape == (25, 40)
    assert all((table == row).all(axis=1).any() for row in rows)
    assert len(np.unique(rows, axis=0)) == 25


def test_one_column_is_judged_by_reconstruction():
    table = data("rings").table
    useful = np.flatnonzero(data("rings").informative)[:1]
    found = verdict(table, useful, n_random=39, random_state=0)

    assert found.criterion == "reconstruction"
    assert found.n_features == 1
    assert found.sentence.startswith("The selected column predicts all columns ")


def test_a_selection_of_constant_columns_gets_a_bad_verdict():
    table = data("rings").table.copy()
    table[:, :3] = 1.0
    found = verdict(
        table, [0, 1, 2], criterion="neighbours", n_random=39, random_state=0
    )

    assert found.p_value > 0.5


def test_bad_questions_are_refused():
    table = data().table[:, :5].copy()
    table[:, 4] = 0.0

    with pytest.raises(ValueError, match="4 columns are selected and 4 columns of X"):
        verdict(table, [0, 1, 2, 3])
    with pytest.raises(ValueError, match="The selection is empty"):
        verdict(table, [])
    with pytest.raises(ValueError, match="Column 5 is selected but the table has 5"):
        verdict(table, [5])
    with pytest.raises(ValueError, match="criterion='best' is not known; use one of"):
        verdict(table, [0, 1], criterion="best")
    with pytest.raises(ValueError, match="criterion='structure' compares"):
        verdict(table, [0], criterion="structure")
    with pytest.raises(ValueError, match="X has 9 samples but a verdict needs 10"):
        verdict(table[:9], [0, 1])
    with pytest.raises(ValueError, match="n_random=0 must be at least 1"):
        verdict(table, [0, 1], n_random=0)
    with pytest.raises(ValueError, match="standardize='best' is not known; use 'auto'"):
        verdict(table, [0, 1], standardize="best")
    with pytest.raises(ValueError, match="X has 1 dimension"):
        verdict(table[0], [0, 1])

"""False discovery rates: permuted and what they count."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from ufselect import (
    MCFS,
    SCFS,
    Consensus,
    LaplacianScore,
    MaxVariance,
    RandomSelection,
)
from ufselect.data import GEOMETRIES
from ufselect.data import planted as planted_set
from ufselect.matrix import as_matrix
from ufselect.tuning import false_selections
from ufselect.tuning.false_discovery import (
    false_among_best,
    with_permuted_copies,
)

TALL = {"n_samples": 60, "n_useful": 15, "n_noise": 35}
WIDE = {"n_samples": 40, "n_useful": 15, "n_noise": 135}
SPARSE_IN_USE = {"n_samples": 90, "n_useful": 10, "n_noise": 90}
DESIGNS = [
    *((geometry, size) for geometry in ("blobs", "counts") for size in (TALL, WIDE)),
    *((geometry, TALL) for geometry in ("rings", "subspaces")),
    *((geometry, SPARSE_IN_USE) for geometry in GEOMETRIES),
]


@pytest.fixture
def X(planted):
    return planted(40, 12, n_informative=5).X


# The permuted


@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, sp.csc_array, sp.csr_matrix]
)
def test_a_permuted_has_the_values_of_its_column_in_other_rows(X, form):
    X = X * (np.abs(X) > 0.5)
    columns = np.array([2, 5, 11])

    joined = with_permuted_copies(columns, 0, as_matrix(form(X))).raw

    if sp.issparse(joined):
        assert joined.format == form(X).format
        joined = joined.toarray()
    np.testing.assert_array_equal(joined[:, :12], X)
    np.testing.assert_array_equal(
        np.sort(joined[:, 12:], axis=0), np.sort(X[:, columns], axis=0)
    )
    assert (joined[:, 12:] != X[:, columns]).any(axis=0).all()


def test_copies_are_permuted_each_on_its_own_to_all_rows_and_X_is_kept(X):
    same = np.tile(np.arange(1.0, 21.0)[:, np.newaxis], (1, 3))
    for form in (np.asarray, sp.csc_array):
        joined = with_permuted_copies(np.arange(3), 0, as_matrix(form(same))).raw
        permuted = (joined.toarray() if sp.issparse(joined) else joined)[:, 3:]
        assert len({column.tobytes() for column in permuted.T}) == 3
    single = sp.csr_array(X.astype(np.float32))
    before = single.copy()

    assert (
        with_permuted_copies(np.arange(12), 0, as_matrix(single)).raw.dtype
        == np.float32
    )
    assert (single != before).nnz == 0
    column = sp.csc_array(np.eye(5)[:, :1])
    joined = [
        with_permuted_copies([0], seed, as_matrix(column)).raw.toarray()
        for seed in range(500)
    ]
    places = [table[:, 1].argmax() for table in joined]
    assert np.bincount(places, minlength=5).min() > 60


def test_shares_never_fall_and_lie_in_their_interval(X):
    found = false_selections(SCFS(n_clusters=3), X, random_state=0)
    again = false_selections(SCFS(n_clusters=3), X, random_state=0, n_jobs=2)
    random = false_selections(RandomSelection(), X, n_repeats=40, random_state=0)
    blind = false_selections(MaxVariance(), X, random_state=0)

    np.testing.assert_array_equal(found.share, again.share)
    assert (np.diff(found.share) >= 0).all()
    assert (found.lower <= found.share).all()
    assert (found.share <= found.upper).all()
    assert found.lower.min() >= 0
    assert found.upper.max() <= 1
    # A random ranking is all false; what cannot tell a permuted copy learns nothing.
    assert random.largest_k == blind.largest_k == 0
    assert random.share[5:].min() > 0.8
    np.testing.assert_array_equal(blind.share, 1.0)
    for target in (0.0, 0.1, 0.5, 1.0):
        found = false_selections(LaplacianScore(), X, target=target, random_state=0)
        assert found.largest_k == np.sum(found.share <= target)


# What is counted


def naive_count(originals, permuted, columns, k):
    """The definition of the module, pair by pair."""
    threshold = sorted(originals, reverse=True)[k - 1]
    count = 0
    for score, column in zip(permuted, columns, strict=True):
        if score >= originals[column]:
            count += int(score >= threshold) + int(originals[column] >= threshold)
    return count * len(originals) / len(columns)


@settings(deadline=None)
@given(st.integers(0, 2**31))
def test_counts_are_those_of_the_definition(seed):
    random = np.random.RandomState(seed)
    originals = random.randint(10, size=12).astype(float)
    columns = np.sort(random.choice(12, 5, replace=False))
    permuted = random.randint(10, size=5).astype(float)

    counts = false_among_best(originals, permuted, columns)

    expected = [naive_count(originals, permuted, columns, k) for k in range(1, 13)]
    np.testing.assert_allclose(counts, expected)


def test_of_noise_all_is_counted_and_decoys_of_useful_columns_are_not():
    random = np.random.RandomState(0)
    counts = np.mean(
        [
            false_among_best(random.rand(20), random.rand(20), np.arange(20))
            for _ in range(4000)
        ],
        axis=0,
    )
    useful = np.array([9.0, 8.0, 1.0, 3.0]), np.array([6.0, 5.0, 2.0, 0.0])

    # All of the k best are false, so that k should be counted.
    np.testing.assert_allclose(counts, np.arange(1, 21), rtol=0.1)
    # The permuted of the useful columns rank above all noise.
    found = false_among_best(*useful, np.arange(4))
    np.testing.assert_array_equal(found, [0, 0, 0, 2])


# The estimate


def test_without_a_permuted_above_the_share_is_one_over_repeats(planted):
    X = planted(40, 12, n_informative=5, distance=20.0).X

    found = false_selections(LaplacianScore(), X, n_repeats=4, random_state=0)

    assert found.share[4] == pytest.approx(1 / 4 / 5)
    assert found.lower[4] == 0.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "selector",
    [SCFS(n_clusters=3), LaplacianScore(), MCFS(n_clusters=3), Consensus(n_clusters=3)],
    ids=lambda selector: type(selector).__name__,
)
def test_the_interval_holds_the_true_share_in_eight_of_ten_designs(selector):
    hits = 0
    for geometry, size in DESIGNS:
        data = planted_set(geometry, seed=3, **size)
        found = false_selections(selector, data.table, random_state=3)
        alone = clone(selector)
        if "random_state" in alone.get_params():
            alone.set_params(random_state=3)
        k = size["n_useful"]
        true = np.mean(~data.informative[alone.fit(data.table).order_[:k]])
        hits += found.lower[k - 1] <= true <= found.upper[k - 1]

    assert hits >= 8


@pytest.mark.parametrize("size", [TALL, WIDE, SPARSE_IN_USE])
def test_samples_of_equal_depth_have_no_structure_but_the_planted(size):
    data = planted_set("counts", **size)
    shares = data.table / data.table.sum(axis=1, keepdims=True)

    deep = false_selections(LaplacianScore(), data.table, random_state=0)
    even = false_selections(LaplacianScore(), shares, random_state=0)

    assert even.largest_k < deep.largest_k
    assert 0.8 * size["n_useful"] <= even.largest_k <= 1.2 * size["n_useful"]


# Calls


def test_fewer_decoys_than_columns_are_scaled_up():
    data = planted_set("subspaces", **SPARSE_IN_USE)
    selector = LaplacianScore()

    few = false_selections(
        selector, data.table, n_permuted=50, n_repeats=20, random_state=0
    )
    many = false_selections(selector, data.table, n_repeats=20, random_state=0)

    np.testing.assert_allclose(few.share[30:60], many.share[30:60], atol=0.2)


def test_a_sparse_X_stays_sparse(X, monkeypatch):
    seen = []
    score = LaplacianScore._score_features

    def noted(self, data):
        seen.append(sp.issparse(data.raw))
        return score(self, data)

    monkeypatch.setattr(LaplacianScore, "_score_features", noted)
    false_selections(LaplacianScore(), sp.csr_array(X), n_repeats=2, random_state=0)

    assert seen == [True, True]


def test_a_mistake_is_refused_with_its_value(X):
    for parameters, message in [
        ({"n_permuted": 13}, "n_permuted == 13, must be <= 12"),
        ({"n_permuted": 0}, "n_permuted == 0, must be >= 1"),
        ({"n_repeats": 0}, "n_repeats == 0, must be >= 1"),
        ({"target": 1.5}, "target == 1.5, must be <= 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            false_selections(LaplacianScore(), X, **parameters)
    frame = pd.DataFrame(X).add_prefix("gene ")
    frame.iloc[3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN in column 'gene 4'"):
        false_selections(LaplacianScore(), frame)

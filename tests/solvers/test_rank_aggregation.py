"""Rankings made into one, against values known by hand and against SciPy."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from ufselect.solvers.rankings import (
    COMBINATIONS,
    combined_scores,
    frequency_scores,
    mean_of_pairs,
    rank_agreement,
    ranks_of,
    top_overlap,
)

# Three members; every way to combine them has its own winner.
RANKS = np.array(
    [
        [1.0, 4.0, 2.0, 6.0, 3.0, 5.0],
        [6.0, 3.0, 2.0, 1.0, 5.0, 4.0],
        [6.0, 1.0, 2.0, 5.0, 3.0, 4.0],
    ]
)


@pytest.fixture
def scores():
    return np.random.RandomState(0).randint(5, size=(4, 12)).astype(float)


@pytest.mark.parametrize(
    ("combine", "expected"),
    [
        ("log-rank", 1 / np.cbrt([36, 12, 8, 30, 45, 80])),
        ("mean-rank", 3 / np.array([13, 8, 6, 12, 11, 13])),
        (
            "reciprocal-rank",
            np.array([4 / 3, 19 / 12, 3 / 2, 41 / 30, 13 / 15, 7 / 10]) / 3,
        ),
        # Best rank and product: (1, 12), (1, 30), (1, 36), (2, 8), (3, 45), (4, 80).
        ("best-rank", np.array([4, 6, 3, 5, 2, 1]) / 6),
    ],
)
def test_ranks_are_combined_as_by_hand(combine, expected):
    np.testing.assert_allclose(combined_scores(RANKS, combine), expected)


def test_one_ranking_keeps_its_order_and_ties_share_their_mean(scores):
    ranks = ranks_of(scores[0])

    for combine in COMBINATIONS:
        same = ranks_of(combined_scores(ranks, combine))
        np.testing.assert_array_equal(same, ranks)
    tied = ranks_of(np.array([[3.0, 7.0, 3.0, -1.0]]))
    np.testing.assert_array_equal(tied, [[2.5, 1.0, 2.5, 4.0]])


def test_agreement_is_the_rank_correlation_of_scipy(scores):
    expected = spearmanr(scores, axis=1).statistic

    np.testing.assert_allclose(rank_agreement(ranks_of(scores)), expected, atol=1e-12)
    # A ranking of ties agrees with none.
    ties = ranks_of(np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]]))
    np.testing.assert_array_equal(rank_agreement(ties), np.eye(2))


def test_overlap_is_the_share_of_common_best_features():
    overlap = top_overlap(RANKS, 3)

    # The best three: {0, 2, 4}, {3, 2, 1} and {1, 2, 4}.
    np.testing.assert_allclose(overlap, np.array([[3, 1, 2], [1, 3, 2], [2, 2, 3]]) / 3)
    assert mean_of_pairs(overlap) == pytest.approx(5 / 9)


def test_once_more_chosen_outweighs_any_rank(scores):
    times = np.arange(scores.shape[1]) % 3

    by_both = np.lexsort([combined_scores(ranks_of(scores)), times])

    np.testing.assert_array_equal(np.sort(times), times[by_both])
    ordered = frequency_scores(scores, times)[by_both]
    assert (np.diff(ordered) >= 0).all()
    assert (np.diff(ordered)[np.diff(times[by_both]) > 0] > 0).all()
    assert ordered[-1] <= 1

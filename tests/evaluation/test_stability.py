"""Stability of selections, against the formulas as printed and against Kuncheva."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ufselect.evaluation import selection_stability, stability_difference


def draws(n_selections, n_features, sizes, seed=0):
    random = np.random.RandomState(seed)
    return [
        random.choice(n_features, random.choice(sizes), replace=False)
        for _ in range(n_selections)
    ]


def naive_value(masks):
    """Definition 4 of the paper, sum by sum."""
    M, d = len(masks), len(masks[0])
    mean_size = sum(sum(mask) for mask in masks) / M
    spread = 0.0
    for f in range(d):
        share = sum(mask[f] for mask in masks) / M
        spread += M / (M - 1) * share * (1 - share) / d
    return 1 - spread / (mean_size / d * (1 - mean_size / d))


def naive_variance(masks):
    """Theorem 7 of the paper, sum by sum."""
    M, d = len(masks), len(masks[0])
    shares = [sum(mask[f] for mask in masks) / M for f in range(d)]
    mean_size, value = sum(shares), naive_value(masks)
    parts = []
    for mask in masks:
        size = sum(mask)
        part = sum(mask[f] * shares[f] for f in range(d)) / d
        part -= size * mean_size / d**2
        part += value / 2 * (2 * mean_size * size / d**2 - size / d - mean_size / d + 1)
        parts.append(part / (mean_size / d * (1 - mean_size / d)))
    mean = sum(parts) / M
    return 4 / M**2 * sum((part - mean) ** 2 for part in parts)


def kuncheva(selections, n_features):
    """Mean over pairs of equal size k: (r d - k^2) / (k (d - k))."""
    size = len(selections[0])
    shared = [len(set(a) & set(b)) for a, b in combinations(selections, 2)]
    return np.mean(
        [(r * n_features - size**2) / (size * (n_features - size)) for r in shared]
    )


@settings(deadline=None)
@given(
    st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=2, max_size=8)
)
def test_value_and_variance_are_those_of_the_formulas(masks):
    assume(0 < sum(map(sum, masks)) < 6 * len(masks))
    found = selection_stability(masks, 6)

    assert found.value == pytest.approx(naive_value(masks), abs=1e-12)
    assert found.variance == pytest.approx(naive_variance(masks), abs=1e-12)


def test_for_equal_sizes_it_is_the_index_of_kuncheva():
    selections = draws(12, 20, [5])
    expected = kuncheva(selections, 20)

    assert selection_stability(selections, 20).value == pytest.approx(expected)
    assert selection_stability([[3, 1], [1, 3], [1, 3]], 7) == (1.0, 0.0, 1.0, 1.0)
    assert selection_stability([[0, 1], [2, 3]], 4).value == pytest.approx(-1.0)


def test_the_interval_covers_zero_for_random_selections_as_often_as_it_says():
    found = [
        selection_stability(draws(40, 60, [10, 15, 20], seed), 60)
        for seed in range(200)
    ]
    covered = np.mean([each.lower <= 0 <= each.upper for each in found])

    assert abs(np.mean([each.value for each in found])) < 0.005
    assert 0.9 <= covered <= 0.99


def test_variance_is_near_that_of_the_jackknife():
    random = np.random.RandomState(0)
    masks = random.uniform(size=(300, 30)) < np.linspace(0.05, 0.9, 30)
    left_out = [
        selection_stability(np.delete(masks, i, axis=0), 30).value for i in range(300)
    ]
    jackknife = 299 * np.var(left_out)

    assert selection_stability(masks, 30).variance == pytest.approx(jackknife, rel=0.02)


def test_order_of_selections_and_of_features_does_not_matter():
    selections = draws(9, 20, [3, 6])
    expected = selection_stability(selections, 20)
    masks = [np.isin(np.arange(20), chosen) for chosen in selections[::-1]]
    shuffled = np.array(masks)[:, np.random.RandomState(1).permutation(20)]
    sure = selection_stability(selections, 20, confidence=0.99)

    assert selection_stability(shuffled, 20) == pytest.approx(expected)
    half = expected.upper - expected.value
    assert half == pytest.approx(1.959964 * expected.variance**0.5)
    assert sure.lower < expected.lower


def test_difference_of_two_stabilities():
    random = selection_stability(draws(30, 20, [5]), 20)
    fixed = selection_stability([[0, 1]] * 5, 20)
    other = selection_stability(draws(30, 20, [5], seed=1), 20)

    assert stability_difference(fixed, random).p_value < 1e-6
    assert stability_difference(random, other).p_value > 0.05
    assert stability_difference(fixed, fixed) == (0.0, 1.0)
    assert stability_difference(random, fixed).statistic < 0


def test_bad_selections_are_refused():
    for selections, message in [
        ([[0]], "1 selection.* needs at least two"),
        ([[], []], "Every selection has no column"),
        ([[0, 1, 2], [2, 1, 0]], "Every selection has all columns"),
        ([[0], [3]], "Column 3 is selected but the table has 3 columns"),
    ]:
        with pytest.raises(ValueError, match=message):
            selection_stability(selections, 3)
    with pytest.raises(ValueError, match="confidence=95 is not between"):
        selection_stability([[0], [1]], 3, confidence=95)

"""Statistics across data sets, against published values, SciPy and enumeration."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

from ufselect.evaluation import (
    average_ranks,
    friedman,
    indistinguishable_groups,
    nemenyi_critical_difference,
    wilcoxon_against,
)
from ufselect.evaluation.comparison import holm, signed_rank_p

# Areas under curves of four decision trees on 14 data sets: Demsar (2006), table 6.
# The last two of the last row but one are printed as 0.975 both, and ranked 2 and 3.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.97501, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
).T


def p_by_enumeration(differences):
    """Share of all sign patterns whose rank sum is as far from its mean, or more."""
    differences = differences[differences != 0]
    ranks = rankdata(np.abs(differences))
    signs = np.array(list(product([-1, 1], repeat=len(ranks))))
    sums = np.abs(signs @ ranks)
    return np.mean(sums >= abs(np.sign(differences) @ ranks) - 1e-9)


def test_friedman_is_the_published_one_but_for_the_correction_of_ties():
    # Published without the correction: 9.28. It divides by the spread of the ranks.
    ranks = rankdata(-DEMSAR, axis=0)
    correction = ranks.var(axis=0).mean() / (15 / 12)
    # F is that of an analysis of variance of the ranks.
    middle = ranks.mean()
    methods = 14 * np.sum((ranks.mean(axis=1) - middle) ** 2) / 3
    residual = ranks - ranks.mean(axis=1, keepdims=True)
    residual -= ranks.mean(axis=0) - middle
    found = friedman(DEMSAR)

    assert average_ranks(DEMSAR) == pytest.approx([3.143, 2.0, 2.893, 1.964], abs=5e-4)
    assert found.chi_square * correction == pytest.approx(9.28, abs=5e-3)
    assert found.f == pytest.approx(methods / (np.sum(residual**2) / (3 * 13)))


@settings(deadline=None)
@given(st.integers(0, 100), st.integers(3, 6), st.integers(2, 9), st.booleans())
def test_friedman_agrees_with_scipy_and_the_published_formula(seed, k, n, ties):
    random = np.random.RandomState(seed)
    scores = random.randint(3, size=(k, n)) if ties else random.uniform(size=(k, n))
    assume(np.ptp(scores, axis=0).any())
    expected = friedmanchisquare(*scores)
    found = friedman(scores.astype(float))

    assert found[:2] == pytest.approx((expected.statistic, expected.pvalue))
    if not ties:
        squares = np.sum(average_ranks(scores) ** 2)
        chi_square = 12 * n / (k * (k + 1)) * (squares - k * (k + 1) ** 2 / 4)
        assert found.chi_square == pytest.approx(chi_square)
        if n * (k - 1) - chi_square > 1e-9:
            f = (n - 1) * chi_square / (n * (k - 1) - chi_square)
            assert found.f == pytest.approx(f)


def test_friedman_at_its_ends():
    alike = np.tile([[1.0], [2.0], [3.0]], 5)

    assert friedman(np.ones((3, 5))) == (0.0, 1.0, 0.0, 1.0)
    assert friedman(alike)[0] == pytest.approx(10.0)
    assert friedman(alike)[2:] == (np.inf, 0.0)


@pytest.mark.parametrize(
    ("level", "n_methods", "published"),
    [
        *((0.05, 2, 1.960), (0.05, 3, 2.343), (0.05, 5, 2.728), (0.05, 10, 3.164)),
        *((0.10, 2, 1.645), (0.10, 3, 2.052), (0.10, 4, 2.291), (0.10, 10, 2.920)),
    ],
)
def test_nemenyi_uses_the_published_critical_values(level, n_methods, published):
    found = nemenyi_critical_difference(n_methods, 20, level)
    root = np.sqrt(n_methods * (n_methods + 1) / (6 * 20))

    assert found / root == pytest.approx(published, abs=1e-3)


def test_the_published_trees_fall_into_two_overlapping_groups():
    # At 0.10 the first tree differs from the second and the fourth, and no others do.
    critical = nemenyi_critical_difference(4, 14, 0.10)

    assert critical == pytest.approx(2.291 * np.sqrt(20 / 84), abs=1e-3)
    assert indistinguishable_groups(average_ranks(DEMSAR), critical) == [
        (3, 1, 2),
        (2, 0),
    ]


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=8).map(np.array),
    st.integers(1, 10),
)
def test_two_methods_share_a_group_exactly_if_they_do_not_differ(ranks, critical):
    groups = indistinguishable_groups(ranks, critical)
    together = {(i, j) for group in groups for i in group for j in group if i != j}
    expected = {
        (i, j)
        for i, j in product(range(len(ranks)), repeat=2)
        if i != j and abs(ranks[i] - ranks[j]) < critical
    }

    assert together == expected
    assert not any(set(a) < set(b) for a, b in product(groups, repeat=2))


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9).map(np.array))
def test_signed_rank_p_agrees_with_enumeration_also_where_there_are_ties(differences):
    differences = differences.astype(float)

    assert signed_rank_p(differences) == pytest.approx(p_by_enumeration(differences))


def test_each_method_is_tested_against_the_reference():
    found = wilcoxon_against(DEMSAR, 0)
    expected = [
        p_by_enumeration(np.round(DEMSAR[other] - DEMSAR[0], 6)) for other in (1, 2, 3)
    ]

    np.testing.assert_array_equal(found.others, [1, 2, 3])
    assert found.p_value == pytest.approx(expected)
    assert found.median_difference == pytest.approx(
        np.median(DEMSAR[1:] - DEMSAR[0], axis=1)
    )
    # As published, the second tree differs from the first at 0.05.
    assert found.p_value[0] < 0.05


def test_differences_equal_but_for_rounding_are_ties():
    steps = np.array([1, 1, 1, 1, -1, 2, 3])
    reference = np.arange(1, 8) / 10
    moved = (np.arange(1, 8) + steps) / 10
    found = wilcoxon_against([reference, moved, reference], 0)

    assert found.p_value == pytest.approx([p_by_enumeration(steps), 1.0])
    assert found.median_difference[1] == 0.0


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8).map(np.array))
def test_holm_keeps_the_order_and_lies_between_the_raw_and_bonferroni(p_values):
    adjusted = holm(p_values)
    order = np.argsort(p_values)

    assert (np.diff(adjusted[order]) >= 0).all()
    assert (p_values <= adjusted).all()
    assert (adjusted <= np.minimum(1.0, len(p_values) * p_values)).all()
    assert holm([0.01, 0.02, 0.03, 0.005]) == pytest.approx([0.03, 0.04, 0.04, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


def test_frames_lend_their_names():
    frame = pd.DataFrame(
        DEMSAR[:, :3].copy(),
        index=["plain", "m", "cf", "both"],
        columns=["a", "b", "c"],
    )
    found = wilcoxon_against(frame, "cf")

    np.testing.assert_array_equal(found.others, [0, 1, 3])
    frame.loc["m", "b"] = np.nan
    with pytest.raises(ValueError, match=r"no finite value .* \('m', 'b'\); fill"):
        friedman(frame)
    with pytest.raises(ValueError, match=r"reference='x' is not a method .* 'plain'"):
        wilcoxon_against(frame.fillna(0.5), "x")


def test_many_data_sets_are_no_burden_and_approach_the_normal_law():
    differences = np.random.RandomState(0).standard_normal(300) + 0.08
    expected = wilcoxon(differences, method="approx").pvalue

    assert 0.01 < expected < 0.9
    assert signed_rank_p(differences) == pytest.approx(expected, rel=0.01)
    few = differences[:11] + 0.4
    assert signed_rank_p(few) == pytest.approx(wilcoxon(few, method="exact").pvalue)


def test_tables_that_cannot_be_compared_are_refused():
    scores = DEMSAR.copy()
    scores[[0, 2], [3, 5]] = np.nan
    with pytest.raises(ValueError, match=r"\(0, 3\), \(2, 5\)"):
        average_ranks(scores)
    scores[:, 3] = np.nan
    with pytest.raises(ValueError, match=r"\(0, 3\), .* \d+ others; fill") as caught:
        average_ranks(np.hstack([scores] * 9))
    assert len(str(caught.value)) < 250
    with pytest.raises(
        ValueError, match=r"shape \(1, 4\) but needs at least two methods"
    ):
        friedman(DEMSAR[:1, :4])
    with pytest.raises(ValueError, match=r"1 method.* cannot be compared"):
        nemenyi_critical_difference(1, 10)
    with pytest.raises(ValueError, match="level=5 is not between"):
        nemenyi_critical_difference(3, 10, 5)
    zeros = np.array([[0.0, 0.5, 0.2], [0.1, 0.0, 0.3], [0.4, 0.6, 0.0]])
    assert friedman(sp.csr_array(zeros)) == friedman(zeros)

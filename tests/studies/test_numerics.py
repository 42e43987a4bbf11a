"""Quick samples of what is tried of the numerics at length."""

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

from studies.reliability import many_digits, repeatability
from studies.reliability.conditioning import (
    NOT_OF_OFFSETS,
    NOT_OF_UNITS,
    all_clusters,
    far_from_zero,
    in_unit,
    planted,
)
from studies.reliability.fuzzed_matrices import SELECTORS


@pytest.mark.parametrize("what", many_digits.CHECKS)
def test_double_precision_agrees_with_fifty_digits(what):
    with mpmath.workdps(many_digits.DIGITS):
        off, allowed = many_digits.CHECKS[what](many_digits.table(seed=0))

    assert 0 <= off <= allowed


@pytest.mark.parametrize("name", [n for n in SELECTORS if n not in NOT_OF_UNITS])
def test_the_unit_does_not_matter(name):
    compared = in_unit(332, np.asarray)(name, planted(0))

    assert compared.end == "answered"


@pytest.mark.parametrize("name", [n for n in SELECTORS if n not in NOT_OF_OFFSETS])
def test_the_distance_from_zero_does_not_matter(name):
    compared = far_from_zero(1e8, sp.csr_array)(name, planted(0))

    assert compared.end == "answered"


@pytest.mark.parametrize("name", SELECTORS)
def test_as_many_clusters_as_samples_are_ranked_or_refused(name):
    assert all_clusters(name, planted(0)).end in {"answered", "refused"}


@pytest.mark.parametrize("name", sorted({*SELECTORS} - repeatability.STARTED_BY_ROWS))
def test_the_order_of_rows_does_not_matter(name):
    outcome = repeatability.tried("", repeatability.in_another_order, [name], range(1))

    assert outcome.note == ""


@pytest.mark.parametrize("solver", ["exact", "paper"])
def test_scfs_follows_a_start_in_another_order(solver):
    outcome = repeatability.tried(
        "", repeatability.from_a_start_in_another_order, [solver], range(1)
    )

    assert outcome.note == ""

"""Double precision loses no digit that matters: formulas in fifty digits."""

import mpmath
import pytest

from studies import many_digits

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("what", many_digits.CHECKS)
def test_double_precision_agrees_with_fifty_digits(what):
    with mpmath.workdps(many_digits.DIGITS):
        off, allowed = many_digits.CHECKS[what](many_digits.table(seed=0))

    assert 0 <= off <= allowed

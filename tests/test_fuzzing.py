"""Any small table gets an answer that keeps the contract, or one sentence.

The long profile of this is ``python -m studies fuzzed_matrices``.
"""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from studies.reliability.fuzzed_matrices import AROUND, SELECTORS, asking
from studies.reliability.matrices import tables
from studies.reliability.promises import fuzz_selector
from studies.reliability.questions import QUESTIONS

# The same tables in every run: a failure is the fault of the change it came with.
seldom = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    # Looking for a simpler table takes minutes; do so where it fails.
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
# One table may take many fits.
hardly = settings(seldom, max_examples=3)


@pytest.mark.parametrize("name", SELECTORS)
@seldom
@given(X=tables())
def test_any_table_is_ranked_or_refused(name, X):
    assert fuzz_selector(SELECTORS[name], X) in {"answered", "refused"}


@pytest.mark.parametrize("name", AROUND)
@hardly
@given(X=tables())
def test_selectors_around_selectors_rank_or_refuse_any_table(name, X):
    assert fuzz_selector(AROUND[name], X) in {"answered", "refused"}


@pytest.mark.parametrize("name", QUESTIONS)
@seldom
@given(X=tables(), data=st.data())
def test_any_table_has_a_number_or_a_reason(name, X, data):
    assert asking(name)(X, data) in {"answered", "refused"}

"""What is asked of members: that they are selectors, valid, and seeded."""

import numpy as np
import pytest

from ufselect import MCFS, SCFS, Consensus, LaplacianScore
from ufselect.tuning.fits import checked_selector, checked_table, seeded


def test_seeds_are_set_only_where_there_are_none():
    members = [("free", SCFS()), ("tied", SCFS(random_state=5)), ("ls", MCFS())]
    selector = Consensus(members)

    copy = seeded(selector, 7)

    seeds = {k: v for k, v in copy.get_params().items() if k.endswith("random_state")}
    assert seeds == {
        "random_state": 7,
        "free__random_state": 7,
        "tied__random_state": 5,
    }
    assert selector.get_params()["free__random_state"] is None


def test_a_selector_without_chance_needs_no_seed():
    assert seeded(LaplacianScore(), 7).get_params() == LaplacianScore().get_params()


@pytest.mark.parametrize("given", [SCFS, "SCFS", None, 3])
def test_what_is_no_selector_is_refused_with_its_value(given):
    with pytest.raises(TypeError, match=r"somebody was given .* which is no selector"):
        checked_selector(given, "somebody")


def test_a_parameter_that_is_not_valid_is_refused():
    with pytest.raises(ValueError, match="'alpha' parameter of SCFS"):
        checked_selector(SCFS(alpha=-1.0), "somebody")


def test_a_table_is_checked_without_a_trace_in_the_selector(planted):
    selector = SCFS()

    table = checked_table(selector, planted(10, 4, n_informative=2).X.tolist())

    assert table.shape == (10, 4)
    assert table.dtype == np.float64
    assert not hasattr(selector, "n_features_in_")

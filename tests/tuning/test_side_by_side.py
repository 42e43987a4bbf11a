"""Several selectors on one table: told the same, and none stops the others."""

import numpy as np
import pytest

from ufselect import MCFS, SCFS, MaxVariance, RandomSelection
from ufselect.tuning.side_by_side import rank_with_each


def test_each_is_told_the_same_numbers_and_ranks_as_alone(planted):
    X = planted(30, 20).X
    first, second = rank_with_each(
        X, {"a": SCFS(), "b": MaxVariance()}, n_features=4, n_clusters=3, random_state=7
    )
    alone = SCFS(4, n_clusters=3, random_state=7).fit(X)

    np.testing.assert_array_equal(first.scores, alone.scores_)
    np.testing.assert_array_equal(first.order, alone.order_)
    np.testing.assert_array_equal(second.order, MaxVariance(4).fit(X).order_)


def test_a_seed_that_is_given_is_kept(planted):
    X = planted(30, 20).X
    both = {"a": RandomSelection(random_state=1), "b": RandomSelection()}
    first, second = rank_with_each(X, both, n_features=4, n_clusters=3, random_state=1)

    np.testing.assert_array_equal(first.order, second.order)


def test_a_failure_is_a_remark_and_not_the_end(planted):
    X = planted(30, 20).X
    told = []
    first, second = rank_with_each(
        X,
        {"greedy": MCFS(max_memory=1.0), "variance": MaxVariance()},
        n_features=4,
        n_clusters=3,
        progress=lambda *state: told.append(state),
    )

    assert first.scores is None
    assert "max_memory" in first.remarks[0]
    assert second.scores is not None
    assert told == [(0, 2, "greedy"), (1, 2, "variance")]


def test_what_is_no_selector_is_refused(planted):
    with pytest.raises(TypeError, match="is no selector"):
        rank_with_each(planted(30, 20).X, {"a": 3}, n_features=4, n_clusters=3)

"""Rankings by number of clusters and by method, against fits by hand."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import spearmanr

from ufselect import MCFS, SCFS, LaplacianScore, MaxVariance, RandomSelection
from ufselect.tuning import sensitivity_to_clusters
from ufselect.tuning.side_by_side import rank_with_each


@pytest.fixture
def X(planted):
    return planted(40, 12, n_informative=5).X


def test_agreement_is_that_of_fits_by_hand(X):
    found = sensitivity_to_clusters(MCFS(), X, (2, 3, 4), n_features=5)

    fits = [MCFS(5, n_clusters=c).fit(X) for c in (2, 3, 4)]
    scores = np.array([fit.scores_ for fit in fits])
    best = [set(fit.order_[:5]) for fit in fits]
    overlap = np.array([[len(a & b) / 5 for a in best] for b in best])
    expected = spearmanr(scores, axis=1).statistic
    assert found.n_clusters == [2, 3, 4]
    np.testing.assert_allclose(found.correlation, expected, atol=1e-12)
    np.testing.assert_allclose(found.overlap, overlap)
    assert found.mean_overlap == pytest.approx((overlap.sum() - 3) / 6)
    assert found.mean_correlation == pytest.approx((expected.sum() - 3) / 6)


def test_a_number_that_fails_is_left_out(X):
    with pytest.warns(UserWarning, match=r"n_clusters=41 \(ValueError") as caught:
        found = sensitivity_to_clusters(MCFS(), X, (2, 3, 41))

    assert found.n_clusters == [2, 3]
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("selector", "numbers", "message"),
    [
        (LaplacianScore(), (2, 3), "LaplacianScore has no parameter n_clusters"),
        (SCFS(), (3, 3), r"n_clusters=\[3, 3\] leaves nothing to compare"),
        (SCFS(), (0, 3), "'n_clusters' parameter of SCFS"),
        (SCFS(alpha=-1.0), (2, 3), "'alpha' parameter of SCFS"),
    ],
)
def test_a_mistake_is_refused_with_its_value(X, selector, numbers, message):
    with pytest.raises(ValueError, match=message):
        sensitivity_to_clusters(selector, X, numbers)
    with (
        pytest.warns(UserWarning, match="n_clusters=41"),
        pytest.raises(ValueError, match="Only the fit with n_clusters=2 succeeded"),
    ):
        sensitivity_to_clusters(MCFS(), X, (2, 41))
    frame = pd.DataFrame(X).add_prefix("gene ")
    frame.iloc[3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN in column 'gene 4'"):
        sensitivity_to_clusters(MCFS(), frame, (2, 3))


def test_the_seed_and_the_number_of_features_are_those_of_the_selector_unless_given(X):
    free = sensitivity_to_clusters(SCFS(3), X, (3, 4), random_state=1)
    seed = np.random.RandomState(1).randint(np.iinfo(np.int32).max)
    tied = sensitivity_to_clusters(SCFS(7, random_state=seed), X, (3, 4), n_features=3)
    dense = sensitivity_to_clusters(MCFS(), X, (2, 3))
    sparse = sensitivity_to_clusters(MCFS(), sp.csr_array(X), (2, 3), n_jobs=1)

    np.testing.assert_array_equal(free.correlation, tied.correlation)
    np.testing.assert_array_equal(free.overlap, tied.overlap)
    np.testing.assert_allclose(dense.overlap, sparse.overlap)


# Several methods


def test_each_method_is_told_the_same_numbers_and_ranks_as_alone(X):
    methods = {"a": SCFS(), "b": MaxVariance(), "c": RandomSelection(random_state=1)}
    told = []
    first, second, third = rank_with_each(
        *(X, methods),
        n_features=4,
        n_clusters=3,
        random_state=7,
        progress=lambda *state: told.append(state),
    )
    alone = SCFS(4, n_clusters=3, random_state=7).fit(X)

    np.testing.assert_array_equal(first.scores, alone.scores_)
    np.testing.assert_array_equal(first.order, alone.order_)
    np.testing.assert_array_equal(second.order, MaxVariance(4).fit(X).order_)
    # A seed that is given is kept.
    np.testing.assert_array_equal(third.order, methods["c"].fit(X).order_)
    assert told == [(0, 3, "a"), (1, 3, "b"), (2, 3, "c")]


def test_a_failure_is_a_remark_and_not_the_end(X):
    methods = {"greedy": MCFS(max_memory=1.0), "variance": MaxVariance()}
    first, second = rank_with_each(X, methods, n_features=4, n_clusters=3)

    assert first.scores is None
    assert "max_memory" in first.remarks[0]
    assert second.scores is not None
    with pytest.raises(TypeError, match="is not a selector"):
        rank_with_each(X, {"a": 3}, n_features=4, n_clusters=3)

"""Sensitivity to the number of clusters, against fits by hand."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import spearmanr

from ufselect import MCFS, SCFS, LaplacianScore
from ufselect.tuning import sensitivity_to_clusters


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


def test_the_number_of_features_is_that_of_the_selector_unless_given(X):
    own = sensitivity_to_clusters(SCFS(3), X, (2, 4), random_state=0)
    given = sensitivity_to_clusters(SCFS(7), X, (2, 4), n_features=3, random_state=0)

    np.testing.assert_array_equal(own.overlap, given.overlap)


def test_the_seed_is_the_same_for_every_number(X):
    free = sensitivity_to_clusters(SCFS(), X, (3, 4), random_state=1)
    seed = np.random.RandomState(1).randint(np.iinfo(np.int32).max)
    tied = sensitivity_to_clusters(SCFS(random_state=seed), X, (3, 4))

    np.testing.assert_array_equal(free.correlation, tied.correlation)


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


def test_what_is_left_may_be_too_little_to_compare(X):
    with (
        pytest.warns(UserWarning, match="n_clusters=41"),
        pytest.raises(ValueError, match="Only n_clusters=2 could be fitted"),
    ):
        sensitivity_to_clusters(MCFS(), X, (2, 41))


def test_sparse_data_give_the_same(X):
    dense = sensitivity_to_clusters(MCFS(), X, (2, 3))
    sparse = sensitivity_to_clusters(MCFS(), sp.csr_array(X), (2, 3), n_jobs=1)

    np.testing.assert_allclose(dense.overlap, sparse.overlap)


def test_missing_values_are_refused_with_the_name_of_their_column(X):
    frame = pd.DataFrame(X).add_prefix("gene ")
    frame.iloc[3, 4] = np.nan

    with pytest.raises(ValueError, match="NaN in column 'gene 4'"):
        sensitivity_to_clusters(MCFS(), frame, (2, 3))

"""Groups of columns by what clusters explain of them."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from ufselect.matrix import as_matrix
from ufselect.numerics.groups import explained_shares, upper_group
from ufselect.numerics.starts import crisp_memberships


def clustered(n_samples=40, n_features=6, n_clusters=3):
    random = np.random.default_rng(0)
    labels = np.arange(n_samples) % n_clusters
    X = random.normal(size=(n_samples, n_features))
    X[:, 0] += 3.0 * labels
    return X - X.mean(axis=0), crisp_memberships(labels, n_clusters)


def test_a_share_is_the_adjusted_coefficient_of_determination():
    X, memberships = clustered()
    plain = [
        LinearRegression()
        .fit(memberships[:, 1:], column)
        .score(memberships[:, 1:], column)
        for column in X.T
    ]
    expected = np.maximum(1 - (1 - np.array(plain)) * 39 / 37, 0.0)

    np.testing.assert_allclose(explained_shares(as_matrix(X), memberships), expected)


def test_noise_is_explained_not_at_all_on_average():
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 2000))
    X -= X.mean(axis=0)

    shares = explained_shares(as_matrix(X), crisp_memberships(np.arange(30) % 5, 5))

    # Before negative shares are cut off their mean is zero; half of them remain.
    assert 0.3 < np.mean(shares > 0) < 0.6
    assert shares.mean() < 0.1


def test_of_a_constant_column_nothing_is_explained():
    X, memberships = clustered()
    X[:, 2] = 0.0

    assert explained_shares(as_matrix(X), memberships)[2] == 0.0


def test_as_many_clusters_as_samples_explain_all_or_nothing():
    X, _ = clustered(5)

    shares = explained_shares(as_matrix(X), np.eye(5))

    np.testing.assert_allclose(shares, 1.0)


def naive_split(values):
    """Return the size of the upper group with the least variance within groups."""
    falling = np.sort(values)[::-1]
    within = [
        falling[:size].var() * size + falling[size:].var() * (len(falling) - size)
        for size in range(1, len(falling))
    ]
    return 1 + int(np.argmin(within)), 1 - min(within) / (falling.var() * len(falling))


@pytest.mark.parametrize("seed", range(5))
def test_the_split_has_the_least_variance_within_groups(seed):
    values = np.random.default_rng(seed).beta(0.5, 1.0, size=50)

    found = upper_group(values)
    size, separation = naive_split(values)

    assert found.size == size
    assert found.separation == pytest.approx(separation)


def test_evenly_spread_numbers_are_separated_by_three_quarters():
    found = upper_group(np.linspace(0.0, 1.0, 1000))

    assert found.size == 500
    assert found.separation == pytest.approx(0.75, abs=1e-3)


def test_equal_numbers_go_to_the_same_group():
    assert upper_group(np.array([1.0, 1.0, 1.0, 0.0])).size == 3
    assert upper_group(np.full(4, 0.3)) == (4, 0.0)

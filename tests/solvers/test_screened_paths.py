"""Paths that look at few columns at a time, against those that look at all."""

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect.matrix import as_matrix
from ufselect.solvers import screened_paths
from ufselect.solvers.lars import elastic_net_points
from ufselect.solvers.screened_paths import (
    ApproximateProducts,
    screened_points,
    uncertainty,
)


@pytest.fixture
def few(monkeypatch):
    """Let paths look at so few columns that they miss some."""
    monkeypatch.setattr(screened_paths, "SCREENED_PER_FEATURE", 2)
    monkeypatch.setattr(screened_paths, "MIN_SCREENED", 12)


def problem(n_samples, n_features=160, seed=0):
    """Return columns that resemble each other, and targets made of some of them."""
    random = np.random.RandomState(seed)
    shared = random.standard_normal((n_samples, 6)) @ random.random((6, n_features))
    X = shared + random.standard_normal((n_samples, n_features))
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    chosen = random.standard_normal((n_features, 3))
    return X, X @ chosen + 0.1 * random.standard_normal((n_samples, 3))


@pytest.mark.parametrize("n_samples", [15, 60])
@pytest.mark.parametrize("n_nonzero", [1, 10, 25])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_not_looked_at_changes_nothing(few, n_samples, n_nonzero, seed):
    X, targets = problem(n_samples, seed=seed)
    matrix = as_matrix(X)

    found = screened_points(matrix, targets, n_nonzero, 1e-3)

    expected = elastic_net_points(matrix, targets, n_nonzero, 1e-3)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.coef, other.coef, atol=1e-8)
        np.testing.assert_allclose(one.entry, other.entry, atol=1e-6)
        assert one.penalty == pytest.approx(other.penalty, abs=1e-9)


def test_a_path_that_missed_a_column_goes_back(few, monkeypatch):
    X, targets = problem(60)
    missed = []

    def counted(approximate, *arguments):
        missed.append(original(approximate, *arguments))
        return missed[-1]

    original = screened_paths.ApproximateProducts.violations
    monkeypatch.setattr(screened_paths.ApproximateProducts, "violations", counted)

    screened_points(as_matrix(X), targets, 25, 1e-3)

    assert sum(map(len, missed)) > 0


def crooked(n_residuals, seed=0):
    """Return residuals that leave the line between both ends, and falling bounds."""
    random = np.random.RandomState(seed)
    first, last = random.standard_normal((2, 60))
    place = np.linspace(0, 1, n_residuals)[:, np.newaxis]
    detour = place * (1 - place) * random.standard_normal((n_residuals, 60))
    bounds = np.sort(random.uniform(0.5, 5.0, n_residuals))[::-1]
    return first + place * (last - first) + detour, bounds


@pytest.mark.parametrize("n_residuals", [2, 3, 20])
@pytest.mark.parametrize("seed", range(5))
def test_no_share_exceeds_those_at_the_ends_by_more_than_said(n_residuals, seed):
    X = problem(60, seed=seed)[0]
    residuals, bounds = crooked(n_residuals, seed)
    approximate = ApproximateProducts(as_matrix(X))
    ends = [approximate.of(residuals[end] / bounds[end]) for end in (0, -1)]

    shares = np.abs(residuals @ X) / bounds[:, np.newaxis]

    most = np.max(ends, axis=0) + uncertainty(residuals, bounds)
    assert (shares <= most).all()


def test_columns_above_their_bound_are_found_but_for_the_known():
    X = problem(60)[0] * np.linspace(0.1, 3.0, 160)
    residuals, bounds = crooked(20)
    approximate = ApproximateProducts(as_matrix(X))
    ends = np.max(
        [approximate.of(residuals[end] / bounds[end]) for end in (0, -1)], axis=0
    )
    above = (np.abs(residuals @ X) > bounds[:, np.newaxis]).any(axis=0)
    known = np.flatnonzero(above)[::2]

    found = approximate.violations(ends, residuals, bounds, known)

    # Some are at neither end.
    assert (above & (ends < 1)).any()
    np.testing.assert_array_equal(found, np.setdiff1d(np.flatnonzero(above), known))


def test_a_target_related_to_nothing_gives_zeros(few):
    X, _ = problem(15)
    X[:5] = 0.0
    target = np.zeros((15, 1))
    target[:5] = 1.0

    for unrelated in (target, np.zeros((15, 1))):
        (point,) = screened_points(as_matrix(X), unrelated, 5, 1e-3)
        assert not point.coef.any()
    # Bounds that do not fall have no line.
    found = uncertainty(np.ones((3, 4)), np.full(3, 0.5))
    assert found == pytest.approx(0, abs=1e-5)


def test_few_columns_and_sparse_ones_are_all_looked_at():
    X, targets = problem(15)
    expected = elastic_net_points(as_matrix(X), targets, 5, 1e-3)

    for matrix in (as_matrix(X), as_matrix(sp.csr_array(X))):
        found = screened_points(matrix, targets, 5, 1e-3)

        np.testing.assert_allclose(found[2].coef, expected[2].coef, atol=1e-10)

"""Promises that hold for any small matrix, however odd."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from quick_selectors import made
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ufselect import (
    SCFS,
    AutoSelect,
    Consensus,
    LaplacianScore,
    StabilitySelection,
    all_selectors,
)

# The same matrices in every run: a failure is the fault of the change it came with.
# Many more are tried by studies/reliability/fuzzed_matrices.py.
often = settings(max_examples=20, deadline=None, derandomize=True)

# Once found by search, and kept.
# The sum of the columns is zero, and so is their product with a vector of ones.
OPPOSITE_COLUMNS = np.array([[0.0, 0.0], [1.0, -1.0], [3.0, -3.0]])
# A single cluster without an intercept has nothing to predict.
CENTRED_COLUMN = np.array([[1.0], [-1.0]])
# Scaled to unit length, all rows are equal.
PROPORTIONAL_ROWS = np.array([[1.0], [1.0], [1.0], [1.0], [2.0]])
# Shifted to be non-negative, one row is zero; Eq. 16 makes its G smaller and smaller.
ZERO_ROW = np.array([[0, 0, 0, 0, 0, 610946, 0, -263139, 866293, 67320]], float).T


@st.composite
def matrices(draw):
    """Return a small matrix with repeated rows and columns and constant columns."""
    n, p = draw(st.integers(2, 15)), draw(st.integers(1, 12))
    # Rounded: what underflows has tests of its own.
    number = st.floats(-1e6, 1e6).map(lambda value: round(value, 9))
    number |= st.integers(-3, 3).map(float)
    X = draw(arrays(np.float64, (n, p), elements=number))
    X = X[draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n) | st.just(...))]
    for column in draw(st.lists(st.integers(0, p - 1), max_size=3)):
        X[:, column] = X[:, 0] if draw(st.booleans()) else X[0, column]
    return X


def outcome(selector, X):
    """Return the fitted selector, or None where it refuses X with a reason."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return selector.fit(X)
        except ValueError:
            return None


def assert_ranked(selector, p):
    assert np.isfinite(selector.scores_).all()
    np.testing.assert_array_equal(np.sort(selector.order_), np.arange(p))
    assert (np.diff(selector.scores_[selector.order_]) <= 0).all()


@pytest.mark.parametrize("name", all_selectors())
@often
@given(X=matrices(), n_clusters=st.integers(1, 4))
@example(X=OPPOSITE_COLUMNS, n_clusters=2)
@example(X=CENTRED_COLUMN, n_clusters=1)
@example(X=PROPORTIONAL_ROWS, n_clusters=2)
def test_any_matrix_is_ranked_or_refused(name, X, n_clusters):
    method = all_selectors()[name]
    selector = outcome(made(method, n_clusters=n_clusters, max_iter=50), X)

    if selector is not None:
        assert_ranked(selector, X.shape[1])


@pytest.mark.parametrize(
    "selector",
    [
        AutoSelect(random_state=0),
        AutoSelect(LaplacianScore(), max_correlation=0.5, random_state=0),
        Consensus([SCFS(), LaplacianScore()], n_clusters=[1, 2], random_state=0),
        StabilitySelection(n_subsamples=3, random_state=0),
    ],
    ids=["AutoSelect", "AutoSelect-distinct", "Consensus", "StabilitySelection"],
)
@often
@given(X=matrices())
@example(X=OPPOSITE_COLUMNS)
@example(X=CENTRED_COLUMN)
@example(X=PROPORTIONAL_ROWS)
@example(X=ZERO_ROW)
def test_selectors_around_selectors_rank_or_refuse_any_matrix(selector, X):
    with warnings.catch_warnings():
        # Members that fail are left out, and so are near-duplicates.
        warnings.simplefilter("ignore", UserWarning)
        fitted = outcome(clone(selector), X)

    if fitted is not None:
        assert_ranked(fitted, X.shape[1])
        assert fitted.get_support().sum() == fitted.n_selected_
        # AutoSelect selects nothing of a table where no feature follows the others.
        assert fitted.n_selected_ or set(fitted.calls_) == {"rejected"}


@often
@given(X=matrices(), n_clusters=st.integers(1, 4))
@example(X=ZERO_ROW, n_clusters=3)
def test_the_paper_solver_ranks_or_refuses(X, n_clusters):
    selector = SCFS(n_clusters=n_clusters, solver="paper", max_iter=50, random_state=0)

    if outcome(selector, X) is not None:
        assert np.isfinite(selector.scores_).all()
        np.testing.assert_allclose(selector.memberships_.sum(axis=1), 1.0)


@often
@given(
    X=matrices(),
    n_clusters=st.integers(1, 4),
    init=st.sampled_from(["k-means", "fuzzy", "random"]),
    standardize=st.sampled_from([False, "features", "samples", "auto"]),
    fit_intercept=st.booleans(),
)
def test_scfs_descends_to_a_soft_partition(X, **parameters):
    selector = SCFS(**parameters, max_iter=50, random_state=0)

    if outcome(selector, X) is not None:
        history, memberships = selector.objective_history_, selector.memberships_
        # Far from zero and not centred, X loses digits to its offset.
        assert (np.diff(history) <= 1e-8 * history[0]).all()
        assert memberships.min() >= 0
        assert memberships.sum(axis=0).min() > 0
        np.testing.assert_allclose(memberships.sum(axis=1), 1.0, rtol=1e-9)

"""The share of false discoveries among the best features, by permuted copies."""

from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm
from sklearn.utils import check_random_state, check_scalar

from ufselect.matrix import Float, Index, SparseMatrix
from ufselect.matrix.arrays import InMemoryMatrix
from ufselect.matrix.checks import checked_matrix
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.tuning.fits import (
    MAX_SEED,
    Work,
    checked_selector,
    fit_all,
    seeded,
)

# Largest number of permuted copies: enough to estimate the share of false discoveries.
MAX_PERMUTED = 1000
CONFIDENCE = 0.9


class FalseSelections(NamedTuple):
    """Estimated share of false discoveries among the k best features, k = 1, ..., p."""

    share: Float
    lower: Float
    upper: Float
    largest_k: int
    n_repeats: int


def false_selections(
    selector: UnsupervisedSelector,
    X: Any,
    *,
    n_permuted: int | None = None,
    n_repeats: int = 5,
    target: float = 0.1,
    n_jobs: int | None = None,
    time_budget: float | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: bool = False,
) -> FalseSelections:
    """Estimate the share of false discoveries among the best features.

    Columns of X are appended with their values permuted. A permuted copy that scores at
    least as high as its column is evidence that the column is a false discovery.

    Parameters
    ----------
    selector : selector
        For every repeat, a copy of it is fitted to X with permuted columns appended.
    X : {array-like, sparse matrix} of shape (n, p)
        Samples in rows. A sparse X stays sparse.
    n_permuted : int or None
        Number of columns with a permuted copy, drawn again for every repeat. None means
        all columns, at most 1000.
    n_repeats : int
        Number of fits.
    target : float
        Largest acceptable share of false discoveries.
    n_jobs : int or None
        Number of fits in parallel by joblib; None means 1.
    time_budget : float or None
        Seconds after which no further repeat is started. The first one always is.
    random_state : int, RandomState instance or None
        Seed of the permutations, and source of seeds for a selector without one.
    verbose : bool
        Print each repeat as it finishes.

    Returns
    -------
    found : FalseSelections
        ``share`` never decreases with k. ``lower`` and ``upper`` are the limits of a
        90 % interval for the share among the k best. ``largest_k`` is the largest k
        whose share is at most the target, or zero.

    Notes
    -----
    A permuted copy differs from its column only in that it does not depend on other
    columns. A method that scores each column alone, such as ``MaxVariance``, cannot
    distinguish them, and its share is estimated as one. If all columns depend on a
    common factor, such as the sequencing depth, all of them have structure: divide
    samples by their depth first.

    Examples
    --------
    >>> from ufselect import SCFS
    >>> from ufselect.data import planted
    >>> from ufselect.tuning import false_selections
    >>> X = planted("blobs", n_useful=20, n_noise=80).table
    >>> found = false_selections(SCFS(n_clusters=3), X, random_state=0)
    >>> 15 <= found.largest_k <= 25
    True
    """
    checked_selector(selector, "false_selections")
    data = checked_matrix(X, owner=type(selector).__name__)
    n_features = data.shape[1]
    count = min(n_features, MAX_PERMUTED) if n_permuted is None else n_permuted
    check_scalar(count, "n_permuted", Integral, min_val=1, max_val=n_features)
    check_scalar(n_repeats, "n_repeats", Integral, min_val=1)
    check_scalar(target, "target", Real, min_val=0, max_val=1)
    random = check_random_state(random_state)
    columns = {
        f"repeat {number}": np.sort(random.choice(n_features, count, replace=False))
        for number in range(n_repeats)
    }
    number = selector._resolve_number(n_features)
    works = []
    for name, chosen in columns.items():
        copy = seeded(selector, random.randint(MAX_SEED))
        copy.set_params(n_features_to_select=number)
        permuted = partial(with_permuted_copies, chosen, random.randint(MAX_SEED))
        works.append(Work(name, copy, permuted))
    finished = fit_all(
        data,
        works,
        title="false_selections",
        n_jobs=n_jobs,
        time_budget=time_budget,
        verbose=verbose,
    )
    counts = [
        false_among_best(scores[:n_features], scores[n_features:], columns[work.name])
        for work, scores in zip(*finished, strict=True)
    ]
    return _estimate(np.array(counts), target)


def with_permuted_copies(
    columns: Index, seed: int, data: InMemoryMatrix
) -> InMemoryMatrix:
    """Return X with permuted copies of some columns appended on the right.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.matrix import DenseMatrix
    >>> data = DenseMatrix(np.arange(12.0).reshape(4, 3))
    >>> np.sort(with_permuted_copies(np.array([1]), 0, data).raw, axis=0)[:, [1, 3]].T
    array([[ 1.,  4.,  7., 10.],
           [ 1.,  4.,  7., 10.]])
    """
    some = type(data)(data.raw[:, columns])
    both = data.raw, some.permuted(np.random.default_rng(seed)).raw
    sparse = isinstance(data, SparseMatrix)
    stacked = sp.hstack(both, format=data.raw.format) if sparse else np.hstack(both)
    return type(data)(stacked)


def false_among_best(originals: Float, permuted: Float, columns: Index) -> Float:
    """Return the estimated number of false discoveries among the k best, for each k.

    Parameters
    ----------
    originals : ndarray of shape (p,)
        Scores of the features.
    permuted : ndarray of shape (d,)
        Scores of the permuted copies.
    columns : ndarray of shape (d,)
        The features with a permuted copy.

    Examples
    --------
    >>> import numpy as np
    >>> scores, permuted = np.array([9.0, 2.0, 4.0]), np.array([5.0, 3.0, 1.0])
    >>> false_among_best(scores, permuted, np.arange(3))
    array([0., 0., 2.])
    """
    # A tie counts against the feature.
    lost = permuted >= originals[columns]
    pairs = np.sort(np.concatenate([permuted[lost], originals[columns][lost]]))
    thresholds = np.sort(originals)[::-1]
    above: Index = len(pairs) - np.searchsorted(pairs, thresholds, side="left")
    # Extrapolate from the columns with a permuted copy to all columns.
    return np.asarray(above * (len(originals) / len(columns)), np.float64)


def _estimate(counts: Float, target: float) -> FalseSelections:
    """Return the estimate from the counts of each repeat (repeats x p)."""
    n_repeats, n_features = counts.shape
    number = np.arange(1, n_features + 1)
    # Add one over all repeats, as knockoff+ does, so that no estimate is zero.
    expected = counts.mean(axis=0) + 1 / n_repeats
    # Variance of the number of false discoveries, at least that of a Poisson variable,
    # plus the variance of the mean over repeats.
    spread = counts.var(axis=0, ddof=1) if n_repeats > 1 else expected
    margin = norm.ppf((1 + CONFIDENCE) / 2) * np.sqrt(
        np.maximum(expected, spread) * (1 + 1 / n_repeats)
    )
    # For each k, the smallest share over all larger k.
    share = np.minimum(expected / number, 1.0)
    share = np.minimum.accumulate(share[::-1])[::-1]
    lower = np.clip((counts.mean(axis=0) - margin) / number, 0.0, share)
    upper = np.clip((expected + margin) / number, share, 1.0)
    under = np.flatnonzero(share <= target)
    largest = int(under[-1]) + 1 if len(under) else 0
    return FalseSelections(share, lower, upper, largest, n_repeats)

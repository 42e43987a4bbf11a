"""Which features follow the structure of a table, at a false discovery rate."""

from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm
from sklearn.utils import check_random_state, check_scalar

from ufselect.evaluation.structure_found import canonical_order, permuted_columns
from ufselect.matrix import DataMatrix, Float, Index
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.graph_scores import (
    centred_basis,
    column_squares,
    energy_shares,
    graph_vectors,
    principal_vectors,
)
from ufselect.tuning.fits import (
    LARGEST_SEED,
    FitEffort,
    Work,
    checked_selector,
    checked_table,
    fit_all,
    seeded,
)

N_FOLDS = 5
N_PERMUTATIONS = 20

# Eigenvectors of each kind, if there are ten times as many samples.
N_COMPONENTS = 5
N_NEIGHBORS = 5

# A sample may lie so many times as far out in the basis as samples do on average.
# Without a bound, a column that is not zero in a few outlying samples only would follow
# them.
LARGEST_LEVERAGE = 3.0

# Enough to estimate a share; more would only make the fits longer.
MAX_DECOYS = 1000
CONFIDENCE = 0.9


class Following(NamedTuple):
    """How far each feature follows the structure that the other features show.

    Attributes
    ----------
    shares : ndarray of shape (p,)
        Share of the variance of each feature inside the leading eigenvectors of the
        others: graph eigenvectors and principal components.
    q_values : ndarray of shape (p,)
        Least false discovery rate at which the feature is among the discoveries.
    permuted : ndarray of shape (p,)
        Largest share among the permuted copies of each feature.
    """

    shares: Float
    q_values: Float
    permuted: Float


def features_that_follow(
    centred: DataMatrix, random: np.random.RandomState
) -> Following:
    """Compare each feature with the structure of the features in the other folds."""
    n_samples, n_features = centred.shape
    # Every fold has columns of all sizes, whatever their order in the table.
    folds = np.empty(n_features, dtype=np.intp)
    folds[canonical_order(centred.summary())] = np.arange(n_features) % N_FOLDS
    shares = np.zeros(n_features)
    permuted = np.zeros((N_PERMUTATIONS, n_features))
    gram = centred.sample_gram()
    for fold in range(min(N_FOLDS, n_features) if n_features > 1 else 0):
        columns = np.flatnonzero(folds == fold)
        own = centred.take(columns)
        others = None
        if n_features < n_samples:
            others = centred.take(np.flatnonzero(folds != fold))
        basis = structure_basis(gram - own.sample_gram(), others)
        squares = column_squares(own)
        shares[columns] = energy_shares(own, basis, squares)
        for row in permuted:
            rows = random.permutation(n_samples)
            row[columns] = energy_shares(own, basis[rows], squares)
    q = np.ones(n_features)
    strata = np.floor(np.log2(effective_samples(centred)))
    for stratum in np.unique(strata):
        among = strata == stratum
        q[among] = q_values(shares[among], permuted[:, among])
    return Following(shares, q, permuted.max(axis=0))


def effective_samples(centred: DataMatrix) -> Float:
    """Return ``(sum x^2)^2 / sum x^4``: samples that the variance of a column is from.

    It is 1 for a column that differs in one sample, a third of n for a Gaussian one,
    and does not change when the column is permuted.
    """
    found = np.ones(centred.shape[1])
    for block in centred.column_blocks():
        squares = centred.columns(block) ** 2
        fourth = np.sum(squares**2, axis=0)
        np.divide(
            np.sum(squares, axis=0) ** 2, fourth, out=found[block], where=fourth > 0
        )
    return np.maximum(found, 1.0)


def structure_basis(gram: Float, narrow: DataMatrix | None) -> Float:
    """Return a basis of the leading eigenvectors of graph and Gram matrix.

    The samples themselves are given if they have few features.
    """
    count = max(1, min(N_COMPONENTS, len(gram) // 10))
    smooth = graph_vectors(gram, count, N_NEIGHBORS)
    leading = principal_vectors(gram, count, narrow)
    basis = centred_basis(np.hstack([smooth, leading]))
    lengths = np.linalg.norm(basis, axis=1)
    largest = LARGEST_LEVERAGE * np.sqrt(np.mean(lengths**2))
    return centred_basis(basis * (largest / np.maximum(lengths, largest))[:, None])


def q_values(shares: Float, permuted: Float) -> Float:
    """Return for each feature the least estimated FDR at or below its share.

    Examples
    --------
    >>> import numpy as np
    >>> q_values(np.array([0.9, 0.1]), np.array([[0.2, 0.1], [0.1, 0.0]])).round(2)
    array([0.5, 1. ])
    """
    order = np.argsort(-shares, kind="stable")
    null = np.sort(permuted, axis=None)
    above = null.size - np.searchsorted(null, shares[order], side="left")
    rates = (1 + above) / len(permuted) / np.arange(1, len(shares) + 1)
    result = np.empty_like(shares)
    result[order] = np.minimum(np.minimum.accumulate(rates[::-1])[::-1], 1.0)
    return result


class FalseSelections(NamedTuple):
    """The estimated share of false features among the k best, for k from 1 to p."""

    share: Float
    lower: Float
    upper: Float
    largest_k: int
    n_repeats: int


def false_selections(
    selector: UnsupervisedSelector,
    X: Any,
    *,
    n_decoys: int | None = None,
    n_repeats: int = 5,
    target: float = 0.1,
    n_jobs: int | None = None,
    time_budget: float | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: bool = False,
) -> FalseSelections:
    """Estimate the share of false discoveries among the best features.

    A decoy is a column of X with its values permuted. A decoy that scores as high as
    its column says that the column may be a false discovery.

    Parameters
    ----------
    selector : selector
        A copy of it is fitted to X with decoys beside it, once for every repeat.
    X : {array-like, sparse matrix} of shape (n, p)
        Samples in rows. A sparse X stays sparse.
    n_decoys : int or None
        Number of columns that get a decoy, drawn anew for every repeat. None is all of
        them, 1000 at most.
    n_repeats : int
        Number of fits.
    target : float
        The share of false features to stay under.
    n_jobs : int or None
        Fits at once, through joblib; None is one.
    time_budget : float or None
        Seconds after which no further repeat is started. The first always is.
    random_state : int, RandomState instance or None
        Seed of the decoys, and source of seeds for a selector that has none.
    verbose : bool
        Print each repeat as it finishes.

    Returns
    -------
    found : FalseSelections
        ``share`` never falls as k grows. ``lower`` and ``upper`` hold the share among
        the k best of X in about nine of ten cases. ``largest_k`` is the largest k whose
        share is at most the target, or zero if there is none.

    Notes
    -----
    What a decoy lacks is dependence on other columns, and only that can be told. A
    method that looks at each column alone, such as ``MaxVariance``, cannot tell a
    column from its decoy, and its share is estimated as one. Where all columns depend
    on something, such as the depth of sequencing, all of them have structure: divide
    such samples by their depth before.

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
    table = checked_table(selector, X)
    n_features = table.shape[1]
    count = min(n_features, MAX_DECOYS) if n_decoys is None else n_decoys
    check_scalar(count, "n_decoys", Integral, min_val=1, max_val=n_features)
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
        copy = seeded(selector, random.randint(LARGEST_SEED))
        copy.set_params(n_features_to_select=number)
        decoys = partial(with_decoys, chosen, random.randint(LARGEST_SEED))
        works.append(Work(name, copy, decoys))
    finished = fit_all(
        table,
        works,
        FitEffort(n_jobs, time_budget, verbose),
        title="false_selections",
        stacklevel=4,
    )
    counts = [
        false_among_best(scores[:n_features], scores[n_features:], columns[work.name])
        for work, scores in zip(*finished, strict=True)
    ]
    return _estimate(np.array(counts), target)


def with_decoys(columns: Index, seed: int, X: Any) -> Any:
    """Return X and, to its right, the columns with their values permuted.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(12.0).reshape(4, 3)
    >>> np.sort(with_decoys(np.array([1]), 0, X), axis=0)[:, [1, 3]].T
    array([[ 1.,  4.,  7., 10.],
           [ 1.,  4.,  7., 10.]])
    """
    decoys = permuted_columns(X[:, columns], np.random.default_rng(seed))
    sparse = bool(sp.issparse(X))
    if sparse:
        return sp.hstack([X, decoys], format=X.format)
    return np.hstack([X, decoys])


def false_among_best(originals: Float, decoys: Float, columns: Index) -> Float:
    """Return, for each k, how many decoys say that a feature is false.

    Parameters
    ----------
    originals : ndarray of shape (p,)
        Scores of the features.
    decoys : ndarray of shape (d,)
        Scores of the decoys of some features.
    columns : ndarray of shape (d,)
        Those features.

    Examples
    --------
    >>> import numpy as np
    >>> scores, decoys = np.array([9.0, 2.0, 4.0]), np.array([5.0, 3.0, 1.0])
    >>> false_among_best(scores, decoys, np.arange(3))
    array([0., 0., 2.])
    """
    # A tie is no victory of the original.
    lost = decoys >= originals[columns]
    pairs = np.sort(np.concatenate([decoys[lost], originals[columns][lost]]))
    thresholds = np.sort(originals)[::-1]
    above: Index = len(pairs) - np.searchsorted(pairs, thresholds, side="left")
    # As many decoys as there are columns would have said so more often.
    return np.asarray(above * (len(originals) / len(columns)), np.float64)


def _estimate(counts: Float, target: float) -> FalseSelections:
    """Return the estimate from the counts of each repeat (repeats x p)."""
    n_repeats, n_features = counts.shape
    number = np.arange(1, n_features + 1)
    # One more over all repeats, as for knockoffs: none seen does not mean none.
    expected = counts.mean(axis=0) + 1 / n_repeats
    # The false features of X vary as those of a repeat do, at least as a count does;
    # to this comes the error of the mean.
    spread = counts.var(axis=0, ddof=1) if n_repeats > 1 else expected
    margin = norm.ppf((1 + CONFIDENCE) / 2) * np.sqrt(
        np.maximum(expected, spread) * (1 + 1 / n_repeats)
    )
    # For each k the least share of it and of all larger k.
    share = np.minimum(expected / number, 1.0)
    share = np.minimum.accumulate(share[::-1])[::-1]
    lower = np.clip((counts.mean(axis=0) - margin) / number, 0.0, share)
    upper = np.clip((expected + margin) / number, share, 1.0)
    under = np.flatnonzero(share <= target)
    largest = int(under[-1]) + 1 if len(under) else 0
    return FalseSelections(share, lower, upper, largest, n_repeats)

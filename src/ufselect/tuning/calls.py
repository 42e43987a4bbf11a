"""Which features follow the structure of a table, with a false discovery rate.

A feature must not be judged by a structure that it made itself: the more columns a
table has, the better its leading eigenvectors fit each column of noise. So the columns
are split into folds, and each is compared with the eigenvectors of the others
(cross-fitting). If it is independent of them, permuting the samples of the eigenvectors
changes nothing: energy shares in permuted eigenvectors are its null distribution, and
with R permutations

    FDR(t) = (1 + number of permuted shares >= t) / R / number of shares >= t

estimates the false discovery rate among the features whose share is at least t. Rare
words have other null distributions than frequent ones, so the rate is estimated
separately for features whose variance comes from about equally many samples.
"""

from typing import NamedTuple

import numpy as np

from ufselect.evaluation.parallel_analysis import canonical_order
from ufselect.matrix import DataMatrix, Float
from ufselect.solvers.graph_scores import (
    centred_basis,
    column_squares,
    energy_shares,
    graph_vectors,
    principal_vectors,
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


class Following(NamedTuple):
    """How far each feature follows the structure that the other features show.

    Attributes
    ----------
    shares : ndarray of shape (p,)
        Share of the variance of each feature inside the leading eigenvectors of the
        others: graph eigenvectors and principal components.
    q_values : ndarray of shape (p,)
        Least false discovery rate at which the feature is among the discoveries.
    """

    shares: Float
    q_values: Float


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
        basis = structure_basis(gram - own.sample_gram())
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
    return Following(shares, q)


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


def structure_basis(gram: Float) -> Float:
    """Return a basis of the leading eigenvectors of graph and Gram matrix."""
    count = max(1, min(N_COMPONENTS, len(gram) // 10))
    leading = graph_vectors(gram, count, N_NEIGHBORS), principal_vectors(gram, count)
    basis = centred_basis(np.hstack(leading))
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

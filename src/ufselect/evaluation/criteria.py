"""Label-free criteria of a set of columns, designed for many sets of one table.

Each function takes a table, does the computations that all sets have in common, and
returns a criterion: a function of the sorted indices of a set of columns. Higher values
are better.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import orth, solve
from scipy.spatial.distance import pdist
from sklearn.model_selection import KFold
from sklearn.utils import gen_batches

from ufselect.evaluation.tables import Centred, centred, checked_table, some_of
from ufselect.matrix import DataMatrix, Float, Index, as_matrix
from ufselect.solvers.neighbours import nearest_neighbours
from ufselect.solvers.rankings import unit_columns

# Number of correlations that are held in memory at once.
PAIRS_AT_ONCE = 1_000_000

# Singular values of the selected columns below this share of the largest count as zero.
NEGLIGIBLE = 1e-10

# Approximate number of values of a dense block.
VALUES_AT_ONCE = 1_000_000


class ClusteringAgreement(NamedTuple):
    """Adjusted Rand index and normalised mutual information, means over the seeds."""

    adjusted_rand: float
    mutual_information: float


def redundancy(columns: Any) -> float:
    """Return the mean absolute correlation between pairs of selected columns.

    It is 0 if no two columns are correlated, and 1 if all are copies of one column up
    to sign and scale. Constant columns are excluded. Without any pair the value is 0.

    Parameters
    ----------
    columns : {array-like, sparse matrix} of shape (n, k)
        The selected columns.

    Notes
    -----
    Based on the redundancy rate of Zhao, Wang and Liu (AAAI 2010). Here the sum over
    pairs is divided by their number ``k (k - 1) / 2``, so that the largest value is 1,
    and negative correlations count by their absolute value. Published values may be
    divided by another number.

    Examples
    --------
    >>> redundancy([[0.0, 0.0, 1.0], [1.0, 2.0, 0.0], [2.0, 4.0, 1.0]])
    0.333...
    """
    data = as_matrix(checked_table(columns, "columns"))
    summary = data.summary()
    varying = np.flatnonzero(~summary.constant)
    return _mean_overlap(unit_columns(data, summary, varying)) if len(varying) else 0.0


def _mean_overlap(unit: DataMatrix) -> float:
    """Return the mean absolute inner product of pairs of columns of unit length."""
    count = unit.shape[1]
    if count < 2:
        return 0.0
    total = sum(
        float(np.abs(unit.transpose_dot(unit.columns(batch))).sum())
        for batch in gen_batches(count, max(1, PAIRS_AT_ONCE // count))
    )
    return float(np.clip((total - count) / (count * (count - 1)), 0.0, 1.0))


def neighbourhood_agreement(
    table: Any, selected: ArrayLike, n_neighbors: int = 5
) -> float:
    """Return the agreement of nearest neighbours by all and by the selected columns.

    It is the mean, over the samples, of the Jaccard index of the two sets of nearest
    neighbours, and 1 if no neighbour changes. Ties between neighbours at equal distance
    are broken arbitrarily.

    Parameters
    ----------
    table : {array-like, sparse matrix} of shape (n, p)
        In the units in which distances are measured.
    selected : array-like
        Mask or indices of the selected columns.
    n_neighbors : int
        Neighbours of each sample, itself excluded.

    Examples
    --------
    >>> table = [[0.0, 0.0], [1.0, 0.0], [5.0, 0.1], [7.0, 0.0]]
    >>> neighbourhood_agreement(table, [0], n_neighbors=1)
    1.0
    """
    points = centred(table).data.points()
    n_samples, n_features = points.shape
    kept = some_of(selected, n_features)
    if not 1 <= n_neighbors < n_samples:
        raise ValueError(
            f"n_neighbors={n_neighbors} but the table has {n_samples} samples; ask "
            f"for 1 to {n_samples - 1} neighbours."
        )
    _, whole = nearest_neighbours(points, n_neighbors)
    _, part = nearest_neighbours(points[:, kept], n_neighbors)
    return neighbours_in_common(whole, part)


def neighbours_in_common(whole: Index, part: Index) -> float:
    """Return the mean Jaccard index of two sets of neighbours of equal size."""
    common = (whole[:, :, np.newaxis] == part[:, np.newaxis]).sum(axis=(1, 2))
    return float(np.mean(common / (2 * whole.shape[1] - common)))


def clustering_agreement(
    table: Any,
    selected: ArrayLike,
    n_clusters: int,
    *,
    seeds: Iterable[int] = range(5),
    n_init: int = 10,
) -> ClusteringAgreement:
    """Compare k-means on all columns with k-means on the selected ones.

    Parameters
    ----------
    table : {array-like, sparse matrix} of shape (n, p)
        In the units in which distances are measured.
    selected : array-like
        Mask or indices of the selected columns.
    n_clusters : int
    seeds : iterable of int
        Both clusterings are repeated for each seed.
    n_init : int
        Restarts of each k-means.

    Examples
    --------
    >>> table = [[0.0, 2.0], [0.1, 2.1], [5.0, 2.0], [5.1, 2.1]]
    >>> clustering_agreement(table, [0], 2, seeds=[0])
    ClusteringAgreement(adjusted_rand=1.0, mutual_information=1.0)
    """
    from ufselect.evaluation.judging import agreement
    from ufselect.evaluation.k_means import repeated_k_means

    points = centred(table).data.points()
    kept = some_of(selected, points.shape[1])
    if not 2 <= n_clusters <= points.shape[0]:
        raise ValueError(
            f"n_clusters={n_clusters} but the table has {points.shape[0]} samples; "
            f"ask for 2 to {points.shape[0]} clusters."
        )
    seeds = list(seeds)
    if not seeds:
        raise ValueError("seeds is empty; give at least one seed.")
    whole, part = (
        repeated_k_means(columns, n_clusters, seeds=seeds, n_init=n_init)[0]
        for columns in (points, points[:, kept])
    )
    scores = [
        agreement(one, other, ["adjusted_rand", "nmi_geometric"])[0]
        for one, other in zip(whole, part, strict=True)
    ]
    rand, information = np.mean(scores, axis=0)
    return ClusteringAgreement(float(rand), float(information))


Criterion = Callable[[Index], float]


class JudgedTable:
    """A table with the preparations that several criteria use, computed once."""

    def __init__(self, table: Any) -> None:
        self.table = table

    @classmethod
    def of(cls, table: Any) -> "JudgedTable":
        """Return a ``JudgedTable`` of the table, or the table if it is one already."""
        return table if isinstance(table, cls) else cls(table)

    @cached_property
    def centred(self) -> Centred:
        """Return the table in its own units, stored by columns."""
        data, constant = centred(self.table)
        return Centred(data.by_columns(), constant)

    @cached_property
    def scaled(self) -> Centred:
        """Return the table with features scaled, stored by columns."""
        data, constant = centred(self.table, "features")
        return Centred(data.by_columns(), constant)

    @cached_property
    def gram(self) -> Float:
        """Return the Gram matrix of the samples, in units of the table."""
        return self.centred.data.sample_gram()


N_NEIGHBOURS = 5

# Squared distances that differ by less, relative to the mean squared norm, are ties.
EQUAL = 1e-9

# Penalty of ridge regression, relative to the mean squared norm of the centred samples.
RIDGE = 0.1


def structure(table: Any) -> Criterion:
    """Return the criterion of the mean squared distance correlation between columns.

    It is high if columns agree on which samples are similar: about 1 for copies and 0
    for independent columns, for linear and non-linear dependence. The distance
    correlation of a constant column is 0.

    Notes
    -----
    With D the distances between samples by one column, the distance covariance of two
    columns is the inner product of their centred D, so that the sum over all pairs
    follows from the sum of all D. The centring is the unbiased one, so that independent
    columns give 0 on average (Szekely and Rizzo, Annals of Statistics 42 (6), 2014).
    The distance variances in the denominator are not bias-corrected, because the
    corrected one is zero for a column that differs in a single sample.
    """
    data, constant = JudgedTable.of(table).scaled

    def mean_distance_correlation(columns: Index) -> float:
        values = data.columns(columns[~constant[columns]])
        if values.shape[1] < 2:
            return 0.0
        sums, squares = distance_sums(values), squared_distances(values)
        scale = 1 / np.sqrt(plain_square(squares, sums))
        together = pdist(values * scale, "cityblock")
        every = unbiased_square(2 * together @ together, sums @ scale)
        own = scale**2 @ unbiased_square(squares, sums)
        return float(every - own) / (len(columns) * (len(columns) - 1))

    return mean_distance_correlation


def distance_sums(values: Float) -> Float:
    """Return, for each value, the sum of its distances to all values of its column."""
    n = len(values)
    order = np.argsort(values, axis=0)
    increasing = np.take_along_axis(values, order, axis=0)
    below = np.cumsum(increasing, axis=0)
    ranks = np.arange(1, n + 1)[:, np.newaxis]
    sums = np.empty_like(values)
    ordered = (2 * ranks - n) * increasing + below[-1] - 2 * below
    np.put_along_axis(sums, order, ordered, axis=0)
    return sums


def squared_distances(values: Float) -> Float:
    """Return, for each column, the sum of the squared distances of all pairs."""
    shifted = values - values.mean(axis=0)
    return np.asarray(2 * len(values) * np.sum(shifted**2, axis=0))


def plain_square(squares: Float, sums: Float) -> Float:
    """Return the mean square of double-centred distances."""
    n = len(sums)
    centring = 2 / n * np.sum(sums**2, axis=0) - (np.sum(sums, axis=0) / n) ** 2
    return np.asarray((squares - centring) / n**2)


def unbiased_square(squares: Any, sums: Float) -> Any:
    """Return the same with the unbiased (U-centred) distances, without the diagonal.

    Its expectation is 0 for independent columns.
    """
    n = len(sums)
    total = np.sum(sums, axis=0)
    centring = 2 / (n - 2) * np.sum(sums**2, axis=0) - total**2 / ((n - 1) * (n - 2))
    return (squares - centring) / (n * (n - 3))


def reconstruction(table: Any) -> Criterion:
    """Return the criterion of the share of variance predicted by leave-one-out.

    Every sample is predicted by ridge regression of all columns on those of the set,
    fitted to the other samples. The value is 1 if the prediction is exact, 0 if it is
    as good as the means, and negative if it is worse.

    Notes
    -----
    Unlike `held_out_reconstruction_error`, it has a penalty, without which sets of
    nearly as many columns as samples overfit. Leave-one-out residuals follow from the
    fit to all samples and from their Gram matrix, so that a set costs one linear
    system.
    """
    judged = JudgedTable.of(table)
    (data, constant), gram = judged.centred, judged.gram
    n = len(gram)
    by_means = np.trace(gram) * (n / (n - 1)) ** 2

    def share_predicted(columns: Index) -> float:
        C = data.columns(columns[~constant[columns]])
        penalty = RIDGE * np.sum(C**2) / n
        if not penalty > 0:
            # Columns so small that their squares underflow predict nothing.
            return 0.0
        # Fitted values are H X, H = 1 1' / n + C R, by the smaller of two systems.
        if C.shape[1] < n:
            R = solve(C.T @ C + penalty * np.eye(C.shape[1]), C.T, assume_a="pos")
        else:
            R = solve(C @ C.T + penalty * np.eye(n), C, assume_a="pos").T
        products = gram @ R.T
        residuals = gram.diagonal() - 2 * np.sum(C * products, axis=1)
        residuals += np.sum((C @ (R @ products)) * C, axis=1)
        without = 1 - 1 / n - np.sum(C * R.T, axis=1)
        return 1.0 - float(np.sum(residuals / without**2) / by_means)

    return share_predicted


def neighbours(table: Any) -> Criterion:
    """Return the criterion `neighbourhood_agreement`; it holds all distances."""
    judged = JudgedTable.of(table)
    data, n = judged.centred.data, len(judged.gram)
    count = min(N_NEIGHBOURS, n - 1)

    def nearest(gram: Float) -> Index:
        squares = gram.diagonal()
        distances = squares + squares[:, np.newaxis] - 2 * gram
        # Rounding errors must not order samples at equal distances.
        distances = np.rint(distances / (EQUAL * np.mean(squares) or 1.0))
        np.fill_diagonal(distances, np.inf)
        return np.argpartition(distances, count - 1, axis=1)[:, :count]

    among = np.zeros((n, n), dtype=bool)
    np.put_along_axis(among, nearest(judged.gram), True, axis=1)

    def neighbours_kept(columns: Index) -> float:
        points = data.columns(columns)
        part = nearest(points @ points.T)
        common = np.take_along_axis(among, part, axis=1).sum(axis=1)
        return float(np.mean(common / (2 * count - common)))

    return neighbours_kept


def distinctness(table: Any) -> Criterion:
    """Return the criterion of one minus `redundancy`."""
    data, constant = JudgedTable.of(table).scaled

    def share_not_repeated(columns: Index) -> float:
        values = data.columns(columns[~constant[columns]])
        return 1.0 - _mean_overlap(as_matrix(values / np.linalg.norm(values, axis=0)))

    return share_not_repeated


CRITERIA: dict[str, Callable[[Any], Criterion]] = {
    "structure": structure,
    "reconstruction": reconstruction,
    "neighbours": neighbours,
    "distinctness": distinctness,
}


def reconstruction_error(
    table: Any, selected: ArrayLike, *, standardize: bool = False
) -> float:
    """Return the share of variance that the selected columns do not explain.

    It is ``min_B |X - X_s B|^2 / |X|^2`` for the centred table: 0 if every column is a
    linear combination of the selected ones, 1 if they explain nothing. With as many
    columns as samples it is always 0: compare small selections, or use
    `held_out_reconstruction_error`.

    Parameters
    ----------
    table : {array-like, sparse matrix} of shape (n, p)
    selected : array-like
        Mask or indices of the selected columns.
    standardize : bool
        Whether to scale all columns to unit variance first.

    Examples
    --------
    >>> table = [[0.0, 0.0, 1.0], [1.0, 2.0, -2.0], [2.0, 4.0, 1.0]]
    >>> round(reconstruction_error(table, [0]), 3)
    0.375
    """
    data, constant = centred(table, "features" if standardize else "none")
    kept = some_of(selected, data.shape[1])
    kept = kept[~constant[kept]]
    columns = _without_unit(data.columns(kept))
    if not columns.shape[1]:
        return 1.0
    basis = orth(columns / np.linalg.norm(columns, axis=0), rcond=NEGLIGIBLE)
    explained = sum(
        float(np.sum(data.transpose_dot(basis[:, batch]) ** 2))
        for batch in gen_batches(
            basis.shape[1], max(1, VALUES_AT_ONCE // data.shape[1])
        )
    )
    return float(np.clip(1.0 - explained, 0.0, 1.0))


def held_out_reconstruction_error(
    table: Any, selected: ArrayLike, *, n_splits: int = 5, seed: int = 0
) -> float:
    """Return the share of variance that is not explained in held-out samples.

    Means and coefficients are estimated on the other folds. Unlike
    `reconstruction_error`, it is not 0 if there are as many selected columns as
    samples, and it exceeds 1 if the means predict better.

    Parameters
    ----------
    table : {array-like, sparse matrix} of shape (n, p)
    selected : array-like
        Mask or indices of the selected columns.
    n_splits : int
        Number of folds.
    seed : int
        Seed of the assignment of samples to folds.

    Examples
    --------
    >>> table = [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]
    >>> round(held_out_reconstruction_error(table, [0], n_splits=2), 6)
    0.0
    """
    data, constant = centred(table)
    kept = some_of(selected, data.shape[1])
    kept = kept[~constant[kept]]
    if not 2 <= n_splits <= data.shape[0]:
        raise ValueError(
            f"n_splits={n_splits} but the table has {data.shape[0]} samples; ask for 2 "
            f"to {data.shape[0]} folds."
        )
    folds = KFold(n_splits, shuffle=True, random_state=seed)
    squares = sum(
        _squares_of_fold(data, kept, train, test)
        for train, test in folds.split(np.empty((data.shape[0], 0)))
    )
    left, total = np.asarray(squares)
    return float(left / total)


def _squares_of_fold(data: DataMatrix, kept: Index, train: Index, test: Index) -> Float:
    """Return the sums of squared errors of a fold, by prediction and by the means."""
    mean = _combined(data, train, np.full((len(train), 1), 1 / len(train)))
    columns = _without_unit(data.columns(kept) - mean[kept].T)
    # A column may be constant in a fold, such as a word of a single text.
    lengths = np.linalg.norm(columns[train], axis=0)
    varying = lengths > NEGLIGIBLE * np.linalg.norm(columns, axis=0)
    columns = columns[:, varying] / lengths[varying]
    inverse = np.linalg.pinv(columns[train], rcond=NEGLIGIBLE)
    # Rows of the pseudo-inverse of centred columns sum to zero, so that centring on all
    # samples does not change the result.
    coefficients = _combined(data, train, inverse.T.astype(np.float64, copy=False))
    left = total = 0.0
    for batch in gen_batches(len(test), max(1, VALUES_AT_ONCE // data.shape[1])):
        piece = data.rows(test[batch]) - mean.T
        total += float(np.sum(piece**2))
        piece -= columns[test[batch]] @ coefficients.T
        left += float(np.sum(piece**2))
    return np.array([left, total])


def _without_unit(columns: Float) -> Float:
    """Return columns scaled to a largest absolute value of one, without zero columns.

    Squares of a column that is much smaller than another would underflow.
    """
    peaks = np.abs(columns).max(axis=0, initial=0.0)
    return columns[:, peaks > 0] / peaks[peaks > 0]


def _combined(data: DataMatrix, rows: Index, weights: Float) -> Float:
    """Return ``X[rows].T @ weights`` without a copy of the rows."""
    padded = np.zeros((data.shape[0], weights.shape[1]))
    padded[rows] = weights
    return data.transpose_dot(padded)

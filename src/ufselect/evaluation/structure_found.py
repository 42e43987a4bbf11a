"""Structure of a table: whether it has any, and which features are related to it."""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from sklearn.utils import check_random_state

from ufselect.evaluation.checks import checked_table
from ufselect.matrix import ColumnSummary, DataMatrix, DenseMatrix, Float, Index
from ufselect.solvers.graph_scores import (
    centred_basis,
    column_squares,
    energy_shares,
    graph_vectors,
    principal_vectors,
)
from ufselect.solvers.preparation import UNITS, Kind, choose_preparation, prepare

# Largest numbers of samples and of values for the test, which copies the table often.
MAX_SAMPLES = 300
MAX_VALUES = 8_000_000

# Number of eigenvalues that are compared, and largest number of directions.
N_EIGENVALUES = 8

# If the ratio in the units of the table is at least this, features are not scaled.
CLEAR_RATIO = 1.5

# Rounding error of eigenvalues in single precision, relative to the largest.
ROUNDING = 1e-5

# With 39 copies the smallest p-value is 0.025, which is also the rate of false alarms.
N_PERMUTATIONS = 39
SIGNIFICANT = 0.05

# Folds of features, and permuted copies of each feature.
N_FOLDS = 5
N_FOLD_PERMUTATIONS = 20

# Largest number of eigenvectors of each kind; at most a tenth of the samples.
N_COMPONENTS = 5
N_NEIGHBORS = 5

# Largest norm of a row of the basis, as a multiple of the root mean square. Without a
# limit, a few outlying samples would explain a column that is nonzero only in them.
MAX_LEVERAGE = 3.0


class StructureTest(NamedTuple):
    """Result of `structure_test`.

    Attributes
    ----------
    found : bool
        Whether the p-value is below 0.05.
    p_value : float
        Rank of the largest eigenvalue among those of table and permuted copies, divided
        by their number.
    standardize : {"none", "features", "samples"}
        The preparation that was chosen.
    evidence : dict
        For each preparation, the largest eigenvalue divided by the mean of those of the
        permuted copies.
    n_directions : int
        Number of eigenvalues above those of all permuted copies, at most 8.
    sentence : str
        The result in words.
    """

    found: bool
    p_value: float
    standardize: Kind
    evidence: dict[str, float]
    n_directions: int
    sentence: str


def structure_test(
    X: Any, *, n_permutations: int = N_PERMUTATIONS, random_state: Any = None
) -> StructureTest:
    """Test whether the columns of a table depend on one another.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p)
        At most 300 samples are used, drawn at random; fewer of a very wide table.
    n_permutations : int
        Number of permuted copies. The smallest p-value is
        ``1 / (n_permutations + 1)``.
    random_state : int, RandomState instance or None
        Seed of samples and permutations.

    Returns
    -------
    StructureTest

    Notes
    -----
    The test is a parallel analysis: in each copy the values of every column are
    permuted, which removes all dependence between columns and changes nothing else. If
    columns are independent, the p-value is exact. The whole computation, including the
    choice of the preparation, is repeated for every copy.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=(50, 80))
    >>> structure_test(noise, random_state=0).found
    False
    >>> groups = noise + 2 * np.repeat([[0.0], [1.0]], 25, axis=0)
    >>> structure_test(groups, random_state=0).found
    True
    """
    if n_permutations < 1:
        raise ValueError(f"n_permutations={n_permutations} must be at least 1.")
    random = check_random_state(random_state)
    return structure_of_matrix(checked_table(X, "X"), n_permutations, random)


def structure_of_matrix(
    data: DataMatrix, n_permutations: int, random: np.random.RandomState
) -> StructureTest:
    """Compare the eigenvalues of a validated table with those of permuted copies.

    The statistic is the largest eigenvalue divided by its mean over all copies and the
    table itself, in the preparation with the largest ratio.
    """
    n_samples, n_features = data.shape
    largest = min(MAX_SAMPLES, max(50, MAX_VALUES // n_features))
    rows = np.sort(random.permutation(n_samples)[:largest])
    sample = data.take_rows(rows)
    summary = sample.summary()
    # Sort the columns, so that the result does not depend on their order.
    order = canonical_order(summary)
    varying = order[~summary.constant[order]]
    sample = type(sample)(sample.raw[:, varying if len(varying) else order])
    kinds = candidate_preparations(sample)
    generator = np.random.default_rng(random.randint(np.iinfo(np.int32).max))
    if kinds == ["none", "features"] and isinstance(sample, DenseMatrix):
        own, copies = eigenvalues_of_copies(sample, n_permutations, generator)
    else:
        own = eigenvalues_by_kind(sample, kinds)
        tables = (sample.permuted(generator) for _ in range(n_permutations))
        copies = np.array([eigenvalues_by_kind(each, kinds)[:, 0] for each in tables])
    leading = np.vstack([own[:, 0], copies])
    unit = leading.mean(axis=0)
    statistic = np.max(leading / np.where(unit > 0, unit, 1.0), axis=1)
    # Eigenvalues that differ only by rounding are equal.
    above = np.count_nonzero(statistic[1:] >= statistic[0] * (1 - ROUNDING))
    means = copies.mean(axis=0)
    ratios = np.where(means > 0, own[:, 0] / np.where(means > 0, means, 1.0), 1.0)
    best = 0 if ratios[0] >= min(CLEAR_RATIO, ratios.max()) else int(ratios.argmax())
    # Eigenvalues at the level of rounding errors do not count as directions.
    threshold = max(copies[:, best].max(), ROUNDING * own[best, 0])
    p_value = float((1 + above) / (n_permutations + 1))
    found = p_value < SIGNIFICANT
    evidence: dict[str, float] = dict(zip(kinds, ratios.tolist(), strict=True))
    return StructureTest(
        found,
        p_value,
        kinds[best],
        evidence,
        int(np.count_nonzero(own[best] > threshold)),
        _sentence(found, p_value, kinds[best], evidence),
    )


def _sentence(
    found: bool, p_value: float, chosen: Kind, ratios: dict[str, float]
) -> str:
    compared = (
        f"the largest eigenvalue is {ratios[chosen]:.3g} times that of permuted "
        f"columns (p = {p_value:.2g})"
    )
    for kind, ratio in ratios.items():
        if kind != chosen:
            compared += f", {UNITS[kind]} {ratio:.3g} times"
    if not found:
        return f"This table shows no groups: {compared}."
    return f"This table shows structure {UNITS[chosen]}: {compared}."


def canonical_order(summary: ColumnSummary) -> Index:
    """Return the columns sorted by deviation, mean and range."""
    keys = summary.maximum, summary.minimum, summary.mean, summary.deviation
    return np.lexsort(keys)


def candidate_preparations(data: DataMatrix) -> list[Kind]:
    """Return the preparations to choose from; features of counts are never scaled.

    Unit variance would give rare words or genes too much weight, which permuted copies
    cannot detect.
    """
    if data.summary().constant.all():
        return ["none"]
    counts = choose_preparation(data) == "samples"
    # Samples that are multiples of one another are equal after scaling.
    if counts and not data.with_unit_rows(1.0).summary().constant.all():
        return ["samples"]
    return ["none", "features"]


def eigenvalues_of_copies(
    data: DataMatrix, n_permutations: int, random: np.random.Generator
) -> tuple[Float, Float]:
    """Return the leading eigenvalues of a dense table, and the largest of each copy.

    Both in the units of the table (first) and with features scaled (second).

    Notes
    -----
    Drawing permutations takes longer than products with the table, so all copies use
    one list of permutations: the columns of copy i take those from a random position
    r_i of the list on. The table itself is treated as copy 0 of another table, from
    which all copies are made. If columns are independent, the eigenvalues of table and
    copies are exchangeable, since permutations and positions are. The p-value is
    therefore as exact as with separate permutations.
    """
    (n_samples, n_features), summary = data.shape, data.summary()
    # Added columns of zeros do not change eigenvalues, but allow distinct positions.
    n_columns = max(n_features, 8 * (n_permutations + 1))
    table = np.zeros((n_columns, n_samples), dtype=np.float32)
    prepared = prepare(data, "features", float(n_samples)).centred
    table[:n_features] = prepared.columns(slice(None)).T
    deviation = np.where(summary.constant, 0.0, summary.deviation)
    relative = deviation / deviation.max()
    relative *= np.sqrt(np.count_nonzero(relative) / np.sum(relative**2))
    weights = np.zeros(n_columns, dtype=np.float32)
    weights[:n_features] = relative

    def largest(columns: Any, shift: int, count: int) -> Float:
        by_kind = columns * np.roll(weights, shift)[:, np.newaxis], columns
        if n_features < n_samples:
            filled = np.roll(np.arange(n_columns) < n_features, shift)
            by_kind = by_kind[0][filled].T, by_kind[1][filled].T
        values = np.zeros((2, N_EIGENVALUES))
        for row, each in zip(values, by_kind, strict=True):
            gram = (each.T @ each).astype(np.float64)
            ends = [len(gram) - count, len(gram) - 1]
            found = eigh(gram, eigvals_only=True, subset_by_index=ends)
            row[:count] = np.maximum(found[::-1], 0.0)
        return values

    places = np.tile(np.arange(n_samples), (n_columns, 1))
    places = random.permuted(places, axis=1, out=places)
    places += n_samples * np.arange(n_columns)[:, np.newaxis]
    origin = np.empty_like(table)
    origin.put(places, table)
    copies = []
    for shift in 1 + random.choice(n_columns - 1, n_permutations, replace=False):
        copy = np.take(np.roll(origin, shift, axis=0), places, mode="clip")
        copies.append(largest(copy, shift, 1)[:, 0])
    return largest(table, 0, min(N_EIGENVALUES, *data.shape)), np.array(copies)


def eigenvalues_by_kind(data: DataMatrix, kinds: list[Kind]) -> Float:
    """Return the leading eigenvalues of the Gram matrix for each preparation."""
    count = min(N_EIGENVALUES, *data.shape)
    values = np.zeros((len(kinds), N_EIGENVALUES))
    if data.summary().constant.all():
        return values
    for row, kind in enumerate(kinds):
        centred = prepare(data, kind, float(data.shape[0])).centred
        wide = data.shape[1] > data.shape[0]
        gram = centred.sample_gram() if wide else centred.feature_gram()
        chosen = [len(gram) - count, len(gram) - 1]
        found = eigh(gram, eigvals_only=True, subset_by_index=chosen)
        values[row, :count] = np.maximum(found[::-1], 0.0)
    return values


class Following(NamedTuple):
    """How much of each feature the structure of the other features explains.

    Attributes
    ----------
    shares : ndarray of shape (p,)
        Share of the variance of each feature in the span of the leading eigenvectors of
        the others: graph eigenvectors and principal components.
    q_values : ndarray of shape (p,)
        Smallest false discovery rate at which the feature is selected.
    permuted : ndarray of shape (p,)
        Largest share among the permuted copies of each feature.
    """

    shares: Float
    q_values: Float
    permuted: Float


def explained_shares(centred: DataMatrix, random: np.random.RandomState) -> Following:
    """Compute shares explained by the features in other folds, and their q-values."""
    n_samples, n_features = centred.shape
    # Stratify the folds by the variance of columns, independent of their order.
    folds = np.empty(n_features, dtype=np.intp)
    folds[canonical_order(centred.summary())] = np.arange(n_features) % N_FOLDS
    shares = np.zeros(n_features)
    permuted = np.zeros((N_FOLD_PERMUTATIONS, n_features))
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
    """Return ``(sum x^2)^2 / sum x^4``, the effective number of samples of a column.

    It is about 1 if the variance is due to one sample, and n / 3 for a Gaussian column.
    It does not change when the column is permuted.
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
    """Return a basis of the leading eigenvectors of the graph and the Gram matrix.

    ``narrow`` are the centred samples, if they have few features.
    """
    count = max(1, min(N_COMPONENTS, len(gram) // 10))
    smooth = graph_vectors(gram, count, N_NEIGHBORS)
    leading = principal_vectors(gram, count, narrow)
    basis = centred_basis(np.hstack([smooth, leading]))
    lengths = np.linalg.norm(basis, axis=1)
    largest = MAX_LEVERAGE * np.sqrt(np.mean(lengths**2))
    return centred_basis(basis * (largest / np.maximum(lengths, largest))[:, None])


def q_values(shares: Float, permuted: Float) -> Float:
    """Return for each feature the smallest FDR over thresholds up to its share.

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

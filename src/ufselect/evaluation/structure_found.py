"""Test whether a table has structure, by parallel analysis."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn.utils import check_random_state

from ufselect.evaluation.tables import UNITS, checked_table
from ufselect.matrix import ColumnSummary, DataMatrix, Float, Index, as_matrix
from ufselect.solvers.preparation import Kind, choose_preparation, prepare

# Largest numbers of samples and of values for the test, which copies the table often.
MAX_SAMPLES = 300
MAX_VALUES = 8_000_000

# Number of eigenvalues that are compared, and largest number of directions.
N_EIGENVALUES = 8

# If the ratio in the units of the table is at least this, features are not scaled.
CLEAR_RATIO = 1.5


# Rounding error of eigenvalues in single precision, relative to the largest.
ROUNDING = 1e-5


class ParallelAnalysis(NamedTuple):
    """Comparison of leading eigenvalues of a table and of its permuted copies.

    Attributes
    ----------
    p_value : float
    kind : {"none", "features", "samples"}
        The preparation with the clearest structure.
    ratios : dict
        For each preparation, the largest eigenvalue divided by the mean of those of the
        permuted copies.
    n_directions : int
        Number of eigenvalues above those of all permuted copies, at most 8.
    n_permutations : int
    """

    p_value: float
    kind: Kind
    ratios: dict[str, float]
    n_directions: int
    n_permutations: int


def parallel_analysis(
    data: DataMatrix, n_permutations: int, random: np.random.RandomState
) -> ParallelAnalysis:
    """Compare the eigenvalues of a table with those of its permuted copies.

    The statistic is the largest eigenvalue divided by its mean over all copies and the
    table itself, in the preparation with the largest ratio.
    """
    n_samples, n_features = data.shape
    largest = min(MAX_SAMPLES, max(50, MAX_VALUES // n_features))
    rows = np.sort(random.permutation(n_samples)[:largest])
    raw = data.raw[rows]
    # Sort the columns, so that the result does not depend on their order.
    raw = raw[:, canonical_order(as_matrix(raw).summary())]
    summary = as_matrix(raw).summary()
    kinds = candidate_preparations(as_matrix(raw), summary)
    generator = np.random.default_rng(random.randint(np.iinfo(np.int32).max))
    if kinds == ["none", "features"] and not bool(sp.issparse(raw)):
        own, copies = eigenvalues_of_copies(raw, summary, n_permutations, generator)
    else:
        # Permuting a column changes neither its mean nor its variance.
        own = eigenvalues_by_kind(raw, summary, kinds)
        tables = (permuted_columns(raw, generator) for _ in range(n_permutations))
        copies = np.array(
            [eigenvalues_by_kind(each, summary, kinds)[:, 0] for each in tables]
        )
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
    return ParallelAnalysis(
        float((1 + above) / (n_permutations + 1)),
        kinds[best],
        dict(zip(kinds, ratios.tolist(), strict=True)),
        int(np.count_nonzero(own[best] > threshold)),
        n_permutations,
    )


def canonical_order(summary: ColumnSummary) -> Index:
    """Return the columns sorted by deviation, mean and range."""
    keys = summary.maximum, summary.minimum, summary.mean, summary.deviation
    return np.lexsort(keys)


def candidate_preparations(data: DataMatrix, summary: ColumnSummary) -> list[Kind]:
    """Return the preparations to choose from; features of counts are never scaled.

    Unit variance would give rare words or genes too much weight, which permuted copies
    cannot detect.
    """
    if summary.constant.all():
        return ["none"]
    counts = choose_preparation(data, summary) == "samples"
    # Samples that are multiples of one another are equal after scaling.
    if counts and not data.with_unit_rows(1.0).summary().constant.all():
        return ["samples"]
    return ["none", "features"]


def eigenvalues_of_copies(
    raw: Float,
    summary: ColumnSummary,
    n_permutations: int,
    random: np.random.Generator,
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
    n_samples, n_features = raw.shape
    # Added columns of zeros do not change eigenvalues, but allow distinct positions.
    n_columns = max(n_features, 8 * (n_permutations + 1))
    table = np.zeros((n_columns, n_samples), dtype=np.float32)
    prepared = prepare(as_matrix(raw), summary, "features", float(n_samples)).centred
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
    return largest(table, 0, min(N_EIGENVALUES, *raw.shape)), np.array(copies)


def eigenvalues_by_kind(raw: Any, summary: ColumnSummary, kinds: list[Kind]) -> Float:
    """Return the leading eigenvalues of the Gram matrix for each preparation."""
    data = as_matrix(raw)
    count = min(N_EIGENVALUES, *data.shape)
    values = np.zeros((len(kinds), N_EIGENVALUES))
    if summary.constant.all():
        return values
    for row, kind in enumerate(kinds):
        centred = prepare(data, summary, kind, float(data.shape[0])).centred
        wide = data.shape[1] > data.shape[0]
        gram = centred.sample_gram() if wide else centred.feature_gram()
        chosen = [len(gram) - count, len(gram) - 1]
        found = eigh(gram, eigvals_only=True, subset_by_index=chosen)
        values[row, :count] = np.maximum(found[::-1], 0.0)
    return values


def permuted_columns(X: Any, random: np.random.Generator) -> Any:
    """Return X with the values of each column permuted independently.

    A sparse X gives a sparse result in CSC format.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(8.0).reshape(4, 2)
    >>> np.sort(permuted_columns(X, np.random.default_rng(0)), axis=0).T
    array([[0., 2., 4., 6.],
           [1., 3., 5., 7.]])
    """
    sparse = bool(sp.issparse(X))
    if not sparse:
        return random.permuted(X, axis=0)
    result: Any = sp.csc_array(X, copy=True)
    n_samples, n_features = result.shape
    # Put the rows in random order and shift each column cyclically by a random number,
    # zeros included.
    moves = np.repeat(
        random.integers(n_samples, size=n_features), np.diff(result.indptr)
    )
    rows = random.permutation(n_samples)[result.indices]
    result.indices = ((rows + moves) % n_samples).astype(result.indices.dtype)
    result.has_sorted_indices = False
    return result


# With 39 copies the smallest p-value is 0.025, which is also the rate of false alarms.
N_PERMUTATIONS = 39
SIGNIFICANT = 0.05


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
    return structure_of_matrix(
        as_matrix(checked_table(X, "X")),
        n_permutations,
        check_random_state(random_state),
    )


def structure_of_matrix(
    data: DataMatrix, n_permutations: int, random: np.random.RandomState
) -> StructureTest:
    """Return the result for a validated table."""
    analysis = parallel_analysis(data, n_permutations, random)
    found = analysis.p_value < SIGNIFICANT
    return StructureTest(
        found,
        analysis.p_value,
        analysis.kind,
        analysis.ratios,
        analysis.n_directions,
        _sentence(analysis, found),
    )


def _sentence(analysis: ParallelAnalysis, found: bool) -> str:
    ratio = analysis.ratios[analysis.kind]
    compared = (
        f"the largest eigenvalue is {ratio:.3g} times that of permuted columns "
        f"(p = {analysis.p_value:.2g})"
    )
    others = [
        f"{UNITS[kind]} {other:.3g} times"
        for kind, other in analysis.ratios.items()
        if kind != analysis.kind
    ]
    compared += f", {others[0]}" if others else ""
    if not found:
        return f"This table shows no groups: {compared}."
    return f"This table shows structure {UNITS[analysis.kind]}: {compared}."

"""Whether a table shows any structure at all."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from ufselect.evaluation.parallel_analysis import ParallelAnalysis, parallel_analysis
from ufselect.evaluation.tables import UNITS, checked_table
from ufselect.matrix import DataMatrix, as_matrix
from ufselect.solvers.preparation import Kind

# With 39 copies the least p-value is 0.025, and noise is called structure that often.
N_PERMUTATIONS = 39
SIGNIFICANT = 0.05


class StructureTest(NamedTuple):
    """Outcome of `structure_test`.

    Attributes
    ----------
    found : bool
        Whether the p-value is below 0.05.
    p_value : float
        Rank of the largest eigenvalue among those of permuted copies, over their number
        plus one.
    standardize : {"none", "features", "samples"}
        The preparation in which the table was judged.
    evidence : dict
        For each preparation that was compared, the largest eigenvalue divided by the
        mean of those of the permuted copies.
    n_directions : int
        Eigenvalues, of at most 8, above the largest of every permuted copy.
    sentence : str
        All of this, for people.
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
    """Test whether the columns of a table have anything to do with one another.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p)
        Of more than 300 samples, 300 are drawn at random; fewer of a very wide table.
    n_permutations : int
        Permuted copies. No p-value is below ``1 / (n_permutations + 1)``.
    random_state : int, RandomState instance or None
        Of the copies.

    Returns
    -------
    StructureTest

    Notes
    -----
    The test is a parallel analysis: each copy has the values of every column permuted,
    which removes all dependence between columns and changes nothing else. If columns
    are independent of one another the p-value is exact. The whole computation, the
    choice of the preparation included, is repeated for every copy.

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
    """Return the outcome for a table that was checked."""
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

"""How many directions of a matrix hold more than chance: parallel analysis."""

import numpy as np

from ufselect.matrix import DataMatrix, Float, as_matrix
from ufselect.matrix.arrays import SparseMatrix
from ufselect.numerics.permutation import permuted_columns
from ufselect.numerics.starts import leading_components, sample_products

# By so much the largest variance of noise varies from one permutation to the next.
MARGIN = 1.05


def n_directions(centred: DataMatrix, most: int, random: np.random.RandomState) -> int:
    """Return the number of components with a larger variance than any of noise has.

    Noise is the same matrix with the values of each column permuted, so that columns
    keep their distribution and lose all they have to do with one another (Horn,
    Psychometrika 30, 1965). Numbers above ``most`` are not told apart.
    """
    noise = MARGIN * leading_variances(_noise(centred, random), most, random)[0]
    # A component of rounding errors is no direction, however little noise there is.
    variances = leading_variances(centred, most, random)
    return int(np.count_nonzero(variances > max(noise, 1e-12 * variances[0])))


def leading_variances(
    matrix: DataMatrix, count: int, random: np.random.RandomState
) -> Float:
    """Return about the largest squared singular values, the largest first."""
    n_samples = matrix.shape[0]
    multiply = sample_products(matrix, 1.0).multiply
    components = leading_components(multiply, n_samples, count, random)
    return np.sum(components**2, axis=0)[::-1]


def _noise(centred: DataMatrix, random: np.random.RandomState) -> DataMatrix:
    generator = np.random.default_rng(random.randint(np.iinfo(np.int32).max))
    if isinstance(centred, SparseMatrix):
        # A permutation leaves the means as they are, and so the shift.
        raw = permuted_columns(centred.raw, generator)
        return as_matrix(raw).affine(centred.shift, centred.scale)
    return as_matrix(permuted_columns(centred.columns(slice(None)), generator))

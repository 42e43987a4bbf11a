"""Largest eigenvectors of an operator, where eigenvalues may coincide.

``scipy.sparse.linalg.eigsh`` follows a single vector, in which an eigenvalue shows
once however often it occurs; the others appear from rounding errors, after thousands
of products. A block finds as many of them as it has columns, and one product with a
block costs hardly more than one with a vector.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from ufselect.matrix import Float

# Maps a p x b block to its image under a symmetric operator.
Operator = Callable[[Float], Float]

# Columns beyond those wanted: convergence is as fast as these are far from the wanted.
EXTRA = 2

# Width of the subspace, in blocks, at which it is reduced, and to which.
WIDEST, REDUCED = 8, 3

# Largest residual of an eigenvector, as a share of the largest eigenvalue.
TOLERANCE = 1e-12

# Products without a smaller residual, after which it is taken for rounding errors.
PATIENCE = 10

LARGEST_NUMBER_OF_PRODUCTS = 1000


def block_width(n_vectors: int, order: int) -> int:
    """Return the number of columns to start from; all that exist if they are few."""
    width = n_vectors + EXTRA
    return width if (WIDEST + 1) * width <= order else order


def largest_eigenvectors(operator: Operator, start: Float, n_vectors: int) -> Float:
    """Return orthonormal eigenvectors of the largest eigenvalues, largest first.

    The best vectors in a subspace are improved by adding their residuals to it. When
    it has become wide, the best of it are kept.

    Parameters
    ----------
    operator : callable
        Positive definite.
    start : ndarray of shape (p, b)
        With the ``block_width`` for p. Has to have a part in each vector wanted.
    n_vectors : int

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.array([[1.0], [5.0], [5.0], [2.0]])
    >>> found = largest_eigenvectors(lambda block: weights * block, np.eye(4), 2)
    >>> np.linalg.norm(found, axis=1).round(6)
    array([0., 1., 1., 0.])
    """
    order, width = start.shape
    space = Subspace(operator, np.linalg.qr(start)[0])
    smallest, n_in_vain = np.inf, 0
    for _ in range(LARGEST_NUMBER_OF_PRODUCTS):
        residuals, error = space.residuals(width, n_vectors)
        n_in_vain = n_in_vain + 1 if error >= smallest else 0
        smallest = min(smallest, error)
        if error <= TOLERANCE or n_in_vain == PATIENCE or width == order:
            break
        if space.basis.shape[1] >= WIDEST * width:
            space.reduce(REDUCED * width)
        space.extend(residuals)
    space.reduce(n_vectors)
    return np.linalg.qr(space.basis)[0]


class Subspace:
    """An orthonormal basis, its images, and the best vectors in its span."""

    def __init__(self, operator: Operator, basis: Float) -> None:
        self._operator = operator
        self.basis = basis
        self._images = operator(basis)
        self._projected = basis.T @ self._images
        self._find_best()

    def _find_best(self) -> None:
        values, vectors = eigh(self._projected, check_finite=False)
        self._values, self._mixtures = values[::-1], vectors[:, ::-1]

    def residuals(self, n_best: int, n_vectors: int) -> tuple[Float, float]:
        """Return those of the best vectors, and the largest of the wanted ones."""
        mixtures = self._mixtures[:, :n_best]
        scaled = mixtures * self._values[:n_best]
        residuals = self._images @ mixtures - self.basis @ scaled
        lengths = np.linalg.norm(residuals[:, :n_vectors], axis=0)
        return residuals, float(lengths.max() / self._values[0])

    def reduce(self, n_best: int) -> None:
        """Keep the span of the best vectors."""
        self.basis = self.basis @ self._mixtures[:, :n_best]
        self._images = self._images @ self._mixtures[:, :n_best]
        self._values = self._values[:n_best]
        self._projected = np.diag(self._values)
        self._mixtures = np.eye(len(self._values))

    def extend(self, block: Float) -> None:
        """Add the span of a block."""
        # Once leaves rounding errors that are large beside what is new.
        for _ in range(2):
            block = np.linalg.qr(block - self.basis @ (self.basis.T @ block))[0]
        images = self._operator(block)
        cross, corner = self.basis.T @ images, block.T @ images
        self._projected = np.block([[self._projected, cross], [cross.T, corner]])
        self.basis = np.hstack([self.basis, block])
        self._images = np.hstack([self._images, images])
        self._find_best()

"""Smallest eigenvectors of graph Laplacians: the smoothest functions of the samples.

``scipy.sparse.linalg.eigsh`` iterates on a single vector, in which an eigenvalue shows
once however often it occurs; the others appear from rounding errors, after thousands
of products. A block Krylov iteration finds as many of them as it has columns, and one
product with a block costs hardly more than one with a vector.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ufselect.matrix import Float
from ufselect.matrix.cache import active, cached_unchanged
from ufselect.solvers.graphs import (
    degrees,
    inverse_root,
    normalised_similarity,
    with_positive_peak,
)
from ufselect.solvers.neighbours import MAX_EXACT_SAMPLES

# Added to eigenvalues that are at least -3, so that all are positive.
SPECTRUM_SHIFT = 4.0

# Up to this many samples a dense decomposition is as fast, and exact.
MAX_DENSE_SAMPLES = 200

# Eigenvectors that fits with other numbers of them share.
N_SHARED = 16

# Tolerance where neighbours are approximate: to rounding errors takes twice as long.
LARGE_GRAPH_TOLERANCE = 1e-7

# Columns beyond those wanted: convergence is as fast as these are far from the wanted.
EXTRA_COLUMNS = 2

# Width of the subspace, in blocks, at which it is reduced, and to which.
MAX_BLOCKS, KEPT_BLOCKS = 5, 2

# Products for which it is extended before its best vectors are found.
N_EXTENSIONS = 2

# That of ``largest_eigenvectors``, close to rounding errors.
TOLERANCE = 1e-12

# Products without a smaller residual, after which it is taken for rounding errors.
MAX_IDLE_PRODUCTS = 10

MAX_PRODUCTS = 1000

# Overlap of unit vectors whose square is less than rounding errors.
NEGLIGIBLE_OVERLAP = 1e-8

# Maps a p x b block to its image under a symmetric operator.
Operator = Callable[[Float], Float]


def spectral_embedding(graph: sp.csr_array, n_components: int) -> Float:
    """Return the smallest non-trivial solutions y of ``L y = lambda D y``.

    They are ``D^(-1/2) u`` for the largest eigenvectors u of
    ``D^(-1/2) S D^(-1/2)``, in order, other than the constant y. At most n - 1 exist.

    Where the graph falls apart, its m parts have m smallest eigenvectors in common,
    and any basis of them would do. The one used here tells the heaviest part from
    the rest, the second from what is left, and so on, whatever the eigensolver and
    the order of the samples; only the constant is left out. The largest entry of a
    vector is positive.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> path = sp.csr_array(np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1))
    >>> np.abs(spectral_embedding(path, 1).round(3)).ravel()
    array([0.707, 0.   , 0.707])
    """
    scale = inverse_root(degrees(graph))
    vectors = smoothest_vectors(graph, n_components + 1)[:, 1:]
    return with_positive_peak(vectors * scale[:, np.newaxis])


def smoothest_vectors(graph: sp.csr_array, n_vectors: int) -> Float:
    """Return the smallest eigenvectors of the normalised Laplacian, the trivial first.

    Those that belong to parts of the graph are known and put in by hand: their
    eigenvalue occurs as often as there are parts, and an eigensolver that follows a
    single vector would miss some of them.
    """
    parts = part_vectors(graph, n_vectors)
    wanted = min(n_vectors, graph.shape[0]) - parts.shape[1]
    if wanted == 0:
        return parts
    # Where results are shared, other fits may want more of the same vectors.
    shared = wanted if active.get() is None else max(wanted, N_SHARED)
    count = min(shared, graph.shape[0] - parts.shape[1])
    others = cached_unchanged(
        largest_beside, normalised_similarity(graph), parts, count
    )
    return np.hstack([parts, others[:, :wanted]])


def part_vectors(graph: sp.csr_array, most: int) -> Float:
    """Return an orthonormal basis of the eigenvectors that belong to the parts.

    The first is ``D^(1/2) 1``; a connected graph has no other. Where there are more
    than ``most``, those of the heaviest parts are returned.
    """
    n_parts, part = connected_components(graph, directed=False)
    roots = np.sqrt(degrees(graph))
    # A sample without edges is a part of its own, of no weight anywhere else.
    roots[roots == 0] = 1.0
    shares = np.bincount(part, weights=roots**2) / np.sum(roots**2)
    # Of parts as heavy as each other, as far as rounding lets one tell, the first.
    heaviest_first = np.argsort(-np.round(shares, 12), kind="stable")
    # The sum of all parts first, and then all parts but the lightest.
    own = [
        np.where(part == heavy, roots, 0.0)
        for heavy in heaviest_first[: min(n_parts, most) - 1]
    ]
    return np.linalg.qr(np.column_stack([roots, *own]))[0]


def largest_beside(similarity: sp.csr_array, known: Float, n_vectors: int) -> Float:
    """Return the largest eigenvectors orthogonal to the known ones, largest first.

    Eigenvalues are at most one, so that subtracting two moves the known to the end.
    """
    n_samples = similarity.shape[0]
    if n_samples <= MAX_DENSE_SAMPLES or 2 * n_vectors >= n_samples:
        dense = similarity.toarray() - 2 * known @ known.T
        chosen = [n_samples - n_vectors, n_samples - 1]
        return eigh(dense, subset_by_index=chosen)[1][:, ::-1]

    def multiply(vector: Float) -> Float:
        return similarity @ vector - 2 * (known @ (known.T @ vector))

    operator = LinearOperator((n_samples, n_samples), matvec=multiply, dtype=np.float64)
    random = np.random.RandomState(0)
    start = random.standard_normal(n_samples)
    tol = 0.0 if n_samples <= MAX_EXACT_SAMPLES else LARGE_GRAPH_TOLERANCE
    try:
        values, vectors = eigsh(operator, n_vectors, which="LA", v0=start, tol=tol)
    except ArpackNoConvergence:
        # Nearly equal eigenvalues: slower by the product, but a block tells them apart.
        block = random.standard_normal((n_samples, block_width(n_vectors, n_samples)))
        return largest_eigenvectors(
            lambda block: multiply(block) + SPECTRUM_SHIFT * block, block, n_vectors
        )
    return np.asarray(vectors[:, np.argsort(-values, kind="stable")])


def unit_columns(matrix: Float) -> Float:
    """Scale columns to unit length; a zero column stays zero."""
    norms = np.linalg.norm(matrix, axis=0)
    norms[norms == 0] = 1.0
    return matrix / norms


def block_width(n_vectors: int, order: int) -> int:
    """Return the number of columns to start from; all that exist if they are few."""
    width = n_vectors + EXTRA_COLUMNS
    return width if (MAX_BLOCKS + 1) * width <= order else order


def largest_eigenvectors(
    operator: Operator, start: Float, n_vectors: int, tolerance: float = TOLERANCE
) -> Float:
    """Return orthonormal eigenvectors of the largest eigenvalues, largest first.

    The best vectors in a subspace are improved by adding to it the residuals of those
    that are not yet eigenvectors, and the images of what was added. When it has become
    wide, the best of it are kept.

    Parameters
    ----------
    operator : callable
        Positive definite.
    start : ndarray of shape (p, b)
        With the ``block_width`` for p. Has to have a part in each vector wanted.
    n_vectors : int
    tolerance : float
        Largest residual of an eigenvector, as a share of its eigenvalue.

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.array([[1.0], [5.0], [5.0], [2.0]])
    >>> found = largest_eigenvectors(lambda block: weights * block, np.eye(4), 2)
    >>> np.linalg.norm(found, axis=1).round(6)
    array([0., 1., 1., 0.])
    """
    order, width = start.shape
    space = Subspace(operator, start, min(MAX_BLOCKS * width, order))
    smallest, n_idle = np.inf, 0
    for _ in range(MAX_PRODUCTS):
        residuals, errors = space.residuals(width)
        error = float(errors[:n_vectors].max())
        n_idle = n_idle + 1 if error >= smallest else 0
        smallest = min(smallest, error)
        if error <= tolerance or n_idle == MAX_IDLE_PRODUCTS or width == order:
            break
        if space.n_left < N_EXTENSIONS * width:
            space.reduce(KEPT_BLOCKS * width)
        block = residuals[:, errors > tolerance]
        for _ in range(N_EXTENSIONS):
            block = space.extend(block)
    return space.best(n_vectors)


class Subspace:
    """An orthonormal basis, its images, and the best vectors in its span."""

    def __init__(self, operator: Operator, start: Float, widest: int) -> None:
        self._operator = operator
        # By columns, so that those in use lie side by side.
        self._basis = np.empty((len(start), widest), order="F")
        self._images = np.empty_like(self._basis)
        self._projected = np.empty((0, 0))
        self.extend(start)

    @property
    def n_left(self) -> int:
        """Return how many columns may be added."""
        return self._basis.shape[1] - len(self._projected)

    def _used(self, columns: Float) -> Float:
        return columns[:, : len(self._projected)]

    def extend(self, block: Float) -> Float:
        """Add the span of a block, and return the images of what was new in it."""
        basis = self._used(self._basis)
        block = orthonormal_complement(basis, block)
        images = self._operator(block)
        new = slice(basis.shape[1], basis.shape[1] + block.shape[1])
        self._basis[:, new], self._images[:, new] = block, images
        cross, corner = basis.T @ images, block.T @ images
        self._projected = np.block([[self._projected, cross], [cross.T, corner]])
        return images

    def residuals(self, n_best: int) -> tuple[Float, Float]:
        """Find the best vectors; return residuals, and lengths by the eigenvalues."""
        values, vectors = np.linalg.eigh(self._projected)
        self._values, self._mixtures = values[::-1], vectors[:, ::-1]
        images = self._used(self._images) @ self._mixtures[:, :n_best]
        residuals = images - self.best(n_best) * self._values[:n_best]
        return residuals, np.linalg.norm(residuals, axis=0) / self._values[:n_best]

    def best(self, n_best: int) -> Float:
        """Return the best vectors found."""
        return self._used(self._basis) @ self._mixtures[:, :n_best]

    def reduce(self, n_best: int) -> None:
        """Keep the span of the best vectors found."""
        for columns in (self._basis, self._images):
            columns[:, :n_best] = self._used(columns) @ self._mixtures[:, :n_best]
        self._projected = np.diag(self._values[:n_best])


def orthonormal_complement(basis: Float, block: Float) -> Float:
    """Return an orthonormal basis of what a block adds to an orthonormal one."""
    # Of unequal lengths, short columns would end as rounding errors of long ones.
    block = block / np.linalg.norm(block, axis=0)
    overlap = basis.T @ block
    # Residuals have none to speak of.
    if not negligible(overlap):
        block -= basis @ overlap
    # Once leaves rounding errors that are large beside what is new.
    for _ in range(3):
        block = np.linalg.qr(block)[0]
        overlap = basis.T @ block
        block -= basis @ overlap
        if negligible(overlap):
            break
    return block


def negligible(overlap: Float) -> bool:
    """Return whether squares of overlaps of unit vectors are rounding errors."""
    return bool(np.abs(overlap).max(initial=0.0) < NEGLIGIBLE_OVERLAP)

"""Eigenvectors of the smallest eigenvalues of graph Laplacians.

``scipy.sparse.linalg.eigsh`` iterates on a single vector and finds one eigenvector of a
multiple eigenvalue; the others appear only through rounding errors, after thousands of
products. A block Krylov iteration finds as many of them as the block has columns, and a
product with a block costs little more than one with a vector.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ufselect.matrix import Float
from ufselect.matrix.base import libraries
from ufselect.matrix.cache import active, cached_unchanged
from ufselect.solvers.graphs import (
    degrees,
    inverse_root,
    normalised_similarity,
    with_positive_peak,
)
from ufselect.solvers.neighbours import MAX_EXACT_SAMPLES

# Added to eigenvalues, which are at least -3, to make all of them positive.
SPECTRUM_SHIFT = 4.0

# Up to this many samples, a dense decomposition is as fast, and exact.
MAX_DENSE_SAMPLES = 200

# Number of eigenvectors to cache, so that fits with other numbers can reuse them.
N_SHARED = 16

# Tolerance if neighbours are approximate, in single precision; double precision takes
# twice as long, and the neighbours that a search misses change the vectors far more.
LARGE_GRAPH_TOLERANCE = 1e-4

# Columns of the block in addition to those returned, which speed up convergence.
EXTRA_COLUMNS = 2

# Dimension of the subspace, in blocks, at which it is restarted, and after a restart.
MAX_BLOCKS, KEPT_BLOCKS = 5, 2

# Products between two Rayleigh-Ritz steps.
N_EXTENSIONS = 2

# Tolerance of ``largest_eigenvectors``, close to machine precision.
TOLERANCE = 1e-12

# Products without a smaller residual after which the iteration stops.
MAX_IDLE_PRODUCTS = 10

MAX_PRODUCTS = 1000

# Inner products of unit vectors below this have squares below machine precision.
NEGLIGIBLE_OVERLAP = 1e-8

# Maps a p x b block to its image under a symmetric operator.
Operator = Callable[[Float], Float]


def spectral_embedding(graph: sp.csr_array, n_components: int) -> Float:
    """Return the smallest non-trivial solutions y of ``L y = lambda D y``.

    They are ``D^(-1/2) u`` for the leading eigenvectors u of
    ``D^(-1/2) S D^(-1/2)``, in order, without the constant y. At most n - 1 exist.

    In a graph with m connected components, the eigenvalue zero has m eigenvectors, and
    their basis is not unique. The basis used here separates the component of largest
    degree from the rest, then the second one from what remains, and so on. It does not
    depend on the eigensolver or on the order of the samples. The largest entry of each
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

    Eigenvectors of the eigenvalue zero follow from the connected components. They are
    computed directly, since an eigensolver that iterates on a single vector would miss
    some of them.
    """
    parts = part_vectors(graph, n_vectors)
    wanted = min(n_vectors, graph.shape[0]) - parts.shape[1]
    if wanted == 0:
        return parts
    # With an active cache, compute more vectors for fits that need more.
    shared = wanted if active.get() is None else max(wanted, N_SHARED)
    count = min(shared, graph.shape[0] - parts.shape[1])
    others = cached_unchanged(
        largest_beside, normalised_similarity(graph), parts, count
    )
    return np.hstack([parts, others[:, :wanted]])


def part_vectors(graph: sp.csr_array, most: int) -> Float:
    """Return an orthonormal basis of the eigenvectors of the eigenvalue zero.

    The first is ``D^(1/2) 1``; there is one for each connected component. If there are
    more than ``most``, those of the components of largest degree are returned.
    """
    n_parts, part = connected_components(graph, directed=False)
    roots = np.sqrt(degrees(graph))
    # A sample without edges is a component of its own, of degree zero.
    roots[roots == 0] = 1.0
    shares = np.bincount(part, weights=roots**2) / np.sum(roots**2)
    # Ties, up to rounding, are broken by the order of the components.
    heaviest_first = np.argsort(-np.round(shares, 12), kind="stable")
    # First the sum of all components, then each of them except the last.
    own = [
        np.where(part == heavy, roots, 0.0)
        for heavy in heaviest_first[: min(n_parts, most) - 1]
    ]
    return np.linalg.qr(np.column_stack([roots, *own]))[0]


def largest_beside(similarity: sp.csr_array, known: Float, n_vectors: int) -> Float:
    """Return the leading eigenvectors orthogonal to the known ones, largest first.

    Eigenvalues are between -1 and 1, so that subtracting 2 makes the known ones last.
    """
    n_samples = similarity.shape[0]
    if n_samples <= MAX_DENSE_SAMPLES or 2 * n_vectors >= n_samples:
        dense = similarity.toarray() - 2 * known @ known.T
        chosen = [n_samples - n_vectors, n_samples - 1]
        return eigh(dense, subset_by_index=chosen)[1][:, ::-1]

    many = n_samples > MAX_EXACT_SAMPLES
    precision, tol = (np.float32, LARGE_GRAPH_TOLERANCE) if many else (np.float64, 0.0)
    graph, basis = similarity.astype(precision), known.astype(precision)

    def multiply(vector: Any) -> Any:
        return graph @ vector - 2 * (basis @ (basis.T @ vector))

    operator = LinearOperator((n_samples, n_samples), matvec=multiply, dtype=precision)
    random = np.random.RandomState(0)
    start: Any = random.standard_normal(n_samples).astype(precision)
    try:
        # Products with single vectors are too short for several BLAS threads: with one
        # thread the iteration is up to twice as fast.
        with libraries().limit(limits=1, user_api="blas"):
            values, vectors = eigsh(operator, n_vectors, which="LA", v0=start, tol=tol)
        vectors = vectors[:, np.argsort(-values, kind="stable")].astype(np.float64)
    except ArpackNoConvergence:
        # Nearly equal eigenvalues: a block iteration separates them.
        block = random.standard_normal((n_samples, block_width(n_vectors, n_samples)))
        vectors = largest_eigenvectors(
            lambda block: multiply(block) + SPECTRUM_SHIFT * block,
            block,
            n_vectors,
            tol or TOLERANCE,
        )
    # Single precision is not enough for orthogonality to the known vectors.
    return orthonormal_complement(known, vectors) if many else vectors


def unit_columns(matrix: Float) -> Float:
    """Scale columns to unit length; a zero column stays zero."""
    norms = np.linalg.norm(matrix, axis=0)
    norms[norms == 0] = 1.0
    return matrix / norms


def block_width(n_vectors: int, order: int) -> int:
    """Return the number of columns of the start block; all, if there are few."""
    width = n_vectors + EXTRA_COLUMNS
    return width if (MAX_BLOCKS + 1) * width <= order else order


def largest_eigenvectors(
    operator: Operator, start: Float, n_vectors: int, tolerance: float = TOLERANCE
) -> Float:
    """Return orthonormal eigenvectors of the largest eigenvalues, largest first.

    A block Krylov iteration: the subspace is extended by the residuals of Ritz vectors
    that have not converged, and by their images. When it has reached its largest
    dimension, it is restarted with the best Ritz vectors.

    Parameters
    ----------
    operator : callable
        Positive definite.
    start : ndarray of shape (p, b)
        With ``block_width`` columns. Must not be orthogonal to a wanted eigenvector.
    n_vectors : int
    tolerance : float
        Largest residual of an eigenvector, relative to its eigenvalue.

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
    """An orthonormal basis of a subspace, its images, and the Ritz vectors."""

    def __init__(self, operator: Operator, start: Float, widest: int) -> None:
        self._operator = operator
        # Column order, so that the used columns are contiguous.
        self._basis = np.empty((len(start), widest), order="F")
        self._images = np.empty_like(self._basis)
        self._projected = np.empty((0, 0))
        self.extend(start)

    @property
    def n_left(self) -> int:
        """Return the number of columns that can still be added."""
        return self._basis.shape[1] - len(self._projected)

    def _used(self, columns: Float) -> Float:
        return columns[:, : len(self._projected)]

    def extend(self, block: Float) -> Float:
        """Add the span of a block; return the images of the new basis vectors."""
        basis = self._used(self._basis)
        block = orthonormal_complement(basis, block)
        images = self._operator(block)
        new = slice(basis.shape[1], basis.shape[1] + block.shape[1])
        self._basis[:, new], self._images[:, new] = block, images
        cross, corner = basis.T @ images, block.T @ images
        self._projected = np.block([[self._projected, cross], [cross.T, corner]])
        return images

    def residuals(self, n_best: int) -> tuple[Float, Float]:
        """Compute Ritz vectors; return their residuals and relative residual norms."""
        values, vectors = np.linalg.eigh(self._projected)
        self._values, self._mixtures = values[::-1], vectors[:, ::-1]
        images = self._used(self._images) @ self._mixtures[:, :n_best]
        residuals = images - self.best(n_best) * self._values[:n_best]
        return residuals, np.linalg.norm(residuals, axis=0) / self._values[:n_best]

    def best(self, n_best: int) -> Float:
        """Return the leading Ritz vectors."""
        return self._used(self._basis) @ self._mixtures[:, :n_best]

    def reduce(self, n_best: int) -> None:
        """Restart with the leading Ritz vectors."""
        for columns in (self._basis, self._images):
            columns[:, :n_best] = self._used(columns) @ self._mixtures[:, :n_best]
        self._projected = np.diag(self._values[:n_best])


def orthonormal_complement(basis: Float, block: Float) -> Float:
    """Return an orthonormal basis of the block orthogonal to the given basis."""
    # Scale first: short columns would be lost in rounding errors of long ones.
    block = block / np.linalg.norm(block, axis=0)
    overlap = basis.T @ block
    # Residuals are already orthogonal to the basis.
    if not negligible(overlap):
        block -= basis @ overlap
    # Repeat: after one pass, rounding errors may be large relative to the new part.
    for _ in range(3):
        block = np.linalg.qr(block)[0]
        overlap = basis.T @ block
        block -= basis @ overlap
        if negligible(overlap):
            break
    return block


def negligible(overlap: Float) -> bool:
    """Return whether squared inner products of unit vectors are rounding errors."""
    return bool(np.abs(overlap).max(initial=0.0) < NEGLIGIBLE_OVERLAP)

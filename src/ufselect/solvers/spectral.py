"""Spectral embedding: the smoothest functions on a graph of samples."""

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ufselect.matrix import Float
from ufselect.solvers.block_krylov import block_width, largest_eigenvectors
from ufselect.solvers.graphs import (
    degrees,
    inverse_root,
    normalised_similarity,
)

# Added to eigenvalues that are at least -3, so that all are positive.
ABOVE_ZERO = 4.0

# Up to this many samples a dense decomposition is as fast, and exact.
SMALL = 200


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
    similarity = normalised_similarity(graph)
    parts = part_vectors(graph, n_vectors)
    wanted = min(n_vectors, graph.shape[0]) - parts.shape[1]
    return np.hstack([parts, largest_beside(similarity, parts, wanted)])


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
    if n_vectors == 0:
        return np.empty((n_samples, 0))
    if n_samples <= SMALL or 2 * n_vectors >= n_samples:
        dense = similarity.toarray() - 2 * known @ known.T
        chosen = [n_samples - n_vectors, n_samples - 1]
        return eigh(dense, subset_by_index=chosen)[1][:, ::-1]

    def multiply(vector: Float) -> Float:
        return similarity @ vector - 2 * (known @ (known.T @ vector))

    operator = LinearOperator((n_samples, n_samples), matvec=multiply, dtype=np.float64)
    random = np.random.RandomState(0)
    start = random.standard_normal(n_samples)
    try:
        values, vectors = eigsh(operator, k=n_vectors, which="LA", v0=start)
    except ArpackNoConvergence:
        # Nearly equal eigenvalues: slower by the product, but a block tells them apart.
        block = random.standard_normal((n_samples, block_width(n_vectors, n_samples)))
        return largest_eigenvectors(
            lambda block: multiply(block) + ABOVE_ZERO * block, block, n_vectors
        )
    return np.asarray(vectors[:, np.argsort(-values, kind="stable")])


def with_positive_peak(vectors: Float) -> Float:
    """Return the vectors, each with the sign that makes its largest entry positive."""
    peaks = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[peaks, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)

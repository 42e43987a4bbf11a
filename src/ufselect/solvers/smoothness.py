"""How smoothly each feature varies over a graph of the samples.

With degrees d, ``D = diag(d)`` and ``L = D - S``, a feature f with degree-weighted mean
removed (call it g) has Laplacian score ``g'Lg / g'Dg``. All of it is quadratic in the
columns of X, which are therefore looked at in blocks and never kept.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ufselect.matrix import DataMatrix, Float
from ufselect.solvers.graphs import (
    degrees,
    laplacian,
    normalised_laplacian,
    normalised_similarity,
)
from ufselect.solvers.spectral import largest_beside


class Smoothness(NamedTuple):
    """Quadratic forms of every feature.

    ``variation`` is ``f'Lf``, ``squares`` is ``f'Df`` and ``spread`` is ``g'Dg``,
    where g is f with its degree-weighted mean removed.
    """

    variation: Float
    squares: Float
    spread: Float


def smoothness(data: DataMatrix, graph: sp.csr_array) -> Smoothness:
    """Return the quadratic forms of every feature over a graph."""
    degree = degrees(graph)
    difference = laplacian(graph)
    forms = Smoothness(*np.zeros((3, data.shape[1])))
    data = data.by_columns()
    for block in data.column_blocks():
        columns = data.columns(block)
        forms.squares[block] = degree @ columns**2
        # The variation does not see a constant; without it, no digits are lost.
        columns -= (degree @ columns) / degree.sum()
        forms.spread[block] = degree @ columns**2
        forms.variation[block] = np.einsum("ij,ij->j", columns, difference @ columns)
    return forms


def powered_smoothness(
    data: DataMatrix, graph: sp.csr_array, exponent: float
) -> Smoothness:
    """Return the forms with eigenvalues of the normalised Laplacian to a power.

    The variation is ``sum_j l_j^r (xi_j'D^(1/2) f)^2`` over the whole spectrum.
    """
    degree = degrees(graph)
    values, vectors = eigh(normalised_laplacian(graph).toarray())
    powers = np.maximum(values, 0.0) ** exponent
    # Rounding of the eigenvalue zero is not small any more after a small power.
    powers[values < 1e-10] = 0.0
    rooted = vectors * np.sqrt(degree)[:, np.newaxis]
    forms = Smoothness(*np.zeros((3, data.shape[1])))
    for block in data.column_blocks():
        columns = data.columns(block)
        forms.squares[block] = degree @ columns**2
        columns -= (degree @ columns) / degree.sum()
        forms.spread[block] = degree @ columns**2
        forms.variation[block] = powers @ (rooted.T @ columns) ** 2
    return forms


def leading_agreement(
    data: DataMatrix, graph: sp.csr_array, n_vectors: int, exponent: float = 1.0
) -> Float:
    """Return ``sum_j (2^r - l_j^r) (h'xi_j)^2`` over the leading non-trivial vectors.

    The vectors xi_j and values l_j belong to the normalised Laplacian; h is
    ``D^(1/2) f`` scaled to unit length. The trivial vector counts among n_vectors, so
    that there are n_vectors - 1 terms, and at least one.
    """
    values, vectors = nontrivial_spectrum(graph, max(1, n_vectors - 1))
    gains = 2.0**exponent - np.maximum(values, 0.0) ** exponent
    root = np.sqrt(degrees(graph))
    result = np.zeros(data.shape[1])
    data = data.by_columns()
    for block in data.column_blocks():
        columns = root[:, np.newaxis] * data.columns(block)
        squares = np.einsum("ij,ij->j", columns, columns)
        agreement = gains @ (vectors.T @ columns) ** 2
        np.divide(agreement, squares, out=result[block], where=squares > 0)
    return result


def nontrivial_spectrum(graph: sp.csr_array, n_vectors: int) -> tuple[Float, Float]:
    """Return the smallest eigenvalues of the normalised Laplacian and their vectors.

    Only the trivial vector ``D^(1/2) 1`` is left out: in a graph of several pieces
    its eigenvalue zero has other vectors too.
    """
    roots = np.sqrt(degrees(graph))
    trivial = roots[:, np.newaxis] / np.linalg.norm(roots)
    similarity = normalised_similarity(graph)
    count = min(n_vectors, graph.shape[0] - 1)
    vectors = largest_beside(similarity, trivial, count)
    values = 1 - np.einsum("ij,ij->j", vectors, similarity @ vectors)
    return values, vectors

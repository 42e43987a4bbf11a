"""Samples as points in a plane, by all columns of a table or by some."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from sklearn.utils import check_random_state

from ufselect.evaluation.tables import checked_table, some_of
from ufselect.matrix import DataMatrix, Float, Index, as_matrix
from ufselect.solvers.preparation import choose_preparation, prepare

# The products of all pairs of samples are held at once; of wide tables fewer are made.
MOST_SAMPLES = 2000
MOST_PRODUCTS = 2e10
FEWEST_SAMPLES = 200


class View(NamedTuple):
    """Samples on the two directions of largest variance.

    Attributes
    ----------
    points : ndarray of shape (m, 2)
    shares : tuple of float
        Share of the variance of the columns along each direction.
    samples : ndarray of int
        The rows of the table that are shown.
    """

    points: Float
    shares: tuple[float, float]
    samples: Index


def sample_view(
    X: Any, selected: ArrayLike | None = None, *, random_state: Any = None
) -> View:
    """Return samples as points in a plane: principal components of some columns.

    All columns are prepared as ``SCFS`` does it by default: measurements are scaled to
    unit variance, samples of counts to unit length.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p)
        Of more than 2000 samples, 2000 are drawn at random; fewer if there are many
        columns.
    selected : array-like, optional
        Mask or indices of columns; by default all.
    random_state : int, RandomState instance or None
        Of the samples that are drawn; the same seed draws the same.

    Returns
    -------
    View
        In units in which samples have a mean squared length of one in all columns.
        Directions have a sign such that the farthest point is on the positive side.

    Examples
    --------
    >>> view = sample_view([[0.0, 0.1], [1.0, 1.2], [2.0, 1.9], [9.0, 9.1]])
    >>> view.points.shape, view.shares[0] > 0.9
    ((4, 2), True)
    """
    table = checked_table(X, "X")
    kept = None if selected is None else some_of(selected, table.shape[1])
    n_samples = table.shape[0]
    samples = np.arange(n_samples)
    most = _most_samples(table.shape[1])
    if n_samples > most:
        random = check_random_state(random_state)
        samples = np.sort(random.choice(n_samples, most, replace=False))
        table = table[samples]
    return View(*_plane(_prepared(table), kept), samples)


def _most_samples(n_features: int) -> int:
    affordable = int((MOST_PRODUCTS / n_features) ** 0.5)
    return max(FEWEST_SAMPLES, min(MOST_SAMPLES, affordable))


def _prepared(table: Any) -> DataMatrix:
    """Return the samples in units where the mean of their squared lengths is one."""
    data = as_matrix(table)
    summary = data.summary()
    if summary.constant.all():
        raise ValueError(
            f"All {data.shape[1]} columns of X are constant: its samples are one point."
        )
    kind = choose_preparation(data, summary)
    return prepare(data, summary, kind, float(data.shape[0])).centred


def _plane(data: DataMatrix, kept: Index | None) -> tuple[Float, tuple[float, float]]:
    gram = (data if kept is None else data.take(kept)).sample_gram()
    n_samples, total = len(gram), float(np.trace(gram))
    # All columns together have the trace n: here are rounding errors of constants.
    if total < np.finfo(np.float64).eps * n_samples:
        return np.zeros((n_samples, 2)), (0.0, 0.0)
    values, vectors = eigh(gram, subset_by_index=[n_samples - 2, n_samples - 1])
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])
    first, second = (values / total).tolist()
    return vectors * signs * np.sqrt(values), (first, second)

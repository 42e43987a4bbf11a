"""A view of the samples in a plane."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from sklearn.utils import check_random_state

from ufselect.evaluation.checks import checked_table, some_of
from ufselect.matrix import Float, Index
from ufselect.solvers.preparation import choose_preparation, prepare

# Largest number of samples in a view. For wide tables it is reduced, but not below
# MIN_SHOWN, so that a Gram matrix takes at most MAX_PRODUCTS multiplications.
MAX_SHOWN = 2000
MAX_PRODUCTS = 2e10
MIN_SHOWN = 200


class View(NamedTuple):
    """Samples projected onto the two leading principal components.

    Attributes
    ----------
    points : ndarray of shape (m, 2)
    shares : tuple of float
        Share of the variance explained by each component.
    samples : ndarray of int
        The rows of the table that are shown.
    """

    points: Float
    shares: tuple[float, float]
    samples: Index


def sample_view(
    X: Any, selected: ArrayLike | None = None, *, random_state: Any = None
) -> View:
    """Return samples as points in a plane, by principal components of some columns.

    The preparation is the default of ``SCFS``: measurements are scaled to unit
    variance, samples of counts to unit length.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p)
        At most 2000 samples are used, drawn at random; fewer if there are many columns.
    selected : array-like, optional
        Mask or indices of columns; by default all.
    random_state : int, RandomState instance or None
        Seed of the samples that are drawn.

    Returns
    -------
    View
        In units in which the mean squared norm of samples over all columns is one.
        Signs are such that the farthest point along each component is positive.

    Examples
    --------
    >>> view = sample_view([[0.0, 0.1], [1.0, 1.2], [2.0, 1.9], [9.0, 9.1]])
    >>> view.points.shape, view.shares[0] > 0.9
    ((4, 2), True)
    """
    data = checked_table(X, "X")
    n_samples, n_features = data.shape
    kept = None if selected is None else some_of(selected, n_features)
    samples = np.arange(n_samples)
    affordable = int((MAX_PRODUCTS / n_features) ** 0.5)
    most = max(MIN_SHOWN, min(MAX_SHOWN, affordable))
    if n_samples > most:
        random = check_random_state(random_state)
        samples = np.sort(random.choice(n_samples, most, replace=False))
        data = data.take_rows(samples)
    if data.summary().constant.all():
        raise ValueError(
            f"All {n_features} columns of X are constant, so all samples are equal; "
            "give a table with other columns."
        )
    kind, n_shown = choose_preparation(data), len(samples)
    # In units in which the mean squared norm of samples is one.
    data = prepare(data, kind, float(n_shown)).centred
    data = data if kept is None else data.take(kept)
    narrow = data.shape[1] < n_shown
    gram = data.feature_gram() if narrow else data.sample_gram()
    total = float(np.trace(gram))
    # The trace over all columns is n: a much smaller one is due to rounding errors.
    if total < np.finfo(np.float64).eps * n_shown:
        return View(np.zeros((n_shown, 2)), (0.0, 0.0), samples)
    count = min(2, len(gram))
    found, vectors = eigh(gram, subset_by_index=[len(gram) - count, len(gram) - 1])
    values, points = np.zeros(2), np.zeros((n_shown, 2))
    values[:count] = np.maximum(found[::-1], 0.0)
    points[:, :count] = (
        data.dot(vectors) if narrow else vectors * np.sqrt(np.maximum(found, 0.0))
    )
    points[:, :count] = points[:, :count][:, ::-1]
    points *= np.sign(points[np.abs(points).argmax(axis=0), [0, 1]])
    first, second = (values / total).tolist()
    return View(points, (first, second), samples)

"""How the prediction of a regression follows its target, while slacks stay fixed.

A ridge regression with one slack per feature is linear in its target: ``W = A X'Y`` and
``X W = H Y``. Either is applied many times for one factorisation.
"""

from typing import Protocol

import numpy as np

from ufselect.matrix.base import DataMatrix, Float, Index
from ufselect.numerics.least_squares import Target
from ufselect.numerics.ridge import FeatureRidge, SampleRidge


class Response(Protocol):
    """A linear prediction of whatever it is given."""

    def fitted(self, values: Float) -> Float:
        """Return ``X W = H Y``."""

    def rows(self, target: Target) -> Float:
        """Return the rows of W that belong to the working set."""


class FeatureResponse:
    """Through the features of a working set.

    Parameters
    ----------
    matrix : DataMatrix
        All features.
    index : ndarray of shape (a,)
        The working set.
    gram : ndarray of shape (a, a)
    slack : ndarray of shape (a,)
    """

    def __init__(
        self, matrix: DataMatrix, index: Index, gram: Float, slack: Float
    ) -> None:
        self._matrix, self._index = matrix, index
        self._columns: DataMatrix | None = None
        self._ridge = FeatureRidge(gram, slack)

    def coef(self, cross: Float) -> Float:
        """Return W, with a row for every feature, from ``X'Y``."""
        coef = np.zeros(cross.shape)
        coef[self._index] = self._ridge.inverse(cross[self._index])
        return coef

    def fitted(self, values: Float) -> Float:
        """Return ``X W = H Y``."""
        if self._columns is None:
            self._columns = self._matrix.take(self._index)
        cross = self._columns.transpose_dot(values)
        return self._columns.dot(self._ridge.inverse(cross))

    def rows(self, target: Target) -> Float:
        """Return the rows of W that belong to the working set."""
        return self._ridge.inverse(target.cross_with(self._matrix)[self._index])


class SampleResponse:
    """Through the samples.

    Parameters
    ----------
    columns : DataMatrix
        The features of the working set.
    slack : ndarray of shape (a,)
    """

    def __init__(self, columns: DataMatrix, slack: Float) -> None:
        self._ridge = SampleRidge(columns, slack)

    def fitted(self, values: Float) -> Float:
        """Return ``X W = H Y``."""
        return values - self._ridge.residual(values)

    def rows(self, target: Target) -> Float:
        """Return the rows of W that belong to the working set."""
        return self._ridge.coef(self._ridge.residual(target.given_values()))

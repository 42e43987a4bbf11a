"""Least squares on some columns of X, in the form that is cheapest.

* primal: Cholesky of the a x a Gram matrix of the columns;
* dual: Cholesky of an n x n matrix, when there are more columns than samples;
* first order: products with X only, when neither matrix is affordable.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal, NamedTuple, Self

import numpy as np

from ufselect.matrix.base import DataMatrix, Float, product_with
from ufselect.numerics.ridge import FeatureRidge, SampleRidge
from ufselect.numerics.rows import row_norms

Form = Literal["auto", "primal", "dual", "first-order", "streamed"]

TINY = np.finfo(np.float64).tiny

# A Cholesky factorisation is worth about as much progress as this many gradients.
GRADIENTS_PER_FACTORISATION = 100

# As many products are formed for every factorisation.
PRODUCTS_PER_FACTORISATION = 10


def choose_form(n_samples: int, n_columns: int, n_targets: int) -> Form:
    """Return the cheapest form for n samples, a columns and c targets."""
    gradient = 2 * n_targets * n_columns * min(2 * n_samples, n_columns)
    primal = n_columns**3 / 3
    dual = n_samples**2 * n_columns + n_samples**3 / 3
    if min(primal, dual) > GRADIENTS_PER_FACTORISATION * gradient:
        return "first-order"
    products = 2 * PRODUCTS_PER_FACTORISATION * n_targets * n_columns
    if primal + products * n_columns <= dual + products * 2 * n_samples:
        return "primal"
    return "dual"


class Target(NamedTuple):
    """What a regression aims at: ``|Y|^2``, ``X'Y``, and Y, or one of the latter two.

    The rows of Y may be out of reach, beside those of X.
    """

    squared: float
    cross: Float | None
    values: Float | None

    @classmethod
    def of(cls, values: Float) -> Self:
        """Return the target with these values."""
        return cls(float(np.vdot(values, values)), None, values)

    def cross_with(self, matrix: DataMatrix) -> Float:
        """Return ``X'Y``."""
        if self.cross is not None:
            return self.cross
        return matrix.transpose_dot(self.given_values())

    def given_values(self) -> Float:
        """Return Y, which whoever asks has to know to be there."""
        assert self.values is not None
        return self.values


class Point(NamedTuple):
    """Coefficients W and ``Z'Z W``."""

    coef: Float
    image: Float

    def objective(self, problem: "LeastSquares", penalty: float) -> float:
        """Return ``|Z W - Y|^2 + penalty |W|_21``, up to ``|Y|^2``."""
        loss = float(np.vdot(self.coef, self.image - 2 * problem.cross))
        return loss + penalty * float(row_norms(self.coef).sum())


class LeastSquares(ABC):
    """``|Z W - Y|^2`` for the columns Z of a working set.

    ``cross`` is ``Z'Y`` and ``squared_target`` is ``|Y|^2``.
    """

    target: Target
    cross: Float
    squared_target: float
    # Whether a ridge regression is affordable.
    factors = True

    @abstractmethod
    def normal(self, coef: Float) -> Float:
        """Return ``Z'Z coef``."""

    @abstractmethod
    def ridge(self, slack: Float) -> FeatureRidge | SampleRidge | None:
        """Return the ridge regression with these slacks, None if there is none."""

    def at(self, coef: Float) -> Point:
        """Return the point with these coefficients."""
        return Point(coef, self.normal(coef))

    def curvature(self) -> float:
        """Return about the largest eigenvalue of ``2 Z'Z``, by power iteration."""
        # The correlations with the target lie along directions that matter, and
        # depend neither on chance nor on the order of the features.
        leading = np.linalg.eigh(self.cross.T @ self.cross)[1][:, -1:]
        return curvature_from(self.normal, self.cross @ leading)


def curvature_from(normal: Callable[[Float], Float], image: Float) -> float:
    """Return the same, for ``Z'Z`` as a function, from where to begin."""
    for _ in range(12):
        image = normal(image / max(np.linalg.norm(image), TINY))
    # The iteration approaches the eigenvalue from below.
    return 2.2 * float(np.linalg.norm(image))


class PrimalLeastSquares(LeastSquares):
    """The form that knows ``Z'Z``."""

    def __init__(self, gram: Float) -> None:
        self.gram = gram

    def normal(self, coef: Float) -> Float:
        return product_with(self.gram, coef)

    def ridge(self, slack: Float) -> FeatureRidge:
        return FeatureRidge(self.gram, slack)


class FirstOrderLeastSquares(LeastSquares):
    """The form that multiplies by Z and nothing else."""

    factors = False

    def __init__(self, columns: DataMatrix) -> None:
        self.columns = columns

    def normal(self, coef: Float) -> Float:
        return self.columns.transpose_dot(self.columns.dot(coef))

    def ridge(self, slack: Float) -> SampleRidge | None:
        return None


class DualLeastSquares(FirstOrderLeastSquares):
    """The form that factors an n x n matrix."""

    factors = True

    def ridge(self, slack: Float) -> SampleRidge:
        return SampleRidge(self.columns, slack)

"""Baselines that a method must beat: highest variance and random choice."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ufselect.matrix import DataMatrix, Float
from ufselect.selectors.base import UnsupervisedSelector


class MaxVariance(UnsupervisedSelector):
    """Keep the features with the highest variance.

    A baseline for every other method. It depends on the units of the features, so use
    it only if all features share a unit. See docs/methods/maxvariance.md.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        Standard deviation of each feature: the order of the variances, without
        their overflow.
    order_ : ndarray of shape (p,)
        Features from best to worst.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect import MaxVariance
    >>> X = np.array([[0.0, 1.0, 5.0], [0.1, 3.0, 5.0], [0.0, 9.0, 5.0]])
    >>> MaxVariance(n_features_to_select=1).fit(X).order_
    array([1, 0, 2])
    """

    READS_OUT_OF_CORE = True
    ANY_UNIT = True

    def __init__(self, n_features_to_select: int | float | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    def _score_features(self, data: DataMatrix) -> Float:
        return data.summary().deviation


class RandomSelection(UnsupervisedSelector):
    """Keep features drawn at random.

    A baseline for every other method. See docs/methods/randomselection.md.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        Positions in a random order, the best has the highest score.
    order_ : ndarray of shape (p,)
        Features from best to worst.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect import RandomSelection
    >>> X = np.arange(12.0).reshape(3, 4) ** 2
    >>> RandomSelection(n_features_to_select=2, random_state=0).fit_transform(X).shape
    (3, 2)
    """

    ANY_UNIT = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **UnsupervisedSelector._parameter_constraints,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def _score_features(self, data: DataMatrix) -> Float:
        random = check_random_state(self.random_state)
        varying = np.flatnonzero(~data.summary().constant)
        scores = np.zeros(data.shape[1])
        scores[varying] = random.permutation(len(varying)) + 1.0
        return scores

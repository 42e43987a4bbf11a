"""Small data sets that need no download."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class DataSet(NamedTuple):
    """A table, its classes (for evaluation only), names and useful columns."""

    table: NDArray[np.float64]
    classes: NDArray[np.intp]
    names: list[str]
    informative: NDArray[np.bool_]


def digits_with_decoys(n_decoys: int = 200, seed: int = 0) -> DataSet:
    """Return scikit-learn's digits with columns of noise after their 64 pixels.

    A decoy is a pixel column whose values were shuffled among the samples. It has
    the same mean, variance and histogram as a pixel, and no relation to anything.

    Examples
    --------
    >>> from ufselect.data import digits_with_decoys
    >>> digits_with_decoys().table.shape
    (1797, 264)
    """
    from sklearn.datasets import load_digits  # takes a second to import

    random = np.random.default_rng(seed)
    pixels, classes = load_digits(return_X_y=True)
    varying = np.flatnonzero(pixels.std(axis=0) > 0)
    copied = pixels[:, random.choice(varying, size=n_decoys)]
    decoys = random.permuted(copied, axis=0)
    names = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    names += [f"decoy_{index}" for index in range(n_decoys)]
    informative = np.arange(64 + n_decoys) < 64
    return DataSet(np.hstack([pixels, decoys]), classes, names, informative)


def union_of_subspaces(seed: int = 0) -> DataSet:
    """Return the kind of toy the SCFS paper draws: seven samples, ten features.

    The samples lie near three lines, each along one feature: F6, F3 and F9. The
    other features are close to zero.

    Examples
    --------
    >>> from ufselect.data import union_of_subspaces
    >>> toy = union_of_subspaces()
    >>> [name for name, useful in zip(toy.names, toy.informative) if useful]
    ['F3', 'F6', 'F9']
    """
    random = np.random.default_rng(seed)
    classes = np.array([0, 0, 0, 1, 1, 2, 2])
    axes = np.array([5, 2, 8])
    table = random.uniform(0.0, 0.15, size=(7, 10))
    table[np.arange(7), axes[classes]] = random.uniform(0.8, 1.0, size=7)
    informative = np.zeros(10, dtype=bool)
    informative[axes] = True
    return DataSet(table, classes, [f"F{i + 1}" for i in range(10)], informative)

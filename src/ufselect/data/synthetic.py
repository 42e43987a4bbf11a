"""Tables with a planted structure: which columns are useful is known."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Structure = tuple[Float, NDArray[np.intp]]

# Columns of unequal scale are multiplied by a factor from 1/10 to 10.
MAX_FACTOR = 10.0

# Mean count of a column of noise in a sample of average depth.
USUAL_COUNT = 2.0

N_CLASSES = 3


class DataSet(NamedTuple):
    """A table, its classes (for evaluation only), names and useful columns."""

    table: NDArray[np.float64]
    classes: NDArray[np.intp]
    names: list[str]
    informative: NDArray[np.bool_]


def planted(
    geometry: str = "blobs",
    *,
    n_samples: int = 90,
    n_useful: int = 10,
    n_noise: int = 30,
    unequal_scales: bool = False,
    seed: int = 0,
) -> DataSet:
    """Return samples with a structure in some columns and noise in the others.

    Parameters
    ----------
    geometry : {"blobs", "rings", "subspaces", "counts"}
        The structure of the useful columns: three Gaussian clusters; three nested
        rings in a plane, lifted into all of the columns; three planes through the
        origin; Poisson counts of three clusters, in samples of unequal depth as from
        sequencing.
    n_samples, n_useful, n_noise : int
        Size of the table. More noise than samples makes it wide.
    unequal_scales : bool
        Give columns unit variance and then a random factor between 1/10 and 10, so
        that variance does not tell useful columns from noise. The mean counts of
        "counts" get such factors.
    seed : int

    Returns
    -------
    data : DataSet
        Columns are in random order; ``informative`` marks the useful ones.

    Examples
    --------
    >>> from ufselect.data import planted
    >>> wide = planted("rings", n_samples=40, n_noise=390)
    >>> wide.table.shape, int(wide.informative.sum())
    ((40, 400), 10)
    """
    if geometry not in GEOMETRIES:
        raise ValueError(
            f"geometry={geometry!r} is not known; use one of {', '.join(GEOMETRIES)}."
        )
    random = np.random.default_rng(seed)
    informative = random.permutation(n_useful + n_noise) < n_useful
    structure = np.zeros((n_samples, len(informative)))
    useful, classes = GEOMETRIES[geometry](random, n_samples, n_useful)
    structure[:, informative] = useful
    powers = random.uniform(-1.0, 1.0, size=len(informative))
    factors = MAX_FACTOR**powers if unequal_scales else None
    observe = counted if geometry == "counts" else measured
    kinds = np.where(informative, "useful", "noise")
    names = [f"{kind}_{index}" for index, kind in enumerate(kinds)]
    return DataSet(observe(random, structure, factors), classes, names, informative)


def clusters(random: np.random.Generator, n_samples: int, n_useful: int) -> Structure:
    """Return three clusters, each with one of three levels in every column."""
    classes = np.arange(n_samples) % N_CLASSES
    levels = np.array([-2.0, 0.0, 2.0])
    centres = random.permuted(np.tile(levels, (n_useful, 1)), axis=1).T
    return centres[classes], classes


def log_rates(random: np.random.Generator, n_samples: int, n_useful: int) -> Structure:
    """Return clusters whose levels differ by a factor of e."""
    centres, classes = clusters(random, n_samples, n_useful)
    return centres / 2, classes


def rings(random: np.random.Generator, n_samples: int, n_useful: int) -> Structure:
    """Return three nested rings in a plane; a column is a direction in that plane."""
    classes = np.arange(n_samples) % N_CLASSES
    angles = random.uniform(0, 2 * np.pi, size=n_samples)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    points = (1.0 + classes)[:, np.newaxis] * circle
    turns = np.pi * (np.arange(n_useful) + random.uniform()) / n_useful
    return points @ np.vstack([np.cos(turns), np.sin(turns)]), classes


def planes(random: np.random.Generator, n_samples: int, n_useful: int) -> Structure:
    """Return samples on one of three planes through the origin."""
    classes = np.arange(n_samples) % N_CLASSES
    bases = random.standard_normal((N_CLASSES, 2, n_useful))
    points = random.standard_normal((n_samples, 2))
    return np.einsum("ni,nij->nj", points, bases[classes]), classes


def measured(
    random: np.random.Generator, structure: Float, factors: Float | None
) -> Float:
    """Return the structure with Gaussian noise, in the units that factors give."""
    table = structure + random.standard_normal(structure.shape)
    return table if factors is None else table * (factors / table.std(axis=0))


def counted(
    random: np.random.Generator, structure: Float, factors: Float | None
) -> Float:
    """Return Poisson counts; the structure is the logarithm of the relative rate."""
    depths = random.uniform(0.5, 1.5, size=(len(structure), 1))
    usual = USUAL_COUNT * (1.0 if factors is None else factors)
    return random.poisson(usual * depths * np.exp(structure)).astype(float)


GEOMETRIES: dict[str, Callable[[np.random.Generator, int, int], Structure]] = {
    "blobs": clusters,
    "rings": rings,
    "subspaces": planes,
    "counts": log_rates,
}

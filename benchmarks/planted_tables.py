"""Tables in which it is known which columns carry the groups."""

from typing import NamedTuple

import numpy as np

GROUPS = 4


class Design(NamedTuple):
    """Size of a table, and by how much group means differ, in deviations of noise."""

    n_samples: int
    n_columns: int
    n_planted: int
    effect: float
    what: str


DESIGNS = {
    "blobs": Design(100, 500, 30, 2.0, "normal noise"),
    "counts": Design(
        *(150, 1000, 40, 1.0),
        "Poisson, mean counts 2 to 5, log rates of groups with that deviation, "
        "depths of samples 0.5 to 1.5",
    ),
    "log-gamma": Design(
        *(60, 1500, 30, 2.5),
        "logarithms of gamma variables; means of groups have exactly that deviation; "
        "planted columns scaled back to the variance that they had as noise",
    ),
    "one unit": Design(120, 2000, 40, 2.0, "normal noise"),
    "mixed units": Design(
        120, 800, 40, 2.0, "normal noise; columns multiplied by 0.001 to 1000"
    ),
    "wide": Design(100, 20_000, 60, 2.5, "normal noise"),
}


class Planted(NamedTuple):
    """A table, which of its columns were planted, and the groups of its samples."""

    table: np.ndarray
    planted: np.ndarray
    groups: np.ndarray


def planted_table(name, seed):
    """Return a table of a design; planted columns are among the others at random."""
    design = DESIGNS[name]
    rng = np.random.default_rng([seed, list(DESIGNS).index(name)])
    groups = rng.permutation(np.arange(design.n_samples) % GROUPS)
    shifts = rng.normal(0, design.effect, size=(GROUPS, design.n_planted))
    make = {"counts": counts, "log-gamma": log_gamma}.get(name, normal)
    table = make(rng, design, shifts[groups])
    if name == "mixed units":
        table *= 10.0 ** rng.uniform(-3, 3, size=design.n_columns)
    order = rng.permutation(design.n_columns)
    return Planted(table[:, order], order < design.n_planted, groups)


def normal(rng, design, shifts):
    """Return unit noise to which shifts are added."""
    table = rng.normal(size=(design.n_samples, design.n_columns))
    table[:, : design.n_planted] += shifts
    return table


def counts(rng, design, shifts):
    """Return Poisson counts; a planted column has the mean that it has without."""
    rates = np.tile(rng.uniform(2, 5, size=design.n_columns), (design.n_samples, 1))
    factors = np.exp(shifts)
    rates[:, : design.n_planted] *= factors / factors.mean(axis=0)
    depths = rng.uniform(0.5, 1.5, size=(design.n_samples, 1))
    return rng.poisson(rates * depths).astype(float)


def log_gamma(rng, design, shifts):
    """Return columns of unequal shape, whose variance says nothing about use.

    With 60 samples the groups are near the limit of what can be seen at all, so that no
    column has small shifts by chance.
    """
    shapes = rng.uniform(0.5, 5, size=design.n_columns)
    table = np.log(rng.gamma(shapes, size=(design.n_samples, design.n_columns)))
    useful = table[:, : design.n_planted]
    deviations = useful.std(axis=0)
    # Groups are of equal size: the deviation over samples is that over groups.
    shifts = design.effect * (shifts - shifts.mean(axis=0)) / shifts.std(axis=0)
    shifted = useful + shifts * deviations
    table[:, : design.n_planted] = shifted * (deviations / shifted.std(axis=0))
    return table

"""Part of `label_free`: which planted columns are found and confirmed."""

from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.feature_selection import f_classif

from studies.rankings import (
    Part,
    at_least,
    at_most,
    candidate,
    fitted,
    kept_calls,
)
from ufselect.report import markdown_table

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


TABLES = 100

# Who ranks the same tables.
BESIDE = ("SCFS", "LaplacianScore", "MaxVariance")
ORACLE = "F test with true groups"

EXPLAINED = """
Labels: which columns were planted is known and judges; the groups of the samples were
seen by the last column only, which says what could be found at all.

"Found" is the percentage of planted columns among the first as many. False discoveries
are a percentage of the confirmed columns, 0 if there are none. There are {groups}
groups, whose means are normal with the given deviation, in units of the noise:

{designs}"""


def planted_row(name, seed):
    """Return what was found in one table, by the name of the column."""
    data = planted_table(name, seed)
    selector = fitted(candidate("AutoSelect"), data.table)
    confirmed = np.flatnonzero(selector.calls_ == "confirmed")
    row = {
        "structure": selector.structure_found_,
        "confirmed": len(confirmed),
        "false discoveries": 1 - data.planted[confirmed].mean()
        if len(confirmed)
        else 0,
        "confirmed of planted": data.planted[confirmed].sum() / data.planted.sum(),
        "AutoSelect": found_first(selector.order_, data.planted),
    }
    for other in BESIDE:
        order = fitted(candidate(other), data.table).order_
        row[other] = found_first(order, data.planted)
    best = np.argsort(-f_classif(data.table, data.groups)[0])
    return name, row | {ORACLE: found_first(best, data.planted)}


def found_first(order, planted):
    """Return the share of planted columns among the first as many."""
    return planted[order[: planted.sum()]].mean()


def planted(options):
    """Return what is found in every design."""
    n_tables = len(DESIGNS) if options.quick else TABLES
    names = list(DESIGNS)
    row = kept_calls(planted_row, options.cache)
    found = Parallel(n_jobs=options.jobs)(
        delayed(row)(names[number % len(names)], number // len(names))
        for number in range(n_tables)
    )
    designs = [[name, [row for one, row in found if one == name]] for name in names]
    everything = [row for _, row in found]
    rows = [cells_of(*each) for each in [*designs, ("all", everything)]]
    header = ["design", "tables", *heading(everything[0])]
    text = EXPLAINED.strip().format(groups=GROUPS, designs=described())
    text = "\n\n".join(["## Planted columns", text, markdown_table(header, rows)])
    return Part(text, answers_of(everything))


def described():
    """Return a list of the designs."""
    return "\n".join(
        f"- {name}: {design.n_samples} x {design.n_columns}, "
        f"{design.n_planted} planted, deviation {design.effect}; {design.what}"
        for name, design in DESIGNS.items()
    )


def heading(row):
    """Return the titles of the measured columns."""
    plain = {"structure": "structure %", "confirmed": "confirmed"}
    percent = {"false discoveries", "confirmed of planted"}
    return [
        plain.get(name) or (f"{name} %" if name in percent else f"found %: {name}")
        for name in row
    ]


def cells_of(name, rows):
    """Return the means of some tables."""
    means = {key: np.mean([row[key] for row in rows]) for key in rows[0]}
    return [
        *(name, str(len(rows))),
        *(
            f"{value:.0f}" if key == "confirmed" else f"{100 * value:.1f}"
            for key, value in means.items()
        ),
    ]


def answers_of(rows):
    """Return the targets for planted tables."""
    words = f"{len(rows)} planted tables: "
    mean = {key: 100 * np.mean([row[key] for row in rows]) for key in rows[0]}
    return [
        at_least(f"{words}structure reported", [95], [mean["structure"]]),
        at_least(f"{words}planted among the first as many", [85], [mean["AutoSelect"]]),
        at_most(
            f"{words}false discoveries among confirmed",
            *([10], [mean["false discoveries"]]),
        ),
    ]

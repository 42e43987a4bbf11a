"""Part of `label_free`: results of AutoSelect and verdict on tables of noise."""

import warnings
from math import nan

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from scipy.stats import kstest

from studies.rankings import (
    UNSEEN,
    Part,
    at_least,
    at_most,
    candidate,
    find_sets,
    fitted,
    kept_calls,
)
from ufselect import AutoSelect
from ufselect.data import read_labelled
from ufselect.evaluation import verdicts
from ufselect.report import markdown_table

SAMPLES = (60, 300)
COLUMNS = (200, 5000)


def gaussian(rng, n, p):
    """Return independent normal values."""
    return rng.normal(size=(n, p))


def heavy_tailed(rng, n, p):
    """Return values of Student's t with 2 or 3 degrees of freedom."""
    return rng.standard_t(rng.integers(2, 4), size=(n, p))


def counts(rng, n, p):
    """Return Poisson counts; columns have rates of their own, samples have not."""
    return rng.poisson(rng.lognormal(0.5, 1.0, size=p), size=(n, p)).astype(float)


def permuted(rng, n, p):
    """Return some of a real table, with the values of every column in random order."""
    paths = [path for half in find_sets().values() for path in half]
    table = read_labelled(paths[rng.integers(len(paths))]).table
    rows = rng.permutation(table.shape[0])[:n]
    columns = rng.permutation(table.shape[1])[:p]
    some = table[rows][:, columns]
    some = np.asarray(some.toarray() if sp.issparse(some) else some, dtype=float)
    some = some[:, some.min(axis=0) < some.max(axis=0)]
    return rng.permuted(some, axis=0)


KINDS = {
    "Gaussian": gaussian,
    "heavy-tailed": heavy_tailed,
    "counts": counts,
    "permuted real": permuted,
}


def noise_table(kind, seed):
    """Return a table of one kind, of a size that depends on the seed.

    Samples are uniform between their bounds, columns on a logarithmic scale. A permuted
    table has fewer of either if the real one has.
    """
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    n = int(rng.integers(SAMPLES[0], SAMPLES[1] + 1))
    p = round(np.exp(rng.uniform(*np.log(COLUMNS))))
    return KINDS[kind](rng, n, p)


TABLES = 400
# Verdicts cost more than the selection: they are asked of every so many tables.
VERDICT_EVERY = 4
VERDICT_RANDOM = 99
N_JUDGED = 50

# Under this, the uniformity of p-values is given up.
UNIFORM = 0.05

# A permutation test has p-values that are multiples of one over such a number.
MAX_GRID = 2000

EXPLAINED = f"""
{UNSEEN}

Tables of {SAMPLES[0]} to {SAMPLES[1]} samples and {COLUMNS[0]} to {COLUMNS[1]}
features: Gaussian; t with 2 or 3 degrees of freedom; Poisson counts; real tables with
the values of every feature permuted. "Structure" is `structure_found_`, and p is that
of its test. "Uniform" is the p-value of a Kolmogorov-Smirnov test of uniformity; ties
of permutation tests are broken at random. The second table has the criteria of
`verdicts` for {N_JUDGED} features, selected by AutoSelect on one half of the samples
and judged on the other, on one table in {VERDICT_EVERY}."""


def noise_row(kind, seed):
    """Return whether structure was found in a table, and p-values by their names."""
    table = noise_table(kind, seed)
    selector = fitted(candidate("AutoSelect"), table)
    p_values = {"structure test": selector.structure_.p_value}
    if seed % VERDICT_EVERY == 0:
        p_values |= verdict_p_values(table, seed)
    return kind, selector.structure_found_, p_values


def verdict_p_values(table, seed):
    """Return the p-value of every criterion on the best columns by AutoSelect.

    A number is given, or there would be nothing to judge in noise.
    """
    selector = AutoSelect(n_features_to_select=N_JUDGED, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = verdicts(table, selector, n_random=VERDICT_RANDOM, random_state=seed)
    return {
        f"verdict, {each.criterion}": each.p_value
        for each in found
        # Of a table with fewer than so many columns there is nothing to judge.
        if each.p_value is not None
    }


def uniformity(p_values):
    """Return the p-value of a test for uniformity; ties are broken at random."""
    p_values = np.asarray(p_values)
    steps = grid_of(p_values)
    if steps is not None:
        p_values = p_values - np.random.default_rng(0).random(len(p_values)) / steps
    return float(kstest(p_values, "uniform").pvalue)


def grid_of(p_values):
    """Return the smallest number that makes whole numbers of p-values, or None."""
    for steps in range(1, MAX_GRID + 1):
        if np.allclose(p_values * steps, np.round(p_values * steps), atol=1e-6):
            return steps
    return None


def noise(options):
    """Return how often structure is found where there is none."""
    each = (8 if options.quick else TABLES) // len(KINDS)
    row = kept_calls(noise_row, options.cache)
    found = Parallel(n_jobs=options.jobs)(
        delayed(row)(kind, seed) for kind in KINDS for seed in range(each)
    )
    rows = [row_of(kind, [one for one in found if one[0] == kind]) for kind in KINDS]
    rows.append(row_of("all", found))
    header = ["tables", "number", "structure %", "p < 0.05 %", "uniform (p)"]
    tests = sorted({name for *_, p_values in found for name in p_values})
    tables = [markdown_table(header, rows)]
    tables += [
        markdown_table(
            ["criterion", *header[1:2], *header[3:]],
            [
                [name, str(len(values)), below(values), shown_uniformity(values)]
                for name in tests
                if (values := p_values_of(found, name))
            ],
        )
    ]
    text = "\n\n".join(["## Noise", EXPLAINED.strip(), *tables])
    return Part(text, answers_of(found, tests))


def p_values_of(found, test):
    """Return the p-values of a test that it gave."""
    values = (p_values.get(test, nan) for *_, p_values in found)
    return [value for value in values if not np.isnan(value)]


def row_of(kind, found):
    """Return a row of the table of kinds."""
    values = p_values_of(found, "structure test")
    share = 100 * np.mean([structure for _, structure, _ in found])
    return [
        *(kind, str(len(found)), f"{share:.1f}"),
        *(below(values), shown_uniformity(values)),
    ]


def below(values):
    """Return the percentage of small p-values."""
    return f"{100 * share_below(values):.1f}" if values else "no test"


def share_below(values):
    """Return the share of p-values below 0.05."""
    return float(np.mean(np.array(values) < 0.05))


def shown_uniformity(values):
    """Return the p-value of uniformity."""
    return f"{uniformity(values):.3f}" if values else "-"


def answers_of(found, tests):
    """Return the targets for noise; those for p-values are about the worst test."""
    words = f"{len(found)} noise tables: "
    share = 100 * np.mean([structure for _, structure, _ in found])
    by_test = [p_values_of(found, name) for name in tests]
    largest = 100 * max(map(share_below, by_test))
    smallest = min(map(uniformity, by_test))
    return [
        at_most(f'{words}"structure" reported', [6], [share]),
        at_most(f"{words}p < 0.05, largest of {len(tests)} tests", [7], [largest]),
        at_least(
            f"{words}uniform p-values, smallest of {len(tests)} tests",
            *([UNIFORM], [smallest], "{:.2f}"),
        ),
    ]

"""Part of label_free.py: overlap of rankings on different samples."""

import warnings

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from studies.quality.label_free_sets import (
    UNSEEN,
    Part,
    at_least,
    candidate,
    ranked,
)
from studies.settings import find_set
from ufselect.data import read_labelled
from ufselect.report import markdown_table

SETS = (
    *("lymphoma", "Prostate-GE", "SRBCT", "Su2001", "TCGA_breast", "JAFFE", "Yale"),
    *("Pollen", "Brain_Tumor1", "UMIST", "lung", "PBMC68k_reduced", "bbcsport"),
    *("colon", "DLBCL"),
)
RANKING = ("AutoSelect", "SCFS", "LaplacianScore", "MaxVariance")
SPLITS = 2
FIRST = 100

# Columns more correlated than this stand for each other.
CORRELATED = 0.8
MEASURES = ("same", "with stand-ins", "disjoint halves", "disjoint, with stand-ins")

# Random sets of columns that say how many stand-ins there are by chance.
DRAWS = 5

EXPLAINED = f"""
{UNSEEN}

AutoSelect and others rank random halves of the samples, {SPLITS} times on each set.
"Same" is the share of the first {FIRST} features that two rankings have in common; a
stand-in is correlated above {CORRELATED} over all samples. Both are corrected: 0 is
what random features have in common, 1 is everything. Halves drawn independently share
about half of their samples; the target is about these. Disjoint halves share none."""


def overlap(first, second, n_features):
    """Return the share of columns that two sets share, corrected for chance."""
    chance = len(second) / n_features
    shared = len(np.intersect1d(first, second)) / len(first)
    return (shared - chance) / (1 - chance)


def stand_in_overlap(table, first, second, seed=0):
    """Return the share of columns with a stand-in, corrected for chance."""
    rng = np.random.default_rng(seed)
    draws = [rng.permutation(table.shape[1])[: len(first)] for _ in range(DRAWS)]
    chance = np.mean(
        [stood_for(table, one, draw) for one in (first, second) for draw in draws]
    )
    shared = stood_for(table, first, second)
    return (shared - chance) / (1 - chance) if chance < 1 else 1.0


def stood_for(table, first, second):
    """Return the share of columns of each set with a stand-in in the other."""
    correlations = np.abs(unit_columns(table, first).T @ unit_columns(table, second))
    same = (correlations > CORRELATED) | np.equal.outer(first, second)
    return (same.any(axis=0).mean() + same.any(axis=1).mean()) / 2


def unit_columns(table, columns):
    """Return some columns, centred and of unit length; constant ones are zero."""
    some = table[:, columns]
    some = np.asarray(some.toarray() if sp.issparse(some) else some, dtype=float)
    some = some - some.mean(axis=0)
    lengths = np.linalg.norm(some, axis=0)
    return some / np.where(lengths > 0, lengths, 1)


def halves_of(n_samples, split):
    """Return a random half of the samples, one drawn independently, and the rest."""
    half = n_samples // 2
    rows = np.random.RandomState(50 + split).permutation(n_samples)
    others = np.random.RandomState(150 + split).permutation(n_samples)
    return {"half": rows[:half], "other": others[:half], "rest": rows[half:]}


def stable(name, folder):
    """Return the overlaps of every ranking on one set, in the order of MEASURES."""
    warnings.simplefilter("ignore")
    path = find_set(name)
    table = read_labelled(path).table
    n_samples, n_features = table.shape
    number = min(FIRST, n_features // 2)
    found = {ranking: [] for ranking in RANKING}
    for split in range(SPLITS):
        for ranking in RANKING:
            half, other, rest = (
                ranked(
                    *(folder, path, table[rows], candidate(ranking)),
                    f"split {split}, {part}",
                ).order[:number]
                for part, rows in halves_of(n_samples, split).items()
            )
            found[ranking].append(
                (
                    overlap(half, other, n_features),
                    stand_in_overlap(table, half, other),
                    overlap(half, rest, n_features),
                    stand_in_overlap(table, half, rest),
                )
            )
    return name, {ranking: np.mean(every, axis=0) for ranking, every in found.items()}


def stability(options):
    """Return how much the rankings of halves have in common."""
    names = [name for name in SETS if not options.sets or name in options.sets]
    if not names:
        return Part("## Stability\n\nNone of these sets is among the fifteen.", [])
    found = dict(
        Parallel(n_jobs=options.jobs)(
            delayed(stable)(name, options.cache) for name in names
        )
    )
    means = {
        ranking: np.mean([each[ranking] for each in found.values()], axis=0)
        for ranking in RANKING
    }
    rows = [
        [ranking, *(f"{value:.2f}" for value in means[ranking])] for ranking in RANKING
    ]
    header = [f"mean of {len(names)} sets", *MEASURES]
    text = "\n\n".join(
        ["## Stability", EXPLAINED.strip(), markdown_table(header, rows)]
    )
    what = f"stability on {len(names)} sets"
    return Part(text, [at_least(what, [0.38], means["AutoSelect"][:1], "{:.2f}")])

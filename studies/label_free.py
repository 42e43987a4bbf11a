"""Is AutoSelect better than random columns on any table, and does it recognise noise?

There are five parts, followed by their targets:

* quality: rankings by AutoSelect and every method that finishes within a budget,
  compared with random features and all features on labelled sets.
* noise: how often structure is reported although there is none.
* planted: how many of the columns with groups are found and confirmed.
* stability: overlap of the rankings on halves of the samples.
* cost: time in units of a fit of SCFS, and its growth with the number of samples.

Rankings and scores are kept in a folder, so that only changed ones are computed
again: about 90 minutes the first time. Every part states where labels are used;
rankings never use them.

    python -m studies label_free [--parts quality,noise,planted,stability,cost]
        [--jobs 2] [--sets a,b] [--quick] [--seconds 20] [--values N] [--cache DIR]
        [--markdown FILE]
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

import ufselect
from studies.noise import noise
from studies.planted import planted
from studies.quality import quality
from studies.rankings import (
    DOMAIN_OF,
    SECONDS,
    UNSEEN,
    Part,
    at_least,
    at_most,
    candidate,
    find_set,
    find_sets,
    limited_ranking,
    ranked,
    table_of_answers,
)
from ufselect.data import read_labelled
from ufselect.report import markdown_table

CACHE = Path.home() / ".cache" / "ufselect-study"
# Two sets, one of either half.
SMALL = "lung_small,lymphoma"

STABILITY_SETS = (
    *("lymphoma", "Prostate-GE", "SRBCT", "Su2001", "TCGA_breast", "JAFFE", "Yale"),
    *("Pollen", "Brain_Tumor1", "UMIST", "lung", "PBMC68k_reduced", "bbcsport"),
    *("colon", "DLBCL"),
)
RANKINGS = ("AutoSelect", "SCFS", "LaplacianScore", "MaxVariance")
SPLITS = 2
FIRST = 100

# Columns more correlated than this represent each other.
CORRELATED = 0.8
MEASURES = (
    "same",
    "with representatives",
    "disjoint halves",
    "disjoint, with representatives",
)

# Random sets of columns that say how many representatives there are by chance.
DRAWS = 5

STABILITY = f"""
{UNSEEN}

AutoSelect and others rank random halves of the samples, {SPLITS} times on each set.
"Same" is the share of the first {FIRST} features that two rankings have in common; a
representative is correlated above {CORRELATED} over all samples. Both are corrected: 0
is what random features have in common, 1 is everything. Halves drawn independently
share about half of their samples; the target is about these. Disjoint halves share
none."""


def overlap(first, second, n_features):
    """Return the share of columns that two sets share, corrected for chance."""
    chance = len(second) / n_features
    shared = len(np.intersect1d(first, second)) / len(first)
    return (shared - chance) / (1 - chance)


def stand_in_overlap(table, first, second, seed=0):
    """Return the share of columns with a representative, corrected for chance."""
    rng = np.random.default_rng(seed)
    draws = [rng.permutation(table.shape[1])[: len(first)] for _ in range(DRAWS)]
    chance = np.mean(
        [stood_for(table, one, draw) for one in (first, second) for draw in draws]
    )
    shared = stood_for(table, first, second)
    return (shared - chance) / (1 - chance) if chance < 1 else 1.0


def stood_for(table, first, second):
    """Return the share of columns of each set with a representative in the other."""
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
    found = {ranking: [] for ranking in RANKINGS}
    for split in range(SPLITS):
        for ranking in RANKINGS:
            half, other, rest = (
                ranked(
                    *(folder, path, table[rows], ranking),
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
    names = [
        name for name in STABILITY_SETS if not options.sets or name in options.sets
    ]
    if not names:
        return Part("## Stability\n\nNone of these sets is among the fifteen.", [])
    found = dict(
        Parallel(n_jobs=options.jobs)(
            delayed(stable)(name, options.cache) for name in names
        )
    )
    means = {
        ranking: np.mean([each[ranking] for each in found.values()], axis=0)
        for ranking in RANKINGS
    }
    rows = [
        [ranking, *(f"{value:.2f}" for value in means[ranking])] for ranking in RANKINGS
    ]
    header = [f"mean of {len(names)} sets", *MEASURES]
    text = "\n\n".join(
        ["## Stability", STABILITY.strip(), markdown_table(header, rows)]
    )
    what = f"stability on {len(names)} sets"
    return Part(text, [at_least(what, [0.38], means["AutoSelect"][:1], "{:.2f}")])


SAMPLES = (5_000, 10_000, 20_000, 50_000, 100_000)
FEW_SAMPLES = (500, 1_000)
COLUMNS, PLANTED, CLUSTERS = 100, 20, 5

COST = f"""
{UNSEEN}

Processor time of SCFS and AutoSelect with one thread: the sets of every domain and the
five slowest sets; then tables with {COLUMNS} features, {PLANTED} of them with
{CLUSTERS} Gaussian clusters, the others noise. The exponent is the slope of the
logarithms."""

TIMED = ("SCFS", "AutoSelect")


def seconds_on(path, options):
    """Return the times of both on one set; not a number for one that was stopped."""
    table = read_labelled(path).table
    found = [
        ranked(options.cache, path, table, name, seconds=options.seconds)
        for name in TIMED
    ]
    return np.array([np.nan if each.stopped else each.seconds for each in found])


def tall_table(n_samples, seed=0):
    """Return Gaussian clusters in some columns."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n_samples, COLUMNS))
    centres = rng.normal(0, 2, size=(CLUSTERS, PLANTED))
    table[:, :PLANTED] += centres[rng.integers(CLUSTERS, size=n_samples)]
    return table


def exponent(sizes, times):
    """Return the power of the size with which the time grows."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def cost(options):
    """Return the ratio to SCFS over all sets, and the growth."""
    paths = [path for half in options.halves.values() for path in half]
    times = {path.stem: seconds_on(path, options) for path in paths}
    times = {name: pair for name, pair in times.items() if np.isfinite(pair).all()}
    total = np.sum(list(times.values()), axis=0)
    sizes = FEW_SAMPLES if options.quick else SAMPLES
    grown = np.array(
        [
            [limited_ranking(candidate(name), table, 10**6).seconds for name in TIMED]
            for table in map(tall_table, sizes)
        ]
    )
    exponents = [exponent(sizes, column) for column in grown.T]
    text = "\n\n".join(
        [
            *("## Cost", COST.strip(), table_of_sets(times, total)),
            table_of_growth(sizes, grown, exponents),
        ]
    )
    return Part(text, answers_of(len(times), total[1] / total[0], sizes, exponents[1]))


def table_of_sets(times, total):
    """Return seconds by domain, and of the slowest sets."""
    domains = {}
    for name, pair in times.items():
        domain = DOMAIN_OF.get(name, "others")
        domains[domain] = domains.get(domain, 0) + pair
    slowest = dict(sorted(times.items(), key=lambda each: -each[1][1])[:5])
    named = [*domains.items(), *slowest.items(), ("all", total)]
    rows = [
        [name, f"{pair[0]:.2f}", f"{pair[1]:.2f}", f"{pair[1] / pair[0]:.1f}"]
        for name, pair in named
    ]
    return markdown_table(["sets", *TIMED, "ratio"], rows)


def table_of_growth(sizes, grown, exponents):
    """Return seconds by the number of samples."""
    rows = [
        [str(size), *(f"{value:.2f}" for value in pair)]
        for size, pair in zip(sizes, grown, strict=True)
    ]
    rows.append(["exponent", *(f"{value:.2f}" for value in exponents)])
    return markdown_table(["samples", *TIMED], rows)


def answers_of(n_sets, ratio, sizes, growth):
    """Return the targets for cost."""
    form = "{:.1f}"
    return [
        at_most(f"fits of SCFS that it costs, {n_sets} sets", [10], [ratio], form),
        at_most(
            f"growth exponent from {sizes[0]} to {sizes[-1]} samples",
            *([1.2], [growth], "{:.2f}"),
        ),
    ]


PARTS = {
    "quality": quality,
    "noise": noise,
    "planted": planted,
    "stability": stability,
    "cost": cost,
}
TITLE = """
# Selecting without labels

Output of `python -m studies label_free{values} --markdown docs/label-free.md`, with the
data in the folder named by `UFSELECT_DATA`. [Quality](quality.md) sums it up."""
TARGETS = """
Targets for quality are for sets with structure of the half for reporting, ACC / NMI.
Every other set in alphabetical order belongs to this half."""


def parse(arguments):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m studies label_free", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--parts", default=",".join(PARTS), help="default: all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", help="names separated by commas; default: all")
    parser.add_argument("--quick", action="store_true", help="two sets, few tables")
    parser.add_argument(
        "--seconds", type=int, default=SECONDS, help="that a fit may take"
    )
    parser.add_argument(
        "--values",
        type=float,
        default=np.inf,
        help="of the largest tables on which costly methods are tried",
    )
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="DIR")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    options.parts = options.parts.split(",")
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part is called {unknown[0]!r}; use {', '.join(PARTS)}")
    sets = options.sets or (SMALL if options.quick else None)
    options.sets = sets.split(",") if sets else None
    options.halves = {
        half: [path for path in paths if not sets or path.stem in options.sets]
        for half, paths in find_sets().items()
    }
    return options


def main(arguments):
    """Print the parts that are wanted, and how the targets are met."""
    options = parse(arguments)
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    values = "" if np.isinf(options.values) else f" --values {options.values:.0f}"
    texts, answers = [TITLE.strip().format(values=values)], []
    for name in options.parts:
        part = PARTS[name](options)
        print(f"\n{part.text}\n", flush=True)
        texts.append(part.text)
        answers += part.answers
    texts += ["## Targets", TARGETS.strip(), table_of_answers(answers)]
    print("\n\n".join(texts[-3:]))
    minutes = (time.perf_counter() - start) / 60
    print(f"\nVersion {ufselect.__version__}; {minutes:.1f} minutes.")
    if options.markdown is not None:
        options.markdown.write_text("\n\n".join(texts) + "\n", "utf-8")

"""Is AutoSelect better than random columns on any table, and does it recognise noise?

There are five parts, followed by their targets:

* quality: rankings by AutoSelect and every method that finishes within a budget,
  compared with random features and all features on labelled sets.
* noise: how often structure is reported although there is none.
* planted: how many of the columns with groups are found and confirmed.
* stability: overlap of the rankings on halves of the samples.
* cost: time in units of a fit of SCFS, and its growth with the number of samples.

Rankings and scores are cached in a folder, so that only changed ones are computed
again. Every part states where labels are used; rankings never use them.

    python -m studies label_free [--parts quality,noise,planted,stability,cost]
        [--jobs 2] [--sets a,b] [--quick] [--seconds 20] [--values N] [--cache DIR]
        [--markdown FILE]
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

import ufselect
from studies.quality.label_free_noise import noise
from studies.quality.label_free_planted import planted
from studies.quality.label_free_quality import quality
from studies.quality.label_free_sets import (
    DOMAIN_OF,
    SECONDS,
    UNSEEN,
    Part,
    at_most,
    candidate,
    limited_ranking,
    ranked,
    table_of_answers,
)
from studies.quality.label_free_stability import stability
from studies.settings import SMALL, paths_of_halves
from ufselect.data import read_labelled
from ufselect.report import markdown_table

DURATION = "90 minutes"
CACHE = Path.home() / ".cache" / "ufselect-study"

# Of the part about cost.
SAMPLES = (5_000, 10_000, 20_000, 50_000, 100_000)
FEW_SAMPLES = (500, 1_000)
COLUMNS, PLANTED, CLUSTERS = 100, 20, 5

EXPLAINED = f"""
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
        ranked(options.cache, path, table, candidate(name), seconds=options.seconds)
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
    paths = [path for half in paths_of_halves(options.sets).values() for path in half]
    times = {path.stem: seconds_on(path, options) for path in paths}
    times = {name: pair for name, pair in times.items() if np.isfinite(pair).all()}
    total = np.sum(list(times.values()), axis=0)
    sizes = FEW_SAMPLES if options.quick else SAMPLES
    grown = np.array(
        [
            [limited_ranking(candidate(name), table, np.inf).seconds for name in TIMED]
            for table in map(tall_table, sizes)
        ]
    )
    exponents = [exponent(sizes, column) for column in grown.T]
    text = "\n\n".join(
        [
            *("## Cost", EXPLAINED.strip(), table_of_sets(times, total)),
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
        "--seconds", type=float, default=SECONDS, help="that a fit may take"
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

"""Part of label_free.py: what AutoSelect costs, in fits of SCFS and as n grows."""

import time

import numpy as np
from halves import paths_of_halves
from label_free_report import UNSEEN, Part, at_most
from label_free_sets import CANDIDATES, DOMAIN_OF, fitted

from ufselect.data import read_labelled
from ufselect.report import markdown_table

SAMPLES = (5_000, 10_000, 20_000, 50_000, 100_000)
FEW_SAMPLES = (500, 1_000)
COLUMNS, PLANTED, CLUSTERS = 100, 20, 5

EXPLAINED = f"""
{UNSEEN}

Seconds of SCFS and AutoSelect, one after the other on each set; then of tables with
{COLUMNS} columns, {PLANTED} of them with {CLUSTERS} Gaussian clusters, the others
noise. The exponent is the slope of the logarithms."""


def seconds(name, table):
    """Return the time of one fit."""
    selector = CANDIDATES[name]()
    start = time.perf_counter()
    fitted(selector, table)
    return time.perf_counter() - start


def both(table):
    """Return the times of SCFS and of AutoSelect."""
    return np.array([seconds("SCFS", table), seconds("AutoSelect", table)])


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
    both(tall_table(100))  # what is loaded and started once
    times = {path.stem: both(read_labelled(path).table) for path in paths}
    total = np.sum(list(times.values()), axis=0)
    sizes = FEW_SAMPLES if options.quick else SAMPLES
    grown = np.array([both(tall_table(size)) for size in sizes])
    exponents = [exponent(sizes, column) for column in grown.T]
    text = "\n\n".join(
        [
            *("## Cost", EXPLAINED.strip(), table_of_sets(times, total)),
            table_of_growth(sizes, grown, exponents),
        ]
    )
    return Part(text, answers_of(len(paths), total[1] / total[0], sizes, exponents[1]))


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
    return markdown_table(["sets", "SCFS", "AutoSelect", "ratio"], rows)


def table_of_growth(sizes, grown, exponents):
    """Return seconds by the number of samples."""
    rows = [
        [str(size), *(f"{value:.2f}" for value in pair)]
        for size, pair in zip(sizes, grown, strict=True)
    ]
    rows.append(["exponent", *(f"{value:.2f}" for value in exponents)])
    return markdown_table(["samples", "SCFS", "AutoSelect"], rows)


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

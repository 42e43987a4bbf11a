"""Are the p-values of `verdict` uniform on tables without structure?

Tables of noise (Gaussian, Student's t with 3 degrees of freedom, Poisson counts of
unequal means, and real tables with permuted columns) have 60 to 300 samples and 200 to
2000 columns. Selectors select 10, 30 or 100 columns; `verdicts` fits them to one half
of the samples and judges them on the other. Prints, for every criterion, the share of
tables with p < 0.05, and the p-value of a Kolmogorov-Smirnov test of uniformity. Ranks
among random sets are discrete; subtracting a uniform number within each step decreases
p-values and makes the test exact. The last rows are the rates at which planted and real
structure is found.

    python -m studies verdict_noise [--tables 240] [--first 0] [--random 59]
        [--jobs 2] [--standardize auto] [--quick]
"""

import argparse
import time
import warnings

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from scipy.stats import kstest

from ufselect import SCFS, LaplacianScore, MaxVariance
from ufselect.data import GEOMETRIES, data_folder, planted, read_labelled
from ufselect.evaluation import verdicts
from ufselect.evaluation.significance import CRITERION_NAMES
from ufselect.report import markdown_table

DURATION = "3 minutes"
LEVEL = 0.05
KINDS = ("Gaussian", "Student t", "Poisson", "permuted")
PERMUTED = ("lymphoma", "bbcsport", "PBMC68k_reduced", "Prostate-GE", "CNAE9", "SRBCT")
STRUCTURED = ("lymphoma", "TCGA_breast", "JAFFE")
SELECTORS = {
    "SCFS": SCFS(random_state=0),
    "LaplacianScore": LaplacianScore(),
    "MaxVariance": MaxVariance(),
}


def noise(kind, seed):
    """Return a table whose columns have nothing to do with one another."""
    random = np.random.default_rng(seed)
    shape = random.integers(60, 301), int(np.exp(random.uniform(*np.log([200, 2000]))))
    if kind == "Gaussian":
        return random.standard_normal(shape)
    if kind == "Student t":
        return random.standard_t(3, shape)
    if kind == "Poisson":
        return random.poisson(np.exp(random.standard_normal(shape[1])), shape) * 1.0
    table = real(PERMUTED[seed % len(PERMUTED)])
    rows, columns = (
        random.permutation(there)[:wanted]
        for there, wanted in zip(table.shape, shape, strict=True)
    )
    part = table[rows][:, columns]
    return random.permuted(part[:, np.ptp(part, axis=0) > 0], axis=0)


def real(name):
    """Return a dense research table."""
    table = read_labelled(data_folder() / f"{name}.mat").table
    return table.toarray() if sp.issparse(table) else table


def p_values(table, n_features, seed, options):
    """Return the p values of every selector by every criterion."""
    warnings.simplefilter("ignore")
    return [
        [
            found.p_value
            for found in verdicts(
                table,
                selector.set_params(n_features_to_select=n_features),
                standardize=options.standardize,
                n_random=options.random,
                random_state=seed,
            )
        ]
        for selector in SELECTORS.values()
    ]


def on_noise(kind, seed, options):
    """Return the p values on one table of noise, made continuous."""
    table = noise(kind, seed)
    found = np.array(p_values(table, (10, 30, 100)[seed % 3], seed, options))
    steps = np.random.default_rng([seed, 1]).uniform(size=found.shape)
    return found - steps / (options.random + 1)


def cells(found):
    """Return share below the level and the test, one cell per criterion."""
    return [
        f"{np.mean(p < LEVEL):.1%}, {kstest(p, 'uniform').pvalue:.2f}" for p in found.T
    ]


def print_noise(options):
    kinds = KINDS if data_folder() else KINDS[:3]
    seeds = range(options.first, options.first + options.tables)
    tasks = [(kinds[seed % len(kinds)], seed) for seed in seeds]
    found = np.array(
        Parallel(options.jobs)(delayed(on_noise)(*task, options) for task in tasks)
    )
    rows = [[name, *cells(found[:, at])] for at, name in enumerate(SELECTORS)]
    for kind in kinds:
        of_kind = found[[each == kind for each, _ in tasks]]
        rows += [
            [f"{kind}, {name}", *cells(of_kind[:, at])]
            for at, name in enumerate(SELECTORS)
        ]
    print(f"\n### {options.tables} tables of noise: share of p < {LEVEL}, uniformity\n")
    print(markdown_table(["selector", *CRITERION_NAMES], rows))


def print_structure(options):
    tables = {
        f"{name}, planted": planted(name, n_samples=100, n_noise=290).table
        for name in GEOMETRIES
    }
    numbers = dict.fromkeys(tables, 10)
    if data_folder():
        tables |= {name: real(name) for name in STRUCTURED}
    rows = []
    for title, table in tables.items():
        found = p_values(table, numbers.get(title, 100), 0, options)
        rows += [
            [title, name, *(f"{p:.3f}" for p in each)]
            for name, each in zip(SELECTORS, found, strict=True)
        ]
    print("\n### Tables with structure: p values\n")
    print(markdown_table(["table", "selector", *CRITERION_NAMES], rows))


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m studies verdict_noise", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--tables", type=int, default=240)
    parser.add_argument("--first", type=int, default=0, help="seed of the first table")
    parser.add_argument("--random", type=int, default=59)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--standardize", default="auto")
    parser.add_argument("--quick", action="store_true", help="12 tables")
    options = parser.parse_args(arguments)
    if options.quick:
        options.tables, options.random = 12, 19
    start = time.perf_counter()
    print_noise(options)
    print_structure(options)
    print(f"\n{(time.perf_counter() - start) / 60:.1f} minutes")

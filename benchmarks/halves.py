"""The labelled sets in two halves: one to develop criteria on, one to report."""

import argparse

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from ufselect.data import data_folder, read_labelled
from ufselect.evaluation import judge_by_k_means

# One of either half.
SMALL = "colon,lung_small"

# Judged on so many samples at most.
MOST_SAMPLES = 2000


def paths_of_halves():
    """Return the files of either half: every other one in alphabetical order."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("no data: set UFSELECT_DATA to the folder of the .mat files")
    paths = sorted(folder.glob("*.mat"), key=lambda path: path.stem.lower())
    return {"development": paths[0::2], "reporting": paths[1::2]}


def parse_options(description, repetitions):
    """Return what the command line asks of a study of both halves."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=repetitions)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", help="names separated by commas; default: all")
    parser.add_argument("--quick", action="store_true", help="two small sets, once")
    options = parser.parse_args()
    if options.quick:
        options.repetitions, options.sets = 1, options.sets or SMALL
    return options


def studied_halves(study, options):
    """Yield the name of either half and what the study found on each of its sets."""
    wanted = options.sets.split(",") if options.sets else None
    for half, paths in paths_of_halves().items():
        paths = [path for path in paths if wanted is None or path.stem in wanted]
        if paths:
            yield (
                half,
                Parallel(n_jobs=options.jobs)(
                    delayed(study)(path, options.repetitions) for path in paths
                ),
            )


class Judged:
    """A labelled set and the scores of sets of its columns, each computed once."""

    def __init__(self, path, repetitions):
        data = read_labelled(path)
        self.name, self.table = data.name, data.table
        self.seeds = range(repetitions)
        rows = np.random.RandomState(0).permutation(len(data.classes))[:MOST_SAMPLES]
        some = data.table[rows]
        self.some = some.toarray() if sp.issparse(some) else some
        self.classes = data.classes[rows]
        self._known = {}

    def score(self, columns):
        """Return accuracy and geometric NMI of k-means on some columns."""
        columns = np.sort(columns)
        key = columns.tobytes()
        if key not in self._known:
            values = judge_by_k_means(
                self.some[:, columns], self.classes, seeds=self.seeds
            )
            self._known[key] = values.mean(axis=0)
        return self._known[key]


def cell(pair):
    """Return accuracy and NMI in percent, or gaps of them, as text."""
    return "/".join(f"{100 * value:.1f}" for value in pair)

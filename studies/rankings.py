"""Labelled sets, rankings within limits, and their judges, for `label_free`.

What was computed is kept in a folder by joblib. The key of a ranking is the file of its
set, the method with its settings, and the source code on which it depends: that of its
folder of ``src/ufselect`` and of the folders that this one may import. The key of a
score is the file of its set and the columns.
"""

import hashlib
import time
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Memory
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

import ufselect
from ufselect.data import data_folder, read_labelled
from ufselect.data.tables.isolation import EndedError, isolated
from ufselect.evaluation import judge_by_k_means
from ufselect.registry import all_selectors, selector
from ufselect.report import markdown_table

DOMAINS = {
    "genes": "Brain_Tumor1 DLBCL Garber2001 Gordon Lapointe2004 Nakayama SRBCT Su2001 "
    "Christensen TCGA_breast lymphoma Prostate-GE lung_bhattacharjee1543 lung_small "
    "colon lung",
    "cells": "PBMC68k_reduced Pollen WormNeuron Yan mESC_Buettner scmix_celseq2 "
    "scmix_dropseq scZeiselSub scMouseBladder2100",
    "images": "ORL COIL20 Yale warpPIE10P MNIST_t10k JAFFE MSRA25 UMIST Semeion",
    "text": "BASEHOCK bbcsport wap CNAE9 WebKB_texas hitech tr31 tr45",
    "sensors": "Isolet Arrhythmia madelon arcene",
}
DOMAIN_OF = {name: domain for domain in DOMAINS for name in DOMAINS[domain].split()}

# The judge sees the first so many features of a ranking.
NUMBERS = (50, 100, 200)

# All methods are at their defaults but for these. Three must be told how many features
# to rank; the others are stopped after so many iterations.
SETTINGS = {
    "MCFS": {"n_features_to_select": 100},
    "SPFS": {"n_features_to_select": max(NUMBERS), "strategy": "greedy"},
    "REFS": {"n_features_to_select": max(NUMBERS)},
    "UDFS": {"max_iter": 30},
    "NDFS": {"max_iter": 30},
    "JELSR": {"max_iter": 30},
    "GLSPFS": {"max_iter": 30},
    "SPUFS": {"max_iter": 30},
    "MFFS": {"max_iter": 200},
    "SGFS": {"max_iter": 200},
    "LDSSL": {"max_iter": 200},
}
# The judge draws random features. CPFS takes 32 s on colon, one of the smallest sets.
LEFT_OUT = ("RandomSelection", "CPFS")
METHODS = ["AutoSelect", *(each for each in all_selectors() if each not in LEFT_OUT)]
# Their iterations cost much more than reading the table once or twice.
COSTLY = (
    *("UDFS", "NDFS", "JELSR", "GLSPFS", "SPUFS"),
    *("MFFS", "SGFS", "LDSSL", "FSASL", "REFS"),
)

# What a fit may take. Processor time of one thread does not depend on other work.
SECONDS = 20
MEMORY = 6 * 10**9

# Random draws that a ranking is compared with, and repetitions of k-means.
DRAWS = range(5)
SEEDS = range(3)

MAX_JUDGED_SAMPLES = 2000
# Columns of a sparse table up to which it is judged as a dense one.
MAX_DENSE_COLUMNS = 2000

SOURCE = Path(ufselect.__file__).parent
# Each may import from those before it; see CONTRIBUTING.md.
ROOMS = ("data", "matrix", "solvers", "selectors", "evaluation", "tuning")


def find_sets():
    """Return the files of the labelled sets in two halves.

    Every other one in alphabetical order belongs to the same half: one is for
    developing criteria, the other for reporting.
    """
    folder = data_folder()
    if folder is None:
        raise SystemExit("no data: set UFSELECT_DATA to the folder of the .mat files")
    paths = sorted(folder.glob("*.mat"), key=lambda path: path.stem.lower())
    return {"development": paths[0::2], "reporting": paths[1::2]}


def find_set(name):
    """Return the file of a labelled set."""
    (path,) = (
        path for half in find_sets().values() for path in half if path.stem == name
    )
    return path


class Ranking(NamedTuple):
    """Features from best to worst, those that the selector keeps, and what it took.

    A fit that did not finish has no features, and the reason.
    """

    order: np.ndarray
    chosen: np.ndarray
    seconds: float
    stopped: str = ""


def candidate(name):
    """Return a method with its settings, not fitted."""
    return selector(name, random_state=0, **SETTINGS.get(name, {}))


def fitted(unfitted, table):
    """Fit without warnings: they are about tables, and there are hundreds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return unfitted.fit(table)


def ranking_by(unfitted, table):
    """Fit a selector with one thread and return its ranking; one feature is chosen."""
    start = time.process_time()
    with threadpool_limits(1):
        found = fitted(unfitted, table)
    seconds = time.process_time() - start
    order = np.asarray(found.order_)
    chosen = np.flatnonzero(found.get_support())
    return Ranking(order, chosen if len(chosen) else order[:1], seconds)


def no_ranking(why, seconds=np.nan):
    """Return what is kept of a fit that did not finish."""
    nothing = np.empty(0, dtype=np.intp)
    return Ranking(nothing, nothing, seconds, why)


def limited_ranking(unfitted, table, seconds):
    """Return the ranking by a fit in a process, which is ended at the limits."""
    work = (ranking_by, unfitted, table)
    try:
        return isolated(*work, seconds=seconds, memory=MEMORY)
    except EndedError as error:
        ended = "time" if "did not end" in str(error) else "its process died"
        return no_ranking(ended, seconds)
    except MemoryError:
        return no_ranking("memory")
    except ValueError as error:
        return no_ranking(f"refused: {error}")


def ranked(folder, path, table, name, part="", seconds=10**6):
    """Return the ranking of a table, or of a part of it, fitting only once."""
    keep = Memory(folder, verbose=0).cache(_ranking, ignore=["table"])
    settings = SETTINGS.get(name, {})
    return keep(name, settings, seconds, digest(path), part, source_of(name), table)


def _ranking(name, settings, seconds, file, part, source, table):
    return limited_ranking(candidate(name), table, seconds)


@cache
def digest(path):
    """Return a fingerprint of a file."""
    return hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()


def source_of(name):
    """Return a fingerprint of the source on which a method depends."""
    room = type(candidate(name)).__module__.split(".")[1]
    return digest_of_rooms(ROOMS[: ROOMS.index(room) + 1] if room in ROOMS else ROOMS)


@cache
def digest_of_rooms(rooms=ROOMS):
    """Return a fingerprint of the source of some rooms."""
    found = hashlib.sha1(usedforsecurity=False)
    for room in rooms:
        for path in sorted((SOURCE / room).rglob("*.py")):
            found.update(path.relative_to(SOURCE).as_posix().encode())
            found.update(path.read_bytes())
    return found.hexdigest()


def kept_calls(function, folder):
    """Return a function whose results are kept while the source stays the same."""
    return Memory(folder / digest_of_rooms()[:12], verbose=0).cache(function)


class Judge:
    """A labelled set and the scores of sets of its columns, each computed once.

    A score is accuracy and geometric NMI of k-means, and accuracy of a classifier by
    five neighbours in stratified cross-validation, in percent. All three use labels.
    """

    def __init__(self, path, folder):
        data = read_labelled(path)
        self.path, self.table = path, data.table
        self.n_features = data.table.shape[1]
        classes = np.asarray(data.classes)
        rows = np.random.RandomState(0).permutation(len(classes))[:MAX_JUDGED_SAMPLES]
        self._some = data.table[rows].astype(np.float64), classes[rows]
        self._keep = Memory(folder, verbose=0).cache(
            _score, ignore=["table", "classes"]
        )

    def score(self, columns):
        """Return the three percentages of some columns."""
        columns = np.sort(np.asarray(columns, dtype=np.int64))
        return self._keep(digest(self.path), columns, *self._some)

    def ranking(self, order, numbers):
        """Return the mean score of the first columns, over several numbers of them."""
        return np.mean([self.score(order[:number]) for number in numbers], axis=0)

    def random(self, numbers):
        """Return the mean score of random columns, over draws and numbers."""
        orders = [
            np.random.RandomState(100 + draw).permutation(self.n_features)
            for draw in DRAWS
        ]
        return np.mean([self.ranking(order, numbers) for order in orders], axis=0)


def _score(file, columns, table, classes):
    values = table[:, columns]
    if sp.issparse(values) and len(columns) <= MAX_DENSE_COLUMNS:
        values = values.toarray()
    smallest = np.unique(classes, return_counts=True)[1].min()
    folds = StratifiedKFold(max(2, min(5, smallest)), shuffle=True, random_state=0)
    # A process that is forked for a fit must not find threads of OpenMP.
    with threadpool_limits(1):
        clustered = judge_by_k_means(values, classes, seeds=SEEDS, n_init=5)
        model = KNeighborsClassifier(5)
        classified = cross_val_score(model, values, classes, cv=folds).mean()
    return 100 * np.append(clustered.mean(axis=0), classified)


SEEN = "Labels: every figure of these tables was computed with them, and no ranking."
UNSEEN = "Labels: none were used."


class Answer(NamedTuple):
    """A target, what was measured, and whether it is met."""

    what: str
    target: str
    measured: str
    met: bool | None


class Part(NamedTuple):
    """A part of the study."""

    text: str
    answers: list[Answer]


def at_least(what, least, values, form="{:.0f} %"):
    """Return the answer to a target that no value may fall below."""
    return _answer(what, "at least", least, values, form, lambda a, b: a >= b)


def at_most(what, most, values, form="{:.1f} %"):
    """Return the answer to a target that no value may exceed."""
    return _answer(what, "at most", most, values, form, lambda a, b: a <= b)


def _answer(what, words, bounds, values, form, holds):
    target = words + " " + " / ".join(map(form.format, bounds))
    if values is None:
        return Answer(what, target, "not measured", None)
    pairs = list(zip(values, bounds, strict=False))
    shown = " / ".join(form.format(value) for value, _ in pairs)
    return Answer(what, target, shown, all(holds(*pair) for pair in pairs))


def table_of_answers(answers):
    """Return the table of all targets."""
    words = {True: "yes", False: "**no**", None: "-"}
    rows = [
        [each.what, each.target, each.measured, words[each.met]] for each in answers
    ]
    return markdown_table(["AutoSelect", "target", "measured", "met"], rows)

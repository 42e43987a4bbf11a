"""The sets, candidates, judges and results of label_free.py.

Rankings and scores are cached on disk.

The key of a ranking is the file of its set, the selector with its parameters, and the
source code that could change it: that of its folder of ``src/ufselect`` and of the
folders that this one may import. The key of a score is the file of its set and the
columns.
"""

import hashlib
import json
import os
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import ufselect
from ufselect.data import read_labelled
from ufselect.evaluation import judge_by_k_means
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

# Who ranks. All are at their defaults; MCFS wants to know how many columns.
CANDIDATES = {
    "AutoSelect": lambda: ufselect.AutoSelect(random_state=0),
    "SCFS": lambda: ufselect.SCFS(random_state=0),
    "Laplacian score": lambda: ufselect.LaplacianScore(),
    "MCFS": lambda: ufselect.MCFS(100),
    "variance": lambda: ufselect.MaxVariance(),
}
if hasattr(ufselect, "GraphEnergy"):
    CANDIDATES["graph energy"] = lambda: ufselect.GraphEnergy()

# The first 300 columns and the own number of AutoSelect(random_state=0) of version
# 0.1.0.dev450; nothing computes them any more.
FIRST_VERSION = "first version"
KEPT = Path(__file__).parents[1] / "results" / "first_version.npz"

# Random draws that a ranking is compared with, and repetitions of k-means.
DRAWS = range(5)
SEEDS = range(3)

# Judged on so many samples at most.
MOST_SAMPLES = 2000

# Columns of a sparse table up to which it is judged as a dense one.
DENSE_COLUMNS = 2000

SOURCE = Path(ufselect.__file__).parent
# Each may import from those before it; see CONTRIBUTING.md.
ROOMS = ("data", "matrix", "solvers", "selectors", "evaluation", "tuning")


class Ranking(NamedTuple):
    """Columns from best to worst, and those that the selector would keep."""

    order: np.ndarray
    chosen: np.ndarray


def fitted(selector, table):
    """Fit without a word: warnings are about tables, and there are hundreds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(table)


def ranking_of(selector):
    """Return the ranking of a fitted selector; at least one column is chosen."""
    order = np.asarray(selector.order_)
    chosen = np.flatnonzero(selector.get_support())
    return Ranking(order, chosen if len(chosen) else order[:1])


def ranked(folder, path, table, selector, part=""):
    """Return the ranking of a table, or of a part of it, fitting only once."""
    wanted = (digest(path), repr(selector), source_of(selector), part)
    key = hashlib.sha1("\n".join(wanted).encode(), usedforsecurity=False).hexdigest()
    file = folder / "rankings" / f"{path.stem}-{key}.npz"
    if file.exists():
        with np.load(file) as kept:
            return Ranking(kept["order"], kept["chosen"])
    found = ranking_of(fitted(selector, table))
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}.npz")
    np.savez_compressed(unfinished, order=found.order, chosen=found.chosen)
    unfinished.replace(file)
    return found


@cache
def digest(path):
    """Return a fingerprint of a file."""
    return hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()


def source_of(selector):
    """Return a fingerprint of the source on which a selector depends."""
    room = type(selector).__module__.split(".")[1]
    rooms = ROOMS[: ROOMS.index(room) + 1] if room in ROOMS else ROOMS
    return digest_of_rooms(rooms)


@cache
def digest_of_rooms(rooms):
    """Return a fingerprint of the source of some rooms."""
    found = hashlib.sha1(usedforsecurity=False)
    for room in rooms:
        for path in sorted((SOURCE / room).rglob("*.py")):
            found.update(path.relative_to(SOURCE).as_posix().encode())
            found.update(path.read_bytes())
    return found.hexdigest()


def first_version(name, n_features):
    """Return the ranking of the first version, or None for a table it has not seen."""
    with np.load(KEPT) as kept:
        places = np.flatnonzero(kept["names"] == name)
        if not len(places) or kept["n_features"][places[0]] != n_features:
            return None
        order = kept["orders"][places[0]][:n_features].astype(np.intp)
        return Ranking(order, order[: kept["n_selected"][places[0]]])


class Judge:
    """A labelled set and the scores of sets of its columns, each computed once.

    A score is accuracy and geometric NMI of k-means, and accuracy of a classifier by
    five neighbours in stratified cross-validation, in percent. All three use labels.
    """

    def __init__(self, path, folder):
        data = read_labelled(path)
        self.path, self.name, self.table = path, data.name, data.table
        self.n_features = data.table.shape[1]
        rows = np.random.RandomState(0).permutation(len(data.classes))[:MOST_SAMPLES]
        self._some = data.table[rows].astype(np.float64)
        self._classes = np.asarray(data.classes)[rows]
        self._file = folder / "scores" / f"{path.stem}-{digest(path)[:12]}.json"
        self._known = self._kept()

    def score(self, columns):
        """Return the three percentages of some columns."""
        columns = np.sort(np.asarray(columns, dtype=np.int64))
        key = hashlib.md5(columns.tobytes(), usedforsecurity=False).hexdigest()
        if key not in self._known:
            values = self._some[:, columns]
            if sp.issparse(values) and len(columns) <= DENSE_COLUMNS:
                values = values.toarray()
            self._known[key] = [*self._clustered(values), self._classified(values)]
        return np.array(self._known[key])

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

    def save(self):
        """Keep all scores for the next run, with those that others kept meanwhile."""
        self._known = self._kept() | self._known
        self._file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._file.with_suffix(f".{os.getpid()}")
        unfinished.write_text(json.dumps(self._known), "utf-8")
        unfinished.replace(self._file)

    def _kept(self):
        if not self._file.exists():
            return {}
        return json.loads(self._file.read_text("utf-8"))

    def _clustered(self, values):
        scores = judge_by_k_means(values, self._classes, seeds=SEEDS, n_init=5)
        return (100 * scores.mean(axis=0)).tolist()

    def _classified(self, values):
        smallest = np.unique(self._classes, return_counts=True)[1].min()
        folds = StratifiedKFold(max(2, min(5, smallest)), shuffle=True, random_state=0)
        model = KNeighborsClassifier(5)
        return float(
            100 * cross_val_score(model, values, self._classes, cv=folds).mean()
        )


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

"""The sets, candidates, judges and results of label_free.py.

Rankings and scores are cached on disk.

The key of a ranking is the file of its set, the selector with its parameters, and the
source code that could change it: that of its folder of ``src/ufselect`` and of the
folders that this one may import. The key of a score is the file of its set and the
columns.
"""

import hashlib
import json
import multiprocessing
import os
import threading
import time
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil
import scipy.sparse as sp
from joblib import Memory
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

import ufselect
from ufselect.data import read_labelled
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
SECONDS = 20.0
MEMORY = 6 * 10**9
SECONDS_BETWEEN_LOOKS = 0.1

# A server that has loaded this module starts a process within milliseconds.
CONTEXT = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")

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
    """Fit a selector and return its ranking; at least one feature is chosen."""
    start = time.process_time()
    found = fitted(unfitted, table)
    seconds = time.process_time() - start
    order = np.asarray(found.order_)
    chosen = np.flatnonzero(found.get_support())
    return Ranking(order, chosen if len(chosen) else order[:1], seconds)


def no_ranking(seconds, why):
    """Return what is kept of a fit that did not finish."""
    nothing = np.empty(0, dtype=np.intp)
    return Ranking(nothing, nothing, seconds, why)


def limited_ranking(unfitted, table, seconds):
    """Return the ranking by a fit in a process, which is ended at the limits."""
    CONTEXT.set_forkserver_preload([__name__])
    ours, theirs = CONTEXT.Pipe(duplex=False)
    arguments = (theirs, unfitted, table)
    process = CONTEXT.Process(target=_send_ranking, args=arguments, daemon=True)
    process.start()
    theirs.close()
    try:
        watched = psutil.Process(process.pid)
        while not ours.poll(SECONDS_BETWEEN_LOOKS):
            used = watched.cpu_times()
            if used.user + used.system > seconds:
                return no_ranking(seconds, "time")
            if watched.memory_info().rss > MEMORY:
                return no_ranking(seconds, "memory")
        return ours.recv()
    except (EOFError, psutil.NoSuchProcess):
        return no_ranking(seconds, "its process died")
    finally:
        process.kill()
        process.join()
        ours.close()


def _send_ranking(pipe, unfitted, table):
    # Nobody watches the limits of this process once the study was killed.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with threadpool_limits(1):
        try:
            found = ranking_by(unfitted, table)
        except (ValueError, MemoryError) as error:
            # However long it may take, it would say the same.
            found = no_ranking(np.inf, f"refused: {error}")
    pipe.send(found)


def _end_with_parent():
    multiprocessing.parent_process().join()
    os._exit(1)


def ranked(folder, path, table, unfitted, part="", seconds=None):
    """Return the ranking of a table, or of a part of it, fitting only once.

    With a limit in seconds, a fit that was stopped earlier is repeated, and one that
    took longer counts as stopped.
    """
    wanted = (digest(path), repr(unfitted), source_of(unfitted), part)
    key = hashlib.sha1("\n".join(wanted).encode(), usedforsecurity=False).hexdigest()
    file = folder / "rankings" / f"{path.stem}-{type(unfitted).__name__}-{key}.npz"
    found = None
    if file.exists():
        with np.load(file) as kept:
            found = Ranking(*(kept[field][()] for field in Ranking._fields))
    limit = np.inf if seconds is None else seconds
    if found is None or (found.stopped and found.seconds < limit):
        if seconds is None:
            found = ranking_by(unfitted, table)
        else:
            found = limited_ranking(unfitted, table, seconds)
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(f".{os.getpid()}.npz")
        np.savez_compressed(unfinished, **found._asdict())
        unfinished.replace(file)
    if found.seconds > limit and not found.stopped:
        return no_ranking(found.seconds, "time")
    return found


@cache
def digest(path):
    """Return a fingerprint of a file."""
    return hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()


def source_of(unfitted):
    """Return a fingerprint of the source on which a selector depends."""
    room = type(unfitted).__module__.split(".")[1]
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


def kept_calls(function, folder):
    """Return a function whose results are kept while the source stays the same."""
    place = folder / "calls" / digest_of_rooms(ROOMS)[:12]
    return Memory(place, verbose=0).cache(function)


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

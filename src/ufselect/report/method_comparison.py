"""Selections of several methods side by side, by what needs no labels and what does."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from sklearn.utils import check_random_state

from ufselect.evaluation import judge_by_k_means, redundancy
from ufselect.evaluation.criteria import CRITERIA, N_NEIGHBOURS
from ufselect.evaluation.tables import UNITS, in_units
from ufselect.evaluation.verdict import MOST_SAMPLES
from ufselect.matrix import Float, Index
from ufselect.report.drawing import printable
from ufselect.report.selection_measures import MOST_PRODUCTS
from ufselect.report.tables import text_table
from ufselect.solvers.rankings import rank_agreement, ranks_of, top_overlap
from ufselect.tuning.side_by_side import Ranked

Measure = Callable[[Index], float | None]
# Columns of the table: key, title and format.
COLUMNS = {
    "overlap": ("overlap", "{:.0%}"),
    "rank_agreement": ("rank agreement", "{:.2f}"),
    "reconstruction": ("reconstruction", "{:.3f}"),
    "neighbours": ("neighbours", "{:.3f}"),
    "distinctness": ("distinctness", "{:.3f}"),
    "accuracy": ("ACC %", "{:.1%}"),
    "mutual_information": ("NMI %", "{:.1%}"),
    "seconds": ("seconds", "{:.2f}"),
}
Row = dict[str, Any]
# Whose rankings the others need not agree with.
CHANCE = "random"
# By what a winner is named, the first that was measured: key, name and factor.
DECIDING = {
    "mutual_information": ("NMI", 100),
    "neighbours": ("neighbours", 1),
    "reconstruction": ("reconstruction", 1),
}
# Nine in ten pairs of random sets differ by less than what a lead has to exceed.
ORDINARY = 0.9


class Comparison(NamedTuple):
    """One row per method, and how far each pair of methods agrees.

    Attributes
    ----------
    n_features : int
        How many features each selects.
    rows : list of dict
        What was measured of each; None where something could not be.
    names : list of str
        Of the methods that were fitted, in the order of the next two.
    overlap, rank_agreement : ndarray
        Share of the selected features in common, and Spearman's correlation.
    standardize : {"features", "samples", "none"}
        How the table was prepared before selections were measured.
    winner : str or None
        The method that leads by more than random sets differ.
    conclusion : str
        Who leads, and whether by more than that.
    """

    n_features: int
    rows: list[Row]
    names: list[str]
    overlap: Float
    rank_agreement: Float
    standardize: str
    winner: str | None
    conclusion: str

    def table(
        self, make: Callable[[Sequence[str], Sequence[Sequence[str]]], str] = text_table
    ) -> str:
        """Return the rows as a table of text, or as another function makes it."""
        shown = [
            key for key in COLUMNS if any(row.get(key) is not None for row in self.rows)
        ]
        header = ["method", *(COLUMNS[key][0] for key in shown)]
        cells = [
            [printable(row["method"]), *(_cell(row, key) for key in shown)]
            for row in self.rows
        ]
        return make(header, cells)


def compare_selections(
    X: Any,
    ranked: Mapping[str, Sequence[Ranked]],
    n_features: int,
    *,
    labels: ArrayLike | None = None,
    standardize: bool | str = "auto",
    random_state: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> Comparison:
    """Measure the selections of several methods, and of all features.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p)
    ranked : mapping of str to sequence of Ranked
        One ranking of each method; of several the means are taken. That of the name
        ``random`` is not counted when others are asked how far they agree.
    n_features : int
        How many of the best to look at.
    labels : array-like of shape (n,), optional
        Compared with k-means on the selected features. They change nothing else.
    standardize : {"auto", "features", "samples", "none"} or bool
        Units in which all selections are measured, as selectors name them.
    random_state : int
        Of the samples that are drawn if there are more than 400.
    progress : callable, optional
        Called with the methods done, all of them, and the name of the next.

    Examples
    --------
    >>> from ufselect import LaplacianScore, MaxVariance
    >>> from ufselect.data import planted
    >>> from ufselect.tuning.side_by_side import rank_with_each
    >>> X = planted("blobs").table
    >>> both = {"variance": MaxVariance(), "Laplacian": LaplacianScore()}
    >>> found = rank_with_each(X, both, n_features=5, n_clusters=3)
    >>> compared = compare_selections(X, {each.name: [each] for each in found}, 5)
    >>> [row["method"] for row in compared.rows]
    ['variance', 'Laplacian', 'all features']
    """
    rows_used = _some_samples(X.shape[0], random_state)
    judged = in_units(X[rows_used], standardize)
    known = None if labels is None else np.asarray(labels)[rows_used]
    measures = _measures(judged.table, known)
    fitted = {
        name: [each for each in several if each.scores is not None]
        for name, several in ranked.items()
    }
    names = [name for name, several in fitted.items() if several]
    pairs = _agreement([fitted[name] for name in names], n_features)
    rows: list[Row] = []
    spread: dict[str, float] = {}
    for place, name in enumerate(fitted):
        if progress is not None:
            progress(place, len(fitted) + 1, f"judging {name}")
        row: Row = {"method": name, "remarks": _remarks(ranked[name])}
        if name in names:
            row |= _with_others(pairs, names, name)
            values = _values(measures, fitted[name], n_features)
            row["seconds"] = float(np.mean([each.seconds for each in fitted[name]]))
            row |= _means(values)
            if name == CHANCE:
                spread = _spread(values)
        rows.append(row)
    everything = np.arange(X.shape[1])
    values = {name: [measure(everything)] for name, measure in measures.items()}
    rows.append({"method": "all features", **_means(values)})
    winner, conclusion = _conclusion(rows, spread)
    conclusion += f" All are judged {UNITS[judged.kind]}."
    return Comparison(n_features, rows, names, *pairs, judged.kind, winner, conclusion)


def _some_samples(n_samples: int, seed: int) -> Index:
    rows = np.arange(n_samples)
    if n_samples <= MOST_SAMPLES:
        return rows
    random = check_random_state(seed)
    return np.sort(random.choice(n_samples, MOST_SAMPLES, replace=False))


def _measures(table: Any, labels: Any) -> dict[str, Measure]:
    """Return what is measured of a set of columns, the table prepared once."""
    measures: dict[str, Measure] = {
        "redundancy": lambda columns: _redundancy(table, columns),
        "reconstruction": CRITERIA["reconstruction"](table),
    }
    if table.shape[0] > N_NEIGHBOURS:
        measures["neighbours"] = CRITERIA["neighbours"](table)
    if labels is not None:
        for place, name in enumerate(("accuracy", "mutual_information")):
            measures[name] = _found(table, labels, place)
    return measures


def _redundancy(table: Any, columns: Index) -> float | None:
    if table.shape[0] * len(columns) ** 2 > MOST_PRODUCTS:
        return None
    return redundancy(table[:, columns])


def _found(table: Any, labels: Any, place: int) -> Measure:
    metric = ("accuracy", "nmi_geometric")[place]

    def score(columns: Index) -> float:
        part = table[:, columns]
        scores = judge_by_k_means(
            part, labels, seeds=range(3), n_init=5, metrics=[metric]
        )
        return float(scores.mean())

    return score


def _values(
    measures: Mapping[str, Measure], several: Sequence[Ranked], n_features: int
) -> dict[str, list[float | None]]:
    """Return each measure of the selections of one method."""
    sets = [
        np.sort(each.order[:n_features]) for each in several if each.order is not None
    ]
    return {
        name: [measure(columns) for columns in sets]
        for name, measure in measures.items()
    }


def _means(values: Mapping[str, Sequence[float | None]]) -> Row:
    row: Row = {
        name: None if None in found else float(np.mean(found))  # type: ignore[arg-type]
        for name, found in values.items()
    }
    repeated = row["redundancy"]
    return row | {"distinctness": None if repeated is None else 1.0 - repeated}


def _spread(values: Mapping[str, Sequence[float | None]]) -> dict[str, float]:
    """Return how far two random sets ordinarily differ in each measure."""
    return {
        name: float(np.quantile(pdist(np.c_[found]), ORDINARY))
        for name, found in values.items()
        if len(found) > 2 and None not in found
    }


def _conclusion(
    rows: Sequence[Row], spread: Mapping[str, float]
) -> tuple[str | None, str]:
    """Return the winner, if there is one, and a sentence about who leads."""
    methods = [row for row in rows[:-1] if row["method"] != CHANCE and len(row) > 2]
    key = next((key for key in DECIDING if key in spread), None)
    if key is None or len(methods) < 2:
        return None, "There are no two methods to compare."
    title, factor = DECIDING[key]
    found = {row["method"]: factor * row[key] for row in methods}
    first, second = sorted(found, key=lambda name: -found[name])[:2]
    lead, ordinary = found[first] - found[second], factor * spread[key]
    digits = 1 if factor > 1 else 3
    best, next_best = (f"{found[name]:.{digits}f}" for name in (first, second))
    names = [printable(name) for name in (first, second)]
    if best == next_best:
        return None, f"By {title}, {' and '.join(names)} are equal ({best}) and lead."
    more = lead > ordinary
    sentence = (
        f"By {title}, {names[0]} leads {names[1]} by {lead:.{digits}f} ({best} against "
        f"{next_best}), which is {'' if more else 'not '}more than the spread of "
        "random sets: nine in ten pairs of them differ by less than "
        f"{ordinary:.{digits}f}."
    )
    return first if more else None, sentence


def _agreement(
    fitted: Sequence[Sequence[Ranked]], n_features: int
) -> tuple[Float, Float]:
    """Return overlap and correlation between methods, means over their rankings."""
    if not fitted:
        return np.empty((0, 0)), np.empty((0, 0))
    owners = [place for place, several in enumerate(fitted) for _ in several]
    ranks = ranks_of(np.array([each.scores for several in fitted for each in several]))
    membership = np.equal.outer(np.arange(len(fitted)), owners).astype(float)
    membership /= membership.sum(axis=1, keepdims=True)
    overlap, correlation = (
        membership @ table @ membership.T
        for table in (top_overlap(ranks, n_features), rank_agreement(ranks))
    )
    return overlap, correlation


def _with_others(pairs: tuple[Float, Float], names: Sequence[str], name: str) -> Row:
    others = [place for place, other in enumerate(names) if other not in (name, CHANCE)]
    if not others:
        return {}
    own = names.index(name)
    overlap, correlation = (float(table[own, others].mean()) for table in pairs)
    return {"overlap": overlap, "rank_agreement": correlation}


def _remarks(several: Sequence[Ranked]) -> list[str]:
    return list(dict.fromkeys(remark for each in several for remark in each.remarks))


def _cell(row: Row, key: str) -> str:
    value = row.get(key)
    if value is None:
        return "-"
    title, form = COLUMNS[key]
    text = form.format(value)
    return text.rstrip("%") if title.endswith("%") else text

"""Selections of several methods side by side, by what needs no labels and what does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from ufselect._version import __version__
from ufselect.evaluation import judge_by_k_means, redundancy
from ufselect.evaluation.checks import checked_table
from ufselect.evaluation.criteria import CRITERIA, N_NEIGHBOURS
from ufselect.evaluation.significance import MAX_SAMPLES
from ufselect.matrix import DataMatrix, Float, Index, as_matrix
from ufselect.plotting.axes import printable
from ufselect.plotting.bars import range_chart
from ufselect.plotting.maps import agreement_maps
from ufselect.report.decision import listed
from ufselect.report.parts import MAX_PRODUCTS
from ufselect.report.rendering import (
    Block,
    Bullets,
    Lead,
    Paragraph,
    Picture,
    Preformatted,
    TextTable,
    html_page,
    section,
    text_table,
)
from ufselect.solvers.preparation import UNITS, in_units
from ufselect.solvers.rankings import rank_agreement, ranks_of, top_overlap
from ufselect.tuning.side_by_side import Ranked

# Columns of the table: key, title and format.
COLUMNS = {
    "overlap": ("overlap", "{:.0%}"),
    "rank_agreement": ("rank agreement", "{:.2f}"),
    "explained_variance": ("explained variance", "{:.3f}"),
    "neighbourhood_preservation": ("neighbours kept", "{:.3f}"),
    "low_redundancy": ("low redundancy", "{:.3f}"),
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
    "neighbourhood_preservation": ("neighbourhood preservation", 1),
    "explained_variance": ("explained variance", 1),
}
# What is drawn, in two figures.
LABEL_FREE = ("neighbourhood_preservation", "explained_variance", "low_redundancy")
WITH_LABELS = ("accuracy", "mutual_information")


@dataclass(frozen=True, eq=False)
class Comparison:
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
        The method that leads by more than noise, and is better than random features.
    conclusion : str
        Who leads, and whether by more than that.
    selected : dict of str to list of int
        The features of each method, best first.
    draws : dict of str to list of float
        What was measured of each set of random features.
    """

    n_features: int
    rows: list[Row]
    names: list[str]
    overlap: Float
    rank_agreement: Float
    standardize: str
    winner: str | None
    conclusion: str
    selected: dict[str, list[int]]
    draws: dict[str, list[float]]

    def table(
        self, make: Callable[[Sequence[str], Sequence[Sequence[str]]], str] = text_table
    ) -> str:
        """Return the rows as a table of text, or as another function makes it."""
        return make(*self.cells())

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Return what was measured of each method, NaN where nothing was."""
        frame = pd.DataFrame(self.rows).set_index("method")
        frame = frame.reindex(columns=list(COLUMNS)).astype(float)
        return frame.dropna(axis=1, how="all")

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return header and rows of the table."""
        header = ["method", *(COLUMNS[key][0] for key in self.frame)]
        return header, [
            [printable(name), *(_cell(key, value) for key, value in row.items())]
            for name, row in self.frame.iterrows()
        ]

    def to_dict(self, feature_names: Sequence[str]) -> dict[str, Any]:
        """Return everything but the draws for JSON, with names of features."""
        content = {each.name: getattr(self, each.name) for each in fields(self)}
        del content["draws"]
        return content | {
            "overlap": self.overlap.tolist(),
            "rank_agreement": self.rank_agreement.tolist(),
            "selected": {
                name: [str(feature_names[place]) for place in places]
                for name, places in self.selected.items()
            },
        }

    def html(
        self,
        title: str,
        feature_names: Sequence[str],
        *,
        reading: Sequence[str] = (),
        explanation: str = "",
        command: str = "",
    ) -> str:
        """Return the comparison as one self-contained HTML document.

        Parameters
        ----------
        title : str
        feature_names : sequence of str
        reading : sequence of str
            What was done to read the table.
        explanation : str
            What the columns of the table mean.
        command : str
            What to type to repeat it.
        """
        notes = [
            Paragraph(f"Note: {row['method']}: {sentence}")
            for row in self.rows
            for sentence in row.get("remarks") or ()
        ]
        figures = [*filter(None, map(self._figure, (WITH_LABELS, LABEL_FREE)))]
        measures = TextTable(*self.cells(), interactive=True, name="comparison")
        measured: list[Block] = [*figures, measures, Paragraph(explanation), *notes]
        maps = {"features in common": self.overlap, "ranking": self.rank_agreement}
        agreement: list[Block] = []
        if len(self.names) > 1:
            agreement = [Picture(agreement_maps(self.names, maps).svg)]
        chosen = [self._features(feature_names)]
        read = Bullets(reading or ["Nothing was left out or changed."])
        done = [Preformatted(command)] if command else []
        parts: list[tuple[str, str, str, Sequence[Block]]] = [
            ("measures", "Measures", "What was measured", measured),
            ("features", "Features", "Who chose which features", chosen),
            ("agreement", "Agreement", "Do the methods agree?", agreement),
            ("table", "Your table", "Your table", [read]),
            ("repeat", "How it was done", "How it was done", done),
        ]
        given: dict[str, Any] = {
            **{"compared": self, "n_features": len(feature_names)},
            **{"version": __version__, "today": date.today().isoformat()},
        }
        sections = [
            section("compare.words.j2", name, heading, blocks, link=link, **given)
            for name, link, heading, blocks in parts
            if blocks
        ]
        lead = Lead(
            "use" if self.winner else "care",
            f"{self.winner or 'No method'} leads by more than noise.",
            [self.conclusion],
            [],
        )
        return html_page(title, sections, lead)

    def _figure(self, keys: Sequence[str]) -> Picture | None:
        """Draw what was measured of each method, over the range of random features."""
        frame = self.frame.drop(index=CHANCE, errors="ignore").filter(items=keys)
        if frame.empty:
            return None
        titles = {key: COLUMNS[key][0].removesuffix(" %") for key in frame}
        values = {
            title: {name: [] if np.isnan(v) else [v] for name, v in frame[key].items()}
            for key, title in titles.items()
        }
        draws = {titles[key]: self.draws[key] for key in frame if key in self.draws}
        plot = range_chart(values, draws)
        return Picture(plot.svg, data=frame.reset_index(), name="-".join(frame))

    def _features(self, feature_names: Sequence[str]) -> TextTable:
        """Return who chose which feature, and at which rank."""
        ranks = pd.DataFrame(
            {
                name: pd.Series(range(1, len(places) + 1), places)
                for name, places in self.selected.items()
            }
        )
        counts = ranks.count(axis=1)
        shown = ranks.map(lambda rank: "-" if np.isnan(rank) else f"{rank:.0f}")
        rows = [
            [printable(feature_names[place]), str(counts[place]), *shown.loc[place]]
            for place in ranks.index[np.lexsort([ranks.sum(axis=1), -counts])]
        ]
        header = ["feature", "methods", *map(printable, self.selected)]
        return TextTable(header, rows, interactive=True, name="features")


def _cell(key: str, value: float) -> str:
    title, form = COLUMNS[key]
    if np.isnan(value):
        return "-"
    return form.format(value).rstrip("%" if title.endswith("%") else "")


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
    data = checked_table(X, "X")
    rows_used = np.arange(data.shape[0])
    if len(rows_used) > MAX_SAMPLES:
        random = check_random_state(random_state)
        rows_used = np.sort(random.choice(rows_used, MAX_SAMPLES, replace=False))
    judged = in_units(data.take_rows(rows_used), standardize)
    known = None if labels is None else np.asarray(labels)[rows_used]
    measure = _measure(judged.matrix, known)
    fitted = {
        name: [each for each in several if each.order is not None]
        for name, several in ranked.items()
    }
    names = [name for name, several in fitted.items() if several]
    pairs = _agreement([fitted[name] for name in names], n_features)
    rows: list[Row] = []
    draws: dict[str, list[float]] = {}
    selected: dict[str, list[int]] = {}
    for place, (name, several) in enumerate(fitted.items()):
        if progress is not None:
            progress(place, len(fitted) + 1, f"judging {name}")
        remarks = [remark for each in ranked[name] for remark in each.remarks]
        row: Row = {"method": name, "remarks": list(dict.fromkeys(remarks))}
        rows.append(row)
        if not several:
            continue
        best = [np.asarray(each.order)[:n_features] for each in several]
        found = [measure(np.sort(columns)) for columns in best]
        own = names.index(name)
        if others := [at for at, n in enumerate(names) if n not in (name, CHANCE)]:
            row["overlap"] = float(pairs[0][own, others].mean())
            row["rank_agreement"] = float(pairs[1][own, others].mean())
        row["seconds"] = float(np.mean([each.seconds for each in several]))
        values = {key: [each[key] for each in found] for key in found[0]}
        row |= {
            key: None if None in each else float(np.mean(each))
            for key, each in values.items()
        }
        if name == CHANCE:
            draws = {key: each for key, each in values.items() if None not in each}
        else:
            selected[name] = best[0].tolist()
    rows.append({"method": "all features", **measure(np.arange(data.shape[1]))})
    winner, conclusion = _conclusion(rows, draws)
    conclusion += f" All are judged {UNITS[judged.kind]}."
    return Comparison(
        *(n_features, rows, names, *pairs, judged.kind),
        *(winner, conclusion, selected, draws),
    )


def _measure(data: DataMatrix, labels: Any) -> Callable[[Index], Row]:
    """Return what measures a set of columns, the table prepared once."""
    names = ["explained variance"]
    if data.shape[0] > N_NEIGHBOURS:
        names.append("neighbourhood preservation")
    criteria = {name.replace(" ", "_"): CRITERIA[name](data) for name in names}

    def measured(columns: Index) -> Row:
        part = as_matrix(data.raw[:, columns])
        repeated = None
        if data.shape[0] * len(columns) ** 2 <= MAX_PRODUCTS:
            repeated = redundancy(part)
        row: Row = {
            "redundancy": repeated,
            "low_redundancy": None if repeated is None else 1.0 - repeated,
            **{name: criterion(columns) for name, criterion in criteria.items()},
        }
        if labels is not None:
            scores = judge_by_k_means(part, labels, seeds=range(3), n_init=5)
            means = scores.mean(axis=0).tolist()
            row |= dict(zip(("accuracy", "mutual_information"), means, strict=True))
        return row

    return measured


def _conclusion(
    rows: Sequence[Row], draws: Mapping[str, Sequence[float]]
) -> tuple[str | None, str]:
    """Return the winner, if there is one, and a sentence about who leads.

    A lead is more than noise if it is longer than the range of the random sets, whose
    scores differ for no reason. With 20 of them, two equal methods have such a lead in
    1 % of cases if scores are normal and in 5 % if they are exponential. The second
    method is the best of all others, so that their number needs no other correction
    (Hung and Fithian, Annals of Statistics 47, 2019): the more methods, the fewer
    winners at random. A winner is also better than every random set.
    """
    key = next((key for key in DECIDING if len(draws.get(key, ())) > 2), None)
    methods = [row for row in rows[:-1] if row["method"] != CHANCE]
    methods = [row for row in methods if key is not None and row.get(key) is not None]
    if key is None or len(methods) < 2:
        return None, "Fewer than two methods could be compared."
    title, factor = DECIDING[key]
    found = {row["method"]: factor * row[key] for row in methods}
    first, second = sorted(found, key=lambda name: -found[name])[:2]
    worst_random, best_random = (factor * end(draws[key]) for end in (min, max))
    lead, noise = found[first] - found[second], best_random - worst_random
    digits = 1 if factor > 1 else 3
    best, next_best = (f"{found[name]:.{digits}f}" for name in (first, second))
    names = [printable(name) for name in (first, second)]
    if best == next_best:
        equal = [name for name in found if f"{found[name]:.{digits}f}" == best]
        together = listed(map(printable, equal))
        return None, f"By {title}, {together} are equal ({best}) and lead."
    more = lead > noise
    sentence = (
        f"By {title}, {names[0]} leads {names[1]} by {lead:.{digits}f} ({best} against "
        f"{next_best}), which is {'' if more else 'not '}more than noise: "
        f"{len(draws[key])} random sets differ by up to {noise:.{digits}f}."
    )
    if found[first] <= best_random:
        sentence += (
            f" {names[0]} is not better than the best of them, which has "
            f"{best_random:.{digits}f}."
        )
        more = False
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

"""The parts of a report about a selection: numbers, with ``frame`` and ``plot``.

``frame`` returns a DataFrame, ``plot`` a figure, ``sentence`` what both say in words.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ufselect.evaluation import Verdict, View
from ufselect.evaluation.stability import Stability
from ufselect.evaluation.stand_ins import StandIn
from ufselect.evaluation.verdict_words import SIGNIFICANT
from ufselect.matrix import ColumnSummary, Float, Index
from ufselect.report.drawing import Plot, shortened
from ufselect.report.maps import (
    PixelPanel,
    agreement_maps,
    cluster_map,
    pixel_image,
    redundancy_map,
)
from ufselect.report.rendering import Graphic, TextTable
from ufselect.report.selection_figures import (
    false_share_curve,
    objective_curve,
    random_bands,
    sample_scatter,
    score_curve,
    selection_frequencies,
)
from ufselect.tuning import FalseSelections, Sensitivity

# Names of features that one stands for: in a cell of the report, and in its file.
MOST_NAMES = 3
MOST_SAVED_NAMES = 50
# Letters of a name in a cell; the file has all of them.
LONGEST_NAME = 100
# From here on a stability is called by these words, after Nogueira and others.
STABILITIES = ((0.75, "excellent"), (0.4, "intermediate"), (float("-inf"), "poor"))
MIN_SUBSAMPLES_FOR_INTERVAL = 20
# What each criterion asks.
CRITERIA = {
    "structure": "Do they agree which samples are alike?",
    "reconstruction": "Do they predict all features? (R2 on held-out samples; below 0 "
    "where means predict better)",
    "neighbours": "Do samples keep their neighbours?",
    "distinctness": "Do they differ? (1 minus mean absolute correlation)",
}


@dataclass(frozen=True)
class Features:
    """The chosen features by rank, with what is known of each.

    Attributes
    ----------
    names : sequence of str
        Of all features, by column.
    columns : ndarray of int
        The chosen ones, the best first.
    scores : ndarray
        Of the chosen ones.
    summary : ColumnSummary
        Of the chosen ones.
    frequency : ndarray or None
        Share of the subsamples on which each is chosen.
    stand_ins : sequence of StandIn or None
        What each stands for.
    sparklines : sequence of Graphic
        Distributions of the first of the chosen ones, by cluster if there are any.
    calls, explained : ndarray or None
        Confirmed, tentative or rejected, and the share of the variance that the
        structure of the others explains, if `AutoSelect` chose.
    marks : sequence of str or None
        The cluster that each marks.
    """

    names: Sequence[str]
    columns: Index
    scores: Float
    summary: ColumnSummary
    frequency: Float | None
    stand_ins: Sequence[StandIn] | None
    sparklines: Sequence[Graphic]
    calls: NDArray[np.str_] | None = None
    explained: Float | None = None
    marks: Sequence[str] | None = None

    def frame(self) -> pd.DataFrame:
        """Return one row per chosen feature."""
        columns: dict[str, Any] = {
            "rank": range(1, len(self.columns) + 1),
            "feature": self._named(self.columns),
            "column": self.columns,
            "score": self.scores,
            "call": self.calls,
            "explained": self.explained,
            "marks cluster": self.marks,
            "frequency": self.frequency,
        }
        if (found := self.stand_ins) is not None:
            columns |= {
                "stands for": [len(each.stands_for) for each in found],
                "such as": [
                    "; ".join(self._named(each.stands_for[:MOST_SAVED_NAMES]))
                    for each in found
                ],
                "nearest not chosen": [
                    None if each.alternative is None else self.names[each.alternative]
                    for each in found
                ],
                "its correlation": [
                    np.nan if each.alternative is None else each.alternative_correlation
                    for each in found
                ],
            }
        columns |= self.summary._asdict()
        return pd.DataFrame({k: v for k, v in columns.items() if v is not None})

    def shown(self, most: int) -> pd.DataFrame:
        """Return the first features as text, as a report shows them."""
        count = min(most, len(self.columns))
        columns: dict[str, Any] = {
            "rank": [str(rank) for rank in range(1, count + 1)],
            "feature": self._short(self.columns[:count]),
        }
        if self.calls is not None:
            columns["call"] = self.calls[:count].tolist()
        columns["score"] = [f"{score:.4g}" for score in self.scores[:count]]
        if self.explained is not None:
            columns["explained"] = [f"{share:.0%}" for share in self.explained[:count]]
        if self.frequency is not None:
            columns["stability"] = [f"{share:.0%}" for share in self.frequency[:count]]
        if self.marks is not None:
            columns["marks cluster"] = list(self.marks[:count])
        columns["distribution"] = list(self.sparklines[:count])
        if self.stand_ins is not None:
            columns["stands for"] = [
                self._like(each) for each in self.stand_ins[:count]
            ]
            columns["nearest not chosen"] = [
                self._other(each) for each in self.stand_ins[:count]
            ]
        return pd.DataFrame(columns, dtype=object)

    def table(self, most: int) -> TextTable:
        """Return the first features as a table that offers all of them as a file."""
        shown, count = self.shown(most), len(self.columns)
        caption = f"{count} chosen features, the best first."
        if count > len(shown):
            caption = f"The first {len(shown)} of {caption} The file has all of them."
        rows = shown.to_numpy().tolist()
        return TextTable(list(shown), rows, caption, True, self.frame(), "features")

    def _named(self, columns: Index) -> list[str]:
        return [self.names[column] for column in columns]

    def _short(self, columns: Index) -> list[str]:
        return [shortened(name, LONGEST_NAME) for name in self._named(columns)]

    def _like(self, found: StandIn) -> str:
        count = len(found.stands_for)
        names = ", ".join(self._short(found.stands_for[:MOST_NAMES]))
        more = f" and {count - MOST_NAMES} more" if count > MOST_NAMES else ""
        return names + more

    def _other(self, found: StandIn) -> str:
        if found.alternative is None:
            return ""
        correlation = f"{found.alternative_correlation:.2f}".replace(
            "-", "\N{MINUS SIGN}"
        )
        name = shortened(self.names[found.alternative], LONGEST_NAME)
        return f"{name} ({correlation})"


@dataclass(frozen=True)
class ScoreCurve:
    """All features and their scores, the best first, and how many were chosen.

    With the call of each, if `AutoSelect` chose.
    """

    names: Sequence[str]
    scores: Float
    n_selected: int
    calls: NDArray[np.str_] | None = None

    def frame(self) -> pd.DataFrame:
        """Return rank, name and score of every feature, and whether it was chosen."""
        ranks = np.arange(1, len(self.names) + 1)
        frame = pd.DataFrame(
            {
                "rank": ranks,
                "feature": list(self.names),
                "score": self.scores,
                "chosen": ranks <= self.n_selected,
            }
        )
        return frame if self.calls is None else frame.assign(call=self.calls)

    def plot(self) -> Plot:
        """Draw the scores and the cut."""
        return score_curve(self.scores, self.n_selected, calls=self.calls)


@dataclass(frozen=True)
class ClusterMap:
    """The chosen features over the samples, both ordered by cluster.

    Attributes
    ----------
    names : sequence of str
        Of the features, in rows.
    sample_names : sequence of str
        Of the samples, in columns, in the order of their clusters.
    values : ndarray of shape (features, samples)
        In the units of the table.
    groups : ndarray or None
        Cluster of each sample.
    labels : sequence or None
        Label of each sample, if there are any.
    marks : sequence or None
        The cluster whose mean differs most from those of the others, by feature.
    """

    names: Sequence[str]
    sample_names: Sequence[str]
    values: Float
    groups: NDArray[Any] | None
    labels: Sequence[Any] | None
    marks: Sequence[Any] | None

    def frame(self) -> pd.DataFrame:
        """Return one row per feature, one column per sample."""
        values = pd.DataFrame(self.values.round(6))
        values.columns = pd.Index([str(name) for name in self.sample_names])
        values.insert(0, "feature", list(self.names), allow_duplicates=True)
        if self.marks is not None:
            values.insert(1, "marks", list(self.marks), allow_duplicates=True)
        return values

    def plot(self) -> Plot:
        """Draw the standardized values as a map."""
        return cluster_map(
            self.values, self.names, self.groups, labels=self.labels, marks=self.marks
        )


@dataclass(frozen=True)
class AgainstRandom:
    """Verdicts by several criteria, each against random sets of as many features."""

    verdicts: Sequence[Verdict]

    def frame(self) -> pd.DataFrame:
        """Return one row per criterion."""
        return pd.DataFrame(
            {
                "criterion": [each.criterion for each in self.verdicts],
                "chosen": [each.value for each in self.verdicts],
                "random mean": [each.random_mean for each in self.verdicts],
                "random 5 %": [each.band[0] for each in self.verdicts],
                "random 95 %": [each.band[1] for each in self.verdicts],
                "effect size": [each.effect_size for each in self.verdicts],
                "p value": [each.p_value for each in self.verdicts],
                "random sets": [len(each.random_values) for each in self.verdicts],
            }
        )

    def plot(self) -> Plot:
        """Draw the chosen features in the distribution of random ones."""
        return random_bands(
            {each.criterion: each.value for each in self.verdicts},
            {each.criterion: each.random_values for each in self.verdicts},
            {
                each.criterion: f"p = {each.p_value:.2g}"
                for each in self.verdicts
                if each.p_value is not None
            },
        )

    def shown(self) -> pd.DataFrame:
        """Return one row of text per criterion, as a report shows it."""
        return pd.DataFrame(
            [
                {
                    "criterion": each.criterion,
                    "question": CRITERIA[each.criterion],
                    "chosen": f"{each.value:.3f}",
                    "random sets": f"{each.band[0]:.3f} to {each.band[1]:.3f}",
                    "p value": "" if each.p_value is None else f"{each.p_value:.2g}",
                    "answer": answer(each.p_value),
                }
                for each in self.verdicts
            ],
            dtype=object,
        )

    def by_answer(self) -> dict[str, list[str]]:
        """Return the criteria for each answer: better, not clearly better, worse."""
        groups: dict[str, list[str]] = {}
        for each in self.verdicts:
            groups.setdefault(answer(each.p_value), []).append(each.criterion)
        return groups

    @property
    def sentence(self) -> str:
        """Return the answers in words."""
        parts = [
            f"{word} by {listed(names)}" for word, names in self.by_answer().items()
        ]
        return (
            "judged on samples that the selection did not see, features chosen in this "
            f"way are {', '.join(parts)} than random ones"
        )


@dataclass(frozen=True)
class ByChance:
    """The estimated share of false discoveries among the k best, by permuted copies."""

    found: FalseSelections
    n_selected: int

    @property
    def share(self) -> float:
        """Return the share among the chosen features."""
        return float(self.found.share[self.n_selected - 1])

    def frame(self) -> pd.DataFrame:
        """Return one row per number of features."""
        return pd.DataFrame(
            {
                "features": range(1, len(self.found.share) + 1),
                "false discovery rate": self.found.share,
                "lower": self.found.lower,
                "upper": self.found.upper,
            }
        )

    def plot(self) -> Plot:
        """Draw the share over the number of features."""
        found = self.found
        return false_share_curve(found.share, found.lower, found.upper, self.n_selected)

    @property
    def sentence(self) -> str:
        """Return the share in words."""
        place = self.n_selected - 1
        return (
            f"About {self.share:.0%} of the {self.n_selected} chosen features are "
            f"false discoveries (between {self.found.lower[place]:.0%} and "
            f"{self.found.upper[place]:.0%} in nine of ten cases)."
        )


@dataclass(frozen=True)
class Stable:
    """How often the chosen features, by rank, are chosen again on subsamples."""

    names: Sequence[str]
    frequency: Float
    n_subsamples: int
    chance: float
    index: Stability | None

    def frame(self) -> pd.DataFrame:
        """Return one row per chosen feature."""
        return pd.DataFrame(
            {
                "rank": range(1, len(self.names) + 1),
                "feature": list(self.names),
                "frequency": self.frequency,
            }
        )

    def plot(self) -> Plot:
        """Draw the frequencies, and the index of stability with its interval."""
        index = self.index
        interval = None if index is None else (index.value, index.lower, index.upper)
        return selection_frequencies(
            self.frequency, chance=self.chance, stability=interval
        )

    @property
    def word(self) -> str:
        """Return excellent, intermediate or poor, or nothing."""
        if self.index is None:
            return ""
        value = self.index.value
        return next(word for least, word in STABILITIES if value >= least)

    @property
    def sentence(self) -> str:
        """Return the stability in words."""
        text = (
            f"On {self.n_subsamples} random halves a chosen feature is chosen again "
            f"{self.frequency.mean():.0%} of the time, where a random choice gives "
            f"{self.chance:.1%}."
        )
        if self.index is None:
            return text
        text += (
            f" The stability of the choice is {self.index.value:.2f} ({self.word}; 1 "
            "is always the same, 0 is a random choice)."
        )
        if self.n_subsamples < MIN_SUBSAMPLES_FOR_INTERVAL:
            text += " With so few halves its interval is too narrow."
        return text


@dataclass(frozen=True)
class ClusterSensitivity:
    """How far rankings for several numbers of clusters agree.

    ``chance`` is the share that stays of a random choice.
    """

    found: Sensitivity
    chance: float

    def frame(self) -> pd.DataFrame:
        """Return one row per pair of numbers."""
        numbers = np.asarray(self.found.n_clusters)
        first, second = np.triu_indices(len(numbers), k=1)
        return pd.DataFrame(
            {
                "n_clusters": numbers[first],
                "other n_clusters": numbers[second],
                "rank correlation": self.found.correlation[first, second],
                "overlap of chosen": self.found.overlap[first, second],
            }
        )

    def plot(self) -> Plot:
        """Draw both measures of agreement as maps."""
        return agreement_maps(
            [str(number) for number in self.found.n_clusters],
            {
                "rank correlation": self.found.correlation,
                "overlap of chosen": self.found.overlap,
            },
            label="number of clusters",
        )

    @property
    def sentence(self) -> str:
        """Return the sensitivity in words."""
        numbers = listed([str(number) for number in self.found.n_clusters])
        return (
            f"Between {numbers} clusters, {self.found.mean_overlap:.0%} of the chosen "
            f"features stay on average, where {self.chance:.1%} of a random choice "
            "stay; the rank correlation of all features is "
            f"{self.found.mean_correlation:.2f}."
        )


@dataclass(frozen=True)
class Convergence:
    """The objective after each iteration."""

    history: Float

    def frame(self) -> pd.DataFrame:
        """Return one row per iteration."""
        iterations = range(1, len(self.history) + 1)
        return pd.DataFrame({"iteration": iterations, "objective": self.history})

    def plot(self) -> Plot:
        """Draw the objective."""
        return objective_curve(self.history)


@dataclass(frozen=True)
class SamplePlanes:
    """Samples in a plane by the chosen features, and by all."""

    chosen: View
    every: View
    sample_names: Sequence[str]
    groups: Sequence[Any] | None
    grouped_by: str

    def frame(self) -> pd.DataFrame:
        """Return one row per sample."""
        columns: dict[str, Any] = {"sample": list(self.sample_names)}
        if self.groups is not None:
            columns[self.grouped_by] = list(self.groups)
        for title, view in {"chosen": self.chosen, "all": self.every}.items():
            for place, column in enumerate(view.points.T, start=1):
                columns[f"{title} {place}"] = column
        return pd.DataFrame(columns)

    def plot(self) -> Plot:
        """Draw both planes side by side."""
        planes = {
            f"{words} ({sum(view.shares):.0%} of variance)": view.points
            for words, view in {
                "chosen features": self.chosen,
                "all features": self.every,
            }.items()
        }
        return sample_scatter(planes, self.groups, names=self.sample_names)


@dataclass(frozen=True)
class Repetition:
    """Correlations between the first of the chosen features; like beside like."""

    names: Sequence[str]
    correlations: Float
    mean: float

    def frame(self) -> pd.DataFrame:
        """Return the correlations, one column per feature."""
        frame = pd.DataFrame(self.correlations, columns=list(self.names))
        frame.insert(0, "feature", list(self.names), allow_duplicates=True)
        return frame

    def plot(self) -> Plot:
        """Draw the absolute correlations as a map."""
        return redundancy_map(self.names, self.correlations)


@dataclass(frozen=True)
class KeptPixels:
    """Which pixels were chosen, over the mean image."""

    mean: Float
    kept: NDArray[np.bool_]

    def frame(self) -> pd.DataFrame:
        """Return one row per pixel."""
        rows, columns = np.indices(self.kept.shape)
        return pd.DataFrame(
            {
                "row": rows.ravel(),
                "column": columns.ravel(),
                "mean": self.mean.ravel(),
                "chosen": self.kept.ravel(),
            }
        )

    def plot(self) -> Plot:
        """Draw the mean image with the chosen pixels outlined."""
        caption = f"{self.kept.sum()} of {self.kept.size} pixels"
        # In a panel one is black; in most images the smallest value is.
        spread = max(float(np.ptp(self.mean)), np.finfo(np.float64).tiny)
        darkness = (self.mean.max() - self.mean) / spread
        panel = PixelPanel("Chosen pixels", caption, darkness, self.kept)
        return Plot(pixel_image([panel]))


@dataclass(frozen=True)
class LabelScores:
    """How well k-means on columns finds given labels: accuracy and information.

    ``units`` says how the table was prepared for k-means.
    """

    columns: Sequence[str]
    accuracy: Sequence[float]
    mutual_information: Sequence[float]
    units: str = "in the units of the table"

    def frame(self) -> pd.DataFrame:
        """Return one row per set of columns."""
        return pd.DataFrame(
            {
                "columns": list(self.columns),
                "accuracy": list(self.accuracy),
                "normalised mutual information": list(self.mutual_information),
            }
        )


def answer(p_value: float | None, level: float = SIGNIFICANT) -> str:
    """Return what a p value says about the chosen features.

    Examples
    --------
    >>> [answer(p) for p in (0.01, 0.3, 0.99, None)]
    ['better', 'not clearly better', 'worse', 'not tested']
    """
    if p_value is None:
        return "not tested"
    if p_value < level:
        return "better"
    return "worse" if p_value > 1 - level else "not clearly better"


def listed(words: Iterable[str]) -> str:
    """Return words as a list with an and.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last

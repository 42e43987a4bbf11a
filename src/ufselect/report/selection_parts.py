"""The parts of a report about a selection: numbers, with ``frame`` and ``plot``.

A frame is a dictionary of columns of equal length; ``pandas.DataFrame`` takes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.evaluation import Verdict, View
from ufselect.evaluation.stability import Stability
from ufselect.matrix import Float
from ufselect.report.downloads import distinct
from ufselect.report.frequencies import selection_frequencies
from ufselect.report.lines import false_share_curve, objective_curve, score_curve
from ufselect.report.maps import agreement_maps, redundancy_map
from ufselect.report.pixels import PixelPanel, pixel_image
from ufselect.report.plots import Frame, Plot
from ufselect.report.random_bands import random_bands
from ufselect.report.scatter import sample_scatter
from ufselect.tuning import FalseSelections, Sensitivity


@dataclass(frozen=True)
class ScoreCurve:
    """All features and their scores, the best first, and how many were chosen."""

    names: Sequence[str]
    scores: Float
    n_selected: int

    def frame(self) -> Frame:
        """Return rank, name and score of every feature, and whether it was chosen."""
        ranks = range(1, len(self.names) + 1)
        return {
            "rank": list(ranks),
            "feature": list(self.names),
            "score": self.scores.tolist(),
            "chosen": [rank <= self.n_selected for rank in ranks],
        }

    def plot(self) -> Plot:
        """Draw the scores and the cut."""
        return score_curve(self.scores, self.n_selected)


@dataclass(frozen=True)
class AgainstRandom:
    """Verdicts by several criteria, each against random sets of as many features."""

    verdicts: Sequence[Verdict]

    def frame(self) -> Frame:
        """Return one row per criterion."""
        return {
            "criterion": [each.criterion for each in self.verdicts],
            "chosen": [each.value for each in self.verdicts],
            "random mean": [each.random_mean for each in self.verdicts],
            "random 5 %": [each.band[0] for each in self.verdicts],
            "random 95 %": [each.band[1] for each in self.verdicts],
            "effect size": [each.effect_size for each in self.verdicts],
            "p value": [each.p_value for each in self.verdicts],
            "random sets": [len(each.random_values) for each in self.verdicts],
        }

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


@dataclass(frozen=True)
class ByChance:
    """The share of features that are there by chance among the k best, by decoys."""

    found: FalseSelections
    n_selected: int

    def frame(self) -> Frame:
        """Return one row per number of features."""
        return {
            "features": list(range(1, len(self.found.share) + 1)),
            "share by chance": self.found.share.tolist(),
            "lower": self.found.lower.tolist(),
            "upper": self.found.upper.tolist(),
        }

    def plot(self) -> Plot:
        """Draw the share over the number of features."""
        found = self.found
        return false_share_curve(found.share, found.lower, found.upper, self.n_selected)


@dataclass(frozen=True)
class Stable:
    """How often the chosen features, by rank, are chosen again on subsamples."""

    names: Sequence[str]
    frequency: Float
    n_subsamples: int
    chance: float
    index: Stability | None

    def frame(self) -> Frame:
        """Return one row per chosen feature."""
        return {
            "rank": list(range(1, len(self.names) + 1)),
            "feature": list(self.names),
            "frequency": self.frequency.tolist(),
        }

    def plot(self) -> Plot:
        """Draw the frequencies, and the index of stability with its interval."""
        index = self.index
        interval = None if index is None else (index.value, index.lower, index.upper)
        return selection_frequencies(
            self.frequency, chance=self.chance, stability=interval
        )


@dataclass(frozen=True)
class ClusterSensitivity:
    """How far rankings for several numbers of clusters agree."""

    found: Sensitivity

    def frame(self) -> Frame:
        """Return one row per pair of numbers."""
        numbers = self.found.n_clusters
        first, second = np.triu_indices(len(numbers), k=1)
        return {
            "n_clusters": [numbers[place] for place in first],
            "other n_clusters": [numbers[place] for place in second],
            "rank correlation": self.found.correlation[first, second].tolist(),
            "overlap of chosen": self.found.overlap[first, second].tolist(),
        }

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


@dataclass(frozen=True)
class Convergence:
    """The objective after each iteration."""

    history: Float

    def frame(self) -> Frame:
        """Return one row per iteration."""
        iterations = list(range(1, len(self.history) + 1))
        return {"iteration": iterations, "objective": self.history.tolist()}

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

    def frame(self) -> Frame:
        """Return one row per sample."""
        columns: Frame = {"sample": list(self.sample_names)}
        if self.groups is not None:
            columns[self.grouped_by] = list(self.groups)
        for title, view in {"chosen": self.chosen, "all": self.every}.items():
            for place, column in enumerate(view.points.T.tolist(), start=1):
                columns[f"{title} {place}"] = column
        return columns

    def plot(self) -> Plot:
        """Draw both planes side by side."""
        planes = {
            f"{words} ({sum(view.shares):.0%} of variance)": view.points
            for words, view in {
                "chosen features": self.chosen,
                "all features": self.every,
            }.items()
        }
        return sample_scatter(planes, self.groups)


@dataclass(frozen=True)
class Repetition:
    """Correlations between the first of the chosen features; like beside like."""

    names: Sequence[str]
    correlations: Float
    mean: float

    def frame(self) -> Frame:
        """Return the correlations, one column per feature."""
        names = distinct(["feature", *self.names])
        columns = [list(self.names), *self.correlations.T.tolist()]
        return dict(zip(names, columns, strict=True))

    def plot(self) -> Plot:
        """Draw the absolute correlations as a map."""
        return redundancy_map(self.names, self.correlations)


@dataclass(frozen=True)
class KeptPixels:
    """Which pixels were chosen, over the mean image."""

    mean: Float
    kept: NDArray[np.bool_]

    def frame(self) -> Frame:
        """Return one row per pixel."""
        rows, columns = np.indices(self.kept.shape)
        return {
            "row": rows.ravel().tolist(),
            "column": columns.ravel().tolist(),
            "mean": self.mean.ravel().tolist(),
            "chosen": self.kept.ravel().tolist(),
        }

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

    def frame(self) -> Frame:
        """Return one row per set of columns."""
        return {
            "columns": list(self.columns),
            "accuracy": list(self.accuracy),
            "normalised mutual information": list(self.mutual_information),
        }

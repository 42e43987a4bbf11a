"""The tables of an experiment: scores, ranks over data sets, costs, and lengths."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ufselect.evaluation import (
    average_ranks,
    friedman,
    indistinguishable_groups,
    nemenyi_critical_difference,
    wilcoxon_against,
)
from ufselect.experiments.cells import FIXED
from ufselect.experiments.plan import ALL_FEATURES, BASELINES
from ufselect.experiments.protocol import LOWER_IS_BETTER
from ufselect.experiments.stored import ORACLE, Experiment
from ufselect.plotting.bars import rank_diagram
from ufselect.report.rendering import Part, TextTable

REFERENCE = "random"
# Statistics over fewer sets than this could not show any difference.
MIN_SETS = 5
RANK_HEADER = ("method", "average rank", "sets above random", "median gain", "p (Holm)")


@dataclass(frozen=True)
class MetricTable:
    """One metric in one reading: methods in rows, sets in columns, NaN if absent."""

    metric: str
    reading: str
    means: pd.DataFrame
    deviations: pd.DataFrame

    @cached_property
    def significance(self) -> "Significance":
        """Return the ranks of the methods over the sets."""
        return Significance(self)

    def table(self, caption: str = "") -> TextTable:
        """Return the table in percent, with the mean over the sets that are complete.

        Other sets would favour the methods that have no score there.
        """
        complete = self.means.dropna(how="all").notna().all()
        shown = self.means.combine(self.deviations, _scores)
        if len(complete) > 1 and complete.any():
            title = "mean" if complete.all() else f"mean of {complete.sum()}"
            shown[title] = self.means.loc[:, complete].mean(axis=1).map(_percent)
        return text_table_of(shown, caption)

    def frame(self) -> pd.DataFrame:
        """Return one row for each method and set; scores are shares of one."""
        methods, sets = self.means.index, self.means.columns
        return pd.DataFrame(
            {
                "method": np.repeat(methods, len(sets)),
                "data set": np.tile(sets, len(methods)),
                "mean": self.means.to_numpy().ravel(),
                "deviation": self.deviations.to_numpy().ravel(),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the table for JSON; a score that is missing is None."""
        content: dict[str, Any] = {
            "metric": self.metric,
            "reading": self.reading,
            "labels_chose_parameters": self.reading == ORACLE,
            "means": self.means.astype(object)
            .where(self.means.notna(), None)
            .to_dict("index"),
        }
        if self.reading == FIXED and self.significance.enough:
            content["average_ranks"] = self.significance.ranks
            content["critical_difference"] = self.significance.critical_difference
        return content


def metric_table(experiment: Experiment, metric: str, reading: str) -> MetricTable:
    """Return the table of one metric and reading; absent sets have a column too."""
    labels = [method.label for method in experiment.plan.methods]
    sets = [*experiment.data_sets, *experiment.record.absent]
    found = experiment.readings(reading, metric)
    means, deviations = (
        found[name].unstack().reindex(index=labels, columns=sets)
        for name in ("mean", "deviation")
    )
    return MetricTable(metric, reading, means, deviations)


def text_table_of(frame: pd.DataFrame, caption: str = "") -> TextTable:
    """Return a frame of text whose index is the methods."""
    rows = [[str(label), *row] for label, *row in frame.itertuples()]
    return TextTable(["method", *frame.columns], rows, caption)


def _scores(means: "pd.Series[float]", deviations: "pd.Series[float]") -> "pd.Series":
    shown = means.map(_percent) + " ±" + deviations.map(_percent)
    return shown.where(means.notna(), "-")


def _percent(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:.1f}"


class Significance:
    """Ranks of methods over the sets that have a score of them all.

    All features are left out: they are no selection, and have no number of features.
    So is a method without any score. Sets on which another method has none are left
    out for all.
    """

    def __init__(self, table: MetricTable) -> None:
        methods = table.means.drop(index=ALL_FEATURES, errors="ignore")
        empty = methods.isna().all(axis=1)
        self.without = list(methods.index[empty])
        self.scores = methods[~empty].dropna(axis=1)
        if table.metric in LOWER_IS_BETTER:
            self.scores = -self.scores
        n_methods, self.n_sets = self.scores.shape
        self.enough = self.n_sets >= MIN_SETS and n_methods > 1

    @property
    def ranks(self) -> dict[str, float]:
        """Return the average rank of each method."""
        ranks = average_ranks(self.scores.to_numpy()).tolist()
        return dict(zip(self.scores.index, ranks, strict=True))

    @property
    def critical_difference(self) -> float:
        """Return Nemenyi's difference of average ranks."""
        return nemenyi_critical_difference(*self.scores.shape)

    def figure(self) -> Part:
        """Return the critical difference diagram."""
        ranks, difference = self.ranks, self.critical_difference
        return Part(
            pd.DataFrame(ranks.items(), columns=["method", "average rank"]),
            lambda: rank_diagram(ranks, difference, baselines=list(BASELINES)),
        )

    def table(self) -> TextTable:
        """Return the methods, best first, with their tests against random."""
        ranked = sorted(self.ranks.items(), key=lambda pair: pair[1])
        rows = [[label, f"{rank:.2f}"] for label, rank in ranked]
        if REFERENCE not in self.scores.index:
            return TextTable(RANK_HEADER[:2], rows)
        scores = self.scores.to_numpy()
        reference = self.scores.index.get_loc(REFERENCE)
        against = wilcoxon_against(scores, reference)
        above = np.count_nonzero(scores > scores[reference], axis=1)
        columns = (against.others, against.median_difference, against.adjusted)
        found = {
            self.scores.index[row]: [str(above[row]), f"{100 * gain:+.1f}", f"{p:.2g}"]
            for row, gain, p in zip(*columns, strict=True)
        }
        rows = [[*row, *found.get(row[0], ["", "", ""])] for row in rows]
        return TextTable(RANK_HEADER, rows)

    def sentence(self) -> str:
        """Return the tests over all methods in words."""
        missing = ""
        if self.without:
            missing = f" Without {', '.join(self.without)}, of which there is no score."
        if not self.enough:
            return (
                f"No statistics: {self.n_sets} sets have a score of every method, and "
                f"at least {MIN_SETS} are needed.{missing}"
            )
        difference = self.critical_difference
        groups = "; ".join(
            ", ".join(self.scores.index[list(group)])
            for group in indistinguishable_groups(list(self.ranks.values()), difference)
        )
        alike = f"are not told apart: {groups}" if groups else "do not occur"
        return (
            f"{self.n_sets} sets. Friedman's test that all methods are alike: "
            f"p = {friedman(self.scores.to_numpy()).f_p:.2g} (F of Iman and "
            "Davenport). Average ranks that differ by less than "
            f"{difference:.2f} (Nemenyi, 5 %) {alike}.{missing}"
        )


def fit_costs(experiment: Experiment) -> pd.DataFrame:
    """Return seconds and megabytes of each fit; all features need none.

    One row for each cell of each method, with NaN where nothing was measured.
    """
    methods = [m.label for m in experiment.plan.methods if m.label != ALL_FEATURES]
    cells = experiment.cells.drop_duplicates(["method", "key"])
    cells = cells[cells["method"].isin(methods)]
    sets = list(experiment.record.fingerprints)
    return pd.DataFrame(
        {
            "method": pd.Categorical(cells["method"], methods),
            "data set": pd.Categorical(cells["set_name"], sets),
            "seconds": cells["seconds"].to_numpy(),
            "megabytes": cells["peak_memory"].to_numpy() / 1e6,
            "failed": (cells["state"] == "failed").to_numpy(),
        }
    )


def cost_summary(experiment: Experiment) -> pd.DataFrame:
    """Return fits, failures, and median and largest costs of each method."""
    return (
        fit_costs(experiment)
        .groupby("method", observed=False)
        .agg(
            fits=("seconds", "count"),
            failed=("failed", "sum"),
            median_seconds=("seconds", "median"),
            largest_seconds=("seconds", "max"),
            median_megabytes=("megabytes", "median"),
            largest_megabytes=("megabytes", "max"),
        )
    )

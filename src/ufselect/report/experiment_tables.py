"""The tables of an experiment: scores, ranks over data sets, costs, and failures."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ufselect.evaluation import (
    average_ranks,
    friedman,
    indistinguishable_groups,
    nemenyi_critical_difference,
    wilcoxon_against,
)
from ufselect.experiments.cells import FIXED, GRID
from ufselect.experiments.plan import ALL_FEATURES
from ufselect.experiments.protocol import LOWER_IS_BETTER
from ufselect.experiments.readings import Place, Reading, Results
from ufselect.experiments.stored import Experiment
from ufselect.report.rendering import Block, Paragraph, TextTable

REFERENCE = "random"
# Statistics over fewer sets than this could not show any difference.
FEWEST_SETS = 5
RANK_HEADER = ("method", "average rank", "sets above random", "median gain", "p (Holm)")
COST_HEADER = (
    "method",
    "fits",
    "without a ranking",
    "median seconds",
    "largest seconds",
    "median MB",
    "largest MB",
)
COST_EXPLANATION = (
    "Of one fit with one thread, on the machines that ran the plan, whatever else they "
    "did. What fits on the same data share, such as products of the data, is counted "
    "in the first fit of a process. Memory is the peak of the whole process, with "
    "Python and the data; 1 MB is a million bytes."
)
ANY_NUMBER = re.compile(r"\d[\d.]*(e[-+]?\d+)?")


class Column(NamedTuple):
    """A data set in one preparation."""

    set_name: str
    preparation: str

    @property
    def title(self) -> str:
        """Return a short name for the head of a column."""
        if self.preparation == "none":
            return self.set_name
        return f"{self.set_name} ({self.preparation})"


class MetricTable(NamedTuple):
    """One metric in one reading: methods in rows, sets in columns, NaN if absent."""

    metric: str
    reading: str
    labels: list[str]
    columns: list[Column]
    means: NDArray[np.float64]
    deviations: NDArray[np.float64]

    def complete(self) -> NDArray[np.bool_]:
        """Say which sets have a score of every method that has any score."""
        known = ~np.isnan(self.means)
        return np.asarray(known[known.any(axis=1)].all(axis=0))

    def table(self, caption: str = "") -> TextTable:
        """Return the table in percent, with the mean over the sets that are complete.

        Other sets would favour the methods that have no score there.
        """
        complete = self.complete()
        header = ["method", *(column.title for column in self.columns)]
        averaged = len(self.columns) > 1 and complete.any()
        if averaged:
            header.append("mean" if complete.all() else f"mean of {complete.sum()}")
        rows = []
        for i, label in enumerate(self.labels):
            row = [label, *map(_score, self.means[i], self.deviations[i])]
            if averaged:
                row.append(_percent(float(self.means[i, complete].mean())))
            rows.append(row)
        return TextTable(header, rows, caption)

    def frame(self) -> pd.DataFrame:
        """Return one row for each method and set; scores are shares of one."""
        sets = [column.title for column in self.columns]
        return pd.DataFrame(
            {
                "method": np.repeat(self.labels, len(sets)),
                "data set": np.tile(sets, len(self.labels)),
                "mean": self.means.ravel(),
                "deviation": self.deviations.ravel(),
            }
        )


def columns_of(results: Results) -> list[Column]:
    """Return every prepared set once, in the order of the plan."""
    return list(dict.fromkeys(Column(*place[:2]) for place in results.places()))


def metric_table(
    results: Results, metric: str, reading: str, *, absent: Sequence[str] = ()
) -> MetricTable:
    """Return the table of one metric and reading; absent sets have a column too."""
    labels = list(dict.fromkeys(place.label for place in results.places()))
    columns = columns_of(results)
    columns += [Column(name, "none") for name in absent]
    found: list[list[Reading | None]] = [
        [results.reading(Place(*column, label), reading, metric) for column in columns]
        for label in labels
    ]
    return MetricTable(
        metric,
        reading,
        labels,
        columns,
        np.array(
            [[np.nan if cell is None else cell.mean for cell in r] for r in found]
        ),
        np.array(
            [[np.nan if cell is None else cell.deviation for cell in r] for r in found]
        ),
    )


def _score(mean: float, deviation: float) -> str:
    if np.isnan(mean):
        return "-"
    return f"{_percent(mean)} ±{_percent(deviation)}"


def _percent(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:.1f}"


class Significance(NamedTuple):
    """Scores of all methods on the sets that have them all; higher is better.

    All features are left out: they are no selection, and have no number of features.
    So is a method without any score. Sets on which another method has none are left
    out for all.
    """

    labels: list[str]
    scores: NDArray[np.float64]
    without: list[str]

    @property
    def n_sets(self) -> int:
        """Return the number of sets that are compared."""
        return self.scores.shape[1]

    @property
    def enough(self) -> bool:
        """Say whether statistics make sense."""
        return self.n_sets >= FEWEST_SETS and len(self.labels) > 1

    def ranks(self) -> dict[str, float]:
        """Return the average rank of each method."""
        ranks = average_ranks(self.scores).tolist()
        return dict(zip(self.labels, ranks, strict=True))

    def critical_difference(self) -> float:
        """Return Nemenyi's difference of average ranks."""
        return nemenyi_critical_difference(len(self.labels), self.n_sets)

    def table(self) -> TextTable:
        """Return the methods, best first, with their tests against random."""
        if REFERENCE not in self.labels:
            rows = [[label, f"{rank:.2f}"] for label, rank in self._sorted()]
            return TextTable(RANK_HEADER[:2], rows)
        against = self._against_reference()
        return TextTable(
            RANK_HEADER,
            [
                [label, f"{rank:.2f}", *against.get(label, ["", "", ""])]
                for label, rank in self._sorted()
            ],
        )

    def sentence(self) -> str:
        """Return the tests over all methods in words."""
        if not self.enough:
            return (
                f"No statistics: {self.n_sets} sets have a score of every method, and "
                f"at least {FEWEST_SETS} are needed.{self._who_is_missing()}"
            )
        difference = self.critical_difference()
        ranks = list(self.ranks().values())
        groups = "; ".join(
            ", ".join(self.labels[i] for i in group)
            for group in indistinguishable_groups(ranks, difference)
        )
        alike = f"are not told apart: {groups}" if groups else "do not occur"
        return (
            f"{self.n_sets} sets. Friedman's test that all methods are alike: "
            f"p = {friedman(self.scores).f_p:.2g} (F of Iman and Davenport). Average "
            f"ranks that differ by less than {difference:.2f} (Nemenyi, 5 %) {alike}."
            f"{self._who_is_missing()}"
        )

    def blocks(self) -> list[Block]:
        """Return what is said of the ranks."""
        words = Paragraph(self.sentence())
        return [self.table(), words] if self.enough else [words]

    def _sorted(self) -> list[tuple[str, float]]:
        return sorted(self.ranks().items(), key=lambda pair: pair[1])

    def _against_reference(self) -> dict[str, list[str]]:
        reference = self.labels.index(REFERENCE)
        against = wilcoxon_against(self.scores, reference)
        above = np.count_nonzero(self.scores > self.scores[reference], axis=1)
        return {
            self.labels[row]: [str(above[row]), f"{100 * gain:+.1f}", f"{p:.2g}"]
            for row, gain, p in zip(
                against.others, against.median_difference, against.adjusted, strict=True
            )
        }

    def _who_is_missing(self) -> str:
        if not self.without:
            return ""
        return f" Without {', '.join(self.without)}, of which there is no score."


def significance_of(table: MetricTable) -> Significance:
    """Return what is compared of a table of scores."""
    empty = np.asarray(np.isnan(table.means).all(axis=1))
    choices = [i for i, label in enumerate(table.labels) if label != ALL_FEATURES]
    rows = [i for i in choices if not empty[i]]
    scores = table.means[rows]
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    return Significance(
        [table.labels[i] for i in rows],
        -scores if table.metric in LOWER_IS_BETTER else scores,
        [table.labels[i] for i in choices if empty[i]],
    )


def fit_costs(experiment: Experiment) -> pd.DataFrame:
    """Return seconds and megabytes of each fit; all features need none.

    One row for each cell of each method, with NaN where nothing was measured.
    """
    reasons = experiment.reasons()
    methods = [m.label for m in experiment.plan.methods if m.label != ALL_FEATURES]
    cells = {(role.label, role.cell.key): role.cell for role in experiment.roles}
    rows = [
        (
            label,
            cell.set_name,
            fit and fit.seconds,
            fit and fit.peak_memory and fit.peak_memory / 1e6,
            key in reasons,
        )
        for (label, key), cell in cells.items()
        for fit in [experiment.fits.get(key)]
        if label in methods
    ]
    frame = pd.DataFrame(
        rows, columns=["method", "data set", "seconds", "megabytes", "failed"]
    )
    sets = list(experiment.record.fingerprints)
    return frame.astype({"seconds": float, "megabytes": float}).assign(
        **{
            "method": pd.Categorical(frame["method"], methods),
            "data set": pd.Categorical(frame["data set"], sets),
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


def cost_blocks(experiment: Experiment) -> list[Block]:
    """Say what all methods cost."""
    rows = [
        [label, str(int(fits)), str(int(failed)), *map(_short, costs)]
        for label, fits, failed, *costs in cost_summary(experiment).itertuples()
    ]
    keys = ["method", "data set"]
    grouped = fit_costs(experiment).groupby(keys, observed=False)["seconds"]
    by_set = grouped.median().unstack()
    return [
        Paragraph(COST_EXPLANATION),
        TextTable(COST_HEADER, rows),
        TextTable(
            ["method", *by_set],
            [[label, *map(_short, costs)] for label, *costs in by_set.itertuples()],
            "Median seconds of a fit on each set.",
        ),
    ]


def _short(value: float) -> str:
    """Return three digits that count, and no exponent; a dash for nothing."""
    if np.isnan(value):
        return "-"
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if value >= 1 else f"{value:.3f}"


@dataclass
class Failure:
    """Cells of one method without a ranking, for reasons that are alike."""

    label: str
    # Key of a cell to its set and its reason, in the order of the plan.
    cells: dict[str, tuple[str, str]] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return a line: the first reason stands for all."""
        counts = Counter(set_name for set_name, _ in self.cells.values())
        where = ", ".join(f"{name} {count}" for name, count in counts.items())
        reasons = list(dict.fromkeys(reason for _, reason in self.cells.values()))
        more = " (others with other numbers)" if len(reasons) > 1 else ""
        number = f"{len(self.cells)} cell{'s' if len(self.cells) > 1 else ''}"
        return f"{self.label}, {number} ({where}): {reasons[0]}{more}"


def failure_list(results: Results, reasons: Mapping[str, str]) -> list[str]:
    """Return a line for every reason for which cells of a method have no ranking.

    Reasons that differ by their numbers only are one.
    """
    found: dict[tuple[str, str], Failure] = {}
    for place in results.places():
        for reading in (GRID, FIXED):
            for role in results.roles(place, reading):
                key = role.cell.key
                if key in reasons:
                    reason = " ".join(reasons[key].split())  # of one line
                    kind = (place.label, ANY_NUMBER.sub("#", reason))
                    failure = found.setdefault(kind, Failure(place.label))
                    failure.cells[key] = (place.set_name, reason)
    return [str(failure) for failure in found.values()]

"""What a report shows of a selection without any other fit."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from ufselect._warn import warn
from ufselect.evaluation import redundancy, sample_view
from ufselect.matrix import DataMatrix, Float, Index, as_matrix
from ufselect.plotting.fitted import (
    groups_shown,
    in_cluster_order,
    learned,
    marked_clusters,
)
from ufselect.report.halves import SplitHalves, fit_halves
from ufselect.report.rendering import Part, figure_of
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.rankings import unit_columns

# What one part may cost, in multiplications: a few seconds of one core.
MAX_PRODUCTS = 2e10
# Random sets of features to compare with, in every report and on the terminal.
N_RANDOM = 99
# Chosen features in the table of the report, whose clusters and correlations with each
# other are measured; all of them are in the file it offers.
MAX_LISTED = 300
# Features of a map of correlations, and features and samples of a heat map.
MAX_MAPPED = 16
MAX_ROWS_OF_MAP = 16
MAX_COLUMNS_OF_MAP = 400
MAX_PIXELS = 10_000

ImageOrder = Literal["rows", "columns"]
Progress = Callable[[int, int, str], None]


class Effort(NamedTuple):
    """How much to compute for a report.

    Attributes
    ----------
    n_subsamples : int
        Fits to halves of the samples, for stability; 0 leaves it out. The verdicts
        share the first of them.
    n_cluster_numbers : int
        Fits with different numbers of clusters, for sensitivity; 0 leaves it out.
    n_random : int
        Random sets of as many features, for verdicts; 0 leaves them out.
    n_permuted_fits : int
        Fits with permuted columns among the features, for the share of false
        discoveries; 0 leaves it out.
    """

    n_subsamples: int = 10
    n_cluster_numbers: int = 3
    n_random: int = N_RANDOM
    n_permuted_fits: int = 0


EFFORTS = {
    "quick": Effort(2, 0),
    "default": Effort(),
    "thorough": Effort(50, 5, n_permuted_fits=5),
}


@dataclass(frozen=True)
class Subject:
    """A fitted selector, the table it was fitted to, and how hard to try."""

    table: DataMatrix
    selector: UnsupervisedSelector
    names: Sequence[str]
    chosen: Index
    effort: Effort
    seed: int
    n_jobs: int | None = None
    time_budget: float | None = None
    labels: Any = None
    groups: Any = None
    sample_names: Sequence[str] | None = None
    image_shape: tuple[int, int] | None = None
    image_order: ImageOrder = "rows"
    halves: "Future[SplitHalves | None] | None" = None
    began: float = field(default_factory=time.monotonic)

    @property
    def seconds_left(self) -> float | None:
        """Return the seconds in which fits may be started, if they are limited."""
        if self.time_budget is None:
            return None
        return max(0.0, self.began + self.time_budget - time.monotonic())

    @cached_property
    def matrix(self) -> DataMatrix:
        """Return the table as it is read by columns."""
        return self.table.by_columns()

    @cached_property
    def listed(self) -> Float:
        """Return the columns of the first of the chosen features."""
        return self.matrix.columns(self.chosen[:MAX_LISTED])

    @cached_property
    def clusters(self) -> NDArray[Any] | None:
        """Return the cluster of each sample, if the selector found several."""
        return groups_shown(learned(self.selector, "labels_"), self.table.shape[0])

    @cached_property
    def marks(self) -> list[tuple[Any, bool]] | None:
        """Return the cluster that each listed feature marks, and whether it is high."""
        if self.clusters is None:
            return None
        return marked_clusters(self.listed, self.clusters)

    @cached_property
    def correlations(self) -> Float:
        """Return the correlations between the listed features."""
        columns = as_matrix(self.listed)
        # A constant column has no correlation but with itself.
        varying = np.flatnonzero(~columns.summary().constant)
        found = np.eye(columns.shape[1])
        if len(varying):
            unit = unit_columns(columns, varying).columns(slice(None))
            found[np.ix_(varying, varying)] = np.clip(unit.T @ unit, -1.0, 1.0)
            np.fill_diagonal(found, 1.0)
        return found

    @cached_property
    def split(self) -> SplitHalves:
        """Return fits to halves of the samples, which may have begun before."""
        found = None if self.halves is None else self.halves.result()
        if found is None:
            known = hasattr(self.selector, "frequency_")
            found = fit_halves(
                self.table,
                self.selector,
                1 if known else max(self.effort.n_subsamples, 1),
                self.seed,
                number=len(self.chosen),
                groups=self.groups,
                n_jobs=self.n_jobs,
                time_budget=self.seconds_left,
            )
        for message in found.warned:
            warn(message)
        return found

    def sample(self, place: int) -> str:
        """Return the name of a sample, or its number from 1 on."""
        names = self.sample_names
        return str(1 + place if names is None else names[place])


def who_chose(selector: Any) -> str:
    """Return who chose: the name of a selector, and of the one that ranked for it.

    Examples
    --------
    >>> from ufselect import SCFS, AutoSelect
    >>> from ufselect.data import planted
    >>> who_chose(AutoSelect(SCFS(), random_state=0).fit(planted("blobs").table))
    'AutoSelect with SCFS'
    """
    name = type(selector).__name__
    inside = getattr(selector, "selector_", None)
    if inside is not None:
        return f"{name} with {who_chose(inside)}"
    # Of a consensus; there they may be pairs with a name.
    members = getattr(selector, "selectors", None) or ()
    kinds = {type(each).__name__ for each in members} - {"tuple"}
    return f"{name} of {', '.join(sorted(kinds))}" if kinds else name


def measure_heat_map(subject: Subject) -> Part:
    """Set the chosen features over the samples, both by cluster."""
    clusters = subject.clusters
    columns = subject.listed[:, :MAX_ROWS_OF_MAP]
    order, rows, marks = in_cluster_order(columns, clusters, subject.marks)
    if len(order) > MAX_COLUMNS_OF_MAP:
        places = np.linspace(0, len(order) - 1, MAX_COLUMNS_OF_MAP).round()
        order = order[places.astype(int)]
    values = subject.listed[np.ix_(order, rows)].T
    names = [subject.names[column] for column in subject.chosen[rows]]
    groups = None if clusters is None else clusters[order]
    labels = groups_shown(subject.labels, subject.table.shape[0])
    labels = None if labels is None else labels[order].tolist()
    # Six significant digits; all of them would make the report twice as long.
    digits = 5 - np.floor(np.log10(max(float(np.abs(values).max()), 1e-300)))
    data = pd.DataFrame(values.round(int(np.clip(digits, -300, 300))))
    data.columns = pd.Index([subject.sample(sample) for sample in order])
    data.insert(0, "feature", names, allow_duplicates=True)
    if marks is not None:
        data.insert(1, "marks", marks, allow_duplicates=True)
    draw = figure_of("cluster_map", values, names, groups, labels=labels, marks=marks)
    facts = {"marks": marks, "n_rows": len(rows), "n_samples": len(order)}
    return Part(data, draw, facts)


def measure_planes(subject: Subject) -> Part:
    """Show samples by the chosen features and by all, coloured by cluster or label."""
    chosen = sample_view(subject.table, subject.chosen, random_state=subject.seed)
    every = sample_view(subject.table, random_state=subject.seed)
    groups, grouped_by = subject.clusters, "cluster"
    if groups is None:
        groups = groups_shown(subject.labels, subject.table.shape[0])
        grouped_by = "label"
    names = [subject.sample(sample) for sample in every.samples]
    shown = None if groups is None else groups[every.samples].tolist()
    columns: dict[str, Any] = {"sample": names}
    if shown is not None:
        columns[grouped_by] = shown
    if subject.labels is not None and grouped_by == "cluster":
        columns["label"] = np.asarray(subject.labels)[every.samples].tolist()
    planes = {}
    for title, view in {"chosen": chosen, "all": every}.items():
        columns |= {f"{title} {1 + place}": view.points[:, place] for place in (0, 1)}
        planes[f"{title} features ({sum(view.shares):.0%} of variance)"] = view.points
    return Part(
        pd.DataFrame(columns),
        figure_of("sample_scatter", planes, shown, names=names),
        facts={"groups": shown, "grouped_by": grouped_by},
    )


def measure_convergence(subject: Subject) -> Part:
    """Return the objective of the fit."""
    history = np.asarray(learned(subject.selector, "objective_history_"), dtype=float)
    if not len(history):
        name = type(subject.selector).__name__
        raise ValueError(f"{name} has no objective history")
    data = {"iteration": range(1, len(history) + 1), "objective": history}
    return Part(pd.DataFrame(data), figure_of("objective_curve", history))


def measure_repetition(subject: Subject) -> Part:
    """Correlate the chosen features, with similar ones side by side."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    count = len(subject.chosen)
    if count < 2:
        raise ValueError("a single feature cannot repeat another")
    check_cost(subject.table.shape[0] * count**2)
    found = subject.correlations[:MAX_MAPPED, :MAX_MAPPED]
    order = leaves_list(linkage(squareform(1 - np.abs(found), checks=False), "average"))
    names = [subject.names[column] for column in subject.chosen[:MAX_MAPPED][order]]
    found = found[np.ix_(order, order)]
    mean = redundancy(as_matrix(subject.table.raw[:, np.sort(subject.chosen)]))
    data = pd.DataFrame(found.round(6), columns=names)
    data.insert(0, "feature", names, allow_duplicates=True)
    return Part(data, figure_of("redundancy_map", names, found), facts={"mean": mean})


def measure_pixels(subject: Subject) -> Part:
    """Return the mean image and the chosen pixels."""
    n_features, shape = subject.table.shape[1], subject.image_shape or (0, 0)
    if shape[0] * shape[1] != n_features:
        raise ValueError(
            f"images of {shape[0]} x {shape[1]} have {shape[0] * shape[1]} pixels, "
            f"but there are {n_features} features"
        )
    if n_features > MAX_PIXELS:
        raise ValueError(f"{n_features} pixels are too many to draw")
    along: Literal["C", "F"] = "C" if subject.image_order == "rows" else "F"
    kept = np.isin(np.arange(n_features), subject.chosen).reshape(shape, order=along)
    mean = subject.matrix.summary().mean.reshape(shape, order=along)
    rows, columns = np.indices(shape)
    data = {"row": rows, "column": columns, "mean": mean, "chosen": kept}
    return Part(
        pd.DataFrame({name: values.ravel() for name, values in data.items()}),
        figure_of("pixel_map", mean, kept),
        facts={"kept": kept, "mean": mean},
    )


def check_cost(products: float) -> None:
    """Raise an error if a part would cost too much."""
    if products > MAX_PRODUCTS:
        raise ValueError(
            f"it would take about {products:.0e} multiplications, more than the limit "
            "of a report; select fewer features"
        )

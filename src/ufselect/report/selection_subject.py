"""A selection under its report: the table, the effort, and what needs no other fit."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from ufselect.evaluation import redundancy, representatives, sample_view
from ufselect.matrix import DataMatrix, Float, Index, as_matrix
from ufselect.plotting.axes import Graphic, shortened
from ufselect.plotting.convergence import objective_curve
from ufselect.plotting.fitted import MAX_GROUPS, groups_shown, learned
from ufselect.plotting.heatmap import cluster_map, in_cluster_order, marked_clusters
from ufselect.plotting.maps import PixelPanel, pixel_plot, redundancy_map
from ufselect.plotting.scatter import sample_scatter, sparkline
from ufselect.report.halves import SplitHalves
from ufselect.report.rendering import Part
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.rankings import unit_columns

# What one part may cost, in multiplications: a few seconds of one core.
MAX_PRODUCTS = 2e10
# Random sets of features to compare with, in every report and on the terminal.
N_RANDOM = 99
# Features in the table of the report; all of the chosen are in the file it offers.
MAX_LISTED = 300
# Names of features that one represents: in a cell of the report, and in its file.
MAX_NAMES = 3
MAX_SAVED_NAMES = 50
# Letters of a name in a cell; the file has all of them.
MAX_NAME_LENGTH = 100
# Features of a map of correlations, and features and samples of a heat map.
MAX_MAPPED = 25
MAX_ROWS_OF_MAP = 40
MAX_COLUMNS_OF_MAP = 400
MAX_PIXELS = 10_000
# Samples whose distribution is drawn by cluster; of more, every second or third.
MAX_IN_DISTRIBUTION = 10_000

# Columns of the table of features: where each comes from, and how it is written.
SHOWN: dict[str, tuple[str, Callable[[Any], str]]] = {
    "rank": ("rank", str),
    "feature": ("feature", partial(shortened, longest=MAX_NAME_LENGTH)),
    "call": ("call", str),
    "score": ("score", "{:.4g}".format),
    "explained": ("explained", "{:.0%}".format),
    "stability": ("frequency", "{:.0%}".format),
    "marks cluster": ("marks cluster", str),
}

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
    refitted: UnsupervisedSelector
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
    given_clusters: Any = None
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
        found = self.given_clusters
        if found is None:
            found = learned(self.selector, "labels_")
        return groups_shown(found, self.table.shape[0])

    def sample(self, place: int) -> str:
        """Return the name of a sample, or its number from 1 on."""
        names = self.sample_names
        return str(1 + place if names is None else names[place])

    @cached_property
    def distributions(self) -> list[Graphic]:
        """Return small drawings of the listed features, by cluster if there are any."""
        clusters, columns = self.clusters, self.listed
        if clusters is not None:
            some = slice(None, None, 1 + len(clusters) // MAX_IN_DISTRIBUTION)
            clusters, columns = clusters[some], columns[some]
        return [sparkline(column, clusters) for column in columns.T]

    @cached_property
    def marks(self) -> list[tuple[Any, bool]] | None:
        """Return the cluster that each listed feature marks, and whether it is high."""
        if self.clusters is None:
            return None
        return marked_clusters(self.listed, self.clusters)


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


def features_part(
    subject: Subject, found: Sequence[Any] | None, frequency: Float | None
) -> Part:
    """Return the chosen features by rank, with what is known of each."""
    chosen, selector, names = subject.chosen, subject.selector, subject.names
    count = len(chosen)
    calls, explained = (
        np.asarray(getattr(selector, name))[chosen] if hasattr(selector, name) else None
        for name in ("calls_", "explained_")
    )
    marks = None
    if count and subject.marks is not None:
        marks = [f"{kind} ({'high' if up else 'low'})" for kind, up in subject.marks]
        marks += [""] * (count - len(marks))
    columns: dict[str, Any] = {
        "rank": range(1, count + 1),
        "feature": [names[column] for column in chosen],
        "column": chosen,
        "score": selector.scores_[chosen],
        "call": calls,
        "explained": explained,
        "marks cluster": marks,
        "frequency": frequency,
    }
    if found is not None:
        others = [each.alternative for each in found]
        columns |= {
            "represents": [len(each.represents) for each in found],
            "such as": [
                "; ".join(names[place] for place in each.represents[:MAX_SAVED_NAMES])
                for each in found
            ],
            "nearest not chosen": [None if o is None else names[o] for o in others],
            "its correlation": [
                np.nan if each.alternative is None else each.alternative_correlation
                for each in found
            ],
        }
    for name, values in subject.matrix.summary()._asdict().items():
        columns[name] = values[chosen]
    data = pd.DataFrame({k: v for k, v in columns.items() if v is not None})
    top = data.head(MAX_LISTED)
    shown = pd.DataFrame(
        {
            title: [form(value) for value in top[name]]
            for title, (name, form) in SHOWN.items()
            if name in top
        },
        dtype=object,
    )
    # As objects, because a column of text would lose the drawings.
    drawn = subject.distributions if count else []
    shown["distribution"] = pd.Series(drawn, dtype=object)
    if found is not None:
        listed = found[: len(top)]
        shown["represents"] = [_few(names, each.represents) for each in listed]
        shown["nearest not chosen"] = [_nearest(names, each) for each in listed]
    facts = {"calls": calls, "marks": marks, "representatives": found, "names": names}
    return Part(data, shown=shown, facts=facts)


def _nearest(names: Sequence[str], each: Any) -> str:
    if each.alternative is None:
        return ""
    correlation = f"{each.alternative_correlation:.2f}".replace("-", "\N{MINUS SIGN}")
    return f"{shortened(names[each.alternative], MAX_NAME_LENGTH)} ({correlation})"


def _few(names: Sequence[str], columns: Index) -> str:
    few = [shortened(names[column], MAX_NAME_LENGTH) for column in columns[:MAX_NAMES]]
    more = len(columns) - len(few)
    return ", ".join(few) + (f" and {more} more" if more else "")


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
    labels = subject.labels
    if labels is not None and len(np.unique(labels)) > MAX_GROUPS:
        labels = None
    labels = None if labels is None else np.asarray(labels)[order].tolist()
    # Six significant digits; all of them would make the report twice as long.
    digits = 5 - np.floor(np.log10(max(float(np.abs(values).max()), 1e-300)))
    data = pd.DataFrame(values.round(int(np.clip(digits, -300, 300))))
    data.columns = pd.Index([subject.sample(sample) for sample in order])
    data.insert(0, "feature", names, allow_duplicates=True)
    if marks is not None:
        data.insert(1, "marks", marks, allow_duplicates=True)
    draw = partial(cluster_map, values, names, groups, labels=labels, marks=marks)
    facts = {"groups": groups, "labels": labels, "marks": marks, "names": names}
    return Part(data, draw, facts={**facts, "n_samples": len(order)})


def measure_planes(subject: Subject) -> Part:
    """Show samples by the chosen features and by all, coloured by cluster or label."""
    chosen = sample_view(subject.table, subject.chosen, random_state=subject.seed)
    every = sample_view(subject.table, random_state=subject.seed)
    groups, grouped_by = subject.clusters, "cluster"
    if groups is None:
        groups, grouped_by = subject.labels, "label"
    if groups is not None and len(np.unique(groups)) > MAX_GROUPS:
        groups = None
    names = [subject.sample(sample) for sample in every.samples]
    shown = None if groups is None else np.asarray(groups)[every.samples].tolist()
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
        partial(sample_scatter, planes, shown, names=names),
        facts={"groups": shown, "grouped_by": grouped_by, "points": every.points},
    )


def measure_representatives(subject: Subject) -> list[Any]:
    """Return what each chosen feature represents, by rank."""
    n_samples, n_features = subject.table.shape
    check_cost(n_samples * n_features * len(subject.chosen))
    places = {
        each.column: each for each in representatives(subject.table, subject.chosen)
    }
    return [places[column] for column in subject.chosen.tolist()]


def measure_convergence(subject: Subject) -> Part:
    """Return the objective of the fit."""
    history = np.asarray(learned(subject.selector, "objective_history_"), dtype=float)
    if not len(history):
        name = type(subject.selector).__name__
        raise ValueError(f"{name} has no objective history")
    data = {"iteration": range(1, len(history) + 1), "objective": history}
    return Part(pd.DataFrame(data), partial(objective_curve, history))


def measure_repetition(subject: Subject) -> Part:
    """Correlate the chosen features, with similar ones side by side."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    count = len(subject.chosen)
    if count < 2:
        raise ValueError("a single feature cannot repeat another")
    check_cost(subject.table.shape[0] * count**2)
    first = subject.chosen[:MAX_MAPPED]
    # A constant column has no correlation but with itself.
    columns = as_matrix(subject.table.raw[:, first])
    summary = columns.summary()
    varying = np.flatnonzero(~summary.constant)
    found = np.eye(len(first))
    if len(varying):
        unit = unit_columns(columns, varying).columns(slice(None))
        found[np.ix_(varying, varying)] = np.clip(unit.T @ unit, -1.0, 1.0)
        np.fill_diagonal(found, 1.0)
    order = leaves_list(linkage(squareform(1 - np.abs(found), checks=False), "average"))
    names = [subject.names[column] for column in first[order]]
    found = found[np.ix_(order, order)]
    mean = redundancy(as_matrix(subject.table.raw[:, np.sort(subject.chosen)]))
    data = pd.DataFrame(found.round(6), columns=names)
    data.insert(0, "feature", names, allow_duplicates=True)
    return Part(data, partial(redundancy_map, names, found), facts={"mean": mean})


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
    # In a panel one is black; in most images the smallest value is.
    spread = max(float(np.ptp(mean)), np.finfo(np.float64).tiny)
    darkness = (mean.max() - mean) / spread
    words = f"{kept.sum()} of {kept.size} pixels"
    return Part(
        pd.DataFrame({name: values.ravel() for name, values in data.items()}),
        partial(pixel_plot, [PixelPanel("Chosen pixels", words, darkness, kept)]),
        facts={"kept": kept, "mean": mean},
    )


def check_cost(products: float) -> None:
    """Raise an error if a part would cost too much."""
    if products > MAX_PRODUCTS:
        raise ValueError(
            f"it would take about {products:.0e} multiplications, more than the limit "
            "of a report; select fewer features"
        )

"""What a report shows of a selection without any other fit."""

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

from ufselect._warn import warn
from ufselect.evaluation import redundancy, representatives, sample_view
from ufselect.evaluation.criteria import Representative
from ufselect.matrix import DataMatrix, Float, Index, as_matrix
from ufselect.plotting.convergence import objective_curve
from ufselect.plotting.curves import score_curve
from ufselect.plotting.fitted import MAX_GROUPS, groups_shown, learned
from ufselect.plotting.heatmap import cluster_map, in_cluster_order, marked_clusters
from ufselect.plotting.maps import PixelPanel, pixel_plot, redundancy_map
from ufselect.plotting.scatter import sample_scatter
from ufselect.report.halves import SplitHalves, fit_halves
from ufselect.report.rendering import Part
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.rankings import ROUNDING, unit_columns
from ufselect.tuning.auto_select import CONFIRMED_FDR, MAX_CORRELATION, TENTATIVE_FDR

# What one part may cost, in multiplications: a few seconds of one core.
MAX_PRODUCTS = 2e10
# Random sets of features to compare with, in every report and on the terminal.
N_RANDOM = 99
# Chosen features whose clusters and correlations with each other are measured.
MAX_LISTED = 300
# Of the others of them, those with which one correlates most.
N_NEAREST = 5
# From this absolute correlation on, one feature represents another.
REPRESENTED = 0.8
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
        summary = columns.summary()
        varying = np.flatnonzero(~summary.constant)
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
                self.refitted,
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


def features_part(
    subject: Subject, found: Sequence[Representative] | None, frequency: Float | None
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
    groups: list[list[str]] | None = None
    if found is not None:
        groups = [[names[column] for column in represented(each)] for each in found]
        others = [each.alternative for each in found]
        columns |= {
            "represents": [len(group) for group in groups],
            "nearest not chosen": [None if o is None else names[o] for o in others],
            "its correlation": [
                np.nan if each.alternative is None else each.alternative_correlation
                for each in found
            ],
        }
    if 1 < count <= MAX_LISTED:
        columns["correlates with"] = _nearest_chosen(subject)
    for name, values in subject.matrix.summary()._asdict().items():
        columns[name] = values[chosen]
    data = pd.DataFrame({k: v for k, v in columns.items() if v is not None})
    return Part(data, facts={"calls": calls, "groups": groups})


def max_correlation(selector: Any) -> float | None:
    """Return the correlation with a better feature that AutoSelect does not allow."""
    limit: float | str | None = getattr(selector, "max_correlation", None)
    if limit == "auto":
        limit = MAX_CORRELATION if selector.selector is None else None
    return None if limit is None else float(limit)


def represented(found: Representative) -> Index:
    """Return the columns that a chosen one represents."""
    return found.represents[np.abs(found.correlations) >= REPRESENTED - ROUNDING]


def _nearest_chosen(subject: Subject) -> list[str]:
    """Return the chosen features with which each correlates most, with signs."""
    table = subject.correlations
    sizes = np.abs(table) - 2 * np.eye(len(table))
    best = np.argsort(-sizes, axis=1, kind="stable")[
        :, : min(N_NEAREST, len(table) - 1)
    ]
    return [
        "; ".join(
            f"{subject.names[subject.chosen[j]]} ({table[i, j]:.2f})" for j in row
        )
        for i, row in enumerate(best)
    ]


def curve_part(subject: Subject, found: Sequence[Representative] | None) -> Part:
    """Return all features by rank, the cut, and why a feature is not chosen."""
    selector, count = subject.selector, len(subject.chosen)
    order = selector.order_
    data = selector.ranking(subject.names)
    calls, explained = (
        data[name].to_numpy() if name in data else None
        for name in ("call", "explained")
    )
    permuted = getattr(selector, "permuted_explained_", None)
    if permuted is not None:
        permuted = permuted[order]
        data["largest of permuted copies"] = permuted
        # All digits would make the report of a wide table twice as long.
        few = ["explained", "q_value", "largest of permuted copies"]
        data[few] = data[few].round(5)
        permuted = permuted if permuted.any() else None
    n_features = len(order)
    nearest, correlation = np.full(n_features, -1), np.full(n_features, np.nan)
    for each in found or ():
        nearest[each.represents] = each.column
        correlation[each.represents] = each.correlations
    if found is not None:
        names = [None if each < 0 else subject.names[each] for each in nearest[order]]
        ranks = np.append(np.argsort(order) + 1.0, np.nan)
        data["represented by"] = names
        data["its rank"] = pd.array(ranks[nearest[order]], dtype="Int64")
        data["correlation"] = correlation[order].round(4)
    data["not chosen because"] = _why_not_chosen(subject, nearest, correlation)[order]
    draw = partial(
        score_curve,
        data["score"].to_numpy(),
        count,
        calls=calls,
        explained=explained,
        permuted=permuted,
    )
    return Part(data, draw, facts={"permuted": permuted is not None})


def _why_not_chosen(
    subject: Subject, nearest: Index, correlation: Float
) -> NDArray[np.object_]:
    """Return for every feature why it is not chosen; nothing for the chosen ones."""
    selector: Any = subject.selector
    constant = subject.matrix.summary().constant
    limit = max_correlation(selector)
    q_values = np.zeros(len(constant))
    # A given number of features of a given selector does not depend on them.
    if hasattr(selector, "q_values_") and (
        selector.selector is None or selector.n_features_to_select == "auto"
    ):
        q_values = selector.q_values_
    redundant = np.abs(correlation) > (2.0 if limit is None else limit)
    why = np.full(len(constant), "below the cut of the ranking", dtype=object)
    rules = {
        "not clearly related to the structure": q_values > CONFIRMED_FDR,
        "not related to the structure": q_values > TENTATIVE_FDR,
        "constant": constant,
    }
    for column in np.flatnonzero(redundant).tolist():
        name, r = subject.names[nearest[column]], correlation[column]
        why[column] = f"redundant with {name} (correlation {r:.2f})"
    for words, applies in rules.items():
        why[applies] = words
    why[subject.chosen] = ""
    return why


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
    facts = {"marks": marks, "n_rows": len(rows), "n_samples": len(order)}
    return Part(data, draw, facts)


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
        facts={"groups": shown, "grouped_by": grouped_by},
    )


def measure_representatives(subject: Subject) -> list[Representative]:
    """Return the features nearest to each chosen one, by rank."""
    n_samples, n_features = subject.table.shape
    check_cost(n_samples * n_features * len(subject.chosen))
    limit = max_correlation(subject.selector)
    least = REPRESENTED if limit is None else min(limit, REPRESENTED)
    found = representatives(subject.table, subject.chosen, threshold=least)
    places = {each.column: each for each in found}
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
    found = subject.correlations[:MAX_MAPPED, :MAX_MAPPED]
    order = leaves_list(linkage(squareform(1 - np.abs(found), checks=False), "average"))
    names = [subject.names[column] for column in subject.chosen[:MAX_MAPPED][order]]
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

"""What a report about a selection measures, part by part, and what that may cost."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform
from sklearn.base import clone

from ufselect.evaluation import judge_by_k_means, redundancy, sample_view, stand_ins
from ufselect.evaluation.split_half import N_PERMUTED, preparation_of
from ufselect.evaluation.stand_ins import StandIn
from ufselect.evaluation.tables import UNITS, in_units
from ufselect.evaluation.verdict import (
    CRITERION_NAMES,
    MOST_SAMPLES,
    CriterionName,
    verdicts,
)
from ufselect.matrix import ColumnSummary, DataMatrix, Float, Index, as_matrix
from ufselect.report.selection_figures import cluster_ranges, sparkline
from ufselect.report.selection_parts import (
    AgainstRandom,
    ByChance,
    ClusterMap,
    ClusterSensitivity,
    Convergence,
    Features,
    KeptPixels,
    LabelScores,
    Repetition,
    SamplePlanes,
    Stable,
)
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.rankings import unit_columns
from ufselect.tuning import (
    StabilitySelection,
    false_selections,
    sensitivity_to_clusters,
)

# What one part may cost, in multiplications: a few seconds of one core.
MOST_PRODUCTS = 2e10
# Random sets of features to compare with, in every report and on the terminal.
N_RANDOM = 99
# With fewer random sets no p value could be below 5 %.
FEWEST_RANDOM = 20
# Sets of random features that are clustered beside the chosen ones.
N_RANDOM_CLUSTERED = 5
# Starts, steps and seeds of k-means, as a factor to its cost.
K_MEANS_STEPS = 1000
# Of more samples, so many are drawn to be clustered.
MOST_CLUSTERED = 1000
# Features in the table of the report; all of the chosen are in the file it offers.
MOST_LISTED = 300
# Features of a map of correlations, and features and samples of a heat map.
MOST_MAPPED = 25
MOST_ROWS_OF_MAP = 60
MOST_COLUMNS_OF_MAP = 400
MOST_PIXELS = 10_000
# Samples whose distribution is drawn by cluster; of more, every second or third.
MOST_IN_DISTRIBUTION = 10_000
# Groups that colours and shapes can tell apart.
MOST_GROUPS = 48

ImageOrder = Literal["rows", "columns"]
Progress = Callable[[int, int, str], None]


class Effort(NamedTuple):
    """How much to compute for a report.

    Attributes
    ----------
    n_subsamples : int
        Fits to halves of the samples, for stability; 0 leaves it out.
    n_cluster_numbers : int
        Fits with different numbers of clusters, for sensitivity; 0 leaves it out.
    n_random : int
        Random sets of as many features, for verdicts; 0 leaves them out.
    n_decoy_fits : int
        Fits with permuted columns among the features, for the share of false
        discoveries; 0 leaves it out.
    """

    n_subsamples: int = 10
    n_cluster_numbers: int = 3
    n_random: int = N_RANDOM
    n_decoy_fits: int = 0


EFFORTS = {
    "quick": Effort(4, 0),
    "default": Effort(),
    "thorough": Effort(50, 5, n_decoy_fits=5),
}


@dataclass(frozen=True)
class Subject:
    """A fitted selector, the table it was fitted to, and how hard to try."""

    table: Any
    selector: UnsupervisedSelector
    refitted: UnsupervisedSelector
    names: Sequence[str]
    chosen: Index
    effort: Effort
    seed: int
    n_jobs: int | None = None
    time_budget: float | None = None
    labels: Any = None
    sample_names: Sequence[str] | None = None
    image_shape: tuple[int, int] | None = None
    image_order: ImageOrder = "rows"
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
        return as_matrix(self.table).by_columns()

    @cached_property
    def listed(self) -> Float:
        """Return the columns of the first of the chosen features."""
        return self.matrix.columns(self.chosen[:MOST_LISTED])

    @cached_property
    def clusters(self) -> NDArray[Any] | None:
        """Return the cluster of each sample, if the selector found several."""
        found = learned(self.selector, "labels_")
        if found is None or len(found) != self.table.shape[0]:
            return None
        clusters = np.asarray(found)
        return clusters if 1 < len(np.unique(clusters)) <= MOST_GROUPS else None

    @cached_property
    def marks(self) -> list[tuple[Any, bool]] | None:
        """Return the cluster that each listed feature marks, and whether it is high.

        It is the one whose mean differs most from the mean of all other samples.
        """
        if self.clusters is None:
            return None
        kinds, places = np.unique(self.clusters, return_inverse=True)
        counts = np.bincount(places)
        found = []
        for column in self.listed.T:
            # Divided first, or sums of large numbers would overflow.
            scale = max(float(np.abs(column).max()), np.finfo(float).tiny)
            inside = np.bincount(places, column / scale)
            outside = (inside.sum() - inside) / (len(places) - counts)
            difference = inside / counts - outside
            # Of two clusters, which differ alike, the one where the feature is high.
            best = np.lexsort([difference, np.abs(difference).round(9)])[-1]
            found.append((kinds[best].item(), bool(difference[best] > 0)))
        return found


def learned(selector: Any, name: str) -> Any:
    """Return what a selector, or the one that it fitted inside, has learned, or None.

    Examples
    --------
    >>> from ufselect import SCFS, AutoSelect
    >>> from ufselect.data import planted
    >>> selector = AutoSelect(SCFS(), random_state=0).fit(planted("blobs").table)
    >>> len(learned(selector, "labels_"))
    90
    """
    inside = getattr(selector, "selector_", None)
    return getattr(selector, name, getattr(inside, name, None))


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


class Measured(NamedTuple):
    """The parts by name, and why others are left out or what was warned of."""

    parts: dict[str, Any]
    left_out: dict[str, str]
    notes: dict[str, list[str]]


def measure(subject: Subject, progress: Progress | None = None) -> Measured:
    """Return all parts of a report; what is sure and cheap comes first.

    A part that cannot be had is None, with its reason in ``left_out``. Progress is
    counted in fits, for they take most of the time; a part without any counts as one.
    """
    found = Measured({}, {}, {})
    tasks = _tasks(subject)
    done, total = 0, sum(work for _, work, _ in tasks.values())

    def tell(what: str) -> None:
        if progress is not None:
            progress(done, total, what)

    for name, (what, work, task) in tasks.items():
        tell(what)
        found.parts[name] = _ask(subject, name, task, found)
        done += work
    tell("done")
    stable = found.parts.get("stability")
    frequency = None if stable is None else stable.frequency
    like = found.parts.pop("stand-ins", None)
    found.parts["features"] = _features(subject, like, frequency)
    return found


def _tasks(subject: Subject) -> dict[str, tuple[str, int, Callable[..., Any]]]:
    """Return each part: what is being done, how much work it is, and who does it."""
    if not len(subject.chosen):
        return {}
    effort, selector = subject.effort, subject.selector
    tasks: dict[str, tuple[str, int, Callable[..., Any]]] = {
        "clusters": ("heat map", 1, measure_clusters),
        "planes": ("view of the samples", 1, measure_planes),
        "repetition": ("correlations", 1, measure_repetition),
    }
    if learned(selector, "objective_history_") is not None:
        tasks["convergence"] = ("objective", 1, measure_convergence)
    if subject.image_shape is not None:
        tasks["pixels"] = ("pixels", 1, measure_pixels)
    tasks["stand-ins"] = ("stand-ins", 1, measure_stand_ins)
    tasks["against_random"] = ("random features", 1, measure_against_random)
    if subject.labels is not None:
        tasks["labels"] = ("labels", 1, measure_labels)
    tasks["stability"] = ("subsamples", max(1, effort.n_subsamples), measure_stability)
    # Fits to all samples take longer than those to half of them.
    numbers = max(1, 2 * effort.n_cluster_numbers)
    tasks["sensitivity"] = ("numbers of clusters", numbers, measure_sensitivity)
    if effort.n_decoy_fits:
        tasks["by_chance"] = (
            "permuted copies",
            2 * effort.n_decoy_fits,
            measure_by_chance,
        )
    return tasks


def _ask(
    subject: Subject, name: str, task: Callable[[Subject], Any], found: Measured
) -> Any:
    """Return a part, or None with the reason in ``found``."""
    if subject.seconds_left == 0:
        found.left_out[name] = "there was no time left for it"
        return None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            return task(subject)
        except (ArithmeticError, MemoryError, ValueError) as error:
            found.left_out[name] = str(error).rstrip(".")
            return None
        finally:
            said = dict.fromkeys(
                str(warning.message)
                for warning in caught
                if issubclass(warning.category, UserWarning)
            )
            if said:
                found.notes[name] = list(said)


def _features(
    subject: Subject, found: Sequence[StandIn] | None, frequency: Float | None
) -> Features:
    chosen, marks = subject.chosen, None
    if len(chosen) and subject.marks is not None:
        marks = [f"{kind} ({'high' if up else 'low'})" for kind, up in subject.marks]
        marks += [""] * (len(chosen) - len(marks))
    calls, explained = (
        None
        if (values := getattr(subject.selector, name, None)) is None
        else values[chosen]
        for name in ("calls_", "explained_")
    )
    if subject.clusters is None:
        drawn = [sparkline(column) for column in subject.listed.T]
    else:
        some = slice(None, None, 1 + len(subject.clusters) // MOST_IN_DISTRIBUTION)
        groups = subject.clusters[some]
        drawn = [cluster_ranges(each, groups) for each in subject.listed[some].T]
    return Features(
        subject.names,
        chosen,
        subject.selector.scores_[chosen],
        ColumnSummary(*(part[chosen] for part in subject.matrix.summary())),
        frequency,
        found,
        drawn,
        calls,
        explained,
        marks,
    )


def measure_clusters(subject: Subject) -> ClusterMap:
    """Set the chosen features over the samples, both by cluster."""
    columns = subject.listed[:, :MOST_ROWS_OF_MAP]
    clusters, marks = subject.clusters, None
    rows = np.arange(columns.shape[1])
    if clusters is not None and subject.marks is not None:
        kinds = [kind for kind, _ in subject.marks]
        rows = np.array(sorted(rows, key=lambda row: kinds[row]))
        marks = [kinds[row] for row in rows]
        order = np.argsort(clusters, kind="stable")
    else:
        # Without clusters, along the direction in which the samples differ most.
        scale = np.maximum(np.abs(columns).max(axis=0), np.finfo(float).tiny)
        centred = columns / scale - (columns / scale).mean(axis=0)
        order = np.argsort(np.linalg.svd(centred, full_matrices=False)[0][:, 0])
    if len(order) > MOST_COLUMNS_OF_MAP:
        places = np.linspace(0, len(order) - 1, MOST_COLUMNS_OF_MAP).round()
        order = order[places.astype(int)]
    names = subject.sample_names or range(1, subject.table.shape[0] + 1)
    labels = subject.labels
    if labels is not None and len(np.unique(labels)) > MOST_GROUPS:
        labels = None
    return ClusterMap(
        [subject.names[column] for column in subject.chosen[rows]],
        [str(names[sample]) for sample in order],
        columns[np.ix_(order, rows)].T,
        None if clusters is None else clusters[order],
        None if labels is None else np.asarray(labels)[order].tolist(),
        marks,
    )


def measure_planes(subject: Subject) -> SamplePlanes:
    """Show samples by the chosen features and by all, coloured by label or cluster."""
    chosen = sample_view(subject.table, subject.chosen, random_state=subject.seed)
    every = sample_view(subject.table, random_state=subject.seed)
    groups, grouped_by = subject.labels, "label"
    if groups is None:
        groups, grouped_by = subject.clusters, "cluster"
    if groups is not None and len(np.unique(groups)) > MOST_GROUPS:
        groups = None
    names = subject.sample_names or range(1, subject.table.shape[0] + 1)
    return SamplePlanes(
        chosen,
        every,
        [str(names[sample]) for sample in every.samples],
        None if groups is None else np.asarray(groups)[every.samples].tolist(),
        grouped_by,
    )


def measure_stand_ins(subject: Subject) -> list[StandIn]:
    """Return what each chosen feature stands for, by rank."""
    n_samples, n_features = subject.table.shape
    refuse_beyond(n_samples * n_features * len(subject.chosen))
    found = stand_ins(subject.table, subject.chosen)
    places = {each.column: each for each in found}
    return [places[column] for column in subject.chosen.tolist()]


def measure_convergence(subject: Subject) -> Convergence:
    """Return the objective of the fit."""
    history = learned(subject.selector, "objective_history_")
    if history is None or not len(history):
        name = type(subject.selector).__name__
        raise ValueError(f"{name} has no objective that falls from step to step")
    return Convergence(np.asarray(history, dtype=np.float64))


def measure_repetition(subject: Subject) -> Repetition:
    """Correlate the chosen features, and set the first of them like beside like."""
    if len(subject.chosen) < 2:
        raise ValueError("a single chosen feature has nothing to repeat")
    refuse_beyond(subject.table.shape[0] * len(subject.chosen) ** 2)
    first = subject.chosen[:MOST_MAPPED]
    correlations = _correlations(subject.table[:, first])
    distances = squareform(1 - np.abs(correlations), checks=False)
    order = leaves_list(linkage(distances, "average"))
    mean = redundancy(subject.table[:, np.sort(subject.chosen)])
    names = [subject.names[column] for column in first[order]]
    return Repetition(names, correlations[np.ix_(order, order)], mean)


def _correlations(columns: Any) -> Float:
    """Return correlations; a constant column has none but with itself."""
    data = as_matrix(columns)
    summary = data.summary()
    varying = np.flatnonzero(~summary.constant)
    found = np.eye(data.shape[1])
    if len(varying):
        unit = unit_columns(data, summary, varying).columns(slice(None))
        found[np.ix_(varying, varying)] = np.clip(unit.T @ unit, -1.0, 1.0)
        np.fill_diagonal(found, 1.0)
    return found


def measure_pixels(subject: Subject) -> KeptPixels:
    """Return the mean image and the chosen pixels."""
    n_features, shape = subject.table.shape[1], subject.image_shape or (0, 0)
    if shape[0] * shape[1] != n_features:
        raise ValueError(
            f"images of {shape[0]} x {shape[1]} have {shape[0] * shape[1]} pixels, "
            f"but there are {n_features} features"
        )
    if n_features > MOST_PIXELS:
        raise ValueError(f"{n_features} pixels are more than can be drawn one by one")
    kept: NDArray[np.bool_] = np.zeros(n_features, dtype=bool)
    kept[subject.chosen] = True
    along: Literal["C", "F"] = "C" if subject.image_order == "rows" else "F"
    image = subject.matrix.summary().mean.reshape(shape, order=along)
    return KeptPixels(image, kept.reshape(shape, order=along))


def measure_against_random(subject: Subject) -> AgainstRandom:
    """Select on half of the samples and judge on the others, by every criterion."""
    refuse_zero(subject.effort.n_random)
    costs = _costs(subject)
    expensive = {
        name: cost
        for name, cost in costs.items()
        if FEWEST_RANDOM * cost > MOST_PRODUCTS
    }
    if len(expensive) == len(costs):
        refuse_beyond(FEWEST_RANDOM * min(expensive.values()))
    for name in expensive:
        message = f"so many features are not judged by {name}, which would take long."
        warnings.warn(message, UserWarning, stacklevel=2)
    asked = [name for name in costs if name not in expensive]
    affordable = MOST_PRODUCTS // max(costs[name] for name in asked)
    again = subject.refitted
    if again is not subject.selector:
        again = clone(again).set_params(n_features_to_select=len(subject.chosen))
    found = verdicts(
        subject.table,
        again,
        criteria=asked,
        n_random=int(min(subject.effort.n_random, affordable)),
        random_state=subject.seed,
        n_jobs=subject.n_jobs,
    )
    if found[0].p_value is None:
        raise ValueError(found[0].sentence)
    return AgainstRandom(found)


def _costs(subject: Subject) -> Mapping[CriterionName, float]:
    """Return the multiplications that each criterion takes for one set."""
    n_samples = min((subject.table.shape[0] + 1) // 2, MOST_SAMPLES)
    count = len(subject.chosen)
    by_samples = float(n_samples**2 * count)
    # Each pair is held, made absolute and summed too.
    by_pairs = {"distinctness": 3.0 * n_samples * count**2}
    # A single feature has no pair to agree or to be distinct.
    names = CRITERION_NAMES if count > 1 else CRITERION_NAMES[1:3]
    return {name: (1 + N_PERMUTED) * by_pairs.get(name, by_samples) for name in names}


def measure_stability(subject: Subject) -> Stable:
    """Fit to halves of the samples, unless the selector has done so itself."""
    selector: Any = subject.selector
    n_selected = len(subject.chosen)
    if not hasattr(selector, "frequency_"):
        refuse_zero(subject.effort.n_subsamples)
        selector = StabilitySelection(
            subject.refitted,
            n_selected,
            n_subsamples=subject.effort.n_subsamples,
            n_jobs=subject.n_jobs,
            time_budget=subject.seconds_left,
            random_state=subject.seed,
        ).fit(subject.table)
    return Stable(
        [subject.names[column] for column in subject.chosen],
        selector.frequency_[subject.chosen],
        int(selector.n_subsamples_),
        n_selected / subject.table.shape[1],
        selector.stability_,
    )


def measure_sensitivity(subject: Subject) -> ClusterSensitivity:
    """Fit with fewer and with more clusters."""
    refuse_zero(subject.effort.n_cluster_numbers)
    parameters = subject.refitted.get_params(deep=False)
    if "n_clusters" not in parameters:
        name = type(subject.refitted).__name__
        raise ValueError(f"{name} asks for no number of clusters")
    number = parameters["n_clusters"]
    if isinstance(number, str):
        number = learned(subject.selector, "n_clusters_")
    found = sensitivity_to_clusters(
        subject.refitted,
        subject.table,
        numbers_around(number, subject.effort.n_cluster_numbers),
        n_features=len(subject.chosen),
        n_jobs=subject.n_jobs,
        time_budget=subject.seconds_left,
        random_state=subject.seed,
    )
    return ClusterSensitivity(found, len(subject.chosen) / subject.table.shape[1])


def numbers_around(number: Any, count: int) -> list[int]:
    """Return numbers of clusters from half of one to twice as many.

    Examples
    --------
    >>> numbers_around(8, 3), numbers_around(None, 3), numbers_around(2, 5)
    ([4, 8, 16], [4, 8, 16], [2, 3, 4])
    """
    middle = int(number) if isinstance(number, int | np.integer) else 8
    spread = np.geomspace(middle / 2, middle * 2, count).round().astype(int)
    return sorted({max(2, int(each)) for each in spread})


def measure_by_chance(subject: Subject) -> ByChance:
    """Fit with permuted columns among the features."""
    found = false_selections(
        subject.refitted,
        subject.table,
        n_repeats=subject.effort.n_decoy_fits,
        n_jobs=subject.n_jobs,
        time_budget=subject.seconds_left,
        random_state=subject.seed,
    )
    return ByChance(found, len(subject.chosen))


def measure_labels(subject: Subject) -> LabelScores:
    """Cluster by chosen, random and all features and compare with the labels."""
    random = np.random.RandomState(subject.seed)
    table, labels = subject.table, subject.labels
    if table.shape[0] > MOST_CLUSTERED:
        rows = np.sort(random.choice(table.shape[0], MOST_CLUSTERED, False))
        table, labels = table[rows], labels[rows]
    n_samples, n_features = table.shape
    n_classes = len(np.unique(labels))
    if not 2 <= n_classes <= n_samples / 2:
        raise ValueError(
            f"{n_classes} different labels of {n_samples} samples are not to be "
            "compared with clusters"
        )
    refuse_beyond(K_MEANS_STEPS * n_samples * n_features * n_classes)
    table, kind = in_units(table, preparation_of(subject.selector))
    size = len(subject.chosen)
    draws = [random.choice(n_features, size, False) for _ in range(N_RANDOM_CLUSTERED)]
    sets = {
        "chosen features": [subject.chosen],
        f"random features (mean of {N_RANDOM_CLUSTERED})": draws,
        "all features": [np.arange(n_features)],
    }

    def found(columns: Index) -> Float:
        part = table[:, np.sort(columns)]
        return judge_by_k_means(part, labels, seeds=range(3), n_init=5).mean(axis=0)

    scores = [
        np.mean([found(each) for each in several], 0) for several in sets.values()
    ]
    accuracy, information = np.array(scores).T.tolist()
    return LabelScores(list(sets), accuracy, information, UNITS[kind])


def refuse_beyond(products: float) -> None:
    """Raise an error if a part would cost too much."""
    if products > MOST_PRODUCTS:
        raise ValueError(
            f"it would take about {products:.0e} multiplications, more than a report "
            "may cost; choose fewer features"
        )


def refuse_zero(count: int) -> None:
    """Raise an error if a part is not wanted."""
    if not count:
        raise ValueError("it was not asked for; a report of more effort has it")

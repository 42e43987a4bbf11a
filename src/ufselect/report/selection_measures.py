"""Parts of a report that follow from the table and what was learned from it."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from ufselect.evaluation import redundancy, sample_view, stand_ins
from ufselect.evaluation.stand_ins import StandIn
from ufselect.matrix import Float, as_matrix
from ufselect.report.selection_parts import (
    Convergence,
    KeptPixels,
    Repetition,
    SamplePlanes,
)
from ufselect.report.selection_subject import Subject, learned, refuse_beyond
from ufselect.solvers.rankings import unit_columns

# Features of a map whose names can be read.
MOST_MAPPED = 25
MOST_PIXELS = 10_000
# Groups that colours and shapes can tell apart.
MOST_GROUPS = 48

ImageOrder = Literal["rows", "columns"]


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


def measure_planes(
    subject: Subject, labels: Any | None, sample_names: Sequence[str] | None
) -> SamplePlanes:
    """Show samples by the chosen features and by all, coloured by label or cluster."""
    chosen = sample_view(subject.table, subject.chosen, random_state=subject.seed)
    every = sample_view(subject.table, random_state=subject.seed)
    samples = every.samples
    groups, grouped_by = labels, "label"
    if labels is None:
        groups, grouped_by = learned(subject.selector, "labels_"), "cluster"
    if groups is not None and len(np.unique(groups)) > MOST_GROUPS:
        groups = None
    names = sample_names or range(1, subject.table.shape[0] + 1)
    return SamplePlanes(
        chosen,
        every,
        [str(names[sample]) for sample in samples],
        None if groups is None else np.asarray(groups)[samples].tolist(),
        grouped_by,
    )


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


def measure_pixels(
    subject: Subject, shape: tuple[int, int], order: ImageOrder
) -> KeptPixels:
    """Return the mean image and the chosen pixels."""
    n_features = subject.table.shape[1]
    if shape[0] * shape[1] != n_features:
        raise ValueError(
            f"images of {shape[0]} x {shape[1]} have {shape[0] * shape[1]} pixels, "
            f"but there are {n_features} features"
        )
    if n_features > MOST_PIXELS:
        raise ValueError(f"{n_features} pixels are more than can be drawn one by one")
    mean = as_matrix(subject.table).summary().mean
    kept: NDArray[np.bool_] = np.zeros(n_features, dtype=bool)
    kept[subject.chosen] = True
    along: Literal["C", "F"] = "C" if order == "rows" else "F"
    image = mean.reshape(shape, order=along)
    return KeptPixels(image, kept.reshape(shape, order=along))

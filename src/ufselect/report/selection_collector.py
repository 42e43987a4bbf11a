"""Asks for the parts of a report, one after the other."""

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ufselect.matrix import ColumnSummary, as_matrix
from ufselect.report.selection_features import Features
from ufselect.report.selection_fits import (
    measure_against_random,
    measure_by_chance,
    measure_labels,
    measure_sensitivity,
    measure_stability,
)
from ufselect.report.selection_measures import (
    ImageOrder,
    measure_convergence,
    measure_pixels,
    measure_planes,
    measure_repetition,
    measure_stand_ins,
)
from ufselect.report.selection_page import MOST_LISTED
from ufselect.report.selection_subject import Subject, learned
from ufselect.report.selection_words import TASKS
from ufselect.report.sparklines import sparkline

Progress = Callable[[int, int, str], None]


class Extras(NamedTuple):
    """What is known of samples and features beside the table."""

    labels: Any = None
    sample_names: Sequence[str] | None = None
    image_shape: tuple[int, int] | None = None
    image_order: ImageOrder = "rows"


class Collector:
    """Asks for one part after the other; takes no for an answer, and keeps it.

    Progress is counted in fits, for they take most of the time; a part without any
    counts as one.
    """

    def __init__(self, subject: Subject, progress: Progress | None) -> None:
        self.subject = subject
        self.progress = progress
        self.done, self.total = 0, 0
        self.fits = {
            "stability": subject.effort.n_subsamples,
            # Fits to all samples take longer than those to half of them.
            "sensitivity": 2 * subject.effort.n_cluster_numbers,
            "by_chance": 2 * subject.effort.n_decoy_fits,
        }
        self.left_out: dict[str, str] = {}
        self.notes: dict[str, list[str]] = {}
        budget = subject.seconds_left
        self.end = None if budget is None else time.monotonic() + budget

    def ask(self, name: str, measure: Callable[..., Any], *arguments: Any) -> Any:
        """Return a part, or None if it cannot be had."""
        self.tell(TASKS[name])
        self.done += self.work(name)
        left = None if self.end is None else self.end - time.monotonic()
        if left is not None and left <= 0:
            self.left_out[name] = "there was no time left for it"
            return None
        subject = self.subject._replace(seconds_left=left)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            try:
                return measure(subject, *arguments)
            except (ArithmeticError, MemoryError, ValueError) as error:
                self.left_out[name] = str(error).rstrip(".")
                return None
            finally:
                said = dict.fromkeys(
                    str(warning.message)
                    for warning in caught
                    if issubclass(warning.category, UserWarning)
                )
                self.notes |= {name: list(said)} if said else {}

    def work(self, name: str) -> int:
        """Return how much work a part is."""
        return max(1, self.fits.get(name, 1))

    def tell(self, what: str) -> None:
        """Say what is being done."""
        if self.progress is not None:
            self.progress(self.done, self.total, what)


def measured(collected: Collector, extras: Extras) -> dict[str, Any]:
    """Return all parts; what is sure and cheap comes first."""
    if not len(collected.subject.chosen):
        collected.tell("done")
        return {"features": _features(collected.subject, None, None)}
    asked: dict[str, tuple[Any, ...]] = {
        "planes": (measure_planes, extras.labels, extras.sample_names),
        "repetition": (measure_repetition,),
    }
    if learned(collected.subject.selector, "objective_history_") is not None:
        asked["convergence"] = (measure_convergence,)
    if extras.image_shape is not None:
        asked["pixels"] = (
            measure_pixels,
            extras.image_shape,
            extras.image_order,
        )
    asked["stand-ins"] = (measure_stand_ins,)
    asked["against_random"] = (measure_against_random,)
    if extras.labels is not None:
        asked["labels"] = (measure_labels, extras.labels)
    asked["stability"] = (measure_stability,)
    asked["sensitivity"] = (measure_sensitivity,)
    if collected.subject.effort.n_decoy_fits:
        asked["by_chance"] = (measure_by_chance,)
    collected.total = sum(collected.work(name) for name in asked)
    parts: dict[str, Any] = {
        name: collected.ask(name, *question) for name, question in asked.items()
    }
    collected.tell("done")
    found, stable = parts.pop("stand-ins"), parts["stability"]
    frequency = None if stable is None else stable.frequency
    parts["features"] = _features(collected.subject, found, frequency)
    return parts


def _features(subject: Subject, found: Any, frequency: Any) -> Features:
    data = as_matrix(subject.table).by_columns()
    listed = data.columns(subject.chosen[:MOST_LISTED])
    return Features(
        subject.names,
        subject.chosen,
        subject.selector.scores_[subject.chosen],
        ColumnSummary(*(part[subject.chosen] for part in data.summary())),
        frequency,
        found,
        [sparkline(column) for column in listed.T],
    )

"""A report about one selection: what was chosen, why, and how far to believe it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ufselect.evaluation import StructureTest
from ufselect.experiments.records import versions_here
from ufselect.report.page import html_page
from ufselect.report.plots import Frame
from ufselect.report.selection_collector import Collector, Extras, Progress, measured
from ufselect.report.selection_features import Features
from ufselect.report.selection_measures import ImageOrder
from ufselect.report.selection_page import selection_sections
from ufselect.report.selection_parts import (
    AgainstRandom,
    ByChance,
    ClusterSensitivity,
    Convergence,
    KeptPixels,
    LabelScores,
    Repetition,
    SamplePlanes,
    ScoreCurve,
    Stable,
)
from ufselect.report.selection_subject import EFFORTS, Effort, Subject, who_chose
from ufselect.report.surroundings import parameters_of
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.tuning.fits import LARGEST_SEED, checked_selector, checked_table


@dataclass(frozen=True)
class SelectionReport:
    """What is said of one selection. A part that is None was left out.

    Every part but ``parameters`` has a method ``frame``, which returns its columns, and
    all but ``features`` and ``labels`` have a method ``plot``, whose result a notebook
    shows.

    Attributes
    ----------
    title : str
    method : str
        Name of the selector; ``AutoSelect`` is named with the one that ranked.
    shape : tuple of int
        Samples and features.
    features : Features
        The chosen ones.
    curve : ScoreCurve
    against_random : AgainstRandom or None
    by_chance : ByChance or None
    stability : Stable or None
    sensitivity : ClusterSensitivity or None
    convergence : Convergence or None
    planes : SamplePlanes or None
    repetition : Repetition or None
    labels : LabelScores or None
    pixels : KeptPixels or None
    parameters : mapping of str to tuple of str
        Value and default of each parameter.
    surroundings : mapping of str to str
        Versions and seeds.
    command : str
        What to run to repeat it.
    decisions : sequence of str
        What the selector decided by itself, and why.
    structure : StructureTest or None
        Whether the table shows structure, if the selector tested it.
    left_out : mapping of str to str
        Parts that could not be had, and why.
    notes : mapping of str to list of str
        What was warned of on the way.
    """

    title: str
    method: str
    shape: tuple[int, int]
    features: Features
    curve: ScoreCurve
    against_random: AgainstRandom | None = None
    by_chance: ByChance | None = None
    stability: Stable | None = None
    sensitivity: ClusterSensitivity | None = None
    convergence: Convergence | None = None
    planes: SamplePlanes | None = None
    repetition: Repetition | None = None
    labels: LabelScores | None = None
    pixels: KeptPixels | None = None
    parameters: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    surroundings: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    decisions: Sequence[str] = ()
    structure: StructureTest | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def html(self) -> str:
        """Return the report as one HTML page that needs nothing else."""
        return html_page(self.title, selection_sections(self))

    def frames(self) -> dict[str, Frame]:
        """Return the columns of all parts that there are, by the name of the part."""
        frames: dict[str, Frame] = {
            name: part.frame()
            for name, part in vars(self).items()
            if hasattr(part, "frame")
        }
        frames["parameters"] = {
            "parameter": list(self.parameters),
            "value": [value for value, _ in self.parameters.values()],
            "default": [default for _, default in self.parameters.values()],
        }
        return frames


def selection_report(
    X: Any,
    selector: UnsupervisedSelector,
    *,
    feature_names: Sequence[str] | None = None,
    labels: ArrayLike | None = None,
    sample_names: Sequence[str] | None = None,
    image_shape: tuple[int, int] | None = None,
    image_order: ImageOrder = "rows",
    title: str | None = None,
    command: str | None = None,
    refitted: UnsupervisedSelector | None = None,
    effort: str | Effort = "default",
    time_budget: float | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    progress: Progress | None = None,
) -> SelectionReport:
    """Measure a selection in all ways that need no labels.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p)
        What the selector was fitted to.
    selector : selector
        Fitted. What it has learned beside its ranking (``objective_history_``,
        ``labels_``, ``reasons_``, ``frequency_`` with ``stability_``) is used.
    feature_names : sequence of str, optional
        By default those the selector has seen, or x0, x1 and so on.
    labels : array-like of shape (n,), optional
        Colours of the samples, and compared with clusters of the chosen features.
        They take no part in anything else.
    sample_names : sequence of str, optional
    image_shape : tuple of int, optional
        Rows and columns, if features are pixels.
    image_order : {"rows", "columns"}
        Whether pixels come row by row or, as MATLAB has it, column by column.
    title, command : str, optional
        Of the page, and what to run to repeat the selection.
    refitted : selector, optional
        What to fit to subsamples and with other numbers of clusters, if not
        ``selector``: for one that is expensive to fit and made of cheaper ones.
    effort : {"quick", "default", "thorough"} or Effort
        Subsamples, numbers of clusters, random sets and decoys. Where fits are what
        takes time, these levels take about as long as two, ten and fifty of them.
    time_budget : float, optional
        Seconds after which no further fit or test is started.
    n_jobs : int, optional
        Fits at once.
    random_state : int, RandomState instance or None
        Of subsamples, random sets and drawn samples.
    progress : callable, optional
        Called with the work done, all work there is, and what comes next.

    Returns
    -------
    SelectionReport
        A part that cannot be had, for whatever reason, is None; ``left_out`` says why.

    Examples
    --------
    >>> from ufselect import LaplacianScore
    >>> from ufselect.data import planted
    >>> from ufselect.report import selection_report
    >>> X = planted("blobs").table
    >>> report = selection_report(X, LaplacianScore(5).fit(X), effort="quick")
    >>> report.features.frame()["rank"]
    [1, 2, 3, 4, 5]
    >>> report.html().startswith("<!DOCTYPE html>")
    True
    """
    checked_selector(selector, "selection_report")
    check_is_fitted(selector, "order_")
    table = checked_table(selector, X)
    names = _names(table, selector, feature_names)
    _check_length("labels", labels, table.shape[0])
    _check_length("sample_names", sample_names, table.shape[0])
    seed = random_state
    if not isinstance(seed, int | np.integer):
        seed = check_random_state(random_state).randint(LARGEST_SEED)
    subject = Subject(
        table,
        selector,
        refitted or selector,
        names,
        selector.order_[: int(selector.get_support().sum())],
        _checked_effort(effort),
        int(seed),
        n_jobs,
        time_budget,
    )
    collected = Collector(subject, progress)
    extras = Extras(_groups(labels), sample_names, image_shape, image_order)
    parts = measured(collected, extras)
    scores = selector.scores_[selector.order_]
    ranked = [names[column] for column in selector.order_]
    return SelectionReport(
        title or f"{type(selector).__name__}: {len(subject.chosen)} features",
        who_chose(selector),
        table.shape,
        curve=ScoreCurve(ranked, scores, len(subject.chosen)),
        parameters=parameters_of(selector),
        surroundings=versions_here() | {"seed of this report": str(seed)},
        command=command or f"{selector!r}.fit(X)",
        decisions=list(getattr(selector, "reasons_", ())),
        structure=getattr(selector, "structure_", None),
        left_out=collected.left_out,
        notes=collected.notes,
        **parts,
    )


def _names(table: Any, selector: Any, given: Sequence[str] | None) -> list[str]:
    n_features = table.shape[1]
    if len(selector.order_) != n_features:
        raise ValueError(
            f"X has {n_features} features but the selector was fitted to "
            f"{len(selector.order_)}; give the X that it was fitted to."
        )
    _check_length("feature_names", given, n_features)
    if given is None:
        given = getattr(selector, "feature_names_in_", None)
    if given is None:
        given = [f"x{column}" for column in range(n_features)]
    return [str(name) for name in given]


def _check_length(name: str, values: Any, expected: int) -> None:
    if values is not None and len(values) != expected:
        raise ValueError(
            f"{name} has {len(values)} entries but X needs {expected}; give one each."
        )


def _checked_effort(effort: str | Effort) -> Effort:
    if isinstance(effort, Effort):
        return effort
    if effort not in EFFORTS:
        raise ValueError(
            f"effort={effort!r} is not known; use one of {', '.join(EFFORTS)}, or an "
            "Effort."
        )
    return EFFORTS[effort]


def _groups(labels: ArrayLike | None) -> Any:
    """Return labels that can be sorted: numbers, or else text."""
    if labels is None:
        return None
    values = np.asarray(labels)
    return values if values.dtype.kind in "biuf" else values.astype(str)

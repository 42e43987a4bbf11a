"""A report about one selection: what was chosen, why, and how far to believe it."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ufselect._version import __version__, versions_here
from ufselect.evaluation import StructureTest
from ufselect.matrix.checks import checked_matrix
from ufselect.plotting.curves import score_curve
from ufselect.plotting.fitted import learned
from ufselect.report.halves import SplitHalves
from ufselect.report.rendering import Part, render
from ufselect.report.selection_measures import measure
from ufselect.report.selection_subject import (
    EFFORTS,
    Effort,
    ImageOrder,
    Progress,
    Subject,
    who_chose,
)
from ufselect.report.selection_text import (
    Decision,
    as_dict,
    as_text,
    citations_of,
    code_of,
    decide,
    parameters_of,
)
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.tuning.fits import MAX_SEED, checked_selector


@dataclass(frozen=True, repr=False)
class SelectionReport:
    """The report of one selection. A part that is None was left out.

    Every part has a method ``frame``, which returns a DataFrame, and all but
    ``features`` and ``labels`` have a method ``plot``, whose result a notebook shows.

    Attributes
    ----------
    title : str
    method : str
        Name of the selector; ``AutoSelect`` is named with the one that ranked.
    shape : tuple of int
        Samples and features.
    features : Part
        The chosen ones.
    curve : Part
        The ranking and the cut.
    heatmap, planes, pixels : Part or None
    against_random, by_chance, stability, sensitivity, repetition : Part or None
    labels, convergence : Part or None
    n_selected : int
    clusters : Series or None
        Cluster of each sample, by its name, if the selector found several.
    parameters : mapping of str to tuple of str
        Value and default of each parameter.
    surroundings : mapping of str to str
        Date, versions and seeds.
    command, code : str
        What to run to repeat it, on the command line and in Python.
    citations : sequence of str
        What to cite.
    reading : sequence of str
        What happened to the table when it was read.
    decisions : sequence of str
        What the selector decided by itself, and why.
    structure : StructureTest or None
        Whether the table shows structure, if the selector tested it.
    ranked_by : str
        Class of the selector that ranked.
    n_clusters : int or None
        Number of clusters that the selector decided on or was given.
    left_out : mapping of str to str
        Parts that could not be measured, and why.
    notes : mapping of str to list of str
        Warnings of each part.
    """

    title: str
    method: str
    shape: tuple[int, int]
    features: Part
    curve: Part
    n_selected: int
    heatmap: Part | None = None
    planes: Part | None = None
    pixels: Part | None = None
    against_random: Part | None = None
    stability: Part | None = None
    by_chance: Part | None = None
    sensitivity: Part | None = None
    repetition: Part | None = None
    labels: Part | None = None
    convergence: Part | None = None
    clusters: "pd.Series[Any] | None" = None
    parameters: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    surroundings: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    code: str = ""
    citations: Sequence[str] = ()
    reading: Sequence[str] = ()
    decisions: Sequence[str] = ()
    structure: StructureTest | None = None
    ranked_by: str = ""
    n_clusters: int | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return what was chosen and what to do, in a line."""
        n_samples, n_features = self.shape
        return (
            f"<SelectionReport: {self.method} chose {self.n_selected} of "
            f"{n_features} features of {n_samples} samples. {self.decision.headline}>"
        )

    def _repr_html_(self) -> str:
        # In a frame, so that its style does not reach the notebook.
        return render("notebook.html.j2", document=self.html())

    def html(self) -> str:
        """Return the report as one HTML file that needs nothing else."""
        return render("selection.html.j2", title=self.title, report=self)

    def text(
        self, source: str = "X", label_column: str | None = None, *, brief: bool = False
    ) -> str:
        """Return the report in short, for a terminal of 80 columns."""
        return as_text(self, source, label_column, brief=brief)

    def to_dict(self, label_column: str | None = None) -> dict[str, Any]:
        """Return the content of the report for JSON."""
        return as_dict(self, label_column)

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the tables of all parts that there are, by the name of the part."""
        parts = vars(self).items()
        frames = {name: part.data for name, part in parts if isinstance(part, Part)}
        rows = [(name, *values) for name, values in self.parameters.items()]
        frames["parameters"] = pd.DataFrame(
            rows, columns=["parameter", "value", "default"]
        )
        return frames

    @property
    def opening(self) -> str:
        """Return who chose how many features of what."""
        n_samples, n_features = self.shape
        return (
            f"{self.method} chose {self.n_selected} of {n_features} features of "
            f"{n_samples} samples, without looking at any label."
        )

    @property
    def summary(self) -> str:
        """Return what was done and what came of it, in two sentences."""
        findings = []
        if self.against_random is not None:
            findings.append(self.against_random.facts["sentence"])
        if self.by_chance is not None:
            share = self.by_chance.facts["share"]
            findings.append(f"about {share:.0%} of them are false discoveries")
        if self.stability is not None and self.stability.facts["index"] is not None:
            facts = self.stability.facts
            findings.append(
                "fitted to halves of the samples, the method chooses them again "
                f"{facts['frequency'].mean():.0%} of the time ({facts['word']} "
                "stability)"
            )
        text = "; ".join(findings)
        said = f" {text[0].upper()}{text[1:]}." if text else ""
        return self.opening + said

    @property
    def decision(self) -> Decision:
        """Return whether to use the selection, why not, and what to do next."""
        return decide(self)


def selection_report(
    X: Any,
    selector: UnsupervisedSelector,
    *,
    feature_names: Sequence[str] | None = None,
    labels: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_names: Sequence[str] | None = None,
    table: Any = None,
    image_shape: tuple[int, int] | None = None,
    image_order: ImageOrder = "rows",
    title: str | None = None,
    command: str | None = None,
    reading: Sequence[str] = (),
    refitted: UnsupervisedSelector | None = None,
    effort: str | Effort = "default",
    time_budget: float | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    progress: Progress | None = None,
    halves: "Future[SplitHalves | None] | None" = None,
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
    groups : array-like of shape (n,), optional
        Which samples belong together, such as those of one patient. Stability and
        verdicts are from halves that never split a group.
    sample_names : sequence of str, optional
    table : Table, optional
        What `ufselect.data.read_table` returned, for names, labels, groups, title and
        reading that are not given.
    image_shape : tuple of int, optional
        Rows and columns, if features are pixels.
    image_order : {"rows", "columns"}
        Whether pixels come row by row or, as MATLAB has it, column by column.
    title, command : str, optional
        Of the report, and what to run to repeat the selection. By default the name of
        the file, or of the selector.
    reading : sequence of str
        What happened to the table when it was read, in sentences: columns left out,
        cells filled, a table transposed.
    refitted : selector, optional
        What to fit to subsamples and with other numbers of clusters, if not
        ``selector``: for one that is expensive to fit and made of cheaper ones.
    effort : {"quick", "default", "thorough"} or Effort
        Halves, numbers of clusters, random sets and permuted copies. Where fits are
        what takes time, these levels take about as long as two, ten and fifty of them.
    time_budget : float, optional
        Seconds after which no further fit or test is started.
    n_jobs : int, optional
        Number of parallel jobs.
    random_state : int, RandomState instance or None
        Of subsamples, random sets and drawn samples.
    progress : callable, optional
        Called with the work done, all work there is, and what comes next.
    halves : Future, optional
        The result of `ufselect.report.halves.fit_halves`, if another process has begun
        with these fits; None as its result means that it could not do them.

    Returns
    -------
    SelectionReport
        A part that cannot be measured is None; ``left_out`` says why.

    Examples
    --------
    >>> from ufselect import LaplacianScore
    >>> from ufselect.data import planted
    >>> from ufselect.report import selection_report
    >>> X = planted("blobs").table
    >>> report = selection_report(X, LaplacianScore(10).fit(X), effort="quick")
    >>> report.features.frame()["feature"].tolist()[:3]
    ['x19', 'x28', 'x6']
    >>> report.decision.headline
    'Use this selection.'
    >>> report.html().startswith("<!DOCTYPE html>")
    True
    """
    checked_selector(selector, "selection_report")
    check_is_fitted(selector, "order_")
    if table is not None:
        feature_names = (
            table.names().tolist() if feature_names is None else feature_names
        )
        sample_names = table.sample_names if sample_names is None else sample_names
        labels = table.labels if labels is None else labels
        groups = getattr(table, "groups", None) if groups is None else groups
        title, reading = title or table.origin.name, [*reading, *table.notes]
    data = checked_matrix(X, owner=type(selector).__name__)
    names = _names(data, selector, feature_names)
    for name, given in (
        ("labels", labels),
        ("groups", groups),
        ("sample_names", sample_names),
    ):
        _check_length(name, given, data.shape[0])
    if groups is not None and len(np.unique(np.asarray(groups).astype(str))) < 2:
        raise ValueError(
            "groups holds a single group, which cannot be split into halves; give two "
            "groups or more, or none."
        )
    seed = random_state
    if not isinstance(seed, int | np.integer):
        seed = check_random_state(random_state).randint(MAX_SEED)
    order, count = selector.order_, int(selector.get_support().sum())
    subject = Subject(
        data,
        selector,
        refitted or selector,
        names,
        order[:count],
        _checked_effort(effort),
        int(seed),
        n_jobs,
        time_budget,
        _sortable(labels),
        _sortable(groups),
        None if sample_names is None else list(sample_names),
        image_shape,
        image_order,
        halves=halves,
    )
    # First, because another process can draw it meanwhile.
    curve = _curve(subject, order)
    measured = measure(subject, progress)
    number, clusters = learned(selector, "n_clusters_"), subject.clusters
    if clusters is not None:
        index = [subject.sample(place) for place in range(len(clusters))]
        clusters = pd.Series(clusters, pd.Index(index, name="sample"), name="cluster")
    today = date.today().isoformat()
    return SelectionReport(
        title or f"{type(selector).__name__}: {count} features",
        who_chose(selector),
        data.shape,
        curve=curve,
        n_selected=count,
        clusters=clusters,
        parameters=parameters_of(selector),
        surroundings={
            "date": today,
            **versions_here(),
            "ufselect": __version__,
            "seed of this report": str(seed),
        },
        command=command or f"{selector!r}.fit(X)",
        code=code_of(selector),
        citations=citations_of(selector, today[:4]),
        reading=[*_about(subject), *reading],
        decisions=list(getattr(selector, "reasons_", ())),
        structure=getattr(selector, "structure_", None),
        ranked_by=type(getattr(selector, "selector_", None) or selector).__name__,
        n_clusters=None if number is None else int(number),
        left_out=measured.left_out,
        notes=measured.notes,
        **measured.parts,
    )


def _curve(subject: Subject, order: Any) -> Part:
    """Return all features by rank with the cut, and what permuted copies reach."""
    selector, count = subject.selector, len(subject.chosen)
    data = selector.ranking(subject.names)
    scores = data["score"].to_numpy()
    calls, explained = (
        data[name].to_numpy() if name in data else None
        for name in ("call", "explained")
    )
    permuted = getattr(selector, "permuted_explained_", None)
    if permuted is not None:
        permuted = permuted[order]
        data["largest of permuted copies"] = permuted.round(6)
        permuted = permuted if permuted.any() else None
    draw = partial(
        score_curve,
        scores,
        count,
        calls=calls,
        explained=explained,
        permuted=permuted,
    )
    return Part(data, draw, facts={"permuted": permuted is not None})


def _about(subject: Subject) -> list[str]:
    """Return what the table holds, in sentences with counts."""
    n_samples, n_features = subject.table.shape
    said = [f"{n_samples} samples, {n_features} features."]
    if constant := int(np.count_nonzero(subject.matrix.summary().constant)):
        said.append(f"Constant features, which are ranked last: {constant}.")
    if subject.labels is not None:
        count = len(np.unique(subject.labels))
        said.append(f"Labels of {count} classes, which the selection did not use.")
    if subject.groups is not None:
        count = len(np.unique(subject.groups))
        said.append(f"{count} groups of samples; no half splits a group.")
    return said


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


def _sortable(labels: ArrayLike | None) -> Any:
    """Return labels that can be sorted: numbers, or else text."""
    if labels is None:
        return None
    values = np.asarray(labels)
    return values if values.dtype.kind in "biuf" else values.astype(str)

"""Gather the content of a report about one selection."""

from collections.abc import Sequence
from concurrent.futures import Future
from datetime import date
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ufselect._version import __version__, versions_here
from ufselect.matrix.checks import checked_matrix
from ufselect.plotting.fitted import learned, names_of
from ufselect.report.content import SelectionReport
from ufselect.report.halves import SplitHalves
from ufselect.report.measures import measure
from ufselect.report.parts import (
    EFFORTS,
    Effort,
    ImageOrder,
    Progress,
    Subject,
    who_chose,
)
from ufselect.report.rendering import docstring_sections
from ufselect.selectors import SCFS
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.tuning.fits import MAX_SEED, checked_selector


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
    if not isinstance(effort, Effort) and effort not in EFFORTS:
        raise ValueError(
            f"effort={effort!r} is not known; use one of {', '.join(EFFORTS)}, or an "
            "Effort."
        )
    if table is not None:
        if feature_names is None:
            feature_names = table.names().tolist()
        sample_names = table.sample_names if sample_names is None else sample_names
        labels = table.labels if labels is None else labels
        groups = table.groups if groups is None else groups
        title, reading = title or table.origin.name, [*reading, *table.notes]
    data = checked_matrix(X, owner=type(selector).__name__)
    n_samples, n_features = data.shape
    if len(selector.order_) != n_features:
        raise ValueError(
            f"X has {n_features} features but the selector was fitted to "
            f"{len(selector.order_)}; give the X that it was fitted to."
        )
    of_samples: dict[str, Any] = {
        **{"labels": labels, "groups": groups, "sample_names": sample_names}
    }
    for name, given in of_samples.items():
        if given is not None and len(given) != n_samples:
            raise ValueError(
                f"{name} has {len(given)} entries but X needs {n_samples}; give one "
                "each."
            )
    labels, groups = _sortable(labels), _sortable(groups)
    if groups is not None and len(np.unique(groups)) < 2:
        raise ValueError(
            "groups holds a single group, which cannot be split into halves; give two "
            "groups or more, or none."
        )
    seed = random_state
    if not isinstance(seed, int | np.integer):
        seed = check_random_state(random_state).randint(MAX_SEED)
    count = int(selector.get_support().sum())
    subject = Subject(
        data,
        selector,
        names_of(X, selector, feature_names),
        selector.order_[:count],
        effort if isinstance(effort, Effort) else EFFORTS[effort],
        int(seed),
        n_jobs,
        time_budget,
        labels,
        groups,
        None if sample_names is None else list(sample_names),
        image_shape,
        image_order,
        halves=halves,
    )
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


def _sortable(labels: ArrayLike | None) -> Any:
    """Return labels that can be sorted: numbers, or else text."""
    if labels is None:
        return None
    values = np.asarray(labels)
    return values if values.dtype.kind in "biuf" else values.astype(str)


def parameters_of(estimator: Any) -> dict[str, tuple[str, str]]:
    """Return value and default of each parameter of an estimator.

    Those of a selector that it fitted inside follow, behind the name of its class.

    Examples
    --------
    >>> from ufselect import MaxVariance
    >>> parameters_of(MaxVariance(5))
    {'n_features_to_select': ('5', 'None')}
    """
    known = signature(type(estimator)).parameters
    found = {
        name: (repr(value), repr(known[name].default))
        for name, value in estimator.get_params(deep=False).items()
    }
    inside = getattr(estimator, "selector_", None)
    if inside is not None:
        title = type(inside).__name__
        found |= {f"{title}.{name}": v for name, v in parameters_of(inside).items()}
    return found


def code_of(selector: Any) -> str:
    """Return the lines of Python that repeat a selection from X."""
    parts = [selector, *selector.get_params().values()]
    kinds = {type(each) for each in parts if isinstance(each, UnsupervisedSelector)}
    imports = sorted(
        f"from {kind.__module__ if kind.__module__[:9] != 'ufselect.' else 'ufselect'} "
        f"import {kind.__name__}"
        for kind in kinds
    )
    fit = [f"selector = {selector!r}", "selected = selector.fit_transform(X)"]
    return "\n".join([*imports, "", *fit])


def citations_of(selector: Any, year: str) -> list[str]:
    """Return ufselect and the papers of the methods that took part, to be cited."""
    inside = getattr(selector, "selector_", None)
    kinds = {type(each) for each in (selector, inside) if each is not None}
    if inside is None and hasattr(selector, "structure_"):
        kinds.add(SCFS)
    papers = [
        f"{kind.__name__}: {' '.join(paper.split())}"
        for kind in sorted(kinds, key=lambda kind: kind.__name__)
        if (paper := docstring_sections(kind).get("References"))
    ]
    own = f"The ufselect developers. ufselect, version {__version__}, {year}."
    return [own, *papers]

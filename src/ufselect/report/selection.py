"""A report about one selection: what was chosen, why, and how far to believe it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ufselect._version import __version__
from ufselect.evaluation import StructureTest
from ufselect.evaluation.tables import UNITS
from ufselect.experiments.cells import versions_here
from ufselect.report.rendering import render
from ufselect.report.selection_measures import (
    EFFORTS,
    MOST_LISTED,
    Effort,
    ImageOrder,
    Progress,
    Subject,
    learned,
    measure,
    who_chose,
)
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
    ScoreCurve,
    Stable,
)
from ufselect.report.selection_text import as_dict, as_text
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.tuning.fits import LARGEST_SEED, checked_selector, checked_table

# Below this stability, and above these shares and correlations, care is needed.
POOR_STABILITY = 0.4
MANY_BY_CHANCE = 0.2
MUCH_REPETITION = 0.7
# What to do next about a doubt.
SAMPLES = "Do not rely on single features; more samples would tell."
FEWER = "With fewer features, or more samples, it can be compared."
COMPARE = (
    "Compare other methods (ufselect compare), and see whether clusters make sense."
)


class Decision(NamedTuple):
    """What to do with a selection.

    Attributes
    ----------
    level : {"use", "care", "stop"}
    headline : str
        What to do, in one sentence.
    reasons : list of str
        Why not simply use it.
    next_steps : list of str
        What to do next.
    """

    level: Literal["use", "care", "stop"]
    headline: str
    reasons: list[str]
    next_steps: list[str]


@dataclass(frozen=True, repr=False)
class SelectionReport:
    """What is said of one selection. A part that is None was left out.

    Every part but ``parameters`` has a method ``frame``, which returns a DataFrame, and
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
    clusters : ClusterMap or None
    planes : SamplePlanes or None
    against_random : AgainstRandom or None
    by_chance : ByChance or None
    stability : Stable or None
    sensitivity : ClusterSensitivity or None
    repetition : Repetition or None
    labels : LabelScores or None
    pixels : KeptPixels or None
    convergence : Convergence or None
    parameters : mapping of str to tuple of str
        Value and default of each parameter.
    surroundings : mapping of str to str
        Versions and seeds.
    command, code : str
        What to run to repeat it, on the command line and in Python.
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
        Parts that could not be had, and why.
    notes : mapping of str to list of str
        What was warned of on the way.
    """

    title: str
    method: str
    shape: tuple[int, int]
    features: Features
    curve: ScoreCurve
    clusters: ClusterMap | None = None
    planes: SamplePlanes | None = None
    against_random: AgainstRandom | None = None
    by_chance: ByChance | None = None
    stability: Stable | None = None
    sensitivity: ClusterSensitivity | None = None
    repetition: Repetition | None = None
    labels: LabelScores | None = None
    pixels: KeptPixels | None = None
    convergence: Convergence | None = None
    parameters: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    surroundings: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    code: str = ""
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
            f"<SelectionReport: {self.method} chose {self.curve.n_selected} of "
            f"{n_features} features of {n_samples} samples. {self.decision.headline}>"
        )

    def _repr_html_(self) -> str:
        # In a frame, for the style of the report must not reach the notebook.
        return render("notebook.html.j2", document=self.html())

    def html(self) -> str:
        """Return the report as one HTML file that needs nothing else."""
        return render(
            "selection.html.j2",
            title=self.title,
            report=self,
            decision=self.decision,
            table_of_features=self.features.table(MOST_LISTED),
            units=UNITS,
        )

    def text(self, source: str = "X", label_column: str | None = None) -> str:
        """Return the report in short, for a terminal of 80 columns."""
        return as_text(self, source, label_column)

    def to_dict(self, label_column: str | None = None) -> dict[str, Any]:
        """Return all that `text` says, and more, as JSON can hold it."""
        return as_dict(self, label_column)

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the tables of all parts that there are, by the name of the part."""
        frames = {
            name: part.frame()
            for name, part in vars(self).items()
            if hasattr(part, "frame")
        }
        rows = [(name, *values) for name, values in self.parameters.items()]
        frames["parameters"] = pd.DataFrame(
            rows, columns=["parameter", "value", "default"]
        )
        return frames

    @property
    def summary(self) -> str:
        """Return what was done and what came of it, in two sentences."""
        n_samples, n_features = self.shape
        opening = (
            f"{self.method} chose {self.curve.n_selected} of {n_features} features of "
            f"{n_samples} samples, without looking at any label."
        )
        findings = []
        if self.against_random is not None:
            findings.append(self.against_random.sentence)
        if self.by_chance is not None:
            findings.append(
                f"about {self.by_chance.share:.0%} of them are false discoveries"
            )
        if self.stability is not None and self.stability.index is not None:
            findings.append(
                "fitted to halves of the samples, the method chooses them again "
                f"{self.stability.frequency.mean():.0%} of the time "
                f"({self.stability.word} stability)"
            )
        text = "; ".join(findings)
        return f"{opening} {text[0].upper()}{text[1:]}." if text else opening

    @property
    def decision(self) -> Decision:
        """Return whether to use the selection, why not, and what to do next."""
        if self.structure is not None and not self.structure.found:
            return Decision(
                "stop",
                "This table shows no groups; do not use this selection.",
                [],
                [
                    "Check that the right rows and columns were read, and in which "
                    "units; more samples may show groups that these do not."
                ],
            )
        if not self.curve.n_selected:
            return Decision("stop", "No feature was selected.", [], [])
        doubts = list(self._doubts())
        if not doubts:
            return Decision(
                "use",
                "Use this selection.",
                [],
                ["Look at what the clusters are, then go on with the chosen features."],
            )
        steps = list(dict.fromkeys(step for _, step in doubts))
        reasons = [reason for reason, _ in doubts]
        return Decision("care", "Use this selection with care.", reasons, steps)

    def _doubts(self) -> Iterator[tuple[str, str]]:
        """Yield each reason for care, and what to do about it."""
        count = self.curve.n_selected
        calls = self.features.calls
        if calls is not None and not (calls == "confirmed").any():
            yield "no feature is confirmed at a false discovery rate of 5 %", SAMPLES
        elif calls is not None and (rejected := int((calls == "rejected").sum())):
            yield (
                f"{rejected} of the {count} chosen features are rejected: they follow "
                "the structure of the others no more than permuted copies do",
                "Let the number of features be decided, or ask for fewer.",
            )
        if self.against_random is None:
            why = self.left_out.get("against_random", "")
            yield (
                f"there is no comparison with random features{why and f': {why}'}",
                FEWER,
            )
        else:
            # Noise is distinct too; and features that mark clusters need not predict
            # the others, so that being worse by one criterion is no reason for doubt.
            better = self.against_random.by_answer().get("better", [])
            if not set(better) - {"distinctness"}:
                yield (
                    "features chosen in this way do not clearly fit the structure of "
                    "the table better than random ones",
                    COMPARE,
                )
        stable = self.stability
        if stable and stable.index and stable.index.value < POOR_STABILITY:
            value = f"{stable.index.value:.2f}"
            yield f"other samples would choose others (stability {value})", SAMPLES
        if self.by_chance is not None and self.by_chance.share > MANY_BY_CHANCE:
            yield (
                f"about {self.by_chance.share:.0%} of them are false discoveries",
                "Ask for fewer features.",
            )
        if self.repetition is not None and self.repetition.mean > MUCH_REPETITION:
            yield (
                "they repeat one another (mean absolute correlation "
                f"{self.repetition.mean:.2f})",
                "Skip features that nearly repeat a better one (--max-correlation).",
            )


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
    reading: Sequence[str] = (),
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
        Of the report, and what to run to repeat the selection.
    reading : sequence of str
        What happened to the table when it was read, in sentences: columns left out,
        cells filled, a table transposed.
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
    >>> report.features.frame()["rank"].tolist()
    [1, 2, 3, 4, 5]
    >>> report.decision.headline
    'Use this selection.'
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
        _groups(labels),
        sample_names,
        image_shape,
        image_order,
    )
    measured = measure(subject, progress)
    clusters, calls = (learned(selector, name) for name in ("n_clusters_", "calls_"))
    return SelectionReport(
        title or f"{type(selector).__name__}: {len(subject.chosen)} features",
        who_chose(selector),
        table.shape,
        curve=ScoreCurve(
            [names[column] for column in selector.order_],
            selector.scores_[selector.order_],
            len(subject.chosen),
            None if calls is None else calls[selector.order_],
        ),
        parameters=parameters_of(selector),
        surroundings={
            **versions_here(),
            "ufselect": __version__,
            "seed of this report": str(seed),
        },
        command=command or f"{selector!r}.fit(X)",
        code=_code(selector),
        reading=list(reading),
        decisions=list(getattr(selector, "reasons_", ())),
        structure=getattr(selector, "structure_", None),
        ranked_by=type(getattr(selector, "selector_", None) or selector).__name__,
        n_clusters=None if clusters is None else int(clusters),
        left_out=measured.left_out,
        notes=measured.notes,
        **measured.parts,
    )


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


def _code(selector: Any) -> str:
    """Return the lines of Python that repeat a selection from X."""
    parts = [selector, *selector.get_params().values()]
    kinds = {type(each) for each in parts if isinstance(each, UnsupervisedSelector)}
    imports = sorted(
        f"from {kind.__module__ if kind.__module__[:9] != 'ufselect.' else 'ufselect'} "
        f"import {kind.__name__}"
        for kind in kinds
    )
    lines = [
        *imports,
        "",
        f"selector = {selector!r}",
        "selected = selector.fit_transform(X)",
    ]
    return "\n".join(lines)


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

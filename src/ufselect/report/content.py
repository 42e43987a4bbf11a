"""The content of a report about a selection, of which text, JSON and HTML are made."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ufselect._version import __version__, versions_here
from ufselect.evaluation import StructureTest
from ufselect.report.decision import Decision, decide
from ufselect.report.rendering import Part, html_page, render
from ufselect.report.sections import lead_of, selection_sections, selection_text

# Parts whose absence JSON explains.
PARTS = ("representatives", "against_random", "labels")
# Columns of the table of features that JSON has.
FEATURE_KEYS = [
    *("rank", "feature", "column", "score", "call", "explained", "marks cluster"),
    *("nearest not chosen", "its correlation", "frequency"),
]


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
        All features by rank, the cut, and why a feature is not chosen.
    n_selected : int
    heatmap, planes, pixels : Part or None
    against_random, by_chance, stability, sensitivity, repetition : Part or None
    labels, convergence : Part or None
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
        return html_page(self.title, selection_sections(self), lead_of(self))

    def text(
        self, source: str = "X", label_column: str | None = None, *, brief: bool = False
    ) -> str:
        """Return the report in short, for a terminal of 80 columns.

        Parameters
        ----------
        source : str
            What the table is called.
        label_column : str or None
            Name of the labels that the report compares with.
        brief : bool
            Whether it has to fit a screen of 24 lines.
        """
        return selection_text(self, source, label_column, brief=brief)

    def to_dict(self, label_column: str | None = None) -> dict[str, Any]:
        """Return the content of the report for JSON."""
        structure, stable, labels = self.structure, self.stability, self.labels
        judged, repeated = self.against_random, self.repetition
        tested = ("found", "p_value", "standardize", "evidence")
        content: dict[str, Any] = {
            "n_samples": self.shape[0],
            "n_features": self.shape[1],
            "chosen_by": self.method,
            "method": self.ranked_by,
            "decision": self.decision._asdict(),
            "structure": structure
            and {name: getattr(structure, name) for name in tested},
            "n_clusters": self.n_clusters,
            "n_selected": self.n_selected,
            "reasons": self.decisions,
            "features": _feature_rows(self.features),
            "against_random": judged
            and list(map(_verdict_row, judged.facts["verdicts"])),
            "redundancy": repeated and repeated.facts["mean"],
            "labels": labels
            and {
                "column": label_column,
                "used_for": "evaluation only",
                "scores": _rows(labels.data),
            },
            "stability": stable
            and {
                "n_subsamples": stable.facts["n_subsamples"],
                "index": stable.facts["index"] and stable.facts["index"].value,
                "chance": stable.facts["chance"],
            },
            "left_out": {k: v for k, v in self.left_out.items() if k in PARTS},
            "notes": self.notes,
            "parameters": {name: value for name, (value, _) in self.parameters.items()},
            "versions": {**versions_here(), "ufselect": __version__},
            "command": self.command,
        }
        return _finite(content)

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
        """Return what was done and what came of it, in short sentences."""
        sentences = [self.opening]
        if self.against_random is not None:
            better = self.against_random.facts["better"]
            sentences.append(f"On samples that were not used, it is {better}.")
        if self.by_chance is not None:
            share = self.by_chance.facts["share"]
            sentences.append(f"About {share:.0%} of them are false discoveries.")
        if self.stability is not None and self.stability.facts["index"] is not None:
            facts = self.stability.facts
            sentences.append(
                f"On halves of the samples, {facts['frequency'].mean():.0%} of the "
                f"features are chosen again ({facts['word']} stability)."
            )
        return " ".join(sentences)

    @property
    def decision(self) -> Decision:
        """Return whether to use the selection, why not, and what to do next."""
        return decide(self)


def _feature_rows(features: Part) -> list[dict[str, Any]]:
    rows = _rows(features.data.filter(items=FEATURE_KEYS))
    for row, each in zip(rows, features.facts["groups"] or (), strict=False):
        row["represents"] = each
    return rows


def _verdict_row(verdict: Any) -> dict[str, Any]:
    row: dict[str, Any] = verdict._asdict()
    del row["random_deviation"]
    row["random_band"] = row.pop("band")
    row["n_random"] = len(row.pop("random_values"))
    return row


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    frame = frame.rename(columns=lambda name: name.replace(" ", "_"))
    return frame.to_dict("records")


def _finite(content: Any) -> Any:
    """Return content with None for infinity and NaN, which JSON does not have."""
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    missing = isinstance(content, float) and not math.isfinite(content)
    return None if missing else content

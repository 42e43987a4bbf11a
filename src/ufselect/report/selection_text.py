"""The words of a report: what to do, text for a terminal, JSON, how to repeat it."""

import re
from collections.abc import Iterator
from inspect import signature
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from ufselect._version import __version__, versions_here
from ufselect.report.drawing import printable, shortened
from ufselect.report.rendering import docstring_sections, render
from ufselect.selectors import SCFS
from ufselect.selectors.base import UnsupervisedSelector

if TYPE_CHECKING:
    from ufselect.report.selection import SelectionReport

# Columns and rows of the table of features in text, and letters of a cell.
LISTED = ["feature", "score", "call", "explained", "stands for"]
MOST_LISTED, MOST_LISTED_BRIEFLY, MOST_LISTED_WITH_LABELS = 10, 8, 5
LONGEST_NAME = 23
WIDTH = 80
# Parts that JSON speaks of; a report has more.
PARTS = ("stand-ins", "against_random", "labels")
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


def decide(report: "SelectionReport") -> Decision:
    """Return whether to use the selection, why not, and what to do next."""
    if report.structure is not None and not report.structure.found:
        return Decision(
            "stop",
            "This table shows no groups; do not use this selection.",
            [],
            [
                "Check that the right rows and columns were read, and in which "
                "units; more samples may show groups that these do not."
            ],
        )
    if not report.n_selected:
        return Decision("stop", "No feature was selected.", [], [])
    doubts = list(_doubts(report))
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


def _doubts(report: "SelectionReport") -> Iterator[tuple[str, str]]:
    """Yield each reason for care, and what to do about it."""
    calls = report.features.facts["calls"]
    if calls is not None and not (calls == "confirmed").any():
        yield "no feature is confirmed at a false discovery rate of 5 %", SAMPLES
    elif calls is not None and (rejected := int((calls == "rejected").sum())):
        yield (
            f"{rejected} of the {report.n_selected} chosen features are rejected: "
            "they follow the structure of the others no more than permuted copies "
            "do",
            "Let the number of features be decided, or ask for fewer.",
        )
    if report.against_random is None:
        why = report.left_out.get("against_random", "")
        yield (
            f"there is no comparison with random features{why and f': {why}'}",
            FEWER,
        )
    # Noise is distinct too; and features that mark clusters need not predict
    # the others, so that being worse by one criterion is no reason for doubt.
    elif not set(report.against_random.facts["better"]) - {"distinctness"}:
        yield (
            "features chosen in this way do not clearly fit the structure of the "
            "table better than random ones",
            COMPARE,
        )
    index = report.stability and report.stability.facts["index"]
    if index and index.value < POOR_STABILITY:
        value = f"{index.value:.2f}"
        yield f"other samples would choose others (stability {value})", SAMPLES
    if report.by_chance and report.by_chance.facts["share"] > MANY_BY_CHANCE:
        yield (
            f"about {report.by_chance.facts['share']:.0%} of them are false "
            "discoveries",
            "Ask for fewer features.",
        )
    if report.repetition and report.repetition.facts["mean"] > MUCH_REPETITION:
        yield (
            "they repeat one another (redundancy "
            f"{report.repetition.facts['mean']:.2f})",
            "Skip features that nearly repeat a better one (--max-correlation).",
        )


def as_text(
    report: "SelectionReport", source: str, label_column: str | None, *, brief: bool
) -> str:
    """Return what to do, what was chosen, and how far to believe it, in text.

    Parameters
    ----------
    report : SelectionReport
    source : str
        What the table is called.
    label_column : str or None
        Name of the labels that the report compares with.
    brief : bool
        Whether it has to fit a screen of 24 lines.
    """
    most = MOST_LISTED
    if brief:
        about_labels = report.labels or "labels" in report.left_out
        most = MOST_LISTED_WITH_LABELS if about_labels else MOST_LISTED_BRIEFLY
    shown: Any = report.features.shown
    features = shown.head(most).reindex(columns=LISTED).dropna(axis=1, how="all")
    for title in {"feature", "stands for"} & set(features):
        cells = [shortened(cell, LONGEST_NAME) for cell in features[title]]
        features[title] = [cell or "-" for cell in cells]
    if "stands for" in features and (features["stands for"] == "-").all():
        del features["stands for"]
    text = render(
        "selection.txt.j2",
        report=report,
        source=printable(source),
        column="" if label_column is None else f" {printable(label_column)!r}",
        features=features,
        brief=brief,
    )
    first, *blocks = re.split(r"\n{2,}", text.strip())
    return "\n\n".join([_filled(*first.splitlines()), *map(_laid_out, blocks)]) + "\n"


def _laid_out(block: str) -> str:
    """Return a paragraph in lines of 80 letters; a table stays as it is."""
    is_table = re.match(".*\n-[- ]+\n", block)
    return block if is_table else _filled(" ".join(block.split()))


def _filled(*lines: str) -> str:
    return "\n".join(
        fill(line, WIDTH, break_long_words=False, break_on_hyphens=False)
        for line in lines
    )


def as_dict(report: "SelectionReport", label_column: str | None) -> dict[str, Any]:
    """Return the report as JSON can hold it."""
    structure, stable, labels = report.structure, report.stability, report.labels
    judged, repeated = report.against_random, report.repetition
    return {
        "n_samples": report.shape[0],
        "n_features": report.shape[1],
        "chosen_by": report.method,
        "method": report.ranked_by,
        "decision": report.decision._asdict(),
        "structure": structure
        and {
            "found": structure.found,
            "p_value": structure.p_value,
            "standardize": structure.standardize,
            "evidence": structure.evidence,
        },
        "n_clusters": report.n_clusters,
        "n_selected": report.n_selected,
        "reasons": list(report.decisions),
        "features": _feature_rows(report),
        "against_random": judged
        and [_verdict_row(each) for each in judged.facts["verdicts"]],
        "redundancy": repeated and repeated.facts["mean"],
        "labels": labels
        and {
            "column": label_column,
            "used_for": "evaluation only",
            "scores": _rows(labels.frame()),
        },
        "stability": stable
        and {
            "n_subsamples": stable.facts["n_subsamples"],
            "index": stable.facts["index"] and _finite(stable.facts["index"].value),
            "chance": stable.facts["chance"],
        },
        "left_out": {
            name: report.left_out[name] for name in PARTS if name in report.left_out
        },
        "notes": {name: list(notes) for name, notes in report.notes.items()},
        "parameters": {name: value for name, (value, _) in report.parameters.items()},
        "versions": {**versions_here(), "ufselect": __version__},
        "command": report.command,
    }


def _feature_rows(report: "SelectionReport") -> list[dict[str, Any]]:
    frame, facts = report.features.frame(), report.features.facts
    kept = ["rank", "feature", "column", "score", "call", "explained", "marks cluster"]
    rows = _rows(frame[[name for name in kept if name in frame]])
    found, names = facts["stand_ins"] or (), facts["names"]
    for row, each in zip(rows, found, strict=False):
        row["stands_for"] = [names[column] for column in each.stands_for]
        other = each.alternative
        row["nearest_not_chosen"] = None if other is None else names[other]
        row["its_correlation"] = _finite(each.alternative_correlation)
    if "frequency" in frame:
        for row, share in zip(rows, frame["frequency"], strict=True):
            row["frequency"] = _finite(share)
    return rows


def _verdict_row(each: Any) -> dict[str, Any]:
    numbers = ("value", "random_mean", "effect_size")
    others = ("criterion", "p_value", "n_features", "n_samples", "standardize")
    return {
        **{name: _finite(getattr(each, name)) for name in numbers},
        **{name: getattr(each, name) for name in (*others, "sentence")},
        "random_band": [_finite(limit) for limit in each.band],
        "n_random": len(each.random_values),
    }


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows: Any = frame.rename(columns=lambda name: name.replace(" ", "_"))
    return [
        {k: _finite(v) if isinstance(v, float) else v for k, v in row.items()}
        for row in rows.to_dict("records")
    ]


def _finite(value: Any) -> float | None:
    """Return a number; JSON has no infinity."""
    return float(value) if np.isfinite(value) else None


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
    lines = [
        *imports,
        "",
        f"selector = {selector!r}",
        "selected = selector.fit_transform(X)",
    ]
    return "\n".join(lines)


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

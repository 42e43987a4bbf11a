"""The words of a report: what to do, text for a terminal, JSON, how to repeat it."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from inspect import signature
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from ufselect._version import __version__, versions_here
from ufselect.evaluation.significance import SIGNIFICANT
from ufselect.evaluation.subsamples import Stability
from ufselect.plotting.axes import printable, shortened
from ufselect.report.rendering import docstring_sections, render
from ufselect.selectors import SCFS
from ufselect.selectors.base import UnsupervisedSelector

if TYPE_CHECKING:
    from ufselect.report.selection import SelectionReport

# Columns and rows of the table of features in text, and letters of a cell.
LISTED = ["feature", "score", "call", "explained", "represents"]
MAX_LISTED, MAX_LISTED_BRIEFLY, MAX_LISTED_WITH_LABELS = 10, 8, 5
MAX_NAME_LENGTH = 23
WIDTH = 80
# Parts whose absence JSON explains.
PARTS = ("representatives", "against_random", "labels")
# Columns of the table of features that JSON has.
FEATURE_KEYS = [
    *("rank", "feature", "column", "score", "call", "explained", "marks cluster"),
    *("nearest not chosen", "its correlation", "frequency"),
]
# From here on a stability is called by these words, after Nogueira and others.
STABILITIES = ((0.75, "excellent"), (0.4, "intermediate"), (float("-inf"), "poor"))
# What each criterion asks.
CRITERIA = {
    "kernel alignment": "Do they agree which samples are alike?",
    "explained variance": "Do they predict all features? (R2 on held-out samples; "
    "below 0 where means predict better)",
    "neighbourhood preservation": "Do samples keep their neighbours?",
    "low redundancy": "Do they differ? (1 minus redundancy)",
}
# Below this stability, and above these shares and correlations, care is needed.
POOR_STABILITY = 0.4
MAX_FALSE_SHARE = 0.2
MUCH_REPETITION = 0.7
# What to do next about a doubt.
SAMPLES = "Do not rely on single features; collect more samples."
FEWER = "Select fewer features, or use more samples, to compare it."
COMPARE = (
    "Compare other methods (ufselect compare), and check whether clusters make sense."
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
            ["Look at the clusters, then work with the chosen features."],
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
            "Leave the number of features out, or ask for fewer.",
        )
    if report.against_random is None:
        why = report.left_out.get("against_random", "")
        yield (
            f"there is no comparison with random features{why and f': {why}'}",
            FEWER,
        )
    # Noise is distinct too; and features that mark clusters need not predict
    # the others, so that being worse by one criterion is no reason for doubt.
    elif not set(report.against_random.facts["better"]) - {"low redundancy"}:
        yield (
            "features chosen in this way do not clearly fit the structure of the "
            "table better than random ones",
            COMPARE,
        )
    index = report.stability and report.stability.facts["index"]
    if index and index.value < POOR_STABILITY:
        value = f"{index.value:.2f}"
        yield f"other samples would choose others (stability {value})", SAMPLES
    if report.by_chance and report.by_chance.facts["share"] > MAX_FALSE_SHARE:
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
    most = MAX_LISTED
    if brief:
        about_labels = report.labels or "labels" in report.left_out
        most = MAX_LISTED_WITH_LABELS if about_labels else MAX_LISTED_BRIEFLY
    shown: Any = report.features.shown
    features = shown.head(most).reindex(columns=LISTED).dropna(axis=1, how="all")
    for title in {"feature", "represents"} & set(features):
        cells = [shortened(cell, MAX_NAME_LENGTH) for cell in features[title]]
        features[title] = [cell or "-" for cell in cells]
    if "represents" in features and (features["represents"] == "-").all():
        del features["represents"]
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
    """Return the report for JSON."""
    structure, stable, labels = report.structure, report.stability, report.labels
    judged, repeated = report.against_random, report.repetition
    tested = ("found", "p_value", "standardize", "evidence")
    content: dict[str, Any] = {
        "n_samples": report.shape[0],
        "n_features": report.shape[1],
        "chosen_by": report.method,
        "method": report.ranked_by,
        "decision": report.decision._asdict(),
        "structure": structure and {name: getattr(structure, name) for name in tested},
        "n_clusters": report.n_clusters,
        "n_selected": report.n_selected,
        "reasons": report.decisions,
        "features": _feature_rows(report),
        "against_random": judged
        and [_verdict_row(v) for v in judged.facts["verdicts"]],
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
        "left_out": {k: v for k, v in report.left_out.items() if k in PARTS},
        "notes": report.notes,
        "parameters": {name: value for name, (value, _) in report.parameters.items()},
        "versions": {**versions_here(), "ufselect": __version__},
        "command": report.command,
    }
    return _finite(content)


def _feature_rows(report: "SelectionReport") -> list[dict[str, Any]]:
    facts = report.features.facts
    rows = _rows(report.features.data.filter(items=FEATURE_KEYS))
    for row, each in zip(rows, facts["representatives"] or (), strict=False):
        row["represents"] = [facts["names"][column] for column in each.represents]
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


def answer(p_value: float | None, level: float = SIGNIFICANT) -> str:
    """Return what a p value says about the chosen features.

    Examples
    --------
    >>> [answer(p) for p in (0.01, 0.3, 0.99, None)]
    ['better', 'not clearly better', 'worse', 'not tested']
    """
    if p_value is None:
        return "not tested"
    if p_value < level:
        return "better"
    return "worse" if p_value > 1 - level else "not clearly better"


def stability_word(index: Stability | None) -> str:
    """Return excellent, intermediate or poor, or nothing."""
    if index is None:
        return ""
    return next(word for least, word in STABILITIES if index.value >= least)


def listed(words: Iterable[str]) -> str:
    """Return words as a list with an and.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last

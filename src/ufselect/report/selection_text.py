"""A report about one selection as text for a terminal, and as plain data."""

from textwrap import fill
from typing import Any

import numpy as np

from ufselect.evaluation import Verdict
from ufselect.evaluation.tables import UNITS
from ufselect.evaluation.verdict_words import SIGNIFICANT
from ufselect.experiments.records import versions_here
from ufselect.report.drawing import printable, shortened
from ufselect.report.plots import Frame
from ufselect.report.selection import SelectionReport
from ufselect.report.selection_words import ABOUT, NO_STRUCTURE, answer
from ufselect.report.tables import text_table
from ufselect.tuning import AutoSelect

# Features in the table, and letters of a name or a list of names in it.
MOST_LISTED = 10
LONGEST_NAME = 40
WIDTH = 88
# Parts that the text speaks of; a page has more.
PARTS = ("stand-ins", "against_random", "labels")


def ranking_frame(names: Any, selector: AutoSelect) -> Frame:
    """Return all features by rank, with score, call and explained share.

    Examples
    --------
    >>> from ufselect import AutoSelect
    >>> from ufselect.data import planted
    >>> X = planted("blobs").table
    >>> selector = AutoSelect(n_features_to_select=5, random_state=0).fit(X)
    >>> frame = ranking_frame([f"x{place}" for place in range(X.shape[1])], selector)
    >>> list(frame), sum(frame["selected"])
    (['rank', 'feature', 'score', 'selected', 'call', 'explained', 'q_value'], 5)
    """
    order = selector.order_
    ranks = range(1, len(order) + 1)
    return {
        "rank": list(ranks),
        "feature": [str(names[column]) for column in order],
        "score": selector.scores_[order].tolist(),
        "selected": [rank <= selector.n_selected_ for rank in ranks],
        "call": selector.calls_[order].tolist(),
        "explained": selector.explained_[order].tolist(),
        "q_value": selector.q_values_[order].tolist(),
    }


def selection_text(
    report: SelectionReport,
    selector: AutoSelect,
    source: str = "X",
    label_column: str | None = None,
) -> str:
    """Return what was chosen, why, and how far to believe it.

    Parameters
    ----------
    report : SelectionReport
        Of the selector.
    selector : AutoSelect
        Fitted.
    source : str
        What the table is called.
    label_column : str, optional
        Name of the labels that the report compares with.
    """
    parts = [
        *([] if selector.structure_found_ else [NO_STRUCTURE]),
        _paragraph(f"{printable(source)}: {_decision(report, selector)}"),
        *_verdict_parts(report),
        *_label_parts(report, label_column),
        *_feature_parts(report, selector),
    ]
    return "\n\n".join(parts) + "\n"


def _paragraph(text: str) -> str:
    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _decision(report: SelectionReport, selector: AutoSelect) -> str:
    n_samples, n_features = report.shape
    opening = (
        f"{report.method} chose {selector.n_selected_} of {n_features} features of "
        f"{n_samples} samples, without looking at any label."
    )
    return " ".join([opening, *report.decisions])


def _verdict_parts(report: SelectionReport) -> list[str]:
    if not len(report.features.columns):
        return []
    if report.against_random is None:
        reason = report.left_out.get("against_random", "it was not asked for")
        sentence = f"There is no comparison with random features: {reason}."
        return [_paragraph(sentence)]
    verdicts = report.against_random.verdicts
    first = verdicts[0]
    header = ["criterion", "chosen", "9 of 10 random sets", "p", "chosen are"]
    rows = [_verdict_row(each) for each in verdicts]
    return [
        _paragraph(
            f"Chosen on half of the samples, {first.n_features} features beside "
            f"{len(first.random_values)} random sets of as many, judged on "
            f"{first.n_samples} samples that the selection did not see, "
            f"{UNITS[first.standardize]}:"
        ),
        text_table(header, rows),
        _paragraph(ABOUT["criteria"]),
    ]


def _verdict_row(each: Verdict) -> list[str]:
    lower, upper = each.band
    return [
        each.criterion,
        f"{each.value:.3f}",
        f"{lower:.3f} to {upper:.3f}",
        "" if each.p_value is None else f"{each.p_value:.2g}",
        answer(each.p_value, SIGNIFICANT),
    ]


def _label_parts(report: SelectionReport, column: str | None) -> list[str]:
    name = "" if column is None else f" {printable(column)!r}"
    if report.labels is None:
        reason = report.left_out.get("labels")
        sentence = f"There is no comparison with the labels{name}: {reason}."
        return [_paragraph(sentence)] if reason else []
    frame = report.labels.frame()
    scores = zip(*list(frame.values())[1:], strict=True)
    rows = [
        [title, *(f"{100 * score:.1f}" for score in pair)]
        for title, pair in zip(frame["columns"], scores, strict=True)
    ]
    sentence = (
        f"The labels{name} are for evaluation only and took no part in the selection. "
        f"k-means on these columns, {report.labels.units}, finds them so well:"
    )
    return [_paragraph(sentence), text_table(["columns", "ACC %", "NMI %"], rows)]


def _feature_parts(report: SelectionReport, selector: AutoSelect) -> list[str]:
    if not len(report.features.columns):
        return []
    header, rows = report.features.rows(MOST_LISTED)
    explained = selector.explained_[report.features.columns]
    calls = selector.calls_[report.features.columns]
    cells = [
        [
            shortened(row[header.index("feature")], LONGEST_NAME),
            row[header.index("score")],
            str(call),
            f"{share:.0%}",
            _stand_ins(row, header),
        ]
        for row, call, share in zip(rows, calls, explained, strict=False)
    ]
    titles = ["feature", "score", "call", "explained", "stands for"]
    if report.features.stand_ins is None:
        titles, cells = titles[:-1], [row[:-1] for row in cells]
    rest = report.curve.n_selected - len(cells)
    more = f"\nand {rest} more." if rest else ""
    sentence = (
        "Chosen features, the best first, and the share of the variance of each that "
        "the structure of the others explains:"
    )
    if "stand-ins" in report.left_out:
        more += f"\nWhat they stand for was left out: {report.left_out['stand-ins']}."
    return [_paragraph(sentence), text_table(titles, cells) + more]


def _stand_ins(row: list[Any], header: list[str]) -> str:
    if "stands for" not in header:
        return ""
    return shortened(row[header.index("stands for")], LONGEST_NAME) or "-"


def selection_data(
    report: SelectionReport, selector: AutoSelect, label_column: str | None = None
) -> dict[str, Any]:
    """Return all that `selection_text` says, and more, as JSON can hold it."""
    labels = None if report.labels is None else report.labels.frame()
    return {
        "n_samples": report.shape[0],
        "n_features": report.shape[1],
        "chosen_by": report.method,
        "method": type(selector.selector_ or selector).__name__,
        "structure": {
            "found": selector.structure_found_,
            "p_value": selector.structure_.p_value,
            "standardize": selector.standardize_,
            "evidence": selector.structure_.evidence,
        },
        "n_clusters": selector.n_clusters_,
        "n_selected": int(selector.n_selected_),
        "reasons": list(report.decisions),
        "features": _feature_data(report, selector),
        "against_random": _verdict_data(report),
        "redundancy": report.repetition and report.repetition.mean,
        "labels": labels
        and {"column": label_column, "used_for": "evaluation only", **_rows(labels)},
        "stability": _stability_data(report),
        "left_out": {
            name: report.left_out[name] for name in PARTS if name in report.left_out
        },
        "notes": {name: list(notes) for name, notes in report.notes.items()},
        "parameters": {name: value for name, (value, _) in report.parameters.items()},
        "versions": versions_here(),
        "command": report.command,
    }


def _feature_data(report: SelectionReport, selector: AutoSelect) -> list[Any]:
    features = report.features
    rows: list[dict[str, Any]] = [
        {
            "rank": rank,
            "feature": features.names[column],
            "column": int(column),
            "score": _finite(selector.scores_[column]),
            "call": str(selector.calls_[column]),
            "explained": _finite(selector.explained_[column]),
        }
        for rank, column in enumerate(features.columns, start=1)
    ]
    for row, found in zip(rows, features.stand_ins or (), strict=False):
        other = found.alternative
        row["stands_for"] = [features.names[column] for column in found.stands_for]
        row["nearest_not_chosen"] = None if other is None else features.names[other]
        row["its_correlation"] = _finite(found.alternative_correlation)
    if features.frequency is not None:
        for row, share in zip(rows, features.frequency, strict=True):
            row["frequency"] = _finite(share)
    return rows


def _verdict_data(report: SelectionReport) -> list[dict[str, Any]] | None:
    if report.against_random is None:
        return None
    return [
        {
            "criterion": each.criterion,
            "value": _finite(each.value),
            "random_mean": _finite(each.random_mean),
            "random_band": [_finite(limit) for limit in each.band],
            "effect_size": _finite(each.effect_size),
            "p_value": each.p_value,
            "n_random": len(each.random_values),
            "n_features": each.n_features,
            "n_samples": each.n_samples,
            "standardize": each.standardize,
            "sentence": each.sentence,
        }
        for each in report.against_random.verdicts
    ]


def _stability_data(report: SelectionReport) -> dict[str, Any] | None:
    part = report.stability
    if part is None:
        return None
    return {
        "n_subsamples": part.n_subsamples,
        "index": None if part.index is None else _finite(part.index.value),
        "chance": part.chance,
    }


def _rows(frame: Frame) -> dict[str, Any]:
    titles = [title.replace(" ", "_") for title in frame]
    columns = zip(*frame.values(), strict=True)
    return {"scores": [dict(zip(titles, row, strict=True)) for row in columns]}


def _finite(value: Any) -> float | None:
    """Return a number; JSON has no infinity."""
    return float(value) if np.isfinite(value) else None

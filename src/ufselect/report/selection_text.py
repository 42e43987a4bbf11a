"""A report about one selection in short: text for a terminal, and plain data."""

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ufselect._version import __version__
from ufselect.evaluation.tables import UNITS
from ufselect.experiments.cells import versions_here
from ufselect.report.drawing import printable, shortened
from ufselect.report.tables import text_table

if TYPE_CHECKING:
    from ufselect.report.selection import SelectionReport
    from ufselect.tuning import AutoSelect

# Features in the table, and letters of a name or a list of names in it.
MOST_LISTED = 10
LONGEST_NAME = 24
WIDTH = 80
# Parts that the text speaks of; a report has more.
PARTS = ("stand-ins", "against_random", "labels")
CRITERIA = (
    "No criterion is enough alone: copies of one feature do well by structure, noise "
    "does well by distinctness, and representatives of groups do well by "
    "reconstruction and not by structure. Since there are several, the smallest p "
    "value is too optimistic."
)


def ranking_frame(names: Any, selector: "AutoSelect") -> pd.DataFrame:
    """Return all features by rank, with score, call and explained share.

    Examples
    --------
    >>> from ufselect import AutoSelect
    >>> from ufselect.data import planted
    >>> X = planted("blobs").table
    >>> selector = AutoSelect(n_features_to_select=5, random_state=0).fit(X)
    >>> frame = ranking_frame([f"x{place}" for place in range(X.shape[1])], selector)
    >>> list(frame), int(frame["selected"].sum())
    (['rank', 'feature', 'score', 'selected', 'call', 'explained', 'q_value'], 5)
    """
    order = selector.order_
    ranks = np.arange(1, len(order) + 1)
    return pd.DataFrame(
        {
            "rank": ranks,
            "feature": [str(names[column]) for column in order],
            "score": selector.scores_[order],
            "selected": ranks <= selector.n_selected_,
            "call": selector.calls_[order],
            "explained": selector.explained_[order],
            "q_value": selector.q_values_[order],
        }
    )


def as_text(report: "SelectionReport", source: str, label_column: str | None) -> str:
    """Return what was chosen, what to do with it, and how far to believe it.

    Parameters
    ----------
    report : SelectionReport
    source : str
        What the table is called.
    label_column : str or None
        Name of the labels that the report compares with.
    """
    n_samples, n_features = report.shape
    opening = (
        f"{printable(source)}: {report.method} chose {report.curve.n_selected} of "
        f"{n_features} features of {n_samples} samples, without looking at any label."
    )
    advice = report.decision
    because = f" Because {'; '.join(advice.reasons)}." if advice.reasons else ""
    parts = [
        _paragraph(advice.headline + because),
        _paragraph(" ".join([opening, *report.decisions])),
        *_verdict_parts(report),
        *_label_parts(report, label_column),
        *_feature_parts(report),
    ]
    return "\n\n".join(parts) + "\n"


def _paragraph(text: str) -> str:
    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _verdict_parts(report: "SelectionReport") -> list[str]:
    if not report.curve.n_selected:
        return []
    if report.against_random is None:
        reason = report.left_out.get("against_random", "it was not asked for")
        return [_paragraph(f"There is no comparison with random features: {reason}.")]
    first = report.against_random.verdicts[0]
    shown = report.against_random.shown().drop(columns="question")
    header = ["criterion", "chosen", "9 of 10 random sets", "p", "chosen are"]
    return [
        _paragraph(
            f"Chosen on half of the samples, {first.n_features} features beside "
            f"{len(first.random_values)} random sets of as many, judged on "
            f"{first.n_samples} samples that the selection did not see, "
            f"{UNITS[first.standardize]}:"
        ),
        text_table(header, shown.to_numpy().tolist()),
        _paragraph(CRITERIA),
    ]


def _label_parts(report: "SelectionReport", column: str | None) -> list[str]:
    name = "" if column is None else f" {printable(column)!r}"
    if report.labels is None:
        reason = report.left_out.get("labels")
        sentence = f"There is no comparison with the labels{name}: {reason}."
        return [_paragraph(sentence)] if reason else []
    rows = [
        [title, *(f"{100 * score:.1f}" for score in scores)]
        for title, *scores in report.labels.frame().itertuples(index=False)
    ]
    sentence = (
        f"The labels{name} are for evaluation only and took no part in the selection. "
        f"k-means on these columns, {report.labels.units}, finds them so well:"
    )
    return [_paragraph(sentence), text_table(["columns", "ACC %", "NMI %"], rows)]


def _feature_parts(report: "SelectionReport") -> list[str]:
    if not report.curve.n_selected:
        return []
    shown = report.features.shown(MOST_LISTED)
    wanted = ["feature", "score", "call", "explained", "stands for"]
    shown = shown[[title for title in wanted if title in shown]]
    for title in {"feature", "stands for"} & set(shown):
        shown[title] = [shortened(cell, LONGEST_NAME) or "-" for cell in shown[title]]
    sentence = "Chosen features, the best first"
    if "explained" in shown:
        sentence += (
            ", and the share of the variance of each that the structure of the others "
            "explains"
        )
    rest = report.curve.n_selected - len(shown)
    more = f"\nand {rest} more." if rest else ""
    if "stand-ins" in report.left_out:
        more += f"\nWhat they stand for was left out: {report.left_out['stand-ins']}."
    table = text_table(list(shown), shown.to_numpy().tolist())
    return [_paragraph(f"{sentence}:"), table + more]


def as_dict(report: "SelectionReport", label_column: str | None) -> dict[str, Any]:
    """Return the report as JSON can hold it."""
    structure, stable, labels = report.structure, report.stability, report.labels
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
        "n_selected": report.curve.n_selected,
        "reasons": list(report.decisions),
        "features": _feature_rows(report),
        "against_random": report.against_random
        and [_verdict_row(each) for each in report.against_random.verdicts],
        "redundancy": report.repetition and report.repetition.mean,
        "labels": labels
        and {
            "column": label_column,
            "used_for": "evaluation only",
            "scores": _rows(labels.frame()),
        },
        "stability": stable
        and {
            "n_subsamples": stable.n_subsamples,
            "index": stable.index and _finite(stable.index.value),
            "chance": stable.chance,
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
    features, frame = report.features, report.features.frame()
    kept = ["rank", "feature", "column", "score", "call", "explained", "marks cluster"]
    rows = _rows(frame[[name for name in kept if name in frame]])
    for row, found in zip(rows, features.stand_ins or (), strict=False):
        other = found.alternative
        row["stands_for"] = [features.names[column] for column in found.stands_for]
        row["nearest_not_chosen"] = None if other is None else features.names[other]
        row["its_correlation"] = _finite(found.alternative_correlation)
    if features.frequency is not None:
        for row, share in zip(rows, features.frequency, strict=True):
            row["frequency"] = _finite(share)
    return rows


def _verdict_row(each: Any) -> dict[str, Any]:
    return {
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


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows: Any = frame.rename(columns=lambda name: name.replace(" ", "_"))
    return [
        {k: _finite(v) if isinstance(v, float) else v for k, v in row.items()}
        for row in rows.to_dict("records")
    ]


def _finite(value: Any) -> float | None:
    """Return a number; JSON has no infinity."""
    return float(value) if np.isfinite(value) else None

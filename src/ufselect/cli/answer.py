"""What ``ufselect select`` says on one screen: verdict, features and labels."""

from collections.abc import Sequence
from typing import Any

from ufselect.cli.output import print_table, print_text, printable, shortened

# So that the answer fits a screen of 24 lines and 80 columns.
MAX_LISTED = 8
MAX_LISTED_WITH_LABELS = 5
MAX_REASONS = 2
LONGEST_NAME = 30
STYLES = {"use": "bold green", "care": "bold yellow", "stop": "bold red"}


def print_answer(name: str, found: dict[str, Any], *, stderr: bool = False) -> None:
    """Print the verdict, what was chosen, and how the labels compare.

    Parameters
    ----------
    name : str
        What the table is called.
    found : dict
        What ``SelectionReport.to_dict`` returns, which ``--json`` prints.
    stderr : bool
        Where to print.
    """
    advice, reasons = found["decision"], found["reasons"]
    print_text(advice["headline"], STYLES[advice["level"]], stderr=stderr)
    if advice["reasons"]:
        because = "; ".join(advice["reasons"][:MAX_REASONS])
        print_text(printable(f"Because {because}."), stderr=stderr)
    if found["structure"]["found"]:
        # The first reason is the evidence of structure.
        reasons = reasons[1:]
    decision = (
        f"{name}: {found['chosen_by']} chose {found['n_selected']} of "
        f"{found['n_features']} features of {found['n_samples']} samples, without "
        "looking at any label."
    )
    print_text("\n" + printable(" ".join([decision, *reasons])), stderr=stderr)
    labels = _label_sentence(found)
    if found["features"]:
        print_text("", stderr=stderr)
        most = MAX_LISTED_WITH_LABELS if labels else MAX_LISTED
        _print_features(found["features"], most, stderr=stderr)
    if labels:
        print_text("\n" + printable(labels), stderr=stderr)


def _print_features(
    features: Sequence[dict[str, Any]], most: int, *, stderr: bool
) -> None:
    header = ["feature", "score", "call", "explained", "stands for"]
    rows = [
        [
            shortened(row["feature"], LONGEST_NAME),
            "-" if row["score"] is None else f"{row['score']:.4g}",
            row["call"],
            "-" if row["explained"] is None else f"{row['explained']:.0%}",
            _stand_ins(row.get("stands_for", ())),
        ]
        for row in features[:most]
    ]
    if all(row[-1] == "-" for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    print_table(header, rows, words=["call", "stands for"], stderr=stderr)
    if len(features) > most:
        print_text(f"and {len(features) - most} more.", stderr=stderr)


def _stand_ins(names: Sequence[str]) -> str:
    if not names:
        return "-"
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return shortened(names[0], LONGEST_NAME) + more


def _label_sentence(found: dict[str, Any]) -> str:
    """Return how well k-means finds the labels, if there are any."""
    labels = found["labels"]
    if labels is None:
        reason = found["left_out"].get("labels")
        return f"There is no comparison with the labels: {reason}." if reason else ""
    scores = [
        f"{row['columns']} {100 * row['accuracy']:.1f} / "
        f"{100 * row['normalised_mutual_information']:.1f}"
        for row in labels["scores"]
    ]
    return (
        f"Labels {labels['column']!r}, not used to select, as k-means finds them (ACC "
        f"/ NMI in %): {', '.join(scores)}."
    )

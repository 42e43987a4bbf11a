"""What ``ufselect select`` says on one screen: verdict, features and labels."""

from collections.abc import Sequence
from typing import Any

from ufselect.cli.output import print_table, print_text, printable

# So that the answer fits a screen of 24 lines and 80 columns.
MAX_LISTED = 8
MAX_LISTED_WITH_LABELS = 5
LONGEST_NAME = 30
SIGNIFICANT = 0.05


def print_answer(name: str, found: dict[str, Any], *, stderr: bool = False) -> None:
    """Print the verdict, what was chosen, and how the labels compare.

    Parameters
    ----------
    name : str
        What the table is called.
    found : dict
        What ``selection_data`` returns, which ``--json`` prints.
    stderr : bool
        Where to print.
    """
    from ufselect.report.selection_words import NO_STRUCTURE

    reasons = found["reasons"]
    if found["structure"]["found"]:
        verdict, style, evidence = _verdict(found)
        # The first reason is the evidence of structure.
        reasons = reasons[1:]
    else:
        verdict, style, evidence = NO_STRUCTURE, "bold red", ""
    print_text(verdict, style, stderr=stderr)
    if evidence:
        print_text(evidence, stderr=stderr)
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


def _verdict(found: dict[str, Any]) -> tuple[str, str, str]:
    """Return what to do with a selection, in which colour, and what speaks against it.

    The table has structure, of which the selection may still be a bad part.
    """
    care, yellow = "Use it with care: ", "bold yellow"
    if found["against_random"] is None:
        reason = found["left_out"].get("against_random", "it was not asked for")
        sentence = f"there is no comparison with random features: {reason}."
        return care + printable(sentence), yellow, ""
    p_values = {each["criterion"]: each["p_value"] for each in found["against_random"]}
    tested = {name: p for name, p in p_values.items() if p is not None}
    if not tested:
        sentence = found["against_random"][0]["sentence"]
        return care + printable(sentence), yellow, ""
    better = [name for name, p in tested.items() if p < SIGNIFICANT]
    worse = [name for name, p in tested.items() if p > 1 - SIGNIFICANT]
    against = f"Worse by {_listed(worse)}; -v explains." if worse else ""
    if better:
        verdict = f"Use it: better than random features by {_listed(better)}."
        return verdict, "bold green", against
    verdict = f"{care}by no criterion clearly better than random features."
    return verdict, yellow, against


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _print_features(
    features: Sequence[dict[str, Any]], most: int, *, stderr: bool
) -> None:
    header = ["feature", "score", "call", "explained", "stands for"]
    rows = [
        [
            _shortened(row["feature"]),
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
    return _shortened(names[0]) + more


def _shortened(name: str) -> str:
    text = printable(name)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 3]}..."


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

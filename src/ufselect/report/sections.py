"""Which sections a report about a selection has, and the same content as text.

A new section is one entry of `ENTRIES`, which names a part of the report, and one macro
of that name in selection.words.j2 with its words.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Any

import pandas as pd

from ufselect._names import printable, shortened
from ufselect.evaluation import Verdict
from ufselect.report.decision import DESCRIBING, answer
from ufselect.report.parts import MAX_LISTED
from ufselect.report.rendering import (
    Block,
    Bullets,
    Lead,
    Paragraph,
    Part,
    Picture,
    Preformatted,
    Section,
    TextTable,
    render,
    section,
)

if TYPE_CHECKING:
    from ufselect.report.content import SelectionReport

# Names of features that one represents in a cell, names in the first lines, and letters
# of a name in a cell; the files have all of them.
MAX_NAMES, MAX_NAMES_FIRST, MAX_NAME_LENGTH = 3, 6, 100
# Columns and rows of the table of features on a terminal, letters of a cell and a line.
COLUMNS_OF_TEXT = ["feature", "score", "call", "explained", "represents"]
ROWS_OF_TEXT, ROWS_BRIEFLY, ROWS_WITH_LABELS = 10, 8, 5
LETTERS_OF_CELL, WIDTH = 23, 80
# Columns of the table of features: where each comes from, and how it is written.
SHOWN: dict[str, tuple[str, Callable[[Any], str]]] = {
    "rank": ("rank", str),
    "feature": ("feature", partial(shortened, longest=MAX_NAME_LENGTH)),
    "call": ("call", str),
    "score": ("score", "{:.4g}".format),
    "explained": ("explained", "{:.0%}".format),
    "stability": ("frequency", "{:.0%}".format),
    "marks cluster": ("marks cluster", str),
}


def features_shown(features: Part, most: int) -> pd.DataFrame:
    """Return the table of the first chosen features as text."""
    data = features.data.head(most)
    shown = {
        title: [form(value) for value in data[name]]
        for title, (name, form) in SHOWN.items()
        if name in data
    }
    if features.facts["groups"] is not None:
        shown["represents"] = list(map(_few, features.facts["groups"][:most]))
    return pd.DataFrame(shown, dtype=object)


def _few(names: Sequence[str], most: int = MAX_NAMES) -> str:
    few = ", ".join(shortened(name, MAX_NAME_LENGTH) for name in names[:most])
    return few + (f" and {len(names) - most} more" if len(names) > most else "")


def features_table(features: Part) -> TextTable:
    """Return the chosen features; the filter finds the others, too."""
    shown = features_shown(features, MAX_LISTED)
    rows = shown.to_numpy().tolist()
    caption = ""
    if len(features.data) > MAX_LISTED:
        caption = f"The first {MAX_LISTED} of {len(features.data)}; the file has all."
    table = TextTable(list(shown), rows, caption, True, features.data, "features")
    return replace(table, every_row="curve")


def verdicts_table(judged: Part) -> TextTable:
    """Return what each criterion says of the features and of random ones."""
    rows = [
        [
            each.criterion,
            f"{each.value:.3f}",
            f"{each.band[0]:.3f} to {each.band[1]:.3f}",
            f"{each.p_value:.2g}",
            answer_of(each),
        ]
        for each in judged.facts["verdicts"]
    ]
    header = ["criterion", "chosen", "9 of 10 random sets", "p", "chosen are"]
    return TextTable(header, rows)


def answer_of(verdict: Verdict) -> str:
    """Return what a criterion says, in plain words if it does not decide."""
    said = answer(verdict.p_value)
    if verdict.criterion not in DESCRIBING:
        return said
    degree = {"better": "less", "worse": "more"}.get(said, "about as")
    return f"{degree} alike"


def labels_table(labels: Part) -> TextTable:
    """Return how well clusters of the features agree with the labels."""
    rows = [
        [name, *(f"{100 * value:.1f}%" for value in values)]
        for name, *values in labels.data.itertuples(index=False)
    ]
    return TextTable(list(labels.data), rows)


@dataclass(frozen=True)
class Entry:
    """A section about one part of the report.

    Attributes
    ----------
    name : str
        Of the part, of the macro with its words, and of the file that a reader saves.
    title : str
    link : str
        Words of the link at the top, if there is one.
    half : bool
        Whether a wide screen shows the section beside another one.
    table : callable, optional
        Returns the numbers as a table.
    """

    name: str
    title: str
    link: str = ""
    half: bool = True
    table: Callable[[Part], TextTable] | None = None


ENTRIES = (
    Entry("heatmap", "Clusters, and the features that mark them", "Clusters", False),
    Entry("features", "The features", "Features", False, features_table),
    Entry("pixels", "The chosen pixels"),
    Entry("planes", "The samples, by the chosen features and by all", "Samples"),
    Entry("curve", "The ranking and the cut", "Ranking"),
    Entry("against_random", "Better than random?", "Trust", False, verdicts_table),
    Entry("stability", "Would other samples choose the same?"),
    Entry("repetition", "Do the chosen features repeat one another?"),
    Entry("by_chance", "How many are false discoveries?"),
    Entry("sensitivity", "Does the number of clusters matter?"),
    Entry("labels", "Compared with the labels", table=labels_table),
    Entry("convergence", "Has the fit converged?"),
)


def lead_of(report: "SelectionReport") -> Lead:
    """Return what a report says first."""
    decision, found = report.decision, [report.summary]
    because = [f"Because {'; '.join(decision.reasons)}."] if decision.reasons else []
    if report.n_selected:
        names = report.features.data["feature"].tolist()
        found.append(f"Chosen: {_few(names, MAX_NAMES_FIRST)}.")
    else:
        found += report.decisions
    reasons = [*because, *decision.next_steps]
    return Lead(decision.level, decision.headline, reasons, found)


def selection_sections(report: "SelectionReport") -> list[Section]:
    """Return the sections of a report about a selection."""
    sections = []
    for entry in ENTRIES if report.n_selected else ():
        part: Part | None = getattr(report, entry.name)
        if part is None:
            continue
        blocks: list[Block] = [] if entry.table is None else [entry.table(part)]
        if part.draw is not None:
            blocks.append(Picture(part.plot().svg, "", part.data, entry.name))
        blocks += [Paragraph(f"Note: {n}") for n in report.notes.get(entry.name, ())]
        sections.append(
            section(
                "selection.words.j2",
                *(entry.name, entry.title, blocks),
                link=entry.link,
                half=entry.half,
                **{"report": report, "part": part, **part.facts},
            )
        )
    missing = [
        " Note: ".join([f"{entry.title} {reason}.", *report.notes.get(entry.name, ())])
        for entry in ENTRIES
        if (reason := report.left_out.get(entry.name))
    ]
    if missing:
        sections.append(Section("What could not be measured", [Bullets(missing)]))
    return [*sections, *_how_it_was_done(report)]


def _how_it_was_done(report: "SelectionReport") -> list[Section]:
    reading = report.reading or ["Nothing was left out or changed."]
    decided = f"Decided from the table alone: {' '.join(report.decisions)}"
    done: list[Block] = [
        *([Paragraph(decided)] if report.decisions else []),
        Paragraph("To repeat it:"),
        Preformatted(report.command, "command"),
    ]
    if report.code:
        done.append(Paragraph("In Python, with the same table as X:"))
        done.append(Preformatted(report.code, "code"))
    header = ["parameter", "value", "default"]
    parameters = [[name, *values] for name, values in report.parameters.items()]
    surroundings = [list(pair) for pair in report.surroundings.items()]
    sections = [
        Section("Your table", [Bullets(reading)], "table", "Your table"),
        Section("How it was done", done, "repeat", "How it was done"),
        Section("Parameters", [TextTable(header, parameters)], half=True),
        Section("Versions", [TextTable(["what", "value"], surroundings)], half=True),
    ]
    if report.citations:
        sections.append(Section("How to cite", [Bullets(report.citations)]))
    return sections


def selection_text(
    report: "SelectionReport", source: str, label_column: str | None, *, brief: bool
) -> str:
    """Return what to do, what was chosen, and how far to believe it, in text."""
    most = ROWS_OF_TEXT
    if brief:
        about_labels = report.labels or "labels" in report.left_out
        most = ROWS_WITH_LABELS if about_labels else ROWS_BRIEFLY
    features = features_shown(report.features, most)
    features = features.reindex(columns=COLUMNS_OF_TEXT).dropna(axis=1, how="all")
    for title in {"feature", "represents"} & set(features):
        cells = [shortened(cell, LETTERS_OF_CELL) for cell in features[title]]
        features[title] = [cell or "-" for cell in cells]
    if "represents" in features and (features["represents"] == "-").all():
        del features["represents"]
    judged = None if report.against_random is None else report.against_random.facts
    text = render(
        "selection.txt.j2",
        report=report,
        source=printable(source),
        column="" if label_column is None else f" {printable(label_column)!r}",
        features=features,
        judged=judged,
        verdicts=report.against_random and verdicts_table(report.against_random),
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

"""Text tables: read in blocks of rows, straight into one array of numbers."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TextIO

from ufselect.data.tables.columns import (
    ID_NAMES,
    Roles,
    filled_names,
    roles,
    unique_names,
)
from ufselect.data.tables.formulas import with_formula
from ufselect.data.tables.matrices import by_place
from ufselect.data.tables.orientation import FEATURE_WORDS, features_in_rows
from ufselect.data.tables.table import File, Parts, Request, TableError
from ufselect.data.tables.text_finish import finished
from ufselect.data.tables.text_layout import Layout, find_layout
from ufselect.data.tables.text_lines import (
    SERIES_MARK,
    blocks_of,
    encoding_of,
    opened_text,
)
from ufselect.data.tables.text_rows import Columns, TextRows


def read_text(file: File, request: Request, notes: list[str]) -> Parts:
    """Read a table of text, compressed or not, in UTF-8 or else in Latin-1."""
    encoding = encoding_of(*file)
    before = list(notes)
    try:
        with opened_text(*file, encoding) as text:
            return _read(text, file, request, notes, encoding)
    except csv.Error as error:
        raise TableError(
            f"{file.name} cannot be split into cells ({error}); check its delimiter "
            "and its quotation marks"
        ) from error
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise TableError(
                f"{file.name} is not the {encoding} that its first bytes promise "
                f"({error.reason}); save it in UTF-8"
            ) from error
    notes[:] = [*before, "It is not in UTF-8 and was read as Latin-1."]
    with opened_text(*file, "latin-1") as text:
        return _read(text, file, request, notes, "latin-1")


def _read(
    text: TextIO, file: File, request: Request, notes: list[str], encoding: str
) -> Parts:
    blocks = blocks_of(text, file.name)
    head = _head(blocks)
    layout = find_layout(head, request, file.name, notes)
    if layout.names is not None:
        layout = layout._replace(names=_restored(layout.names))
    columns = columns_of(layout, request, file.name, notes)
    rows = TextRows(layout, columns, file.name, request)
    line = layout.skipped
    for block in chain([head[line:]], blocks):
        rows.add(block, line + 1)
        line += len(block)
    parts = _with_formulas(finished(rows, request, notes))
    parts.details.update(
        delimiter=layout.dialect.delimiter,
        decimal=layout.dialect.decimal,
        header=layout.names is not None,
        encoding="utf-8-sig" if encoding == "utf-8-sig" else "utf-8",
    )
    return parts


def _with_formulas(parts: Parts) -> Parts:
    """Take off the apostrophes that were put before what looks like a formula."""
    names = parts.feature_names
    # Names in a header were looked at before anybody asked for one of them.
    if names is not None and parts.details.get("turned"):
        names = _restored(names)
    return replace(
        parts,
        feature_names=names,
        sample_names=parts.sample_names and _restored(parts.sample_names),
        labels=parts.labels and _restored(parts.labels),
    )


def _restored(texts: Sequence[str]) -> list[str]:
    return [with_formula(text) for text in texts]


def _head(blocks: Iterator[list[str]]) -> list[str]:
    """Return the first lines: at least three where there are as many."""
    head: list[str] = []
    for block in blocks:
        head += block
        if sum(not line.startswith(("#", *SERIES_MARK)) for line in head) > 3:
            break
    return head


def columns_of(
    layout: Layout, request: Request, name: str, notes: list[str]
) -> Columns:
    """Decide what each column is for, by its name and by the first rows."""
    names = _names(layout, notes)
    title = None if layout.names is None else layout.names[0]
    turned = _is_turned(layout, request, title)
    named = request
    if turned:  # labels and what to drop are rows, then
        named = request._replace(labels=None, drop=())
    if layout.names is None:
        named = by_place(named)
    found = roles(names, named, name)
    automatic = found.identity is None and _has_identity(layout, found, title)
    if automatic:
        found = found._replace(identity=0)
    if turned and request.transpose is None:
        notes.append(
            "Its rows are features, by their names, so that the table was turned; "
            "--no-transpose leaves it as it is."
        )
    return Columns(names, found, automatic, turned)


def _names(layout: Layout, notes: list[str]) -> list[str]:
    if layout.names is None:
        return [f"x{place + 1}" for place in range(layout.width)]
    names = unique_names(filled_names(layout.names), notes)
    # The first column may have an empty name, which says that it is no feature.
    return names if layout.names[0] else ["", *names[1:]]


def _is_turned(layout: Layout, request: Request, title: str | None) -> bool:
    if request.transpose is not None:
        return request.transpose
    if layout.width < 3:
        return False
    return features_in_rows(title, layout.first_cells)


def _has_identity(layout: Layout, found: Roles, title: str | None) -> bool:
    """Tell whether the first column looks like the names of the rows."""
    if 0 in found.taken or layout.width < 2:
        return False
    named = title is not None and title.lower() in ID_NAMES | FEATURE_WORDS
    return named or 0 in layout.text_columns

"""All rows of a text table have been read: which columns are features after all."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.columns import ID_NAMES, listed, place_of, unique_names
from ufselect.data.tables.orientation import suspicion
from ufselect.data.tables.table import Parts, Request, TableError
from ufselect.data.tables.text_rows import TextRows


def finished(rows: TextRows, request: Request, notes: list[str]) -> Parts:
    """Return what a text table holds; leave out columns of text and empty ones."""
    identity = _identity(rows, notes)
    if rows.columns.turned:
        _check_pulled(rows, identity, request)
    if rows.n_empty:
        notes.append(f"Rows without any value were left out: {rows.n_empty}.")
    values = rows.rows.finished()
    keep = _features(rows, values, notes)
    places = [rows.numeric[index] for index in keep]
    if not places:
        raise TableError(_no_numbers(rows))
    if len(keep) < values.shape[1]:
        values = values[:, keep]
    names = [rows.columns.names[place] for place in places]
    if rows.columns.turned:
        return _turned(rows, values, names, identity, places, request, notes)
    return _upright(rows, values, names, identity, places, request, notes)


def _upright(
    rows: TextRows,
    values: NDArray[Any],
    names: Sequence[str],
    identity: Sequence[str] | None,
    places: Sequence[int],
    request: Request,
    notes: list[str],
) -> Parts:
    """Return a table whose rows are samples."""
    labels = rows.columns.roles.labels
    if identity is not None and request.transpose is None:
        shown = names if rows.layout.names else None
        hint = suspicion(shown, identity, _title(rows, identity))
        notes += [hint] if hint else []
    return Parts(
        values,
        _shown(rows, names, places),
        identity,
        id_column=_title(rows, identity),
        labels=None if labels is None else rows.kept[labels],
        label_column=None if labels is None else rows.columns.names[labels],
        details={"places": (rows.columns.roles.identity, labels)},
        positions=places,
    )


def _identity(rows: TextRows, notes: list[str]) -> Sequence[str] | None:
    """Return the names of the rows; a guess is given up if they are not unique."""
    place = rows.columns.roles.identity
    if place is None:
        return None
    names, title = rows.kept[place], rows.columns.names[place]
    shown = f"Column {title!r}" if title else "The column without a name"
    turned = rows.columns.turned
    guessed = rows.columns.automatic and title.lower() not in ID_NAMES
    if guessed and not turned and len(set(names)) < len(names):
        notes.append(f"{shown} is text and was left out.")
        return None
    what = "features" if turned else "rows and is no feature"
    notes.append(f"{shown} names the {what}.")
    return names


def _features(rows: TextRows, values: NDArray[Any], notes: list[str]) -> list[int]:
    """Return which columns of numbers to keep; refuse numbers with stray text."""
    names, tally = rows.columns.names, rows.tally
    text, empty, keep = [], [], []
    for index, place in enumerate(rows.numeric):
        n_numbers = len(values)
        if tally.texts[place]:
            n_numbers = int(np.count_nonzero(~np.isnan(values[:, index])))
            tally.check(place, n_numbers, names[place], rows.name)
        if tally.is_text(place, n_numbers):
            text.append(place)
        elif not rows.seen[index]:
            empty.append(place)
        else:
            keep.append(index)
    for place in rows.watched:
        tally.check(place, tally.numbers[place], names[place], rows.name)
    _note("text", [names[place] for place in sorted([*text, *rows.watched])], notes)
    _note("empty", [names[place] for place in empty], notes)
    return keep


def _note(kind: str, names: Sequence[str], notes: list[str]) -> None:
    if len(names) == 1:
        notes.append(f"Column {listed(names)} is {kind} and was left out.")
    elif names:
        notes.append(
            f"{len(names)} columns are {kind} and were left out: {listed(names)}."
        )


def _no_numbers(rows: TextRows) -> str:
    shown = listed([name or "(no name)" for name in rows.columns.names])
    return (
        f"{rows.name} has no numeric column to select from, only {shown}; check the "
        "delimiter and the decimal sign, or give another file"
    )


def _shown(
    rows: TextRows, names: Sequence[str], places: Sequence[int]
) -> Sequence[str] | None:
    """Return the names of features; None if there is no header, and none is needed."""
    complete = len(places) == rows.layout.width
    return None if rows.layout.names is None and complete else names


def _title(rows: TextRows, identity: Sequence[str] | None) -> str | None:
    place = rows.columns.roles.identity
    return None if identity is None or place is None else rows.columns.names[place]


def _turned(
    rows: TextRows,
    values: NDArray[Any],
    names: Sequence[str],
    identity: Sequence[str] | None,
    places: Sequence[int],
    request: Request,
    notes: list[str],
) -> Parts:
    """Return a table whose rows are features with samples in rows."""
    if request.transpose:
        notes.append("The table was turned: its columns are samples.")
    labels = rows.pulled.get(request.labels or "")
    return Parts(
        np.ascontiguousarray(values.T),
        None if identity is None else unique_names(identity, notes),
        names if rows.layout.names else None,
        id_column=_title(rows, identity),
        labels=None if labels is None else [labels[place] for place in places],
        label_column=request.labels,
        details={"turned": True},
    )


def _check_pulled(
    rows: TextRows, identity: Sequence[str] | None, request: Request
) -> None:
    """Refuse names of labels and of rows to drop that no row has."""
    known = [*(identity or []), *rows.pulled]
    if request.labels is not None:
        place_of(request.labels, known, rows.name, "row")
    for each in request.drop:
        place_of(each, known, rows.name, "row")

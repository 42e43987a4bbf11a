"""Files with several variables: which of them is the table, which are names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ufselect.data.tables.columns import listed, place_of
from ufselect.data.tables.matrices import floating, matrix_parts, transposed
from ufselect.data.tables.table import File, Parts, Request, TableError

USUAL = ("X", "x", "fea", "features", "data", "Data", "matrix", "A", "table")
FEATURE_NAMES = ("feature_names", "features", "names", "columns", "genes", "var_names")
SAMPLE_NAMES = ("sample_names", "samples", "index", "ids", "rows", "obs_names")


class Variable(NamedTuple):
    """What is known of a variable before it is read."""

    shape: tuple[int, ...]
    numeric: bool


class Reading(NamedTuple):
    """The variables of a file, and how to read one as numbers or as text."""

    variables: Mapping[str, Variable]
    numbers: Callable[[str], Any]
    text: Callable[[str], list[str]]


def chosen(variables: Mapping[str, Variable], wanted: str | None, file: File) -> str:
    """Return the variable that is the table, of those that could be by their shape.

    Examples
    --------
    >>> from pathlib import Path
    >>> file = File(Path("a.mat"), None, "a.mat")
    >>> labels, matrix = Variable((5, 1), True), Variable((5, 4), True)
    >>> chosen({"Y": labels, "M": matrix}, None, file)
    'M'
    """
    if wanted is not None:
        return list(variables)[place_of(wanted, list(variables), file.name, "variable")]
    tables = [
        name
        for name, each in variables.items()
        if each.numeric and len(each.shape) == 2 and min(each.shape) > 0
    ]
    if not tables:
        raise TableError(f"{file.name} has no matrix of numbers; give another file")
    for usual in USUAL:
        if usual in tables:
            return usual
    wide = [name for name in tables if min(variables[name].shape) > 1] or tables
    if len(wide) > 1:
        raise TableError(
            f"{file.name} has several matrices, {listed(wide)}; say which one with "
            f"--variable {wide[0]}"
        )
    return wide[0]


def variable_parts(
    reading: Reading, file: File, request: Request, notes: list[str]
) -> Parts:
    """Read the table among variables, and the names and labels beside it."""
    key = chosen(reading.variables, request.variable, file)
    notes.append(f"Variable {key!r} is the table.")
    values = floating(reading.numbers(key), request, f"{key!r} in {file.name}")
    values = transposed(values) if request.transpose else values
    n_samples, n_features = values.shape
    names, names_key = _found(reading, FEATURE_NAMES, n_features, key)
    samples, samples_key = _found(reading, SAMPLE_NAMES, n_samples, key)
    if request.id_column is not None:
        samples_key = request.id_column
        samples = _asked(reading, request.id_column, n_samples, file)
    labels = None
    if request.labels is not None:
        labels = _asked(reading, request.labels, n_samples, file)
    columns = request._replace(labels=None, id_column=None)
    parts = matrix_parts(values, names, samples, file, columns, notes)
    details = {"variable": key, "names": names_key, "samples": samples_key}
    return replace(
        parts,
        id_column=samples_key,
        labels=labels,
        label_column=request.labels,
        details=details,
    )


def _found(
    reading: Reading, usual: Sequence[str], length: int, table: str
) -> tuple[list[str] | None, str | None]:
    """Return the names under a usual name, if there are as many as are needed."""
    for key in usual:
        variable = reading.variables.get(key)
        if variable is None or variable.numeric or key == table:
            continue
        names = reading.text(key)
        if len(names) == length:
            return names, key
    return None, None


def _asked(reading: Reading, wanted: str, length: int, file: File) -> list[str]:
    """Return a variable that was asked for, with a value for every sample."""
    known = list(reading.variables)
    values = reading.text(known[place_of(wanted, known, file.name, "variable")])
    if len(values) != length:
        raise TableError(
            f"{file.name} has {len(values)} values in {wanted!r} for {length} samples; "
            "give a variable with one for each, or turn the table (--transpose)"
        )
    return values

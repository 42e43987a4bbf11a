"""Leave out numeric columns that are probably not features: labels, counters, dates."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.table import (
    INDEX,
    LABELS,
    Table,
    mostly_known,
    without_features,
)

LABEL_NAMES = {"class", "classes", "label", "labels", "target", "targets", "y"}
LABEL_NAMES |= {"cluster", "clusters", "ground_truth", "outcome", "species"}
LABEL_NAMES |= {"diagnosis", "class_label", "true_label", "gnd"}
LABEL_NAMES |= {"cell_type", "celltype", "leiden", "louvain"}
MAX_CLASSES = 100
# Fewer rows can be in order at random.
MIN_ROWS = 10
COUNTER_NAME = re.compile(
    r"(^|[ _.-])(?i:id|ids|index|idx|no|nr|number|num|row|rownum|serial|key)$"
    r"|[a-z](Id|ID|Index|No|Nr|Number)$"
)
TIME_NAME = re.compile(
    r"(^|[ _.-])(?i:time|times|timestamp|datetime|date|day|days|epoch|seconds|sec"
    r"|minutes|hours|t)$|[a-z](Time|Date|Timestamp)$"
)
# Unix time from 1990 to 2100, in seconds, milliseconds and so on.
EPOCH = (631_152_000, 4_102_444_800)
UNITS_OF_TIME = (1, 10**3, 10**6, 10**9)
# Days written as 20201231.
DAYS = (19_000_101, 21_001_231)


def without_suspects(table: Table) -> Table:
    """Leave out columns that are probably not features, except those to ``use``."""
    transposed = bool(table.origin.details.get("transposed"))
    names, values = table.names(), table.values
    # y is also a gene (yellow, of the fruit fly) and, beside x, a coordinate.
    no_label = transposed or _among(names, {"x"}).any()
    label_names = LABEL_NAMES - {"y"} if no_label else LABEL_NAMES
    labels = _among(names, label_names)
    for place in np.flatnonzero(labels):
        labels[place] = few_values(values[:, place])
    wanted = np.isin(names, table.origin.use)
    labels &= ~wanted
    suspected = label_columns(table, label_names)
    counters = np.zeros(len(names), dtype=bool)
    if not transposed and len(values) >= MIN_ROWS:
        # The first rows rule out nearly all columns.
        with np.errstate(invalid="ignore"):  # infinity minus infinity
            steps = np.diff(values[:MIN_ROWS], axis=0)
        in_order = (steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)
        called = [bool(COUNTER_NAME.search(name)) for name in names.tolist()]
        likely = (in_order & (steps != 0).any(axis=0)) | called
        for place in np.flatnonzero(likely & ~wanted):
            counters[place] = is_index_like(values[:, place], str(names[place]))
    for unwanted, why in ((labels, LABELS), (counters & ~labels, INDEX)):
        unwanted = unwanted[np.isin(names, table.names())]
        if unwanted.any() and not unwanted.all():
            table = without_features(table, unwanted, why)
    suspected += [each.name for each in table.others if each.role == "label"]
    known = mostly_known(table)
    table = known if known.shape[1] else table
    return replace(table, suspected_labels=tuple(suspected))


def label_columns(table: Table, label_names: Collection[str]) -> list[str]:
    """Return columns of text that seem to hold labels."""
    return [
        each.name
        for each in table.others
        if each.name.lower() in label_names and few_values(each.cells)
    ]


def _among(names: NDArray[np.str_], words: set[str]) -> NDArray[np.bool_]:
    return np.isin(np.char.lower(names), list(words))


def few_values(cells: NDArray[Any]) -> bool:
    """Tell whether cells could be classes: on average, two samples share a value.

    Examples
    --------
    >>> import numpy as np
    >>> few_values(np.arange(20) % 3), few_values(np.arange(20.0))
    (True, False)
    """
    if cells.dtype.kind == "f":
        cells = cells[~np.isnan(cells)]
    n_distinct = len(set(cells.tolist()))
    return n_distinct <= min(MAX_CLASSES, max(2, len(cells) // 2))


def is_index_like(values: NDArray[Any], name: str) -> bool:
    """Tell whether a column counts or dates the samples.

    It does if it rises or falls by one; if it has a name like id and distinct whole
    numbers; if it has a name like time and equal steps; or if it holds, in order, whole
    numbers in the range of Unix time or dates written as 20201231.

    Examples
    --------
    >>> import numpy as np
    >>> running = np.arange(1.0, 21.0)
    >>> is_index_like(running, "a"), is_index_like(running**2, "a")
    (True, False)
    >>> is_index_like(1.6e9 + 60 * running, "a"), is_index_like(running / 4, "time")
    (True, True)
    """
    if not np.isfinite(values).all():
        return False
    values = values.astype(np.float64)
    steps = np.diff(values)
    if np.abs(steps[0]) == 1 and (steps == steps[0]).all():
        return True
    whole = bool((values == np.floor(values)).all())
    distinct = len(np.unique(values)) == len(values)
    if whole and distinct and COUNTER_NAME.search(name):
        return True
    in_order = bool((steps >= 0).all() or (steps <= 0).all()) and steps.any()
    if not in_order:
        return False
    if TIME_NAME.search(name) and np.allclose(steps, steps.mean(), rtol=1e-3, atol=0):
        return True
    first, last = values.min(), values.max()
    unix = any(EPOCH[0] * u <= first and last <= EPOCH[1] * u for u in UNITS_OF_TIME)
    months, days = values // 100 % 100, values % 100
    written = (
        (DAYS[0] <= first and last <= DAYS[1])
        and ((months >= 1) & (months <= 12)).all()
        and ((days >= 1) & (days <= 31)).all()
    )
    return whole and bool(unix or written)

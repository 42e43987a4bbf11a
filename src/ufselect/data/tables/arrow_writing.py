"""Parquet and Feather files are written with the types that the columns had."""

from pathlib import Path
from typing import Any

import numpy as np

from ufselect.data.tables.choice import Choice, Column, columns_to_write
from ufselect.data.tables.packages import needed


def write_parquet(chosen: Choice, path: Path) -> None:
    """Write a Parquet file."""
    needed("pyarrow.parquet", "Parquet").write_table(_table(chosen), path)


def write_feather(chosen: Choice, path: Path) -> None:
    """Write a Feather file, which is an Arrow file."""
    needed("pyarrow.feather", "Feather").write_feather(_table(chosen), str(path))


def _table(chosen: Choice) -> Any:
    arrow = needed("pyarrow", "the file")
    columns = columns_to_write(chosen)
    types = chosen.details.get("types", {})
    arrays = [_array(arrow, column, types.get(column.title)) for column in columns]
    return arrow.table(arrays, names=[column.title for column in columns])


def _array(arrow: Any, column: Column, kind: Any) -> Any:
    """Return a column with the type it had, if its values still allow that."""
    if column.is_text:
        array = arrow.array(column.cells.tolist())
    else:
        array = arrow.array(np.ascontiguousarray(column.cells), from_pandas=True)
    if kind is None or arrow.types.is_dictionary(kind):
        return array
    try:
        return array.cast(kind)
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
        return array

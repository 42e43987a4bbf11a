"""Matrix Market files, with the files of names that 10x Genomics puts beside them."""

import csv
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from scipy.io import mminfo, mmread

from ufselect.data.tables.matrices import floating, matrix_parts, transposed
from ufselect.data.tables.sources import Spool, compression_of, opened
from ufselect.data.tables.table import File, Parts, Request, TableError

FEATURE_FILES = ("features", "genes")
SAMPLE_FILES = ("barcodes", "cells", "samples")


def read_matrix_market(file: File, request: Request, notes: list[str]) -> Parts:
    """Read a matrix, sparse or not; rows are features if names beside it say so."""
    values = floating(_matrix(file), request, file.name)
    features, samples = names_beside(file.path)
    in_rows = _rows_are_features(values.shape, features, samples)
    turn = in_rows if request.transpose is None else request.transpose
    if turn:
        values = transposed(values)
        notes.append("The table was turned: its columns are samples.")
    if len(samples or []) != values.shape[0]:
        samples = None
    if len(features or []) != values.shape[1]:
        features = None
    if features is not None:
        notes.append("The features are named by a file beside the matrix.")
    parts = matrix_parts(values, features, samples, file, request, notes)
    parts.details.update(turned=turn)
    return parts


def _matrix(file: File) -> Any:
    """Read from a plain file: SciPy's reader of streams can end the whole process."""
    if file.compression is None:
        return _plain_matrix(file.path, file.name)
    with opened(*file) as stream:
        spool = Spool(stream)
    return _plain_matrix(spool.path, file.name)


def _plain_matrix(path: Path, name: str) -> Any:
    _check_text(path)
    _check_size(path, name)
    return mmread(path)


def _check_text(path: Path) -> None:
    """Refuse bytes that can end SciPy's reader, and with it the whole process."""
    last = b""
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            last = chunk[-1:]
            if b"\0" in chunk:
                raise ValueError("there are NUL bytes in it")
    if last not in b"0123456789. \t\r\n":
        raise ValueError(f"it ends with {last!r}, not with a number")


def _check_size(path: Path, name: str) -> None:
    """Refuse more entries than lines fit into the file, before room is made."""
    n_rows, n_columns, n_entries, layout, _, _ = mminfo(path)
    size = path.stat().st_size
    shortest = 2 if layout == "array" else 4
    if shortest * n_entries > size + 4 or n_rows + n_columns > 1000 * size:
        raise TableError(
            f"{name} declares {n_rows} x {n_columns} with {n_entries} entries, which "
            "is more than it holds; it is cut off or damaged, so copy it again"
        )


def names_beside(path: Path) -> tuple[list[str] | None, list[str] | None]:
    """Return the names of features and of samples in files beside a matrix."""
    return _names(path, FEATURE_FILES), _names(path, SAMPLE_FILES)


def _names(path: Path, kinds: Sequence[str]) -> list[str] | None:
    for kind in kinds:
        for candidate in candidates(path, kind):
            if candidate.is_file():
                return _read_names(candidate)
    return None


def candidates(path: Path, kind: str) -> list[Path]:
    """Return where the names may be: with the same beginning, or with none.

    Examples
    --------
    >>> from pathlib import Path
    >>> [path.name for path in candidates(Path("GSM1_matrix.mtx.gz"), "genes")[:2]]
    ['GSM1_genes.tsv', 'GSM1_genes.tsv.gz']
    """
    stem = path.name.split(".mtx")[0]
    before = stem.removesuffix("matrix")
    if before and before[-1] not in "_-.":
        before += "_"
    return [
        path.with_name(f"{start}{kind}{ending}")
        for start in dict.fromkeys((before, ""))
        for ending in (".tsv", ".tsv.gz", ".txt", ".txt.gz")
    ]


def _read_names(path: Path) -> list[str]:
    """Return the names of a file: its second column if there is one, else the first.

    10x Genomics puts identifiers first and the symbols that people know second.
    """
    with (
        opened(path, compression_of(path), str(path)) as stream,
        TextIOWrapper(stream, encoding="utf-8") as text,
    ):
        rows = [row for row in csv.reader(text, delimiter="\t") if row]
    return [row[1] if len(row) > 1 else row[0] for row in rows]


def _rows_are_features(
    shape: tuple[int, int],
    features: Sequence[str] | None,
    samples: Sequence[str] | None,
) -> bool:
    """Tell whether the names fit the matrix only if its rows are features."""
    n_rows, n_columns = shape
    if features is not None and samples is not None:
        return len(features) == n_rows and len(samples) == n_columns
    if features is None:
        return False
    return len(features) == n_rows != n_columns

"""Decide what each column is for, and make the table.

All formats come together here: roles of columns, orientation, sample names, and numeric
columns that are probably not features.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.conventions import is_text
from ufselect.data.tables.layout import Layout
from ufselect.data.tables.table import (
    File,
    Origin,
    OtherColumn,
    Remedy,
    Request,
    Table,
    TableError,
    as_names,
    column_of,
    is_sparse,
    left_out,
    listed,
    number_text,
    place_of,
    placed_names,
    unique_names,
)

# A first column of one of these names holds sample names, even if it is numeric.
ID_NAMES = {"", "id", "ids", "index", "unnamed: 0", "row", "rownames", "row_names"}
ID_NAMES |= {"sample", "samples", "sample_id", "sampleid", "sample id", "barcode"}
# pandas gives this name to an index without one.
PANDAS_INDEX = "__index_level_"
# Names of the first column in tables with a feature per row.
FEATURE_WORDS = {
    *("gene", "genes", "gene_id", "geneid", "gene id", "gene_name", "gene name"),
    *("gene_symbol", "gene symbol", "genesymbol", "symbol", "hgnc_symbol", "hugo"),
    *("hugo_symbol", "ensembl", "ensembl_id", "ensembl_gene_id", "ensg", "entrez"),
    *("entrez_id", "entrez_gene_id", "transcript", "transcript_id", "id_ref"),
    *("probe", "probe_id", "probeid", "probe id", "probeset", "probeset_id", "cpg"),
    *("otu", "otu_id", "otu id", "#otu id", "asv", "taxon", "taxonomy", "feature"),
    *("feature_id", "featureid", "features", "protein", "protein_id", "peptide"),
    *("metabolite", "mirna", "composite element ref", "m/z", "mz"),
}
# Ensembl, Affymetrix, RefSeq, Illumina.
FEATURE_NAME = re.compile(
    r"ENS[A-Z]*[GTP]\d{6,}(\.\d+)?|\d+(_[a-z]+)?_at|[NX][MR]_\d+(\.\d+)?"
    r"|ILMN_\d+|cg\d{8}"
)
# TP53, HLA-DRB1, C1orf112, Trp53.
GENE_SYMBOL = re.compile(r"[A-Z][A-Za-z][A-Za-z0-9]*(-[A-Z0-9]+)*")
# Numbered patients, GEO, TCGA.
SAMPLE_NAME = re.compile(
    r"(gsm|srr|err|s|p|n|t|sample|patient|subject|donor|case|control|ctrl|ctl|tumou?r"
    r"|normal|cell|mouse|rat|rep|replicate|person|participant|individual|cancer"
    r"|healthy|disease|wt|ko|mut|treated|untreated|pt)[ _.-]?\d+([ _.-]?\w{1,3})?"
    r"|tcga[-.].+",
    re.IGNORECASE,
)
# A table with this many times more named rows than columns may have to be transposed.
TALL = 10


class Roles(NamedTuple):
    """Places of the columns that are not features."""

    index_column: int | None
    labels: int | None
    groups: int | None
    dropped: frozenset[int]

    @property
    def named(self) -> list[int]:
        """Places of sample names, labels and groups."""
        every = dict.fromkeys((self.index_column, self.labels, self.groups))
        return [place for place in every if place is not None]

    @property
    def taken(self) -> frozenset[int]:
        """All these places."""
        return self.dropped | frozenset(self.named)


def roles(
    names: Sequence[str], request: Request, name: str, kind: str = "column"
) -> Roles:
    """Find the columns that the caller named."""
    index, labels, groups = (
        None if wanted is None else place_of(wanted, names, name, kind)
        for wanted in (request.id_column, request.labels, request.groups)
    )
    dropped, used = (
        frozenset(place_of(each, names, name, kind) for each in wanted)
        for wanted in (request.drop, request.use)
    )
    twice = (dropped & {index, labels, groups}) | (
        used & {*dropped, index, labels, groups}
    )
    if twice:
        raise TableError(
            f"column {names[min(twice)]!r} cannot be both dropped and used; name it "
            "once"
            if twice & dropped
            else f"column {names[min(twice)]!r} cannot be both a feature and labels, "
            "groups or sample names; name it once"
        )
    return Roles(index, labels, groups, dropped)


class Columns(NamedTuple):
    """What the columns of a file are for.

    ``named`` says that the file names its columns, ``guessed`` that the index column
    was detected, ``transposed`` that the rows of the file are features.
    """

    names: list[str]
    named: bool
    roles: Roles
    guessed: bool
    transposed: bool

    @property
    def free(self) -> list[int]:
        """Places of the columns without a role."""
        taken = self.roles.taken
        return [j for j in range(len(self.names)) if j not in taken]


class ReadColumns(NamedTuple):
    """The columns of a file after reading.

    ``values`` are the numbers of the columns at ``places``, ``others`` the places of
    the columns that are left out for the reason ``why``. ``text`` returns a column as
    text. ``rows`` are rows of text in a transposed table.
    """

    values: NDArray[Any]
    places: list[int]
    others: list[int]
    why: tuple[str, str]
    text: Callable[[int], Sequence[str]]
    rows: Mapping[str, Sequence[str]] = {}


def columns_of(
    layout: Layout, request: Request, name: str, notes: list[str]
) -> Columns:
    """Decide what each column is for, by its name and by the first rows."""
    named, place = layout.names is not None, layout.index_place or 0
    names = layout.names or placed_names(layout.width)
    title = _title(names[place]) if named else None
    transposed = request.transpose
    if transposed is None:
        others = {place, *layout.text_columns}
        columns = [each for j, each in enumerate(names) if j not in others]
        rows, unnamed = layout.first_cells, title == "" and request.id_column is None
        transposed = len(columns) > 1 and features_in_rows(title, rows)
        # As R and pandas write a matrix with its names.
        if len(columns) > 1 and not transposed and unnamed and gene_like(rows):
            raise which_way(name, rows, columns)
    # In a transposed table these are rows.
    asked = request
    if transposed:
        asked = request._replace(labels=None, groups=None, drop=(), use=())
    found = roles(names, asked if named else by_place(asked), name)
    guessed = False
    if (
        found.index_column is None
        and place not in found.taken
        and names[place] not in request.use
        and layout.width > 1
    ):
        called = title is not None and title.lower() in ID_NAMES | FEATURE_WORDS
        if layout.index_place is not None:
            found = found._replace(index_column=place)
        elif called or place in layout.text_columns:
            found, guessed = found._replace(index_column=place), True
    if transposed and request.transpose is None:
        notes.append(
            "The names of its rows are those of features, so the table was transposed; "
            "--no-transpose leaves it as it is."
        )
    return Columns(names, named, found, guessed, transposed)


def _title(name: str) -> str:
    return "" if name.startswith(PANDAS_INDEX) else name


def table_of_columns(
    columns: Columns,
    read: ReadColumns,
    file: File,
    request: Request,
    notes: list[str],
    details: dict[str, Any],
) -> Table:
    """Return the table of the columns that were read."""
    names, found = columns.names, columns.roles
    asked_use = (request if columns.named else by_place(request)).use
    for each in () if columns.transposed else asked_use:
        if names.index(each) in read.others:
            raise TableError(
                f"{file.name}: column {each!r} {read.why[0]} and cannot be a feature; "
                "encode it as numbers first"
            )
    if not read.places:
        shown = listed([each or "(no name)" for each in names])
        raise TableError(
            f"{file.name} has no numeric column to select from, only {shown}; "
            "check the delimiter and the decimal sign, or give another file"
        )
    if read.others:
        notes.append(f"{left_out([names[j] for j in read.others], read.why)}.")
    features = [names[place] for place in read.places]
    index, title = _row_names(columns, read, notes)
    others = list(read.others)
    if index is None and found.index_column is not None:
        others.append(found.index_column)
    known: dict[str, Any] = {
        "id_column": title,
        "label_column": request.labels,
        "others": [
            OtherColumn(
                names[place],
                place,
                np.array(read.text(place), dtype=object),
                why=f"It {read.why[0]}.",
                of_features=columns.transposed,
            )
            for place in others
        ],
    }
    if columns.transposed:
        if request.transpose:
            notes.append("The table was transposed: its columns are samples.")
        drop = tuple(each for each in request.drop if each not in read.rows)
        rows: dict[str, Any] = {"id_column": None, "drop": drop}
        for role in ("labels", "groups"):
            row = read.rows.get(getattr(request, role))
            if row is not None:
                rows[role], known[role] = None, [row[place] for place in read.places]
        return assembled(
            np.ascontiguousarray(read.values.T),
            index,
            features if columns.named else None,
            *(file, request._replace(**rows), notes),
            details=details | {"transposed": True},
            **known,
        )
    unnamed = columns.named and title is not None and _title(title) == ""
    if index is not None and unnamed and request.transpose is None:
        hint = transpose_hint(file.name, features, index)
        notes += [hint] if hint else []
    for role, asked in (("labels", found.labels), ("groups", found.groups)):
        known[role] = None if asked is None else read.text(asked)
    if found.labels is not None:
        known["label_column"] = names[found.labels]
    every = columns.named or len(features) < len(names)
    return assembled(
        *(read.values, features if every else None, index, file, Request(), notes),
        details=details | {"places": found[:3]},
        positions=read.places,
        **known,
    )


def _row_names(
    columns: Columns, read: ReadColumns, notes: list[str]
) -> tuple[list[str] | None, str | None]:
    """Return the names of the rows and the title of their column, with a note.

    Text that only might name the rows does so if no name is repeated.
    """
    place = columns.roles.index_column
    if place is None:
        return None, None
    index, title = list(read.text(place)), columns.names[place]
    shown = f"Column {title!r}" if title else "The column without a name"
    surely = not columns.guessed or title.lower() in ID_NAMES
    if surely or columns.transposed or len(set(index)) == len(index):
        what = "feature" if columns.transposed else "sample"
        notes.append(f"{shown} holds {what} names.")
        return index, title
    notes.append(f"{shown} is text and was left out.")
    return None, None


def which_way(name: str, rows: Sequence[str], columns: Sequence[str]) -> TableError:
    """Return the error that asks whether rows or columns are features."""
    return TableError(
        f"{name} may have a feature in each row ({rows[0]}, {rows[1]}, ...) or in each "
        f"column ({columns[0]}, {columns[1]}, ...); say which with --transpose (rows) "
        "or --no-transpose (columns)",
        [
            Remedy(f"Rows ({rows[0]}, ...) are features", ("--transpose",)),
            Remedy(f"Columns ({columns[0]}, ...) are features", ("--no-transpose",)),
        ],
    )


def gene_like(names: Sequence[str]) -> bool:
    """Tell whether names look like gene symbols, not like numbered samples.

    Examples
    --------
    >>> gene_like(["TP53", "MYC", "KRAS", "EGFR"]), gene_like(["P1", "P2", "P3"])
    (True, False)
    >>> gene_like(["USA", "FRA", "ITA"])
    False
    """
    symbols = [name for name in names if GENE_SYMBOL.fullmatch(name)]
    stems = {name.rstrip("0123456789") for name in symbols}
    numbered = sum(name[-1].isdigit() for name in symbols)
    return (
        len(names) > 2
        and len(symbols) >= 0.8 * len(names)
        and len(stems) >= 0.5 * len(names)
        and numbered >= 0.15 * len(names)
    )


def nearly_all(pattern: re.Pattern[str], names: Sequence[str]) -> bool:
    """Tell whether nearly all names, of two or more, have the form of a pattern.

    Examples
    --------
    >>> nearly_all(SAMPLE_NAME, ["patient_1", "patient_2"])
    True
    """
    matches = sum(pattern.fullmatch(name) is not None for name in names)
    return len(names) > 1 and matches >= 0.9 * len(names)


def features_in_rows(title: str | None, names: Sequence[str]) -> bool:
    """Tell whether the rows of a table are features, by the column that names them.

    They are if that column has a name for features (gene, probe, ID_REF, ...), or if
    nearly all names in it look like gene or probe identifiers.

    Examples
    --------
    >>> features_in_rows("ID_REF", ["a", "b"]), features_in_rows("id", ["a", "b"])
    (True, False)
    >>> features_in_rows(None, ["1007_s_at", "1053_at"])
    True
    """
    if title is not None and title.strip().lower() in FEATURE_WORDS:
        return True
    return nearly_all(FEATURE_NAME, names)


def transpose_hint(
    name: str, columns: Sequence[str], rows: Sequence[str]
) -> str | None:
    """Return a hint if the columns may be samples; raise a question if they likely are.

    They may be if they are few while the rows have text names in a column without a
    name, as in gene tables of R and pandas.

    Examples
    --------
    >>> transpose_hint("a.csv", ["ann", "bob"], [f"TP{i}" for i in range(20)])
    'If the 20 named rows (TP0, TP1, ...) are features, transpose the table \
(--transpose).'
    """
    few = 2 <= len(columns) <= len(rows) / TALL
    if not few or not all(map(is_text, rows)):
        return None
    if nearly_all(SAMPLE_NAME, columns) and not nearly_all(SAMPLE_NAME, rows):
        raise which_way(name, rows, columns)
    return (
        f"If the {len(rows)} named rows ({rows[0]}, {rows[1]}, ...) are features, "
        "transpose the table (--transpose)."
    )


def assembled(
    values: Any,
    names: Sequence[str] | None,
    samples: Sequence[str] | None,
    file: File,
    request: Request,
    notes: list[str],
    *,
    details: Mapping[str, Any] | None = None,
    positions: Sequence[int] | None = None,
    others: Sequence[OtherColumn] = (),
    **known: Any,
) -> Table:
    """Return the table of a matrix with samples in rows.

    The columns of the request are looked up among ``names``, or x1, x2, ... without
    names. ``known`` are further fields of the table.
    """
    if is_sparse(values):
        notes.append("The matrix is sparse and was kept so.")
    details = dict(details or {})
    fields: dict[str, Any] = {"sample_names": samples}
    asked = {request.labels, request.id_column, request.groups}
    if names is None and (asked != {None} or request.drop or request.use):
        names, request = placed_names(values.shape[1]), by_place(request)
    if names is not None:
        names = unique_names(names, notes)
        kind = "row" if details.get("transposed") else "column"
        found = roles(names, request, file.name, kind)
        fields |= {"id_column": request.id_column, "label_column": request.labels}
        for key, place in (
            ("sample_names", found.index_column),
            ("labels", found.labels),
            ("groups", found.groups),
        ):
            if place is not None:
                fields[key] = number_text(column_of(values, place))
        if (taken := found.taken) or request.use:
            keep = [j for j in range(len(names)) if j not in taken]
            values, names = values[:, keep], [names[place] for place in keep]
            positions = keep if positions is None else positions
            others = [other.for_features(keep) for other in others]
    fields |= {"feature_names": names, **known}
    for key in ("feature_names", "sample_names", "labels", "groups"):
        if fields.get(key) is not None:
            fields[key] = as_names(fields[key])
    places = None if positions is None else np.asarray(positions, dtype=np.intp)
    origin = Origin(file.path, file.name, details=details, positions=places)
    return Table(values, **fields, origin=origin, others=tuple(others))


def by_place(request: Request) -> Request:
    """Let columns without names be called by their place: 3 is x3."""

    def spelled(each: str) -> str:
        return f"x{each}" if str(each).isdigit() else each

    named: dict[str, Any] = {
        role: spelled(value)
        for role in ("labels", "id_column", "groups")
        if (value := getattr(request, role)) is not None
    }
    drop, use = (tuple(map(spelled, each)) for each in (request.drop, request.use))
    return request._replace(drop=drop, use=use, **named)

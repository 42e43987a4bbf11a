"""What the first rows of a table tell: delimiter, header, orientation, columns."""

import csv
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ufselect.data.tables.cells import (
    DECIMAL_COMMA,
    MISSING,
    THOUSANDS,
    is_missing,
    is_text,
    number,
)
from ufselect.data.tables.table import (
    ID_NAMES,
    Remedy,
    Request,
    Roles,
    TableError,
    by_place,
    placed_names,
    roles,
    unique_names,
)

# The first of those that fit equally well is taken: x;1,5 has a semicolon.
CANDIDATES: tuple[str | None, ...] = (";", "\t", "|", ",", None)
DELIMITER_TITLES = {
    ",": "commas",
    "\t": "tabs",
    ";": "semicolons",
    "|": "vertical bars",
    None: "white space",
}
# What is about the table, and no part of it, in series matrix files of GEO.
SERIES_MARK = ("!Series_", "!Sample_", "!series_matrix_table_")
# Enough to tell what a column holds; what the sample misses is noticed on reading.
SAMPLED_ROWS = 100
SAMPLED_CHARACTERS = 150_000
LEAST_SAMPLED_ROWS = 5
MOST_TITLE_ROWS = 20
# Fewer numbers may be in order by chance; one in 40,320 rows of eight is.
LEAST_IN_ORDER = 8
LEAST_COUNTED = 4

# What the column of names is called in tables with a feature per row.
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
SAMPLE_NAME = re.compile(
    r"(gsm|srr|err|s|p|n|t|sample|patient|subject|donor|case|control|ctrl|ctl|tumou?r"
    r"|normal|cell|mouse|rat|rep|replicate|person|participant|individual|cancer"
    r"|healthy|disease|wt|ko|mut|treated|untreated|pt)[ _.-]?\d+([ _.-]?\w{1,3})?"
    r"|tcga[-.].+",
    re.IGNORECASE,
)
NUMBERED = re.compile(r"(\D+)\d+\D?")
# Times as many named rows as columns: such a table may have samples in columns.
TALL = 10


class Dialect(NamedTuple):
    """How cells are told apart; a delimiter of None is white space of any length."""

    delimiter: str | None
    decimal: str = "."

    @property
    def may_have_commas(self) -> bool:
        """Semicolons are used because commas are decimal, in whichever line."""
        return self.decimal == "," or self.delimiter == ";"

    def rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Return the cells of lines, which may have line breaks inside quotes."""
        rows = self.raw_rows(lines)
        if not self.may_have_commas:
            return rows
        return ([with_point(cell) for cell in row] for row in rows)

    def raw_rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Return the cells of lines with decimal commas left as they are."""
        if self.delimiter is None:
            lines = (" ".join(line.split()) for line in lines)
        return csv.reader(lines, delimiter=self.delimiter or " ")

    def is_blank(self, line: str) -> bool:
        """Tell whether a line has no cell of the table with anything in it."""
        if line.startswith(SERIES_MARK):
            return True
        return not line.strip(f" \t\r\n{self.delimiter or ''}")


class Layout(NamedTuple):
    """How a table is laid out.

    ``names`` is None without a header. ``skipped`` lines come before the data. Of
    the first rows only the first cells are kept, since rows may be very long. Text may
    be ``escaped``, so that spreadsheets do not run it; cells of sheets are not.
    """

    dialect: Dialect
    names: list[str] | None
    width: int
    skipped: int
    text_columns: frozenset[int]
    first_cells: list[str]
    escaped: bool = False


class Columns(NamedTuple):
    """What the columns of a table are for.

    ``guessed`` says that nobody named the index column, ``transposed`` that the rows
    of the file are features, ``in_doubt`` that the number of rows has to confirm it.
    """

    names: list[str]
    roles: Roles
    guessed: bool
    transposed: bool
    in_doubt: bool


def with_point(cell: str) -> str:
    """Return a number with a decimal comma as one with a point; text as it is."""
    if "," in cell and DECIMAL_COMMA.fullmatch(cell.strip()):
        return cell.replace(",", ".")
    return cell


def text_layout(
    lines: Sequence[str], request: Request, name: str, notes: list[str]
) -> Layout:
    """Find the layout of a text table from its first lines."""
    length, comment, candidates = _preamble(lines, request.skip_rows)
    body = _sampled(lines[length:])
    dialect = _dialect(body, candidates)
    # For every row the line that it begins in, blank ones left out.
    places, rows, line = [], [], length
    for row in dialect.rows(body):
        if any(cell.strip() for cell in row) and not row[0].startswith(SERIES_MARK):
            places.append(line)
            rows.append(row)
        line += 1 + "".join(row).count("\n")
    if not rows:
        raise TableError(f"{name} has no data; export the table again")
    named = None if comment is None else next(dialect.rows([comment]), [])
    layout = table_layout(dialect, rows, places, named, request, name, notes)
    header = "a header" if layout.names is not None else "no header"
    decimal = ", decimal commas" if dialect.decimal == "," else ""
    comments = ", comments before it" if comment is not None else ""
    title = DELIMITER_TITLES.get(dialect.delimiter, repr(dialect.delimiter))
    notes.insert(0, f"Text with {title}{decimal}, {header}{comments}.")
    return layout


def _preamble(
    lines: Sequence[str], skip_rows: int
) -> tuple[int, str | None, tuple[str | None, ...]]:
    """Find comments, and the line with which Excel is told of the delimiter."""
    length, comment, candidates = skip_rows, None, CANDIDATES
    for line in lines[skip_rows:]:
        if line.startswith("sep=") and len(line.strip("\n")) == 5:
            candidates = (line[4],)
        elif line.startswith("#"):
            comment = line.lstrip("# ")
        elif line.strip() and not line.startswith(SERIES_MARK):
            break
        length += 1
    return length, comment, candidates


def _sampled(lines: Sequence[str]) -> list[str]:
    """Return enough lines to judge by, with no quotation mark left open."""
    sample: list[str] = []
    n_characters = n_quotes = 0
    for line in lines:
        enough = n_characters > SAMPLED_CHARACTERS or len(sample) >= SAMPLED_ROWS
        if enough and len(sample) >= LEAST_SAMPLED_ROWS and n_quotes % 2 == 0:
            break
        sample.append(line)
        n_characters += len(line)
        n_quotes += line.count('"')
    return sample


def _dialect(lines: Sequence[str], candidates: Sequence[str | None]) -> Dialect:
    """Choose the delimiter that gives rows of equal length and mostly numbers."""
    some = [line for line in lines if line.strip()][:20]
    fits = {candidate: _fitness(some, candidate) for candidate in candidates}
    best = max(candidates, key=lambda candidate: fits[candidate])
    if fits[best] == UNFIT:
        best = "," if "," in candidates else best
    return Dialect(best, "," if _has_decimal_comma(lines, best) else ".")


# How well a delimiter fits, the most important criterion first: whether the header
# has as many names as the rows have cells, whether there are decimal commas, the share
# of regular rows and numbers, the number of columns.
Fitness = tuple[bool, bool, float, int]
UNFIT: Fitness = (False, False, 0.0, 0)


def _fitness(lines: Sequence[str], delimiter: str | None) -> Fitness:
    if not any(len(line.split(delimiter, 1)) > 1 for line in lines):
        return UNFIT
    try:
        # Rows may be very long, so only their lengths and first cells are kept.
        rows = [(len(row), row[:200]) for row in Dialect(delimiter).raw_rows(lines)]
    except csv.Error:  # a cell longer than any cell is
        return UNFIT
    below = rows[1:] or rows
    width, votes = Counter(length for length, _ in below).most_common(1)[0]
    if width < 2:
        return UNFIT
    cells = [cell.strip() for _, row in below for cell in row]
    n_commas = sum(bool(DECIMAL_COMMA.fullmatch(cell)) for cell in cells)
    n_numbers = sum(number(cell) is not None for cell in cells)
    if delimiter != ",":
        n_numbers += n_commas
    return (
        rows[0][0] == width,
        # With white space it may be a name and a number: sample 1,5.
        n_commas > 0 and votes == len(below) and delimiter in (";", "\t", "|"),
        votes / len(below) * n_numbers / len(cells),
        width,
    )


def _has_decimal_comma(lines: Sequence[str], delimiter: str | None) -> bool:
    """Tell whether commas are decimal; 1,234 alone may be a thousand, too."""
    if delimiter == ",":
        return False
    commas = (
        cell
        for row in Dialect(delimiter).raw_rows(line for line in lines if "," in line)
        for cell in map(str.strip, row)
        if DECIMAL_COMMA.fullmatch(cell)
    )
    return any(delimiter == ";" or not THOUSANDS.fullmatch(cell) for cell in commas)


def table_layout(
    dialect: Dialect,
    rows: list[list[str]],
    places: Sequence[int],
    comment: list[str] | None,
    request: Request,
    name: str,
    notes: list[str],
) -> Layout:
    """Return the layout of rows of cells, each of which begins in a line."""
    n_titles = 0 if request.skip_rows else _title_rows(rows)
    if n_titles:
        shown = next(cell for cell in rows[0] if cell.strip())
        notes.append(
            f"{n_titles} row{'s' * (n_titles > 1)} above the header ({shown[:40]!r}) "
            f"{'were' if n_titles > 1 else 'was'} left out."
        )
        rows, places = rows[n_titles:], places[n_titles:]
    header = _header_of(rows, comment, request.header)
    skipped = places[0]
    if header is not None and header is not comment:
        skipped += 1 + "".join(header).count("\n")
        rows = rows[1:]
    if not rows:
        raise TableError(f"{name} has a header and no data; export the table again")
    width = Counter(map(len, rows)).most_common(1)[0][0]
    if header is not None and len(header) == width - 1:
        # R leaves out the name of the row names; others end lines with a delimiter.
        ends_empty = all(not row[-1].strip() for row in rows if row)
        header = [*header, ""] if ends_empty else ["", *header]
    if header is not None:
        header = [cell.strip() for cell in header]
        width = len(header)
    complete = [row for row in rows if len(row) == width]
    missing = missing_words(request)
    text_columns = frozenset(
        place
        for place, cells in enumerate(zip(*complete, strict=True))
        if 2 * sum(is_text(cell, missing) for cell in cells) > len(cells)
    )
    first_cells = [row[0] for row in complete]
    return Layout(dialect, header, width, skipped, text_columns, first_cells)


def missing_words(request: Request) -> Collection[str]:
    """Return, in lower case, what is written for a value that is missing."""
    if not request.na_values:
        return MISSING
    return MISSING | {each.strip().lower() for each in request.na_values}


def _title_rows(rows: Sequence[list[str]]) -> int:
    """Count the rows before the header that hold one cell: a title, a date."""
    lengths = [sum(bool(cell.strip()) for cell in row) for row in rows]
    wide = (i for i, length in enumerate(lengths[: MOST_TITLE_ROWS + 1]) if length > 1)
    count = next(wide, 0)
    if not count:
        return 0
    below = rows[count + 1 :]
    # One name above two columns is how R writes a table with names of rows.
    header = all(map(is_text, rows[count])) and lengths[count] == len(rows[count])
    if not below or (len(rows[count]) < 3 and not header):
        return 0
    width = Counter(map(len, below)).most_common(1)[0][0]
    return count if len(rows[count]) in (width, width - 1) else 0


def _header_of(
    rows: Sequence[list[str]], comment: list[str] | None, wanted: bool | None
) -> list[str] | None:
    """Return the row of names: the first one, a comment before it, or None.

    A first row is a header if it has text where the rows below have numbers, if it
    is one cell shorter than they are (as R writes it), or if it counts or measures
    (``0,1,2,3``, wavelengths) while the rows below do not.

    Examples
    --------
    >>> _header_of([["a", "b"], ["1", "2"]], None, None)
    ['a', 'b']
    >>> _header_of([["3", "4"], ["1", "2"]], None, None) is None
    True
    """
    if wanted is not None:
        return rows[0] if wanted else None
    first, below = rows[0], rows[1:]
    if _is_header(first, below):
        return first
    fitting = {len(first), len(first) - 1} - {0, 1}
    return comment if comment is not None and len(comment) in fitting else None


def _is_header(first: list[str], below: Sequence[list[str]]) -> bool:
    # A name may look like a decorated number, as 95% does.
    texts = [j for j, cell in enumerate(first) if number(cell) is None]
    if not below:
        return len(texts) == len(first)
    width = Counter(map(len, below)).most_common(1)[0][0]
    if len(first) == width - 1:
        return True
    below = [row for row in below if len(row) == len(first)]
    if not below:
        return False
    numeric = [j for j in range(len(first)) if _is_numeric([row[j] for row in below])]
    if not numeric or set(texts) & set(numeric):
        return True
    unnamed = first[0].strip() == "" and not any(is_missing(row[0]) for row in below)
    return unnamed or _counts(first, below, numeric)


def _is_numeric(cells: Sequence[str]) -> bool:
    """Tell whether at least half of the cells are numbers or missing, and not all."""
    values = [number(cell) for cell in cells]
    texts = sum(
        value is None and is_text(cell)
        for value, cell in zip(values, cells, strict=True)
    )
    missing = all(value is not None and math.isnan(value) for value in values)
    return 2 * texts <= len(cells) and not missing


def _counts(
    first: list[str], below: Sequence[list[str]], numeric: Sequence[int]
) -> bool:
    """Tell whether the first row is in order as only names are."""
    values = [number(first[j]) for j in numeric]
    counted = any(
        values == [float(start + step) for step in range(len(values))]
        for start in (0, 1)
    )
    if len(values) < (LEAST_COUNTED if counted else LEAST_IN_ORDER):
        return False
    return _in_order(values) and not any(
        _in_order([number(row[j]) for j in numeric]) for row in below
    )


def _in_order(values: Sequence[float | None]) -> bool:
    return all(a is not None and b is not None and a < b for a, b in pairwise(values))


def columns_of(
    layout: Layout, request: Request, name: str, notes: list[str]
) -> Columns:
    """Decide what each column is for, by its name and by the first rows."""
    title = None if layout.names is None else layout.names[0]
    if layout.names is None:
        names = placed_names(layout.width)
    else:
        filled = [each or f"column_{j + 1}" for j, each in enumerate(layout.names)]
        names = unique_names(filled, notes)
        # The first column may have an empty name, which says that it is an index.
        names[0] = names[0] if layout.names[0] else ""
    transposed, in_doubt = request.transpose, False
    if transposed is None:
        unnamed = title == "" and request.id_column is None
        transposed, in_doubt = orientation(
            name, title, layout.first_cells, names[1:], unnamed
        )
    # Labels and what to drop are rows of a transposed table.
    named = of_rows(request) if transposed else request
    found = roles(names, by_place(named) if layout.names is None else named, name)
    free = 0 not in found.taken and names[0] not in request.use
    guessed = found.index_column is None and free and layout.width > 1
    if guessed:
        called = title is not None and title.lower() in ID_NAMES | FEATURE_WORDS
        guessed = called or 0 in layout.text_columns
    if guessed:
        found = found._replace(index_column=0)
    if transposed and request.transpose is None:
        notes.append(
            "Its rows are features, by their names, so that the table was transposed; "
            "--no-transpose leaves it as it is."
        )
    return Columns(names, found, guessed, transposed, in_doubt)


def orientation(
    name: str,
    title: str | None,
    rows: Sequence[str],
    columns: Sequence[str],
    unnamed: bool,
) -> tuple[bool, bool]:
    """Tell whether rows are features, and whether their number has to confirm it.

    ``unnamed`` says that the column of names has no name, as R and pandas write it.
    """
    if len(columns) < 2:
        return False, False
    if features_in_rows(title, rows) or not (unnamed and gene_like(rows)):
        return features_in_rows(title, rows), False
    if not sample_like(columns):
        raise which_way(name, rows, columns)
    return True, True


def of_rows(request: Request) -> Request:
    """Return a request without what names rows of a transposed table."""
    return request._replace(labels=None, groups=None, drop=(), use=())


def which_way(name: str, rows: Sequence[str], columns: Sequence[str]) -> TableError:
    """Return the question whether rows or columns are features."""
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
    """Tell whether names look like symbols of genes, not like numbered samples.

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


def sample_like(names: Sequence[str]) -> bool:
    """Tell whether names look like those of samples: numbered patients, GEO, TCGA.

    Examples
    --------
    >>> sample_like(["patient_1", "patient_2"]), sample_like(["x1", "x2"])
    (True, False)
    """
    matches = sum(bool(SAMPLE_NAME.fullmatch(name)) for name in names)
    return len(names) > 1 and matches >= 0.9 * len(names)


def features_in_rows(title: str | None, names: Sequence[str]) -> bool:
    """Tell whether the rows of a table are features, by the column that names them.

    They are if that column is called as only features are (gene, probe, ID_REF, ...)
    or if nearly all names in it have the form of gene or probe identifiers.

    Examples
    --------
    >>> features_in_rows("ID_REF", ["a", "b"]), features_in_rows("id", ["a", "b"])
    (True, False)
    >>> features_in_rows(None, ["1007_s_at", "1053_at"])
    True
    """
    if title is not None and title.strip().lower() in FEATURE_WORDS:
        return True
    matches = sum(bool(FEATURE_NAME.fullmatch(name)) for name in names)
    return len(names) > 1 and matches >= 0.9 * len(names)


def transpose_hint(
    name: str, columns: Sequence[str] | None, rows: Sequence[str], title: str | None
) -> str | None:
    """Return a hint if the columns may be samples; ask if they probably are.

    They are few and numbered alike, or few beside rows whose names are text in a column
    without a name, as R and pandas write tables of genes.

    Examples
    --------
    >>> transpose_hint("a.csv", ["ann", "bob"], [f"TP{i}" for i in range(20)], "")
    'If the 20 named rows (TP0, TP1, ...) are features, transpose the table \
(--transpose).'
    """
    if columns is None or len(columns) < 2 or len(rows) < TALL * len(columns):
        return None
    if title == "" and all(map(is_text, rows)):
        if sample_like(columns) and not sample_like(rows):
            raise which_way(name, rows, columns)
        return (
            f"If the {len(rows)} named rows ({rows[0]}, {rows[1]}, ...) are features, "
            "transpose the table (--transpose)."
        )
    stems = {match[1] for match in map(NUMBERED.fullmatch, columns) if match}
    if len(stems) != 1 or not all(map(NUMBERED.fullmatch, columns)):
        return None
    return (
        f"The columns ({columns[0]}, {columns[1]}, ...) may be samples: if they are, "
        "transpose the table (--transpose)."
    )

"""Names of files: what people call them, and what they are called on our disk.

A name that comes from a browser is shown, and never used to find or make a file.
"""

from pathlib import Path

from ufselect.data.tables.detection import EXTENSIONS, KNOWN, SUFFIXES, split_name
from ufselect.serving.refusal import Refusal

LONGEST_NAME = 150
# Ends of names that are taken, with and without compression.
KNOWN_ENDINGS = [*EXTENSIONS, *SUFFIXES]
# Workbooks with programs in them are read, and written without.
WRITTEN_AS = {".xlsm": ".xlsx"}


def ending(name: str) -> str:
    """Return the end of a name that says a format, and its compression, or nothing.

    Examples
    --------
    >>> ending("My genes.TSV.gz"), ending("genes.doc"), ending("../csv")
    ('.tsv.gz', '', '')
    """
    found = split_name(name)[1].lower()
    return "" if found in SUFFIXES else found


def stored_name(name: str) -> str:
    """Return what an uploaded table is called here, of which only the end is theirs.

    Examples
    --------
    >>> stored_name("../../My genes.csv")
    'table.csv'
    """
    found = ending(name)
    if not found:
        raise Refusal(
            415,
            f"{shown_name(name)} has a name that promises no known format; give one of "
            f"{KNOWN}",
        )
    return f"table{found}"


def selected_name(source: str, wanted: str = "") -> str:
    """Return what the table with the chosen features is called here.

    Examples
    --------
    >>> selected_name("genes.csv.gz"), selected_name("genes.csv", ".parquet")
    ('selected.csv.gz', 'selected.parquet')
    """
    found = wanted or ending(source)
    return f"selected{WRITTEN_AS.get(found, found)}"


def shown_name(name: str) -> str:
    r"""Return a name to show: without folders, in one line, and not too long.

    Examples
    --------
    >>> shown_name("C:\\data\\my\ngenes.csv"), shown_name("../")
    ('mygenes.csv', 'table')
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    plain = "".join(letter for letter in last if letter.isprintable()).strip()
    if len(plain) > LONGEST_NAME:
        plain = "\N{HORIZONTAL ELLIPSIS}" + plain[-LONGEST_NAME:]
    return plain.strip(".") or "table"


def suggested_name(name: str, written: str) -> str:
    """Return what a browser may call a result.

    Examples
    --------
    >>> suggested_name("my genes.csv.gz", "ranking.csv")
    'my genes.ranking.csv'
    """
    stem = split_name(shown_name(name))[0] or "table"
    return f"{stem}.{Path(written).name}"

"""Where a selection goes if nobody says: beside nothing of yours, under names of ours.

Like compilers, this writes to the current folder, wherever the source is.
"""

import argparse
import os
from itertools import chain, count
from pathlib import Path

from ufselect.cli.outputs import check_drawing
from ufselect.cli.usage import UsageError


def name_files(options: argparse.Namespace) -> list[str]:
    """Name table and page unless files are named or not wanted; return notes."""
    named = [options.output, options.scores, options.report]
    if options.no_files and any(named):
        raise UsageError("--no-files writes nothing; leave it out, or -o and others")
    if options.no_files or any(named) or options.json or options.file == "-":
        return []
    folder = Path()
    if not os.access(folder, os.W_OK):
        raise ValueError(
            f"cannot write into the current folder {folder.resolve()}; name files "
            "elsewhere with -o and --report, or write none with --no-files"
        )
    table, page = free_names(folder, Path(options.file).name)
    options.output = str(table)
    try:
        check_drawing()
    except ImportError as error:
        return [f"There is no page: {error}."]
    options.report = page
    return []


def free_names(folder: Path, name: str) -> tuple[Path, Path]:
    """Return names of table and page under which there is nothing yet.

    Examples
    --------
    >>> from pathlib import Path
    >>> table, page = free_names(Path("no-such-folder"), "genes.csv.gz")
    >>> table.name, page.name
    ('genes.selected.csv.gz', 'genes.report.html')
    """
    from ufselect.data.tables.detection import split_name

    stem, ending = split_name(name)
    marks = chain([""], map("-{}".format, count(2)))
    pairs = (
        (
            folder / f"{stem}.selected{mark}{ending}",
            folder / f"{stem}.report{mark}.html",
        )
        for mark in marks
    )
    return next(pair for pair in pairs if not any(path.exists() for path in pair))


def ranking_name(table: str) -> Path:
    """Return a name for the ranking that is written where no table can be.

    Examples
    --------
    >>> ranking_name("no-such-folder/genes.selected.csv.gz").name
    'genes.ranking.csv'
    """
    from ufselect.data.tables.detection import split_name

    path = Path(table)
    stem = split_name(path.name)[0].removesuffix(".selected")
    marks = chain([""], map("-{}".format, count(2)))
    names = (path.with_name(f"{stem}.ranking{mark}.csv") for mark in marks)
    return next(name for name in names if not name.exists())

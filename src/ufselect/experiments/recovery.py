"""Recover what SQLite can read of a damaged store; the runner computes the rest."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from ufselect.experiments.cells import digest
from ufselect.experiments.store import (
    APPLICATION_ID,
    DONE,
    SCHEMA_VERSION,
    SQLITE_ERRORS,
    check_store,
    create_tables,
    in_one_line,
    insert_rows,
    running,
)

Row = tuple[Any, ...]

# Page size of SQLite by default, in bytes.
PAGE_SIZE = 4096
# SQLite keeps the last writes in a journal beside the file.
JOURNAL = "-wal"
# A scan ends at the first damaged page. Scans from the other end, and of the index,
# find the rows behind it.
SCANS = [
    f"SELECT rowid FROM rankings {order} {direction}"
    for order in (
        "NOT INDEXED ORDER BY rowid",
        "INDEXED BY sqlite_autoindex_rankings_1 ORDER BY key",
    )
    for direction in ("ASC", "DESC")
]


class Recovered(NamedTuple):
    """The numbers of rankings kept and judged, and the path of the damaged file."""

    rankings: int
    judgements: int
    damaged: Path


def recover(path: Path) -> Recovered | None:
    """Replace a damaged store by what can be read of it; None if it is not damaged.

    The damaged file is kept as it is, under another name beside it.
    """
    if not path.is_file():
        raise ValueError(f"{path} does not exist; there is nothing to recover")
    if running(path):
        raise ValueError(f"a run is using {path}; end it before you recover the store")
    with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        # When SQLite opens a file with a journal, it changes the file.
        copy, fresh = Path(folder, "copy.sqlite"), Path(folder, "fresh.sqlite")
        shutil.copy(path, copy)
        # Half a page would be read as one that ends in zeros.
        os.truncate(copy, path.stat().st_size // PAGE_SIZE * PAGE_SIZE)
        if Path(f"{path}{JOURNAL}").exists():
            shutil.copy(f"{path}{JOURNAL}", f"{copy}{JOURNAL}")
        damage = _damage(path, copy)
        if damage is None:
            return None
        rankings, judgements = _copy_readable(copy, fresh)
        if not rankings:
            raise ValueError(
                f"nothing can be recovered from {path} ({damage}); restore it from a "
                "copy, or name another store"
            )
        names = (path.with_name(f"{path.name}.damaged{i or ''}") for i in count())
        kept = next(name for name in names if not name.exists())
        path.rename(kept)
        # An old journal would be taken for that of the new file.
        if Path(f"{path}{JOURNAL}").exists():
            Path(f"{path}{JOURNAL}").rename(f"{kept}{JOURNAL}")
        Path(f"{path}-shm").unlink(missing_ok=True)
        fresh.replace(path)
    return Recovered(rankings, judgements, kept)


def _damage(path: Path, copy: Path) -> str | None:
    """Return what is wrong with a store; raise if it is of another version."""
    try:
        with closing(sqlite3.connect(copy)) as old:
            application = old.execute("PRAGMA application_id").fetchone()[0]
            version = old.execute("PRAGMA user_version").fetchone()[0]
            try:
                check_store(old, path)
            except ValueError as problem:
                if application == APPLICATION_ID and version > SCHEMA_VERSION:
                    raise
                # The mark of our stores may itself be damaged.
                return str(problem)
    except SQLITE_ERRORS as error:
        return in_one_line(error)
    return None


def _copy_readable(copy: Path, fresh: Path) -> tuple[int, int]:
    """Fill a new store from an old one; count rankings and judged rankings."""
    judged = 0
    with (
        closing(sqlite3.connect(copy)) as old,
        closing(sqlite3.connect(fresh, isolation_level=None)) as new,
        new,
    ):
        new.execute("BEGIN")
        create_tables(new)
        # With this, SQLite opens even a file that is shorter than its header says.
        old.execute("PRAGMA writable_schema = ON")
        places = sorted({place for scan in SCANS for (place,) in _readable(old, scan)})
        query = "SELECT * FROM rankings WHERE rowid = ?"
        found = [row for place in places for row in _readable(old, query, place)]
        rankings = [row for row in found if _makes_sense(row)]
        insert_rows(new, "rankings", rankings)
        for key, *_ in rankings:
            query = "SELECT * FROM judgements WHERE ranking = ?"
            for judgement in list(_readable(old, query, key)):
                query = "SELECT * FROM scores WHERE ranking = ? AND judge = ?"
                scores = list(_readable(old, query, *judgement[:2]))
                # A damaged page may lose scores without an error.
                if len(scores) == judgement[-1]:
                    insert_rows(new, "judgements", [judgement])
                    insert_rows(new, "scores", scores)
                    judged += bool(scores)
        plans = _readable(old, "SELECT * FROM plans ORDER BY rowid")
        insert_rows(new, "plans", [row for row in plans if row[0] == digest([row[2]])])
    return len(rankings), judged


def _makes_sense(ranking: Row) -> bool:
    """Tell whether a ranking is complete and its order a permutation."""
    *required, _, order = ranking[:11]
    if None in required:
        return False
    if required[-1] != DONE:
        return True
    try:
        places = np.sort(np.frombuffer(order, dtype=np.int32))
    except (TypeError, ValueError):
        return False
    return len(places) > 0 and np.array_equal(places, np.arange(len(places)))


def _readable(old: sqlite3.Connection, query: str, *values: object) -> Iterator[Row]:
    """Yield rows until one cannot be read."""
    try:
        yield from old.execute(query, values)
    except SQLITE_ERRORS:
        return

"""Keeps what is intact of a damaged store, in a new one; the damaged file stays.

The file is read page by page (see `pages`), past all that SQLite stumbles over, and a
row is kept if it is what was written (see `remains`).
"""

import shutil
import sqlite3
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

from ufselect.experiments.journal import HIDDEN, hides_cells, journal_of
from ufselect.experiments.owners import living
from ufselect.experiments.pages import rows_in
from ufselect.experiments.reader import opened
from ufselect.experiments.remains import Remains
from ufselect.experiments.row_format import Row
from ufselect.experiments.schema import (
    DAMAGE,
    SCHEMA_VERSION,
    create,
    damage_of,
    problem_with,
    version_of,
)
from ufselect.experiments.seals import in_one_line, seal_everything


class Recovered(NamedTuple):
    """How many rankings are kept, how many of them judged, and where the rest is."""

    rankings: int
    judgements: int
    damaged: Path


def recover(path: Path) -> Recovered | None:
    """Put what is intact in the place of a damaged store; None if it is not damaged.

    The damaged file is kept as it is, under another name beside it.
    """
    if not path.is_file():
        raise ValueError(f"{path} does not exist; there is nothing to recover")
    if living(path):
        raise ValueError(
            f"a run is at work on {path}; end it before anything is recovered"
        )
    kept = _free_name(path, "damaged")
    for suffix in ("", "-wal"):
        with suppress(FileNotFoundError):
            shutil.copy2(f"{path}{suffix}", f"{kept}{suffix}")
    fresh = _free_name(path, "recovered")
    try:
        counts = _rescued(path, kept, fresh)
    except BaseException:
        _remove(fresh)
        _remove(kept)
        raise
    if counts is None:
        _remove(kept)
        return None
    # A journal that is left would be taken for that of the new file.
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    fresh.replace(path)
    return Recovered(*counts, kept)


def _rescued(path: Path, kept: Path, fresh: Path) -> tuple[int, int] | None:
    """Write what is intact to a new file; None if everything is."""
    why = _damage(path)
    if why is None:
        return None
    remains = Remains(rows_in(kept.read_bytes(), journal_of(kept)))
    if not remains.rankings:
        raise ValueError(_hopeless(path, why))
    with closing(sqlite3.connect(fresh, isolation_level=None)) as new:
        return _write(remains, new)


def _damage(path: Path) -> str | None:
    """Say what is wrong with a store; raise if a newer version has made it."""
    if hides_cells(path):
        return HIDDEN
    try:
        with closing(opened(path)) as old:
            problem = problem_with(old)
            if problem is None:
                return damage_of(old)
            if version_of(old) > SCHEMA_VERSION:
                raise ValueError(f"{path} {problem}")
            # The mark that makes it ours may be what is damaged.
            return f"it {problem}"
    except DAMAGE as error:
        return in_one_line(error)


def _hopeless(path: Path, why: object) -> str:
    return (
        f"nothing can be recovered from {path} ({in_one_line(why)}); restore it from a "
        "copy, or name another store"
    )


def _write(remains: Remains, new: sqlite3.Connection) -> tuple[int, int]:
    """Fill a new store; return the numbers of rankings and judgements."""
    new.execute("BEGIN")
    create(new)
    for row in remains.rankings.values():
        _insert(new, "rankings", row)
    judgements = list(remains.judgements())
    for row, scores in judgements:
        _insert(new, "judgements", row)
        for score in scores:
            _insert(new, "scores", score)
    for row in remains.plans:
        _insert(new, "plans", row)
    if not remains.sealed:
        seal_everything(new)
    new.execute("COMMIT")
    return len(remains.rankings), len(judgements)


def _insert(new: sqlite3.Connection, table: str, row: Row) -> None:
    new.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def _free_name(path: Path, what: str) -> Path:
    """Return a name beside a file under which there is nothing."""
    names = (path.with_name(f"{path.name}.{what}{i or ''}") for i in count())
    return next(name for name in names if not name.exists())


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)

"""Keeps what is intact of a damaged store, in a new one; the damaged file stays.

Whatever SQLite can still read is read row by row, and kept if its seal is unbroken.
Stores from before there were seals have none: there a ranking is kept if its key is
that of its inputs, and scores are believed.
"""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ufselect._version import RELEASE
from ufselect.experiments.cells import Cell, digest
from ufselect.experiments.owners import living
from ufselect.experiments.reader import opened
from ufselect.experiments.records import VERSION_WITHOUT_RECORDS
from ufselect.experiments.schema import (
    SEALED_SINCE,
    create,
    damage_of,
    problem_with,
    version_of,
)
from ufselect.experiments.seals import (
    JUDGEMENTS,
    ORDERED,
    SCORES,
    in_one_line,
    is_intact,
    seal_everything,
    seal_of,
)

Row = tuple[Any, ...]

# No row of a table takes less, so that there cannot be more of them in a file.
LEAST_ROW = 64
# Of which there are stores without seals.
VERSIONS = {VERSION_WITHOUT_RECORDS, RELEASE}


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
        counts = _rescued(path, fresh)
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


def _rescued(path: Path, fresh: Path) -> tuple[int, int] | None:
    """Write what is intact to a new file; None if everything is."""
    try:
        with closing(opened(path)) as old:
            problem = problem_with(old)
            if problem is not None:
                raise ValueError(f"{path} {problem}")
            if _is_whole(old):
                return None
            with closing(sqlite3.connect(fresh, isolation_level=None)) as new:
                counts = _copy(old, new, path.stat().st_size // LEAST_ROW)
    except sqlite3.DatabaseError as error:
        raise ValueError(_hopeless(path, error)) from error
    if counts[0] == 0:
        raise ValueError(_hopeless(path, "no cell of it is intact"))
    return counts


def _hopeless(path: Path, why: object) -> str:
    return (
        f"nothing can be recovered from {path} ({in_one_line(why)}); restore it from a "
        "copy, or name another store"
    )


def _is_whole(old: sqlite3.Connection) -> bool:
    try:
        return damage_of(old) is None
    except sqlite3.DatabaseError:
        return False


def _copy(
    old: sqlite3.Connection, new: sqlite3.Connection, most: int
) -> tuple[int, int]:
    """Copy what is intact; return the numbers of rankings and judgements."""
    sealed = version_of(old) >= SEALED_SINCE
    new.execute("BEGIN")
    create(new)
    keys = []
    for row in _rows_of(old, "rankings", most):
        if is_intact(row) if sealed else _makes_sense(row):
            _insert(new, "rankings", row if sealed else (*row, None))
            keys.append(row[0])
    judged = _sealed_judgements if sealed else _believed_judgements
    judgements = sum(_copy_judgements(old, new, key, judged) for key in keys)
    for row in _rows_of(old, "plans", most):
        if row[0] == digest([row[2]]):
            _insert(new, "plans", row)
    if not sealed:
        seal_everything(new)
    new.execute("COMMIT")
    return len(keys), judgements


def _rows_of(old: sqlite3.Connection, table: str, most: int) -> Iterator[Row]:
    """Yield the rows of a table, past those that cannot be read."""
    query = f"SELECT * FROM {table} WHERE rowid = ?"
    for number in range(1, _last_row(old, table, most) + 1):
        with suppress(sqlite3.DatabaseError):
            yield from old.execute(query, [number]).fetchall()


def _last_row(old: sqlite3.Connection, table: str, most: int) -> int:
    try:
        (last,) = old.execute(f"SELECT max(rowid) FROM {table}").fetchone()
    except sqlite3.DatabaseError:
        return most
    return min(last or 0, most)


Judged = Callable[[sqlite3.Connection, str], Iterator[tuple[Row, list[Row]]]]


def _copy_judgements(
    old: sqlite3.Connection, new: sqlite3.Connection, key: str, judged: Judged
) -> int:
    copied = 0
    with suppress(sqlite3.DatabaseError):
        for judgement, scores in judged(old, key):
            _insert(new, "judgements", judgement)
            for score in scores:
                _insert(new, "scores", score)
            copied += 1
    return copied


def _sealed_judgements(
    old: sqlite3.Connection, key: str
) -> Iterator[tuple[Row, list[Row]]]:
    for row in old.execute(f"{JUDGEMENTS} WHERE ranking = ?", [key]).fetchall():
        query = f"{SCORES} WHERE ranking = ? AND judge = ?{ORDERED}"
        scores = old.execute(query, row[:2]).fetchall()
        if row[-1] == seal_of(row[:-1], scores):
            yield row, scores


def _believed_judgements(
    old: sqlite3.Connection, key: str
) -> Iterator[tuple[Row, list[Row]]]:
    scores = old.execute(f"{SCORES} WHERE ranking = ?{ORDERED}", [key]).fetchall()
    for judge in sorted({score[1] for score in scores}):
        mine = [score for score in scores if score[1] == judge]
        yield (key, judge, "done", None, None), mine


def _makes_sense(row: Row) -> bool:
    """Say whether a ranking without a seal has the key of its inputs, and an order."""
    try:
        cell = replace(Cell(*row[1:7]), before=tuple(json.loads(row[7])))
    except (TypeError, ValueError):
        return False
    order = np.sort(np.frombuffer(row[10] or b"", dtype=np.int32))
    return row[0] in map(cell.key_in, VERSIONS) and np.array_equal(
        order, np.arange(len(order))
    )


def _insert(new: sqlite3.Connection, table: str, row: Row) -> None:
    new.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def _free_name(path: Path, what: str) -> Path:
    """Return a name beside a file under which there is nothing."""
    names = (path.with_name(f"{path.name}.{what}{i or ''}") for i in count())
    return next(name for name in names if not name.exists())


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)

"""Keeps what SQLite can still read of a damaged store; the runner computes the rest."""

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from ufselect.experiments.cells import digest
from ufselect.experiments.plan import ALL_FEATURES
from ufselect.experiments.store import (
    COLUMNS,
    DONE,
    SCHEMA_VERSION,
    SQLITE_ERRORS,
    create_tables,
    damage_in,
    in_one_line,
    insert_rows,
    problem_with,
    running,
)

Row = tuple[Any, ...]

# Of every store that SQLite has made with its defaults, in bytes.
PAGE_SIZE = 4096
# SQLite keeps what was written last in a journal beside the file.
JOURNAL = "-wal"


class Recovered(NamedTuple):
    """How many rankings are kept, how many of them judged, and where the rest is."""

    rankings: int
    judgements: int
    damaged: Path


def recover(path: Path) -> Recovered | None:
    """Put what can be read in the place of a damaged store; None if it is not damaged.

    The damaged file is kept as it is, under another name beside it.
    """
    if not path.is_file():
        raise ValueError(f"{path} does not exist; there is nothing to recover")
    if running(path):
        raise ValueError(
            f"a run is at work on {path}; end it before anything is recovered"
        )
    with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        # SQLite changes a file with a journal when it opens it.
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
        kept = _free_name(path)
        path.rename(kept)
        # A journal that is left would be taken for that of the new file.
        if Path(f"{path}{JOURNAL}").exists():
            Path(f"{path}{JOURNAL}").rename(f"{kept}{JOURNAL}")
        Path(f"{path}-shm").unlink(missing_ok=True)
        fresh.replace(path)
    return Recovered(rankings, judgements, kept)


def _damage(path: Path, copy: Path) -> str | None:
    """Say what is wrong with a store; raise if another version has made it."""
    try:
        with closing(sqlite3.connect(copy)) as old:
            problem = problem_with(old)
            if problem is None:
                return damage_in(old)
            version = old.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise ValueError(f"{path} {problem}")
            # The mark that makes it ours may be what is damaged.
            return f"it {problem}"
    except SQLITE_ERRORS as error:
        return in_one_line(error)


def _copy_readable(copy: Path, fresh: Path) -> tuple[int, int]:
    """Fill a new store from an old one; return how many rankings, and judged ones."""
    with (
        closing(sqlite3.connect(copy)) as old,
        closing(sqlite3.connect(fresh, isolation_level=None)) as new,
    ):
        new.execute("BEGIN")
        create_tables(new)
        # SQLite then opens also a file that is shorter than its header says.
        old.execute("PRAGMA writable_schema = ON")
        rankings = list(_rankings(old))
        insert_rows(new, "rankings", rankings)
        judgements = list(_judgements(old, rankings))
        for judgement, scores in judgements:
            insert_rows(new, "judgements", [judgement])
            insert_rows(new, "scores", scores)
        plans = _select(old, "plans", "TRUE ORDER BY rowid")
        whole = [row for row in plans if row[0] == digest([row[2]])]
        insert_rows(new, "plans", whole)
        new.execute("COMMIT")
    return len(rankings), sum(bool(scores) for _, scores in judgements)


def _rankings(old: sqlite3.Connection) -> Iterator[Row]:
    """Yield the rankings that can be read and make sense.

    A scan ends at the first damaged page. Those from the other end of the table, and of
    its index, find the rows beyond.
    """
    scans = [
        f"SELECT rowid FROM rankings {order} {direction}"
        for order in (
            "NOT INDEXED ORDER BY rowid",
            "INDEXED BY sqlite_autoindex_rankings_1 ORDER BY key",
        )
        for direction in ("ASC", "DESC")
    ]
    for rowid in sorted({row for scan in scans for (row,) in _readable(old, scan)}):
        for ranking in _select(old, "rankings", "rowid = ?", rowid):
            if _makes_sense(ranking):
                yield ranking


def _makes_sense(ranking: Row) -> bool:
    """Say whether a ranking has all it must, and an order that is a permutation."""
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


def _judgements(
    old: sqlite3.Connection, rankings: list[Row]
) -> Iterator[tuple[Row, list[Row]]]:
    """Yield the judgements of rankings, each with its scores, that are whole.

    A damaged page may hide scores without an error, so that they are counted: a judge
    gives as many at every number of features, and asks for the same numbers on one set.
    """
    found = []
    most_sizes: Counter[Row] = Counter()
    most_scores: Counter[str] = Counter()
    for key, set_name, _, _, selector, *_ in rankings:
        for judgement in _select(old, "judgements", "ranking = ?", key):
            _, judge, status, _ = judgement
            where = "ranking = ? AND judge = ?"
            scores = _select(old, "scores", where, key, judge)
            per_size = Counter(features for _, _, features, *_ in scores)
            kind = (judge, status, set_name, selector == ALL_FEATURES)
            most_sizes[kind] = max(most_sizes[kind], len(per_size))
            most_scores[judge] = max(most_scores[judge], *per_size.values(), 0)
            found.append((kind, judgement, scores, per_size))
    for kind, judgement, scores, per_size in found:
        judge, status, *_ = kind
        as_many = set(per_size.values()) == {most_scores[judge]}
        if status != DONE or (as_many and len(per_size) == most_sizes[kind]):
            yield judgement, scores


def _select(
    old: sqlite3.Connection, table: str, where: str, *values: object
) -> list[Row]:
    """Return the rows of a table, or none of them if one cannot be read."""
    query = f"SELECT {COLUMNS[table]} FROM {table} WHERE {where}"
    try:
        return old.execute(query, values).fetchall()
    except SQLITE_ERRORS:
        return []


def _readable(old: sqlite3.Connection, query: str) -> Iterator[Row]:
    """Yield rows up to the first that cannot be read."""
    try:
        yield from old.execute(query)
    except SQLITE_ERRORS:
        return


def _free_name(path: Path) -> Path:
    """Return a name beside a file under which there is nothing."""
    names = (path.with_name(f"{path.name}.damaged{i or ''}") for i in count())
    return next(name for name in names if not name.exists())

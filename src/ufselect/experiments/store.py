"""The store of an experiment: one SQLite file of plans, runs and scores.

Only the process that runs a plan writes to it. A run is written in one transaction:
completely or not at all.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any, Self

import numpy as np

from ufselect.experiments.runs import PlannedRun, Record, digest
from ufselect.experiments.work import Outcome, Ranking

DONE = "done"
FAILED = "failed"

# Marks our files among other SQLite files: "ufse" in ASCII.
APPLICATION_ID = 0x75667365
SCHEMA_VERSION = 4
SCHEMA = """
CREATE TABLE plans (key TEXT PRIMARY KEY, name TEXT NOT NULL, content TEXT NOT NULL);
CREATE TABLE runs (
    key TEXT NOT NULL,
    judge TEXT NOT NULL,
    set_name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    preparation TEXT NOT NULL,
    selector TEXT NOT NULL,
    parameters TEXT NOT NULL,
    seed INTEGER NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    feature_order BLOB,
    history BLOB,
    seconds REAL,
    peak_memory INTEGER,
    PRIMARY KEY (key, judge)
);
CREATE TABLE scores (
    run TEXT NOT NULL,
    judge TEXT NOT NULL,
    features INTEGER NOT NULL,
    metric TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (run, judge, features, metric, repetition)
) WITHOUT ROWID
"""


class Store:
    """The file of an experiment, open for writing.

    Parameters
    ----------
    path : Path
        Created if it does not exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(Path(folder, "example.sqlite")) as store:
    ...         store.keys("k-means")
    set()
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with _errors_in_a_sentence(path):
            self._connection = sqlite3.connect(path, timeout=60, isolation_level=None)
            try:
                # Check that the file is ours before writing to it.
                if not _is_empty(self._connection):
                    _check(self._connection, path)
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = NORMAL")
                with self._transaction():
                    # Another run may have created the tables by now.
                    if _is_empty(self._connection):
                        self._create_tables()
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        # One file is left, unless someone is reading it now.
        with suppress(sqlite3.OperationalError):
            self._connection.execute("PRAGMA busy_timeout = 100")
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()

    def keys(self, judge: str, *, failed: bool = False) -> set[str]:
        """Return the keys of the runs that are done or, on request, failed."""
        query = "SELECT key FROM runs WHERE judge = ? AND status = ?"
        return {key for (key,) in self._rows(query, judge, FAILED if failed else DONE)}

    def ranking_of(self, key: str) -> Ranking | None:
        """Return the ranking of a run, however it was judged, if there is one."""
        query = (
            "SELECT feature_order, history, seconds, peak_memory FROM runs "
            "WHERE key = ? AND feature_order IS NOT NULL LIMIT 1"
        )
        for order, history, *costs in self._rows(query, key):
            steps = None if history is None else np.frombuffer(history)
            return Ranking(np.frombuffer(order, dtype=np.int32), steps, *costs)
        return None

    def save_record(self, record: Record) -> None:
        """Store the plan, so that a report needs only the store.

        A record that is already there becomes the newest.
        """
        content = json.dumps(asdict(record))
        row = (digest([content]), record.plan.name, content)
        with _errors_in_a_sentence(self.path), self._transaction():
            self._insert("plans", [row])

    def save(self, run: PlannedRun, judge: str, outcome: Outcome) -> None:
        """Write the outcome of a run in one transaction."""
        key, ranking = run.key(), outcome.ranking
        found: tuple[Any, ...] = (None,) * 4
        if ranking is not None:
            history = ranking.history
            found = (
                ranking.order.astype(np.int32).tobytes(),
                None if history is None else history.astype(np.float64).tobytes(),
                ranking.seconds,
                ranking.peak_memory,
            )
        status = DONE if outcome.reason is None else FAILED
        row = (key, judge, *asdict(run).values(), status, outcome.reason, *found)
        with _errors_in_a_sentence(self.path), self._transaction():
            self._insert("runs", [row])
            self._insert("scores", [(key, judge, *score) for score in outcome.scores])

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with _errors_in_a_sentence(self.path):
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Lock the file for writing; commit, or roll back after an error."""
        self._connection.execute("BEGIN IMMEDIATE")
        with self._connection:
            yield

    def _create_tables(self) -> None:
        # Not executescript, which would end the transaction.
        for statement in SCHEMA.split(";"):
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _insert(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            statement = f"INSERT OR REPLACE INTO {table} VALUES ({marks})"
            self._connection.executemany(statement, rows)


class DamagedStoreError(ValueError):
    """A store of ours that SQLite finds damaged."""


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store for reading; what a run adds meanwhile is not seen."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise ValueError(f"{path} {what}; name a store that ufselect run has made")
    address = f"{path.resolve().as_uri()}?mode=ro"
    with (
        _errors_in_a_sentence(path),
        closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection,
    ):
        connection.execute("BEGIN")
        if _is_empty(connection):
            raise ValueError(f"{path} is empty; fill it with ufselect run PLAN")
        _check(connection, path)
        yield connection


def set_aside_if_damaged(path: Path) -> Path | None:
    """Rename a damaged store, so that a run can begin anew; return its new name."""
    if not path.is_file() or path.stat().st_size == 0:
        return None
    try:
        with reading(path):
            return None
    except DamagedStoreError:
        with path.open("rb") as file:
            if file.read(72)[68:] != APPLICATION_ID.to_bytes(4):
                raise
        names = (path.with_name(f"{path.name}.damaged-{n}") for n in count(1))
        new = next(name for name in names if not name.exists())
    for ending in ("", "-wal", "-shm"):
        part = path.with_name(path.name + ending)
        if part.exists():
            part.rename(new.with_name(new.name + ending))
    return new


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Tell whether a file has no content yet.

    A run that has just started writes one page without tables. If there are more pages
    but no tables, the tables are lost.
    """
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return tables == 0 and pages <= 1


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse files that are not our stores, of another version, or damaged."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise ValueError(
            f"{path} is a database of another program; choose another store"
        )
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != SCHEMA_VERSION:
        raise ValueError(
            f"{path} has version {version} of the store and this ufselect knows "
            f"version {SCHEMA_VERSION}; choose another store, or the ufselect that "
            "wrote this one"
        )
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(found)
    # SQLite reads the missing part of a page as zeros, which may look valid. While a
    # run writes to the log beside it, the file may end anywhere.
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    log = path.with_name(f"{path.name}-wal")
    is_written = log.exists() and log.stat().st_size > 0
    if path.stat().st_size % page_size and not is_written:
        raise sqlite3.DatabaseError("the file ends inside a page")


@contextmanager
def _errors_in_a_sentence(path: Path) -> Iterator[None]:
    """Return an error of SQLite as a message about the store."""
    try:
        yield
    # A message that quotes a damaged file may be invalid text.
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # The low byte is the kind of error.
        kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        said = " ".join(str(error).split())
        if kind == sqlite3.SQLITE_FULL:
            raise ValueError(
                f"there is no space left for the store {path}; free some, and the same "
                "command continues from what is kept"
            ) from error
        if kind == sqlite3.SQLITE_CORRUPT:
            raise DamagedStoreError(
                f"the store {path} is damaged ({said}); ufselect run renames it and "
                "computes anew"
            ) from error
        raise ValueError(
            f"the store {path} cannot be used ({said}); see that it is a store and can "
            "be written, or name another one"
        ) from error

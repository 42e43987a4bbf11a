"""The store of an experiment: one SQLite file of results and claims.

Five tables: **rankings** (one row per cell, with its status), **judgements** (one row
per ranking and judge, likewise), **scores** (one row per judgement, number of features,
metric and repetition), **claims** (cells that a running process computes) and **plans**
(what was run; see `cells.Record`). A cell is written in one transaction: completely or
not at all.
"""

import glob
import json
import sqlite3
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ufselect.experiments.cells import Cell, Record, digest, judge_key
from ufselect.experiments.protocol import Order, Score

Float = NDArray[np.float64]

DONE = "done"
FAILED = "failed"
# Over a limit or crashed: repeated on request only, since it would cost as much again.
STOPPED = "stopped"

# Marks our files among other SQLite files: "ufse" in ASCII.
APPLICATION_ID = 0x75667365
SCHEMA_VERSION = 3
SCHEMA = """
CREATE TABLE rankings (
    key TEXT PRIMARY KEY,
    set_name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    preparation TEXT NOT NULL,
    selector TEXT NOT NULL,
    parameters TEXT NOT NULL,
    seed INTEGER NOT NULL,
    before TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    feature_order BLOB,
    objective REAL,
    history BLOB,
    seconds REAL,
    peak_memory INTEGER
);
CREATE TABLE judgements (
    ranking TEXT NOT NULL REFERENCES rankings (key),
    judge TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    n_scores INTEGER NOT NULL,
    PRIMARY KEY (ranking, judge)
) WITHOUT ROWID;
CREATE TABLE scores (
    ranking TEXT NOT NULL REFERENCES rankings (key),
    judge TEXT NOT NULL,
    features INTEGER NOT NULL,
    metric TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (ranking, judge, features, metric, repetition)
) WITHOUT ROWID;
CREATE TABLE claims (cell TEXT PRIMARY KEY, owner TEXT NOT NULL);
CREATE TABLE plans (
    key TEXT PRIMARY KEY,
    judge TEXT NOT NULL,
    content TEXT NOT NULL
)
"""
FINISHED = """
SELECT key FROM rankings JOIN judgements ON ranking = key
WHERE rankings.status = 'done' AND judgements.status = 'done' AND judge = ?
"""
# Errors from reading a damaged file; a message that quotes it may be invalid text.
SQLITE_ERRORS = (sqlite3.DatabaseError, UnicodeDecodeError)


class DamagedError(sqlite3.DatabaseError):
    """SQLite found the structure of the file damaged."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class Outcome(NamedTuple):
    """The outcome of a cell: the order of the features with its scores, or a reason."""

    status: str
    reason: str | None = None
    order: Order | None = None
    history: Float | None = None
    seconds: float | None = None
    peak_memory: int | None = None
    scores: tuple[Score, ...] = ()


class Store:
    """The file of an experiment, safe to share between processes.

    Parameters
    ----------
    path : Path
        Created if it does not exist.
    judge : str
        Key of how this run judges rankings; other judgements are not changed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(Path(folder, "example.sqlite"), judge="k-means") as store:
    ...         store.finished()
    set()
    """

    def __init__(self, path: Path, judge: str) -> None:
        if not path.parent.is_dir():
            raise ValueError(
                f"cannot write {path}: the folder {path.parent} does not exist"
            )
        self.path = path
        self.judge = judge
        # Runners call from the threads of joblib.
        self._guard = threading.Lock()
        with self._errors_in_a_sentence():
            self._connection = connection = sqlite3.connect(
                path, timeout=60, isolation_level=None, check_same_thread=False
            )
        try:
            with self._errors_in_a_sentence():
                # Check that the file is an undamaged store before writing to it.
                if not is_empty(connection):
                    check_store(connection, path)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
            with self._transaction():
                # Another run may have created the tables by now.
                if is_empty(connection):
                    create_tables(connection)
                running(path)  # Remove the claims of killed runs.
                self._lock = RunLock(path)
        except BaseException:
            connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the claims and close the file."""
        # If this fails, the claims still end with the lock.
        with suppress(ValueError), self._transaction() as connection:
            connection.execute("DELETE FROM claims WHERE owner = ?", [self._lock.name])
        self._connection.close()
        self._lock.close()

    def finished(self) -> set[str]:
        """Return the keys of the cells that are ranked and judged."""
        return {key for (key,) in self._rows(FINISHED, self.judge)}

    def stopped(self) -> set[str]:
        """Return the keys of the cells that exceeded a limit or whose process died."""
        query = (
            "SELECT key FROM rankings WHERE status = ? UNION SELECT ranking "
            "FROM judgements WHERE status = ? AND judge = ?"
        )
        return {key for (key,) in self._rows(query, STOPPED, STOPPED, self.judge)}

    def order_of(self, key: str) -> Order | None:
        """Return the ranking of a cell if there is one."""
        query = "SELECT feature_order FROM rankings WHERE key = ? AND status = ?"
        rows = self._rows(query, key, DONE)
        return np.frombuffer(rows[0][0], dtype=np.int32) if rows else None

    def save_record(self, record: Record) -> None:
        """Store the plan, so that a report needs only the store.

        A record that is already there becomes the newest.
        """
        content = json.dumps(asdict(record))
        row = (digest([content]), judge_key(record.plan.judge), content)
        with self._transaction() as connection:
            insert_rows(connection, "plans", [row])

    def claim(self, key: str) -> bool:
        """Claim a cell, unless it is finished or another run has claimed it."""
        with self._transaction() as connection:
            query = "SELECT owner FROM claims WHERE cell = ?"
            owner = connection.execute(query, [key]).fetchone()
            if owner is not None and is_running(self.path, owner[0]):
                return False
            query = f"{FINISHED} AND key = ?"
            if connection.execute(query, [self.judge, key]).fetchone():
                return False
            insert_rows(connection, "claims", [(key, self._lock.name)])
            return True

    def claimed_by_others(self) -> set[str]:
        """Return the cells that other runs are computing."""
        query = "SELECT cell, owner FROM claims WHERE owner != ?"
        with self._transaction() as connection:
            claims = connection.execute(query, [self._lock.name]).fetchall()
            owners = {owner for _, owner in claims}
            alive = {owner for owner in owners if is_running(self.path, owner)}
        return {cell for cell, owner in claims if owner in alive}

    def save(self, cell: Cell, outcome: Outcome, *, only_judged: bool = False) -> None:
        """Write the outcome of a cell and release its claim, in one transaction.

        If it was only judged, its ranking is already there and is not changed.
        """
        order, history = outcome.order, outcome.history
        ranking = (
            cell.key,
            *(asdict(cell) | {"before": json.dumps(cell.before)}).values(),
            outcome.status,
            outcome.reason,
            None if order is None else np.asarray(order, dtype=np.int32).tobytes(),
            None if history is None else float(history[-1]),
            None if history is None else np.asarray(history, np.float64).tobytes(),
            outcome.seconds,
            outcome.peak_memory,
        )
        judgement = (self.judge, outcome.status, outcome.reason, len(outcome.scores))
        scores = [(cell.key, self.judge, *score) for score in outcome.scores]
        with self._transaction() as connection:
            if not only_judged:
                insert_rows(connection, "rankings", [ranking])
            if only_judged or outcome.status == DONE:
                insert_rows(connection, "judgements", [(cell.key, *judgement)])
                insert_rows(connection, "scores", scores)
            connection.execute("DELETE FROM claims WHERE cell = ?", [cell.key])

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._guard, self._errors_in_a_sentence():
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Lock the file for writing; commit, or roll back after an error."""
        with self._guard, self._errors_in_a_sentence():
            # Locking now, not at the first write, avoids a deadlock of two readers
            # that both want to write.
            self._connection.execute("BEGIN IMMEDIATE")
            # This commits, or rolls back after an error.
            with self._connection:
                yield self._connection

    @contextmanager
    def _errors_in_a_sentence(self) -> Iterator[None]:
        """Return an error of SQLite as a message about the store."""
        try:
            yield
        except SQLITE_ERRORS as error:
            # The low byte is the kind of error.
            kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
            corrupt = kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
            if kind == sqlite3.SQLITE_FULL:
                message = (
                    f"there is no space left for the store {self.path}; free some, and "
                    "the same command continues from what is kept"
                )
            elif corrupt or isinstance(error, UnicodeDecodeError):
                message = (
                    f"the store {self.path} cannot be used, being damaged "
                    f"({in_one_line(error)}); restore it from a copy, keep what can be "
                    "read with ufselect run PLAN --recover, or name another store"
                )
            else:
                message = (
                    f"the store {self.path} cannot be used ({in_one_line(error)}); see "
                    "that it can be written and that no other program holds it, or "
                    "name another store"
                )
            raise ValueError(message) from error


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables, within the transaction of the caller."""
    # Not executescript, which would end the transaction.
    for statement in SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def insert_rows(
    connection: sqlite3.Connection, table: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert rows with all columns of a table; replace older ones."""
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        statement = f"INSERT OR REPLACE INTO {table} VALUES ({marks})"
        connection.executemany(statement, rows)


def is_empty(connection: sqlite3.Connection) -> bool:
    """Tell whether a file has no content yet.

    A run that has just started writes one page without tables. If there are more pages
    but no tables, the tables are lost.
    """
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return tables == 0 and pages <= 1


def check_store(connection: sqlite3.Connection, path: Path) -> None:
    """Raise ValueError for files that are not our stores, DamagedError for damage.

    If SQLite cannot open the file at all, its own error is raised.
    """
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID:
        raise ValueError(
            f"{path} is a database of another program; choose another store"
        )
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != SCHEMA_VERSION:
        raise ValueError(
            f"{path} has version {version} of the store and this ufselect knows "
            f"version {SCHEMA_VERSION}; update ufselect, or choose another store"
        )
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise DamagedError(found.removeprefix("*** in database main ***"))
    # SQLite reads the missing part of a page as zeros, which may look valid. A file
    # with writes in the write-ahead log may end anywhere.
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    log = path.with_name(f"{path.name}-wal")
    pending = log.exists() and log.stat().st_size > 0
    if not pending and path.stat().st_size % page_size:
        raise DamagedError("the file ends inside a page")


def in_one_line(text: object) -> str:
    """Return text without line breaks."""
    return " ".join(str(text).split())


class RunLock:
    """A lock that shows that a run uses a store, as long as its process lives.

    It is a lock on a file beside the store. The operating system releases it when the
    process ends, even if it is killed, so nobody waits for the claims of a killed run.
    SQLite is used because it locks files in the same way on every system.

    Before it is locked, a new file looks like that of a dead run: callers lock the
    store for writing while they create or check a lock.
    """

    def __init__(self, store: Path) -> None:
        self.name = uuid.uuid4().hex
        self._path = _lock_path(store, self.name)
        self._connection = _locked(self._path)

    def close(self) -> None:
        """Release the lock and delete its file."""
        self._connection.close()
        self._path.unlink(missing_ok=True)


def is_running(store: Path, name: str) -> bool:
    """Tell whether the run of a lock is alive; delete the lock file of a dead one."""
    path = _lock_path(store, name)
    if not path.exists():
        return False
    try:
        _locked(path).close()
    except sqlite3.OperationalError:
        return True
    path.unlink(missing_ok=True)
    return False


def running(store: Path) -> list[str]:
    """Return the active runs, and remove the lock files of killed ones."""
    paths = store.parent.glob(f"{glob.escape(store.name)}.*.lock")
    names = [path.name.split(".")[-2] for path in paths]
    return [name for name in names if is_running(store, name)]


def _lock_path(store: Path, name: str) -> Path:
    return store.with_name(f"{store.name}.{name}.lock")


def _locked(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=0, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        connection.close()
        raise
    return connection

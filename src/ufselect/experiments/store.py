"""One SQLite file per experiment: what was computed, and who computes what.

Five tables: **rankings** (one row per cell, with its status), **judgements** (one row
per ranking and judge, likewise), **scores** (one row per judgement, number of features,
metric and repetition), **claims** (cells that a living run is working on) and **plans**
(what was run; see `cells.Record`). A cell is written in one transaction, so that it is
there whole or not at all.
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
# Ended by a limit or dead: it would cost as much again, so it is tried on request only.
STOPPED = "stopped"

# Tells our files from other people's SQLite files: "ufse" in ASCII.
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
# What reading a damaged file raises: a message that quotes damaged text is no text.
SQLITE_ERRORS = (sqlite3.DatabaseError, UnicodeDecodeError)


class DamagedError(sqlite3.DatabaseError):
    """The structure of a file is damaged, as far as SQLite can tell."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class Outcome(NamedTuple):
    """What became of a cell: an order of the features with its scores, or a reason."""

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
        Key of the way in which this run judges; other judgements stay untouched.

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
                # Nothing is written to a file before it is known to be ours, and whole.
                if not is_empty(connection):
                    refuse_unusable(connection, path)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
            with self._transaction():
                # Another run may have been first.
                if is_empty(connection):
                    create_tables(connection)
                running(path)  # Removes what runs that were killed have left.
                self._lock = RunLock(path)
        except BaseException:
            connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what was claimed and not finished, and close the file."""
        # Where it cannot be written, the claims die with the lock all the same.
        with suppress(ValueError), self._transaction() as connection:
            connection.execute("DELETE FROM claims WHERE owner = ?", [self._lock.name])
        self._connection.close()
        self._lock.close()

    def finished(self) -> set[str]:
        """Return the keys of the cells that are ranked and judged."""
        return {key for (key,) in self._rows(FINISHED, self.judge)}

    def stopped(self) -> set[str]:
        """Return the keys of the cells that took too much, or whose process died."""
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
        """Keep the plan, so that a report needs the store only.

        The same record again becomes the newest.
        """
        content = json.dumps(asdict(record))
        row = (digest([content]), judge_key(record.plan.judge), content)
        with self._transaction() as connection:
            insert_rows(connection, "plans", [row])

    def claim(self, key: str) -> bool:
        """Take a cell, unless it is finished or a living run has it."""
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
        """Return the cells that other living runs are working on."""
        query = "SELECT cell, owner FROM claims WHERE owner != ?"
        with self._transaction() as connection:
            claims = connection.execute(query, [self._lock.name]).fetchall()
            owners = {owner for _, owner in claims}
            alive = {owner for owner in owners if is_running(self.path, owner)}
        return {cell for cell, owner in claims if owner in alive}

    def save(self, cell: Cell, outcome: Outcome, *, only_judged: bool = False) -> None:
        """Write what became of a cell and give the claim back, all or nothing.

        If it was only judged, its ranking is there and stays as it is.
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
        """Hold the file for writing; what was written is kept only without an error."""
        with self._guard, self._errors_in_a_sentence():
            # Taking the lock at once, not at the first write, avoids a deadlock of
            # two readers that both want to write.
            self._connection.execute("BEGIN IMMEDIATE")
            # It commits, or rolls back after an error.
            with self._connection:
                yield self._connection

    @contextmanager
    def _errors_in_a_sentence(self) -> Iterator[None]:
        """Say what an error of SQLite means for the store."""
        try:
            yield
        except SQLITE_ERRORS as error:
            # The low byte is the kind, whatever the details.
            kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
            corrupt = kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
            if kind == sqlite3.SQLITE_FULL:
                message = (
                    f"there is no space left for the store {self.path}; make some, and "
                    "the same command goes on from what is kept"
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
    """Make the tables, within the transaction of the caller."""
    # Not executescript, which would end the transaction.
    for statement in SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def insert_rows(
    connection: sqlite3.Connection, table: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    """Write rows of all columns of a table, in the place of older ones."""
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        statement = f"INSERT OR REPLACE INTO {table} VALUES ({marks})"
        connection.executemany(statement, rows)


def is_empty(connection: sqlite3.Connection) -> bool:
    """Say whether there is nothing in a file yet.

    One page without tables is what a run that is just beginning has written; more pages
    without tables have lost them.
    """
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return tables == 0 and pages <= 1


def refuse_unusable(connection: sqlite3.Connection, path: Path) -> None:
    """Raise a ValueError for what is none of our stores, DamagedError for damage.

    Where SQLite cannot even look, that is an error of SQLite.
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
    # SQLite would read the rest of half a page as zeros, which need not look wrong. A
    # file whose last writes wait in the write-ahead log may end anywhere.
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    log = path.with_name(f"{path.name}-wal")
    pending = log.exists() and log.stat().st_size > 0
    if not pending and path.stat().st_size % page_size:
        raise DamagedError("the file ends inside a page")


def in_one_line(text: object) -> str:
    """Return a text without line breaks, which damage may bring into any text."""
    return " ".join(str(text).split())


class RunLock:
    """Says that a run is at work on a store, for as long as its process lives.

    It is a lock on a file beside the store. The operating system takes the lock away
    when the process ends, however it ends, so that a run that was killed leaves no
    claims that somebody must wait for. SQLite is used because it locks files in the
    same way on every system.

    Between its creation and its lock a file looks like one of a dead run: callers hold
    the store for writing while they make a lock or ask for one.
    """

    def __init__(self, store: Path) -> None:
        self.name = uuid.uuid4().hex
        self._path = _lock_path(store, self.name)
        self._connection = _locked(self._path)

    def close(self) -> None:
        """End; the lock file goes too."""
        self._connection.close()
        self._path.unlink(missing_ok=True)


def is_running(store: Path, name: str) -> bool:
    """Say whether the run of a lock is alive; a dead one loses its lock file."""
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
    """Return the runs at work; what runs that were killed have left is removed."""
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

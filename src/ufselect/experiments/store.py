"""One SQLite file per experiment: what was computed, and who computes what.

Four tables: **rankings** (one row per cell, with its status), **scores** (one row per
ranking, judge, number of features, metric and repetition), **claims** (cells that a
living run is working on) and **plans** (what was run; see `records`). A cell is written
in one transaction, so that it is there whole or not at all.
"""

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ufselect.experiments.cells import Cell
from ufselect.experiments.judging import Order, Score
from ufselect.experiments.owners import Owner, is_alive, remove_dead
from ufselect.experiments.records import Record, write_record

Float = NDArray[np.float64]

DONE = "done"
FAILED = "failed"
# Ended by a limit or dead: it would cost as much again, so it is tried on request only.
STOPPED = "stopped"
# Tells our files from other people's SQLite files: "ufse" in ASCII.
APPLICATION = 0x75667365
SCHEMA_VERSION = 1
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
"""


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
        self._guard = threading.Lock()
        self._connection = sqlite3.connect(
            path, timeout=60, isolation_level=None, check_same_thread=False
        )
        try:
            with self._readable():
                self._open()
            with self._transaction():
                remove_dead(path)
                self._owner = Owner(path)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what was claimed and not finished, and close the file."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM claims WHERE owner = ?", [self._owner.name])
        self._connection.close()
        self._owner.close()

    def finished(self) -> set[str]:
        """Return the keys of the cells that are ranked and judged."""
        return set(
            self._column(
                "SELECT key FROM rankings WHERE status = ? AND EXISTS "
                "(SELECT 1 FROM scores WHERE ranking = key AND judge = ?)",
                DONE,
                self.judge,
            )
        )

    def failures(self) -> dict[str, str]:
        """Return the reasons of the cells without a ranking, by key."""
        query = "SELECT key, reason FROM rankings WHERE status != ?"
        return dict(self._rows(query, DONE))

    def stopped(self) -> set[str]:
        """Return the keys of the cells that took too much, or whose process died."""
        return set(self._column("SELECT key FROM rankings WHERE status = ?", STOPPED))

    def order_of(self, key: str) -> Order | None:
        """Return the ranking of a cell if there is one."""
        query = "SELECT feature_order FROM rankings WHERE key = ? AND status = ?"
        rows = self._rows(query, key, DONE)
        return np.frombuffer(rows[0][0], dtype=np.int32) if rows else None

    def history_of(self, key: str) -> Float | None:
        """Return the objective after each iteration, of a method that has one."""
        query = "SELECT history FROM rankings WHERE key = ? AND history IS NOT NULL"
        rows = self._rows(query, key)
        return np.frombuffer(rows[0][0], dtype=np.float64) if rows else None

    def save_record(self, record: Record) -> None:
        """Keep the plan, so that a report needs the store only."""
        with self._transaction() as connection:
            write_record(connection, record)

    def claim(self, key: str) -> bool:
        """Take a cell, unless it is finished or a living run has it."""
        with self._transaction() as connection:
            query = "SELECT owner FROM claims WHERE cell = ?"
            holder = connection.execute(query, [key]).fetchone()
            if holder is not None and is_alive(self.path, holder[0]):
                return False
            if self._is_finished(connection, key):
                return False
            connection.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?)", [key, self._owner.name]
            )
            return True

    def claimed_by_others(self) -> set[str]:
        """Return the cells that other living runs are working on."""
        query = "SELECT cell, owner FROM claims WHERE owner != ?"
        with self._transaction() as connection:
            claims = connection.execute(query, [self._owner.name]).fetchall()
            owners = {owner for _, owner in claims}
            alive = {owner for owner in owners if is_alive(self.path, owner)}
        return {cell for cell, owner in claims if owner in alive}

    def save(self, cell: Cell, outcome: Outcome) -> None:
        """Write what became of a cell and give the claim back, all or nothing."""
        order, history = outcome.order, outcome.history
        row = [
            cell.key,
            cell.set_name,
            cell.fingerprint,
            cell.preparation,
            cell.selector,
            cell.parameters,
            cell.seed,
            json.dumps(cell.before),
            outcome.status,
            outcome.reason,
            None if order is None else np.asarray(order, dtype=np.int32).tobytes(),
            None if history is None else float(history[-1]),
            None if history is None else np.asarray(history, np.float64).tobytes(),
            outcome.seconds,
            outcome.peak_memory,
        ]
        scores = [(cell.key, self.judge, *score) for score in outcome.scores]
        with self._transaction() as connection:
            connection.execute(
                f"INSERT OR REPLACE INTO rankings VALUES ({', '.join('?' * len(row))})",
                row,
            )
            connection.executemany(
                "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?, ?)", scores
            )
            connection.execute("DELETE FROM claims WHERE cell = ?", [cell.key])

    def add_scores(self, cell: Cell, scores: Iterable[Score]) -> None:
        """Add a judgement to a ranking that is there, and give the claim back."""
        rows = [(cell.key, self.judge, *score) for score in scores]
        with self._transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?, ?)", rows
            )
            connection.execute("DELETE FROM claims WHERE cell = ?", [cell.key])

    def scores(self) -> Iterator[tuple[str, Score]]:
        """Yield the key of a ranking and a score, for all scores of this judge."""
        query = (
            "SELECT ranking, features, metric, repetition, value FROM scores "
            "WHERE judge = ?"
        )
        for key, *values in self._rows(query, self.judge):
            yield key, Score(*values)

    def _open(self) -> None:
        connection = self._connection
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        with self._transaction():
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if tables[0] == 0:
                self._create()
            elif application != APPLICATION:
                raise ValueError(
                    f"{self.path} is a database of another program; choose another "
                    "store"
                )
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version != SCHEMA_VERSION:
            raise ValueError(
                f"{self.path} has version {version} of the store and this program "
                f"reads version {SCHEMA_VERSION}; choose another store"
            )

    def _create(self) -> None:
        for statement in SCHEMA.split(";"):
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
        self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _is_finished(self, connection: sqlite3.Connection, key: str) -> bool:
        query = (
            "SELECT 1 FROM rankings JOIN scores ON ranking = key "
            "WHERE key = ? AND status = ? AND judge = ? LIMIT 1"
        )
        found = connection.execute(query, [key, DONE, self.judge]).fetchone()
        return found is not None

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with (
            self._guard,
            self._readable(),
            closing(self._connection.execute(query, values)) as cursor,
        ):
            return cursor.fetchall()

    def _column(self, query: str, *values: object) -> list[str]:
        return [row[0] for row in self._rows(query, *values)]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the file for writing; what was written is kept only without an error."""
        with self._guard, self._readable():
            # Taking the lock at once, not at the first write, avoids a deadlock of
            # two readers that both want to write.
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn the errors of a damaged or busy file into a sentence."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"the store {self.path} cannot be used ({error}); restore it from a "
                "copy, or name another store to start anew"
            ) from error

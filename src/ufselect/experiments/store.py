"""One SQLite file per experiment: what was computed, and who computes what.

Five tables: **rankings** (one row per cell, with its status), **judgements** (one row
per ranking and judge, likewise), **scores** (one row per judgement, number of features,
metric and repetition), **claims** (cells that a living run is working on) and **plans**
(what was run; see `records`). A cell is written in one transaction, so that it is there
whole or not at all, and sealed (see `seals`).
"""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ufselect.experiments.cells import Cell
from ufselect.experiments.journal import HIDDEN, hides_cells
from ufselect.experiments.judging import Order, Score
from ufselect.experiments.owners import Owner, is_alive, living
from ufselect.experiments.records import Record, write_record
from ufselect.experiments.schema import (
    DAMAGE,
    SCHEMA_VERSION,
    create,
    damage_of,
    migrate,
    problem_with,
    version_of,
)
from ufselect.experiments.seals import in_one_line, seal_judgement, seal_ranking

Float = NDArray[np.float64]

DONE = "done"
FAILED = "failed"
# Ended by a limit or dead: it would cost as much again, so it is tried on request only.
STOPPED = "stopped"
FAILURES = """
SELECT key, reason FROM rankings WHERE status != ? UNION
SELECT ranking, reason FROM judgements WHERE judge = ? AND status != ?
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
        if hides_cells(path):
            raise ValueError(damaged(path, HIDDEN))
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
                living(path)  # Removes what the dead have left.
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
        # Where it cannot be written, the claims die with the owner all the same.
        with suppress(ValueError), self._transaction() as connection:
            connection.execute("DELETE FROM claims WHERE owner = ?", [self._owner.name])
        self._connection.close()
        self._owner.close()

    def finished(self) -> set[str]:
        """Return the keys of the cells that are ranked and judged."""
        return set(
            self._column(
                "SELECT key FROM rankings JOIN judgements ON ranking = key "
                "WHERE rankings.status = ? AND judgements.status = ? AND judge = ?",
                *(DONE, DONE, self.judge),
            )
        )

    def failures(self) -> dict[str, str]:
        """Return why cells have no ranking or could not be judged, by key."""
        return dict(self._rows(FAILURES, DONE, self.judge, DONE))

    def stopped(self) -> set[str]:
        """Return the keys of the cells that took too much, or whose process died."""
        query = (
            "SELECT key FROM rankings WHERE status = ? UNION SELECT ranking "
            "FROM judgements WHERE status = ? AND judge = ?"
        )
        return set(self._column(query, STOPPED, STOPPED, self.judge))

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
        with self._transaction() as connection:
            # The seal comes last, of what is there then.
            connection.execute(_insertion("rankings", len(row) + 1), [*row, None])
            seal_ranking(connection, cell.key)
            if outcome.status == DONE:
                self._write_judgement(connection, cell.key, outcome)
            connection.execute("DELETE FROM claims WHERE cell = ?", [cell.key])

    def save_judgement(self, cell: Cell, outcome: Outcome) -> None:
        """Write how a ranking that is there was judged, and give the claim back."""
        with self._transaction() as connection:
            self._write_judgement(connection, cell.key, outcome)
            connection.execute("DELETE FROM claims WHERE cell = ?", [cell.key])

    def _write_judgement(
        self, connection: sqlite3.Connection, key: str, outcome: Outcome
    ) -> None:
        row = [key, self.judge, outcome.status, outcome.reason, None]
        scores = [(key, self.judge, *score) for score in outcome.scores]
        connection.execute(_insertion("judgements", len(row)), row)
        connection.executemany(_insertion("scores", 6), scores)
        seal_judgement(connection, key, self.judge)

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
        # Nothing is written to a file before it is known to be ours, and whole.
        empty = not connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        if empty and connection.execute("PRAGMA page_count").fetchone()[0] > 1:
            raise ValueError(damaged(self.path, "its list of tables is gone"))
        if not empty:
            self._check(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        with self._transaction():
            # Another run may have been first.
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                create(connection)
            elif version_of(connection) < SCHEMA_VERSION:
                migrate(connection)

    def _check(self, connection: sqlite3.Connection) -> None:
        problem = problem_with(connection)
        if problem is not None:
            raise ValueError(f"{self.path} {problem}")
        connection.execute("BEGIN")
        try:
            problem = damage_of(connection)
        finally:
            connection.execute("COMMIT")
        if problem is not None:
            raise ValueError(damaged(self.path, problem))

    def _is_finished(self, connection: sqlite3.Connection, key: str) -> bool:
        query = (
            "SELECT 1 FROM rankings JOIN judgements ON ranking = key WHERE key = ? "
            "AND rankings.status = ? AND judgements.status = ? AND judge = ?"
        )
        found = connection.execute(query, [key, DONE, DONE, self.judge]).fetchone()
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
                self._connection.execute("COMMIT")
            except BaseException:
                # Without space, SQLite may have gone back by itself.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn the errors of a damaged or busy file into a sentence."""
        try:
            yield
        except DAMAGE as error:
            raise ValueError(sentence_about(self.path, error)) from error


def sentence_about(path: Path, error: Exception) -> str:
    """Say what an error of SQLite means for a store."""
    # The low byte is the kind, whatever the details.
    kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if kind == sqlite3.SQLITE_FULL:
        return (
            f"there is no space left for the store {path}; make some, and the same "
            "command goes on from what is kept"
        )
    corrupt = kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    if corrupt or isinstance(error, UnicodeDecodeError):
        return damaged(path, error)
    return (
        f"the store {path} cannot be used ({in_one_line(error)}); see that it can be "
        "written and that no other program holds it, or name another store"
    )


def damaged(path: Path, how: object) -> str:
    """Say that a store is damaged, and what can be done."""
    return (
        f"the store {path} cannot be used, being damaged ({in_one_line(how)}); restore "
        "it from a copy, keep what is intact with ufselect run PLAN --recover, or name "
        "another store"
    )


def _insertion(table: str, columns: int) -> str:
    return f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * columns)})"

"""Reads the store of an experiment without changing it, also while a run fills it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from ufselect.experiments.journal import HIDDEN, hides_cells
from ufselect.experiments.judging import Score
from ufselect.experiments.records import Record, record_from
from ufselect.experiments.schema import (
    DAMAGE,
    SEALED_SINCE,
    damage_of,
    problem_with,
    version_of,
)
from ufselect.experiments.seals import in_one_line
from ufselect.experiments.store import DONE, Float


class Fit(NamedTuple):
    """What became of a cell, without its order and its scores."""

    status: str
    reason: str | None
    seconds: float | None
    peak_memory: int | None
    history: Float | None


class StoreReader:
    """The file of an experiment, as it was at one moment.

    Parameters
    ----------
    path : Path
        Must be there and be ours; a file that is not is refused in one sentence.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "does not exist"
            raise ValueError(f"{path} {what}; name a store that ufselect run has made")
        self.path = path
        if hides_cells(path):
            raise ValueError(self._damaged(HIDDEN))
        with self._readable():
            self._connection = opened(path)
        try:
            with self._readable():
                self._refuse_others()
                # All that follows is read as it is now, whatever a run adds meanwhile.
                self._connection.execute("BEGIN")
                self._refuse_damage()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def records(self) -> list[Record]:
        """Return what was run, the newest last; older stores do not say."""
        query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'plans'"
        if not self._rows(query):
            return []
        rows = self._rows("SELECT content FROM plans ORDER BY rowid")
        return [record_from(content) for (content,) in rows]

    def fingerprints(self) -> dict[str, str]:
        """Return the newest content of every set that has a cell."""
        query = "SELECT set_name, fingerprint FROM rankings ORDER BY rowid"
        return dict(self._rows(query))

    def fits(self) -> dict[str, Fit]:
        """Return what became of every cell, by key."""
        query = (
            "SELECT key, status, reason, seconds, peak_memory, history FROM rankings"
        )
        return {
            key: Fit(status, reason, seconds, memory, _numbers(history))
            for key, status, reason, seconds, memory, history in self._rows(query)
        }

    def unjudged(self, judge: str) -> dict[str, tuple[str, str]]:
        """Return status and reason of the rankings that a judge could not judge."""
        if version_of(self._connection) < SEALED_SINCE:
            return {}
        query = (
            "SELECT ranking, status, reason FROM judgements "
            "WHERE judge = ? AND status != ?"
        )
        return {
            key: (status, why) for key, status, why in self._rows(query, judge, DONE)
        }

    def scores(self, judge: str) -> Iterator[tuple[str, Score]]:
        """Yield the key of a ranking and a score, for all scores of a judge."""
        query = (
            "SELECT ranking, features, metric, repetition, value FROM scores "
            "WHERE judge = ?"
        )
        for key, *values in self._rows(query, judge):
            yield key, Score(*values)

    def _refuse_others(self) -> None:
        if not self._rows("SELECT 1 FROM sqlite_master LIMIT 1"):
            raise ValueError(f"{self.path} is empty; fill it with ufselect run PLAN")
        problem = problem_with(self._connection)
        if problem is not None:
            raise ValueError(f"{self.path} {problem}")

    def _refuse_damage(self) -> None:
        problem = damage_of(self._connection)
        if problem is not None:
            raise ValueError(self._damaged(problem))

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with (
            self._readable(),
            closing(self._connection.execute(query, values)) as cursor,
        ):
            return cursor.fetchall()

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except DAMAGE as error:
            raise ValueError(self._damaged(error)) from error

    def _damaged(self, how: object) -> str:
        return (
            f"{self.path} cannot be read as a store ({in_one_line(how)}); name one "
            "that ufselect run has made, restore it from a copy, or keep what is "
            "intact with ufselect run PLAN --recover"
        )


def _numbers(blob: bytes | None) -> Float | None:
    return None if blob is None else np.frombuffer(blob, dtype=np.float64)


def opened(path: Path) -> sqlite3.Connection:
    """Open a file that is there, for reading.

    Not in the mode for reading only, which leaves the files of the journal behind; but
    where there is no journal and none can be made, the file is read as it lies.
    """
    address = path.resolve().as_uri()
    connection = sqlite3.connect(f"{address}?mode=rw", uri=True, isolation_level=None)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if path.with_name(f"{path.name}-wal").exists():
            raise
        address += "?mode=ro&immutable=1"
        return sqlite3.connect(address, uri=True, isolation_level=None)
    except BaseException:
        connection.close()
        raise
    return connection

"""An experiment as its store knows it: what was asked, what is there, what is not.

A store is read without changing it, as it is at one moment, also while a run fills it.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ufselect.experiments.cells import (
    FIXED,
    GRID,
    Record,
    Role,
    judge_key,
    record_from,
    roles_of,
    versions_here,
)
from ufselect.experiments.plan import Plan
from ufselect.experiments.protocol import Score
from ufselect.experiments.readings import Place, Results
from ufselect.experiments.store import (
    DONE,
    SQLITE_ERRORS,
    Float,
    damage_in,
    in_one_line,
    is_empty,
    problem_with,
)

NOT_BEGUN = "no cell of it is in the store"


class StoredFit(NamedTuple):
    """What became of a cell, without its order and its scores."""

    status: str
    reason: str | None
    seconds: float | None
    peak_memory: int | None
    history: Float | None


class Count(NamedTuple):
    """How many cells there are, and what became of them."""

    cells: int
    ranked: int
    failed: int
    missing: int


@dataclass(frozen=True)
class Experiment:
    """A plan with its results, from a store alone.

    ``fits`` and ``results`` go by the keys that cells have in this version, whatever
    the version that computed them. ``versions`` lists every different set of versions
    that took part. ``others`` are the names of other plans in the store.
    """

    record: Record
    roles: list[Role]
    results: Results
    fits: Mapping[str, StoredFit]
    judged: frozenset[str]
    versions: list[Mapping[str, str]]
    others: list[str]

    @property
    def plan(self) -> Plan:
        """Return the plan."""
        return self.record.plan

    def keys_of(self, label: str) -> list[str]:
        """Return the cells of a method, each once."""
        roles = (role for role in self.roles if role.label == label)
        return list(dict.fromkeys(role.cell.key for role in roles))

    def count(self, set_name: str | None = None) -> Count:
        """Return how far the experiment is, or one of its sets."""
        keys = {
            role.cell.key
            for role in self.roles
            if set_name in (None, role.cell.set_name)
        }
        failed = keys & self.reasons().keys()
        ranked = (keys & self.judged) - failed
        missing = keys - ranked - failed
        return Count(*map(len, (keys, ranked, failed, missing)))

    def reasons(self) -> dict[str, str]:
        """Return why cells have no ranking or could not be judged, by key."""
        return {
            key: str(fit.reason) for key, fit in self.fits.items() if fit.status != DONE
        }

    def history_at(self, place: Place) -> Float | None:
        """Return the objective of a method: of its fixed setting, if that has one.

        Otherwise of the first point of the grid that has, from its middle on.
        """
        grid = self.results.roles(place, GRID)
        middle = grid[len(grid) // 2 :] + grid[: len(grid) // 2]
        for role in [*self.results.roles(place, FIXED), *middle]:
            fit = self.fits.get(role.cell.key)
            if fit is not None and fit.history is not None:
                return fit.history
        return None


def read_experiment(path: Path, plan: Plan | None = None) -> Experiment:
    """Read an experiment from its store.

    Parameters
    ----------
    path : Path
        The store.
    plan : Plan, optional
        Which of the plans in the store; the one that was run last by default.
    """
    with _reading(path) as connection:
        records = _records(connection, needed=plan is None)
        record = _chosen(connection, path, records, plan)
        roles = list(roles_of(record.plan, record.fingerprints))
        # The version that computed decides under which keys cells are stored.
        keys = {role.cell.key_in(record.version): role.cell.key for role in roles}
        judge = judge_key(record.plan.judge, record.version)
        fits = _fits(connection, keys, judge)
        scores = [
            (keys[key], Score(*values))
            for key, *values in connection.execute(
                "SELECT ranking, features, metric, repetition, value FROM scores "
                "WHERE judge = ?",
                [judge],
            )
            if key in keys
        ]
    if not fits:
        raise ValueError(
            f"{path} holds no cell of the plan {record.plan.name}; compute some with "
            "ufselect run, or name another plan with --plan PLAN"
        )
    same = [one for one in records if one.is_of(record.plan)] or [record]
    versions = {tuple(sorted(one.versions.items())): one.versions for one in same}
    return Experiment(
        record,
        roles,
        Results(roles, scores),
        fits,
        frozenset(key for key, _ in scores),
        list(versions.values()),
        sorted({one.plan.name for one in records} - {record.plan.name}),
    )


def _records(connection: sqlite3.Connection, *, needed: bool) -> list[Record]:
    """Return what was run, the newest last."""
    rows = connection.execute("SELECT content FROM plans ORDER BY rowid").fetchall()
    try:
        return [record_from(content) for (content,) in rows]
    except ValueError:
        # A plan that is given is needed just where the plans in the store are not.
        if needed:
            raise
        return []


def _chosen(
    connection: sqlite3.Connection, path: Path, records: list[Record], plan: Plan | None
) -> Record:
    """Return the newest record, of the plan if one is given.

    A plan without a record has the data of which the store has cells.
    """
    if plan is None:
        if not records:
            raise ValueError(
                f"{path} does not say which plan it is of; name the plan with "
                "--plan PLAN"
            )
        return records[-1]
    fitting = [record for record in records if record.is_of(plan)]
    if fitting:
        return fitting[-1]
    # Of data that have changed, the newest content comes last.
    query = "SELECT set_name, fingerprint FROM rankings ORDER BY rowid"
    known = dict(connection.execute(query).fetchall())
    return Record(
        plan,
        {name: known[name] for name in plan.sets if name in known},
        {name: NOT_BEGUN for name in plan.sets if name not in known},
        records[-1].versions if records else versions_here(),
    )


def _fits(
    connection: sqlite3.Connection, keys: Mapping[str, str], judge: str
) -> dict[str, StoredFit]:
    """Return what became of the cells; what could not be judged is not done."""
    fits = {
        keys[key]: StoredFit(
            status,
            reason,
            seconds,
            peak_memory,
            None if history is None else np.frombuffer(history, np.float64),
        )
        for key, status, reason, seconds, peak_memory, history in connection.execute(
            "SELECT key, status, reason, seconds, peak_memory, history FROM rankings"
        )
        if key in keys
    }
    unjudged = connection.execute(
        "SELECT ranking, status, reason FROM judgements "
        "WHERE judge = ? AND status != ?",
        [judge, DONE],
    )
    for key, status, reason in unjudged:
        if keys.get(key) in fits:
            fits[keys[key]] = fits[keys[key]]._replace(status=status, reason=reason)
    return fits


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open one of our stores for reading; refuse anything else in one sentence."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise ValueError(f"{path} {what}; name a store that ufselect run has made")
    try:
        with closing(_opened(path)) as connection:
            # All that follows is read as it is now, whatever a run adds meanwhile.
            connection.execute("BEGIN")
            if is_empty(connection):
                raise ValueError(f"{path} is empty; fill it with ufselect run PLAN")
            problem = problem_with(connection)
            if problem is not None:
                raise ValueError(f"{path} {problem}")
            damage = damage_in(connection)
            if damage is not None:
                raise sqlite3.DatabaseError(damage)
            yield connection
    except SQLITE_ERRORS as error:
        raise ValueError(
            f"{path} cannot be read as a store ({in_one_line(error)}); name one that "
            "ufselect run has made, restore it from a copy, or keep what can be read "
            "with ufselect run PLAN --recover"
        ) from error


def _opened(path: Path) -> sqlite3.Connection:
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

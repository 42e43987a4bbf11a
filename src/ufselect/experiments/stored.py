"""Read an experiment from its store: the plan, its results, and what is missing.

Reading does not change a store, and works while a run fills it.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ufselect._version import versions_here
from ufselect.experiments.cells import (
    FIXED,
    GRID,
    Record,
    judge_key,
    record_from,
    roles_of,
)
from ufselect.experiments.plan import Plan
from ufselect.experiments.protocol import LOWER_IS_BETTER
from ufselect.experiments.store import (
    DONE,
    SQLITE_ERRORS,
    Float,
    check_store,
    in_one_line,
    is_empty,
)

ORACLE = "oracle"
NOT_BEGUN = "no cell of it is in the store"
RANKED, FAILED, MISSING = "ranked", "failed", "missing"
# The columns that identify a cell in a table of results.
PLACE = ["method", "data set"]
ANY_NUMBER = re.compile(r"\d[\d.]*(?:e[-+]?\d+)?")
FITS = """
SELECT key, coalesce(nullif(judgements.status, :done), rankings.status),
    coalesce(judgements.reason, rankings.reason), seconds, peak_memory, history
FROM rankings LEFT JOIN judgements ON ranking = key AND judge = :judge
"""
SCORES = "SELECT ranking, features, metric, value FROM scores WHERE judge = :judge"


class Count(NamedTuple):
    """The number of cells, by outcome."""

    cells: int
    ranked: int
    failed: int
    missing: int


@dataclass(frozen=True)
class Experiment:
    """A plan with its results, as read from a store.

    Attributes
    ----------
    record : Record
    cells : DataFrame
        One row for each cell and each of its roles: ``key``, ``method``,
        ``reading`` (``"grid"`` or ``"fixed"``), ``set_name``, ``data set`` (the name
        with the preparation), ``state`` (``"ranked"``, ``"failed"`` or ``"missing"``),
        ``reason``, ``seconds``, ``peak_memory`` and ``history`` (of the objective).
    scores : DataFrame
        One row for each ``key``, number of ``features``, ``metric`` and repetition.
    versions : list of mapping
        The different sets of versions used.
    others : list of str
        The names of other plans in the store.
    """

    record: Record
    cells: pd.DataFrame
    scores: pd.DataFrame
    versions: list[Mapping[str, str]]
    others: list[str]

    @property
    def plan(self) -> Plan:
        """Return the plan."""
        return self.record.plan

    @property
    def data_sets(self) -> list[str]:
        """Return every prepared set, in the order of the plan."""
        return list(self.cells["data set"].unique())

    def count(self, set_name: str | None = None) -> Count:
        """Return the progress of the experiment, or of one of its sets."""
        cells = self.cells.drop_duplicates("key")
        if set_name is not None:
            cells = cells[cells["set_name"] == set_name]
        states = [cells["state"] == state for state in (RANKED, FAILED, MISSING)]
        return Count(len(cells), *(int(state.sum()) for state in states))

    def failures(self) -> list[str]:
        """Return a line for each reason why cells of a method have no ranking.

        Reasons that differ only in their numbers count as one.
        """
        failed = self.cells[self.cells["state"] == FAILED]
        failed = failed.drop_duplicates(["method", "key"])
        failed = failed.assign(reason=failed["reason"].map(in_one_line))
        kinds = failed["reason"].str.replace(ANY_NUMBER, "#", regex=True)
        lines = []
        for (label, _), rows in failed.groupby(["method", kinds], sort=False):
            counts = rows["set_name"].value_counts(sort=False)
            where = ", ".join(f"{name} {count}" for name, count in counts.items())
            more = (
                " (others with other numbers)" if rows["reason"].nunique() > 1 else ""
            )
            number = f"{len(rows)} cell{'s' if len(rows) > 1 else ''}"
            lines.append(f"{label}, {number} ({where}): {rows['reason'].iloc[0]}{more}")
        return lines

    @cached_property
    def mean_scores(self) -> pd.DataFrame:
        """Return the mean over the repetitions, for each role of a cell."""
        keys = ["key", "metric", "features"]
        means = self.scores.groupby(keys, as_index=False)["value"].mean()
        return self.cells[["key", *PLACE, "reading"]].merge(means, on="key")

    def curves(self, reading: str, metric: str) -> "pd.Series[float]":
        """Return a metric of each method on each set at each number of features.

        For the fixed setting it is the mean over the seeds, for a grid the best point.
        """
        scores = self.mean_scores
        of_metric = (scores["reading"] == reading) & (scores["metric"] == metric)
        grouped = scores[of_metric].groupby([*PLACE, "features"])["value"]
        if reading == FIXED:
            return grouped.mean()
        return grouped.min() if metric in LOWER_IS_BETTER else grouped.max()

    def readings(self, reading: str, metric: str) -> pd.DataFrame:
        """Return mean and deviation of a metric of each method on each set.

        Both are over the numbers of features. In the reading ``"oracle"``, labels
        choose the best point of the grid at every number; for a method without a grid
        it is the same as ``"fixed"``.
        """
        fixed = self.curves(FIXED, metric)
        found = _mean_and_deviation(fixed)
        # With one number of features, as for all features: over the repetitions.
        cells = self.cells[self.cells["reading"] == FIXED]
        values = self.scores[self.scores["metric"] == metric].merge(cells, on="key")
        single = fixed.groupby(level=PLACE).size() == 1
        spread = values.groupby(PLACE)["value"].std(ddof=0)
        found["deviation"] = found["deviation"].mask(single, spread)
        if reading == FIXED:
            return found
        return _mean_and_deviation(self.curves(GRID, metric)).combine_first(found)

    def history_of(self, method: str, data_set: str) -> Float | None:
        """Return the objective of a method, from its fixed setting if it has one there.

        Otherwise from the first point of the grid, from its middle on, that has one.
        """
        cells = self.cells
        cells = cells[(cells["method"] == method) & (cells["data set"] == data_set)]
        fixed, grid = (cells[cells["reading"] == each] for each in (FIXED, GRID))
        middle = len(grid) // 2
        ordered = pd.concat([fixed, grid[middle:], grid[:middle]])["history"].dropna()
        return None if ordered.empty else ordered.iloc[0]


def _mean_and_deviation(curves: "pd.Series[float]") -> pd.DataFrame:
    grouped = curves.groupby(level=PLACE)
    return pd.DataFrame({"mean": grouped.mean(), "deviation": grouped.std(ddof=0)})


def title_of(set_name: str, preparation: str) -> str:
    """Return a short name for a prepared set.

    Examples
    --------
    >>> title_of("lung", "none"), title_of("lung", "log")
    ('lung', 'lung (log)')
    """
    return set_name if preparation == "none" else f"{set_name} ({preparation})"


def read_experiment(path: Path, plan: Plan | None = None) -> Experiment:
    """Read an experiment from its store.

    Parameters
    ----------
    path : Path
        The store.
    plan : Plan, optional
        Which of the plans in the store; by default the one that was run last.
    """
    with _reading(path) as connection:
        records = _records(connection, needed=plan is None)
        record = _chosen(connection, path, records, plan)
        # The keys of cells depend on the version that computed them.
        judge = judge_key(record.plan.judge, record.version)
        values = {"judge": judge, "done": DONE}
        fits = connection.execute(FITS, values).fetchall()
        scores = pd.DataFrame(
            connection.execute(SCORES, values).fetchall(),
            columns=["key", "features", "metric", "value"],
        )
    experiment = _experiment(record, records, fits, scores)
    if experiment.cells["status"].isna().all():
        raise ValueError(
            f"{path} holds no cell of the plan {record.plan.name}; compute some with "
            "ufselect run, or name another plan with --plan PLAN"
        )
    return experiment


def _experiment(
    record: Record,
    records: list[Record],
    fits: list[tuple[object, ...]],
    scores: pd.DataFrame,
) -> Experiment:
    """Combine the cells of the plan with the results in the store."""
    asked = pd.DataFrame(
        [
            (
                role.cell.key_in(record.version),
                role.label,
                role.reading,
                role.cell.set_name,
                title_of(role.cell.set_name, role.cell.preparation),
            )
            for role in roles_of(record.plan, record.fingerprints)
        ],
        columns=["key", "method", "reading", "set_name", "data set"],
    )
    columns = ["key", "status", "reason", "seconds", "peak_memory", "history"]
    found = pd.DataFrame(fits, columns=columns).astype(
        {"seconds": float, "peak_memory": float}
    )
    found["history"] = found["history"].map(
        lambda content: None if content is None else np.frombuffer(content)
    )
    cells = asked.merge(found, how="left", on="key")
    failed = cells["status"].notna() & (cells["status"] != DONE)
    judged = cells["key"].isin(scores["key"])
    cells["state"] = np.select([failed, judged], [FAILED, RANKED], MISSING)
    same = [one for one in records if one.is_of(record.plan)] or [record]
    versions = {tuple(sorted(one.versions.items())): one.versions for one in same}
    return Experiment(
        record,
        cells,
        scores[scores["key"].isin(cells["key"])],
        list(versions.values()),
        sorted({one.plan.name for one in records} - {record.plan.name}),
    )


def _records(connection: sqlite3.Connection, *, needed: bool) -> list[Record]:
    """Return the records of a store, the newest last."""
    rows = connection.execute("SELECT content FROM plans ORDER BY rowid").fetchall()
    try:
        return [record_from(content) for (content,) in rows]
    except ValueError:
        # With a plan from the caller, an unreadable record does not matter.
        if needed:
            raise
        return []


def _chosen(
    connection: sqlite3.Connection, path: Path, records: list[Record], plan: Plan | None
) -> Record:
    """Return the newest record, of the plan if one is given.

    For a plan without a record, the data are those of the cells in the store.
    """
    fitting = [each for each in records if plan is None or each.is_of(plan)]
    if fitting:
        return fitting[-1]
    if plan is None:
        raise ValueError(
            f"{path} does not say which plan it is of; name the plan with --plan PLAN"
        )
    # If data have changed, their newest content comes last.
    query = "SELECT set_name, fingerprint FROM rankings ORDER BY rowid"
    known = dict(connection.execute(query).fetchall())
    return Record(
        plan,
        {name: known[name] for name in plan.sets if name in known},
        {name: NOT_BEGUN for name in plan.sets if name not in known},
        records[-1].versions if records else versions_here(),
    )


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store for reading; refuse anything else."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise ValueError(f"{path} {what}; name a store that ufselect run has made")
    try:
        with closing(_opened(path)) as connection:
            # From here on, reading does not see what a run adds.
            connection.execute("BEGIN")
            if is_empty(connection):
                raise ValueError(f"{path} is empty; fill it with ufselect run PLAN")
            check_store(connection, path)
            yield connection
    except SQLITE_ERRORS as error:
        raise ValueError(
            f"{path} cannot be read as a store ({in_one_line(error)}); name one that "
            "ufselect run has made, restore it from a copy, or keep what can be read "
            "with ufselect run PLAN --recover"
        ) from error


def _opened(path: Path) -> sqlite3.Connection:
    """Open an existing file for reading.

    Mode "ro" would leave journal files behind, so it is "rw" with query_only; if there
    is no journal and none can be created, the file is opened as immutable.
    """
    address = path.resolve().as_uri()
    connection = sqlite3.connect(f"{address}?mode=rw", uri=True, isolation_level=None)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException as error:
        connection.close()
        log = path.with_name(f"{path.name}-wal")
        if not isinstance(error, sqlite3.OperationalError) or log.exists():
            raise
        address += "?mode=ro&immutable=1"
        return sqlite3.connect(address, uri=True, isolation_level=None)
    return connection

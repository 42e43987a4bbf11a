"""The results of an experiment as data frames, read from its store alone.

Reading does not change a store, and works while a run fills it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ufselect.evaluation import (
    average_ranks,
    friedman,
    indistinguishable_groups,
    nemenyi_critical_difference,
    wilcoxon_against,
)
from ufselect.experiments.plan import ALL_FEATURES, Method, Plan
from ufselect.experiments.protocol import LOWER_IS_BETTER
from ufselect.experiments.runs import (
    FIXED,
    GRID,
    Record,
    judge_key,
    record_from,
    roles_of,
)
from ufselect.experiments.store import DONE, FAILED, reading

# Labels choose the best point of a grid, as in papers.
ORACLE = "oracle"
MISSING = "missing"
# The columns that identify a number in a table of results.
PLACE = ["method", "data set"]
REFERENCE = "random"
# Statistics over fewer sets than this could not show any difference.
MIN_SETS = 5
ANY_NUMBER = re.compile(r"\d[\d.]*(?:e[-+]?\d+)?")
RUNS = """
SELECT key, status, reason, seconds, peak_memory, history FROM runs WHERE judge = ?
"""
SCORES = "SELECT run, features, metric, repetition, value FROM scores WHERE judge = ?"


class Count(NamedTuple):
    """The number of runs, by outcome."""

    runs: int
    done: int
    failed: int
    missing: int


@dataclass(frozen=True)
class Experiment:
    """A plan with its results, as read from a store.

    Attributes
    ----------
    record : Record
    runs : DataFrame
        One row for each run and each of its roles: ``key``, ``method``, ``reading``
        (``"grid"`` or ``"fixed"``), ``set_name``, ``data set`` (the name with the
        preparation), ``status`` (``"done"``, ``"failed"`` or ``"missing"``),
        ``reason``, ``seconds``, ``peak_memory`` and ``history`` (of the objective).
    scores : DataFrame
        One row for each ``key``, number of ``features``, ``metric`` and ``repetition``.
    versions : list of mapping
        The different versions of programs that computed a plan of this name.
    others : list of str
        The names of other plans in the store.
    """

    record: Record
    runs: pd.DataFrame
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
        return list(self.runs["data set"].unique())

    @property
    def readings(self) -> list[str]:
        """Return the readings that differ: with a grid, labels choose in one."""
        has_grid = any(method.grid for method in self.plan.methods)
        return [ORACLE, FIXED] if has_grid else [FIXED]

    def count(self, set_name: str | None = None) -> Count:
        """Return the progress of the experiment, or of one of its sets."""
        runs = self.runs.drop_duplicates("key")
        if set_name is not None:
            runs = runs[runs["set_name"] == set_name]
        states = (
            int((runs["status"] == each).sum()) for each in (DONE, FAILED, MISSING)
        )
        return Count(len(runs), *states)

    def failures(self) -> list[str]:
        """Return a line for each reason why runs of a method have no result.

        Reasons that differ only in their numbers count as one.
        """
        failed = self.runs[self.runs["status"] == FAILED]
        failed = failed.drop_duplicates(["method", "key"])
        reasons = failed["reason"].map(lambda reason: " ".join(reason.split()))
        failed = failed.assign(reason=reasons)
        kinds = failed["reason"].str.replace(ANY_NUMBER, "#", regex=True)
        lines = []
        for (label, _), rows in failed.groupby(["method", kinds], sort=False):
            counts = rows["set_name"].value_counts(sort=False)
            where = ", ".join(f"{name} {count}" for name, count in counts.items())
            more = (
                " (others with other numbers)" if rows["reason"].nunique() > 1 else ""
            )
            number = f"{len(rows)} run{'s' if len(rows) > 1 else ''}"
            lines.append(f"{label}, {number} ({where}): {rows['reason'].iloc[0]}{more}")
        return lines

    @cached_property
    def scored(self) -> pd.DataFrame:
        """Return the scores with the methods, sets and readings of their runs."""
        columns = ["key", *PLACE, "reading"]
        return self.runs[columns].merge(self.scores, on="key")

    def chosen(self, reading: str, metric: str) -> pd.DataFrame:
        """Return the scores that a reading counts.

        In the reading ``"fixed"`` they are those of the fixed setting of each method,
        with all of its seeds. In ``"oracle"``, labels choose the point of the grid with
        the best mean over the repetitions, for each number of features; a method
        without a grid has its fixed setting there, too.
        """
        scores = self.scored[self.scored["metric"] == metric]
        fixed = scores[scores["reading"] == FIXED]
        if reading == FIXED:
            return fixed
        with_grid = {method.label for method in self.plan.methods if method.grid}
        grid = scores[scores["reading"] == GRID]
        means = grid.groupby([*PLACE, "features", "key"], sort=False)["value"].mean()
        signed = -means if metric in LOWER_IS_BETTER else means
        best = signed.groupby([*PLACE, "features"], sort=False).idxmax()
        kept = pd.MultiIndex.from_frame(grid[[*PLACE, "features", "key"]])
        grid = grid[kept.isin(best.to_list())]
        return pd.concat([grid, fixed[~fixed["method"].isin(with_grid)]])

    def curves(self, reading: str, metric: str) -> "pd.Series[float]":
        """Return a metric of each method on each set at each number of features."""
        chosen = self.chosen(reading, metric)
        return chosen.groupby([*PLACE, "features"])["value"].mean()

    def table(self, reading: str, metric: str) -> pd.DataFrame:
        """Return mean and deviation of a metric of each method on each set.

        Every repetition is averaged over the numbers of features. ``mean`` and
        ``deviation`` are over these: the repetitions of the judge, for each seed of a
        method. With one of them there is no deviation. ``labels`` says what labels
        were used for.
        """
        chosen = self.chosen(reading, metric)
        # In the grid, another run may be the best at another number of features.
        draw = chosen["key"].where(chosen["reading"] == FIXED, GRID)
        repetitions = chosen.groupby([*PLACE, draw, "repetition"])["value"].mean()
        grouped = repetitions.groupby(level=PLACE)
        found = pd.DataFrame(
            {
                "mean": self.curves(reading, metric).groupby(level=PLACE).mean(),
                "deviation": grouped.std(ddof=0).where(grouped.size() > 1),
                "repetitions": grouped.size(),
            }
        )
        used = {each.label: labels_used(each, reading) for each in self.plan.methods}
        sets = [*self.data_sets, *self.record.absent]
        places = pd.MultiIndex.from_product([list(used), sets], names=PLACE)
        labels = places.get_level_values(0).map(used)
        return found.reindex(places).assign(labels=labels)

    def frame(self) -> pd.DataFrame:
        """Return the tables of all metrics and readings, one row for each number."""
        tables = {
            (metric, reading): self.table(reading, metric)
            for metric in self.plan.judge.metrics
            for reading in self.readings
        }
        return pd.concat(tables, names=["metric", "reading"]).reset_index()

    def ranks(self, metric: str) -> "Ranks":
        """Return the ranks of the methods over the sets, at their fixed settings."""
        return Ranks(self.table(FIXED, metric)["mean"].unstack(sort=False), metric)

    def costs(self) -> pd.DataFrame:
        """Return seconds and megabytes of each fit; all features need none.

        One row for each run of each method, with NaN where nothing was measured.
        """
        methods = [m.label for m in self.plan.methods if m.label != ALL_FEATURES]
        runs = self.runs.drop_duplicates(["method", "key"])
        runs = runs[runs["method"].isin(methods)]
        return pd.DataFrame(
            {
                "method": pd.Categorical(runs["method"], methods),
                "data set": pd.Categorical(
                    runs["set_name"], list(self.record.fingerprints)
                ),
                "seconds": runs["seconds"].astype(float),
                "megabytes": runs["peak_memory"].astype(float) / 1e6,
                "failed": runs["status"] == FAILED,
            }
        )

    def cost_summary(self) -> pd.DataFrame:
        """Return fits, failures, and median and largest costs of each method."""
        costs = self.costs().groupby("method", observed=False)
        return costs.agg(
            fits=("seconds", "count"),
            failed=("failed", "sum"),
            median_seconds=("seconds", "median"),
            largest_seconds=("seconds", "max"),
            median_megabytes=("megabytes", "median"),
            largest_megabytes=("megabytes", "max"),
        )

    def history_of(self, method: str, data_set: str) -> NDArray[np.float64] | None:
        """Return the objective of a method, from its fixed setting if it has one there.

        Otherwise from the first point of the grid, from its middle on, that has one.
        """
        runs = self.runs
        runs = runs[(runs["method"] == method) & (runs["data set"] == data_set)]
        fixed, grid = (runs[runs["reading"] == each] for each in (FIXED, GRID))
        middle = len(grid) // 2
        ordered = pd.concat([fixed, grid[middle:], grid[:middle]])["history"].dropna()
        return None if ordered.empty else ordered.iloc[0]


class Ranks:
    """Ranks of methods over the sets that have a score of them all.

    All features are left out: they are no selection, and have no number of features.
    So is a method without any score. Sets on which another method has none are left
    out for all.

    Parameters
    ----------
    means : DataFrame
        Methods in rows, sets in columns, NaN where there is no score.
    metric : str
    """

    def __init__(self, means: pd.DataFrame, metric: str) -> None:
        methods = means.drop(index=ALL_FEATURES, errors="ignore")
        empty = methods.isna().all(axis=1)
        self.without = list(methods.index[empty])
        self.scores = methods[~empty].dropna(axis=1)
        if metric in LOWER_IS_BETTER:
            self.scores = -self.scores
        n_methods, self.n_sets = self.scores.shape
        self.enough = self.n_sets >= MIN_SETS and n_methods > 1

    @property
    def average(self) -> "pd.Series[float]":
        """Return the average rank of each method."""
        return pd.Series(average_ranks(self.scores.to_numpy()), self.scores.index)

    @property
    def critical_difference(self) -> float:
        """Return Nemenyi's difference of average ranks."""
        return nemenyi_critical_difference(*self.scores.shape)

    def against_random(self) -> pd.DataFrame:
        """Return the methods, best first, with their tests against random features."""
        found = pd.DataFrame({"average rank": self.average.sort_values(kind="stable")})
        if REFERENCE in self.scores.index:
            scores = self.scores.to_numpy()
            reference = self.scores.index.get_loc(REFERENCE)
            tested = wilcoxon_against(scores, reference)
            methods = self.scores.index[list(tested.others)]
            above = np.count_nonzero(scores > scores[reference], axis=1)
            columns = {
                "sets above random": pd.Series(above, self.scores.index)[methods],
                "median gain": pd.Series(tested.median_difference, methods),
                "p (Holm)": pd.Series(tested.adjusted, methods),
            }
            found = found.assign(**columns)
        return found

    def sentence(self) -> str:
        """Return the tests over all methods in words."""
        missing = ""
        if self.without:
            missing = f" Without {', '.join(self.without)}, of which there is no score."
        if not self.enough:
            return (
                f"No statistics: {self.n_sets} sets have a score of every method, and "
                f"at least {MIN_SETS} are needed.{missing}"
            )
        difference = self.critical_difference
        groups = "; ".join(
            ", ".join(self.scores.index[list(group)])
            for group in indistinguishable_groups(list(self.average), difference)
        )
        alike = f"are not told apart: {groups}" if groups else "do not occur"
        return (
            f"{self.n_sets} sets. Friedman's test that all methods are alike: "
            f"p = {friedman(self.scores.to_numpy()).f_p:.2g} (F of Iman and "
            "Davenport). Average ranks that differ by less than "
            f"{difference:.2f} (Nemenyi, 5 %) {alike}.{missing}"
        )


def labels_used(method: Method, reading: str) -> str:
    """Return what the labels of a set told a method in a reading.

    Examples
    --------
    >>> told = Method("NDFS", "NDFS", {"n_clusters": "classes"}, {"alpha": [1, 10]})
    >>> labels_used(told, "oracle"), labels_used(told, "fixed")
    ('setting, number of classes', 'number of classes')
    """
    used = ["setting"] if reading == ORACLE and method.grid else []
    if method.fixed_point().get("n_clusters") == "classes":
        used.append("number of classes")
    return ", ".join(used) or "nothing"


def title_of(set_name: str, preparation: str) -> str:
    """Return a short name for a prepared set.

    Examples
    --------
    >>> title_of("lung", "none"), title_of("lung", "log")
    ('lung', 'lung (log)')
    """
    return set_name if preparation == "none" else f"{set_name} ({preparation})"


def read_experiment(path: Path, plan: str | None = None) -> Experiment:
    """Read an experiment from its store.

    Parameters
    ----------
    path : Path
        The store.
    plan : str, optional
        The name of a plan in the store; by default the one that was run last.
    """
    with reading(path) as connection:
        rows = connection.execute("SELECT content FROM plans ORDER BY rowid")
        records = [record_from(content) for (content,) in rows]
        names = list(dict.fromkeys(record.plan.name for record in records))
        if not names:
            raise ValueError(f"{path} is empty; fill it with ufselect run PLAN")
        name = records[-1].plan.name if plan is None else plan
        if name not in names:
            raise ValueError(
                f"{path} holds no plan {name!r}; it has {', '.join(names)}"
            )
        same = [record for record in records if record.plan.name == name]
        # The keys of runs depend on the version that computed them.
        judge = [judge_key(same[-1].plan.judge, same[-1].version)]
        columns = ["key", "status", "reason", "seconds", "peak_memory", "history"]
        runs = pd.DataFrame(connection.execute(RUNS, judge).fetchall(), columns=columns)
        columns = ["key", "features", "metric", "repetition", "value"]
        scores = pd.DataFrame(
            connection.execute(SCORES, judge).fetchall(), columns=columns
        )
    experiment = experiment_of(same[-1], runs, scores)
    versions = {tuple(sorted(one.versions.items())): one.versions for one in same}
    others = [each for each in names if each != name]
    return replace(experiment, versions=list(versions.values()), others=others)


def experiment_of(
    record: Record, found: pd.DataFrame, scores: pd.DataFrame
) -> Experiment:
    """Combine the runs of a plan with what was found of them."""
    asked = pd.DataFrame(
        [
            (
                role.run.key(record.version),
                role.label,
                role.reading,
                role.run.set_name,
                title_of(role.run.set_name, role.run.preparation),
            )
            for role in roles_of(record.plan, record.fingerprints)
        ],
        columns=["key", *PLACE[:1], "reading", "set_name", *PLACE[1:]],
    )
    runs = asked.merge(found, how="left", on="key")
    runs["status"] = runs["status"].fillna(MISSING)
    runs["history"] = [
        np.frombuffer(each) if isinstance(each, bytes) else None
        for each in runs["history"]
    ]
    scores = scores[scores["key"].isin(runs["key"])].astype({"value": float})
    return Experiment(record, runs, scores, [record.versions], [])

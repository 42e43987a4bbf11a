"""An experiment as its store knows it: what was asked, what is there, what is not."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ufselect.experiments.cells import FIXED, GRID, Role, judge_key, roles_of
from ufselect.experiments.judging import Score
from ufselect.experiments.plan import Plan
from ufselect.experiments.reader import Fit, StoreReader
from ufselect.experiments.readings import Place, Results
from ufselect.experiments.records import VERSION_WITHOUT_RECORDS, Record
from ufselect.experiments.store import DONE, Float

NOT_BEGUN = "no cell of it is in the store"


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
    fits: Mapping[str, Fit]
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
        """Return why cells have no ranking, by key."""
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
        Which of the plans in the store; the one that was run last by default. Needed
        for stores that were made before plans were kept in them.
    """
    with StoreReader(path) as reader:
        fits = reader.fits()
        # A plan that is given is needed just where the plans in the store are not.
        records = reader.records() if plan is None else _known_records(reader)
        record = _chosen(reader, records, plan)
        roles = list(roles_of(record.plan, record.fingerprints))
        judge = judge_key(record.plan.judge, record.version)
        scores = list(reader.scores(judge))
        for key, (status, reason) in reader.unjudged(judge).items():
            fits[key] = fits[key]._replace(status=status, reason=reason)
    keys = {role.cell.key_in(record.version): role.cell.key for role in roles}
    fits = {keys[key]: fit for key, fit in fits.items() if key in keys}
    if not fits:
        raise ValueError(_nothing(path, record))
    scores = _renamed(scores, keys)
    same = [one for one in records if one.is_of(record.plan)] or [record]
    return Experiment(
        record,
        roles,
        Results(roles, scores),
        fits,
        frozenset(key for key, _ in scores),
        _distinct(one.versions for one in same),
        sorted({one.plan.name for one in records} - {record.plan.name}),
    )


def _known_records(reader: StoreReader) -> list[Record]:
    try:
        return reader.records()
    except ValueError:
        return []


def _chosen(reader: StoreReader, records: list[Record], plan: Plan | None) -> Record:
    """Return the newest record, of the plan if one is given.

    A plan without a record has the data of which the store has cells.
    """
    if plan is None and not records:
        raise ValueError(
            f"{reader.path} does not say which plan it is of, being made before stores "
            "did; name the plan with --plan PLAN"
        )
    if plan is None:
        return records[-1]
    fitting = [record for record in records if record.is_of(plan)]
    if fitting:
        return fitting[-1]
    known = reader.fingerprints()
    return Record(
        plan,
        {name: known[name] for name in plan.sets if name in known},
        {name: NOT_BEGUN for name in plan.sets if name not in known},
        records[-1].versions if records else {"ufselect": VERSION_WITHOUT_RECORDS},
    )


def _nothing(path: Path, record: Record) -> str:
    return (
        f"{path} holds no cell of the plan {record.plan.name}; compute some with "
        "ufselect run, or name another plan with --plan PLAN"
    )


def _renamed(
    scores: Iterable[tuple[str, Score]], keys: Mapping[str, str]
) -> list[tuple[str, Score]]:
    return [(keys[key], score) for key, score in scores if key in keys]


def _distinct(versions: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
    return list({tuple(sorted(one.items())): one for one in versions}.values())

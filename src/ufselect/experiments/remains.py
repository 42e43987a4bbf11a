"""What is intact among the rows that are left of a store.

A row is kept if its seal is unbroken. Stores from before there were seals have none:
there a ranking is kept if its key is that of its inputs, and scores are believed if
none is missing.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from ufselect._version import RELEASE
from ufselect.experiments.cells import Cell, digest
from ufselect.experiments.pages import Found, Trust
from ufselect.experiments.plan import ALL_FEATURES
from ufselect.experiments.records import VERSION_WITHOUT_RECORDS
from ufselect.experiments.row_format import Row
from ufselect.experiments.seals import is_intact, seal_of
from ufselect.experiments.store import DONE

# By how many columns, or by which, the rows of a table are known.
SEALED_RANKING, RANKING, JUDGEMENT = 16, 15, 5
SCORE = (str, str, int, str, int, float)
PLAN = (str, str, str)
# SQLite keeps a real number without a fraction as an integer.
REALS = {SEALED_RANKING: (11, 13), RANKING: (11, 13), len(SCORE): (5,)}
STATUS = 8
# Of which there are stores without seals.
VERSIONS = {VERSION_WITHOUT_RECORDS, RELEASE}

Pair = tuple[str, str]


class Remains:
    """The intact rows of a store.

    Parameters
    ----------
    found : list of Found
        Rows in any order, those of indexes and leftovers among them.
    """

    def __init__(self, found: Iterable[Found]) -> None:
        self.rankings: dict[str, Row] = {}
        self.plans: list[Row] = []
        self._judgements: dict[Pair, list[Row]] = defaultdict(list)
        # For every degree of trust those that deserve it, the most trusted first.
        self._scores: dict[Trust, dict[Pair, dict[Row, Row]]] = {
            trust: defaultdict(dict) for trust in sorted(Trust, reverse=True)
        }
        for row, trust, _ in sorted(found, key=lambda it: (-it.trust, it.number)):
            self._sort(_with_reals(row), trust)
        self.sealed = any(row[-1] for row in self.rankings.values())
        if self.sealed:
            # What has none is from before the store was migrated.
            rankings = self.rankings.items()
            self.rankings = {key: row for key, row in rankings if row[-1]}

    def judgements(self) -> Iterator[tuple[Row, list[Row]]]:
        """Yield the judgements of the rankings, each with its scores."""
        for pair, rows in self._judgements.items():
            if pair[0] in self.rankings:
                yield from self._sealed(pair, rows)
        yield from self._believed()

    def _sort(self, row: Row, trust: Trust) -> None:
        kinds = tuple(map(type, row))
        if len(row) in (SEALED_RANKING, RANKING):
            self._add_ranking(row)
        elif kinds == SCORE:
            for least, scores in self._scores.items():
                if trust >= least:
                    scores[row[0], row[1]].setdefault(row[:5], row)
        elif len(row) == JUDGEMENT:
            self._judgements[row[0], row[1]].append(row)
        elif kinds == PLAN and row[0] == digest([row[2]]) and row not in self.plans:
            self.plans.append(row)

    def _add_ranking(self, row: Row) -> None:
        if len(row) == SEALED_RANKING:
            intact = is_intact(row)
        else:
            intact, row = _makes_sense(row), (*row, None)
        known = self.rankings.get(row[0])
        # What is done is not computed again: nothing else is newer.
        if intact and (known is None or known[STATUS] != DONE):
            self.rankings[row[0]] = row

    def _sealed(self, pair: Pair, rows: list[Row]) -> Iterator[tuple[Row, list[Row]]]:
        for row in sorted(rows, key=lambda each: each[2] != DONE):
            for known in self._scores.values():
                scores = sorted(known.get(pair, {}).values())
                if row[-1] == seal_of(row[:-1], scores):
                    yield row, scores
                    return

    def _believed(self) -> Iterator[tuple[Row, list[Row]]]:
        """Yield what has no seal: the scores of rankings that have none either."""
        scores = {
            pair: sorted(rows.values())
            for pair, rows in self._scores[Trust.POINTED_TO].items()
            if pair[0] in self.rankings and self.rankings[pair[0]][-1] is None
        }
        # A judge asks for the same metrics and repetitions of every ranking, at the
        # same numbers of features wherever there is a choice.
        asked: dict[str, set[Row]] = defaultdict(set)
        sizes: dict[Row, set[int]] = defaultdict(set)
        for pair, rows in scores.items():
            asked[pair[1]] |= {row[3:5] for row in rows}
            sizes[self._kind(pair)] |= {row[2] for row in rows}
        for pair, rows in scores.items():
            complete = product(sizes[self._kind(pair)], asked[pair[1]])
            if {(row[2], row[3:5]) for row in rows} == set(complete):
                yield (*pair, DONE, None, None), rows

    def _kind(self, pair: Pair) -> Row:
        """Return what judgements at the same numbers of features have in common."""
        key, judge = pair
        _, set_name, _, _, selector, *_ = self.rankings[key]
        return judge, set_name, selector == ALL_FEATURES


def _with_reals(row: Row) -> Row:
    values = list(row)
    for place in REALS.get(len(row), ()):
        if isinstance(values[place], int):
            values[place] = float(values[place])
    return tuple(values)


def _makes_sense(row: Row) -> bool:
    """Say whether a ranking without a seal has the key of its inputs, and an order."""
    try:
        cell = replace(Cell(*row[1:7]), before=tuple(json.loads(row[7])))
        order = np.sort(np.frombuffer(row[10] or b"", dtype=np.int32))
        keys = [cell.key_in(version) for version in VERSIONS]
    except (TypeError, ValueError):
        return False
    return row[0] in keys and np.array_equal(order, np.arange(len(order)))

"""The chosen features, one row each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ufselect.evaluation.stand_ins import StandIn
from ufselect.matrix import ColumnSummary, Float, Index
from ufselect.report.drawing import shortened
from ufselect.report.page_tables import Graphic
from ufselect.report.plots import Frame

# Names of columns that a feature stands for, in a cell of the page.
MOST_NAMES = 3
MOST_SAVED_NAMES = 50
# Letters of a name in a cell; the file has all of them.
LONGEST_NAME = 100


@dataclass(frozen=True)
class Features:
    """The chosen features by rank, with what is known of each.

    Attributes
    ----------
    names : sequence of str
        Of all features, by column.
    columns : ndarray of int
        The chosen ones, the best first.
    scores : ndarray
        Of the chosen ones.
    summary : ColumnSummary
        Of the chosen ones.
    frequency : ndarray or None
        Share of the subsamples on which each is chosen.
    stand_ins : sequence of StandIn or None
        What each stands for.
    sparklines : sequence of Graphic
        Distributions of the first of the chosen ones.
    """

    names: Sequence[str]
    columns: Index
    scores: Float
    summary: ColumnSummary
    frequency: Float | None
    stand_ins: Sequence[StandIn] | None
    sparklines: Sequence[Graphic]

    def frame(self) -> Frame:
        """Return one row per chosen feature."""
        columns: Frame = {
            "rank": list(range(1, len(self.columns) + 1)),
            "feature": self._named(self.columns),
            "column": self.columns.tolist(),
            "score": self.scores.tolist(),
        }
        if self.frequency is not None:
            columns["frequency"] = self.frequency.tolist()
        if self.stand_ins is not None:
            columns |= self._stand_in_columns(self.stand_ins)
        for name, values in self.summary._asdict().items():
            columns[name] = values.tolist()
        return columns

    def rows(self, most: int) -> tuple[list[str], list[list[str]]]:
        """Return header and cells of the first features, as a page shows them."""
        count = min(most, len(self.columns))
        columns = {
            "rank": [str(rank) for rank in range(1, count + 1)],
            "feature": self._shown(self.columns[:count]),
            "score": [f"{score:.4g}" for score in self.scores[:count]],
        }
        if self.frequency is not None:
            columns["frequency"] = [f"{share:.0%}" for share in self.frequency[:count]]
        if self.stand_ins is not None:
            columns["stands for"] = [
                self._like(each) for each in self.stand_ins[:count]
            ]
            columns["nearest not chosen"] = [
                self._other(each) for each in self.stand_ins[:count]
            ]
        columns["distribution"] = list(self.sparklines[:count])
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        return list(columns), rows

    def _named(self, columns: Index) -> list[str]:
        return [self.names[column] for column in columns]

    def _shown(self, columns: Index) -> list[str]:
        return [shortened(name, LONGEST_NAME) for name in self._named(columns)]

    def _stand_in_columns(self, found: Sequence[StandIn]) -> Frame:
        return {
            "stands for": [len(each.stands_for) for each in found],
            "such as": [
                "; ".join(self._named(each.stands_for[:MOST_SAVED_NAMES]))
                for each in found
            ],
            "nearest not chosen": [
                None if each.alternative is None else self.names[each.alternative]
                for each in found
            ],
            "its correlation": [
                np.nan if each.alternative is None else each.alternative_correlation
                for each in found
            ],
        }

    def _like(self, found: StandIn) -> str:
        count = len(found.stands_for)
        if not count:
            return ""
        names = ", ".join(self._shown(found.stands_for[:MOST_NAMES]))
        more = f" and {count - MOST_NAMES} more" if count > MOST_NAMES else ""
        return names + more

    def _other(self, found: StandIn) -> str:
        if found.alternative is None:
            return ""
        correlation = f"{found.alternative_correlation:.2f}".replace(
            "-", "\N{MINUS SIGN}"
        )
        name = shortened(self.names[found.alternative], LONGEST_NAME)
        return f"{name} ({correlation})"

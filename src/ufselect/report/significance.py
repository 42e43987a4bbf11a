"""Ranks of the methods over the sets, and which differences are more than chance."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect.evaluation import (
    average_ranks,
    friedman,
    indistinguishable_groups,
    nemenyi_critical_difference,
    wilcoxon_against,
)
from ufselect.experiments.plan import ALL_FEATURES
from ufselect.experiments.protocol import LOWER_IS_BETTER
from ufselect.report.experiment_parts import AverageRanks
from ufselect.report.metric_tables import MetricTable
from ufselect.report.page import Block, Paragraph, Table

REFERENCE = "random"
# Statistics over fewer sets than this could not show any difference.
FEWEST_SETS = 5
HEADER = ("method", "average rank", "sets above random", "median gain", "p (Holm)")


class Significance(NamedTuple):
    """Scores of all methods on the sets that have them all; higher is better.

    All features are left out: they are no selection, and have no number of features.
    So is a method without any score. Sets on which another method has none are left
    out for all.
    """

    labels: list[str]
    scores: NDArray[np.float64]
    without: list[str]

    @property
    def n_sets(self) -> int:
        """Return the number of sets that are compared."""
        return self.scores.shape[1]

    @property
    def enough(self) -> bool:
        """Say whether statistics make sense."""
        return self.n_sets >= FEWEST_SETS and len(self.labels) > 1

    def ranks(self) -> dict[str, float]:
        """Return the average rank of each method."""
        ranks = average_ranks(self.scores).tolist()
        return dict(zip(self.labels, ranks, strict=True))

    def critical_difference(self) -> float:
        """Return Nemenyi's difference of average ranks."""
        return nemenyi_critical_difference(len(self.labels), self.n_sets)

    def table(self) -> Table:
        """Return the methods, best first, with their tests against random."""
        if REFERENCE not in self.labels:
            rows = [[label, f"{rank:.2f}"] for label, rank in self._sorted()]
            return Table(HEADER[:2], rows)
        against = self._against_reference()
        return Table(
            HEADER,
            [
                [label, f"{rank:.2f}", *against.get(label, ["", "", ""])]
                for label, rank in self._sorted()
            ],
        )

    def sentence(self) -> str:
        """Return the tests over all methods in words."""
        if not self.enough:
            return (
                f"No statistics: {self.n_sets} sets have a score of every method, and "
                f"at least {FEWEST_SETS} are needed.{self._who_is_missing()}"
            )
        difference = self.critical_difference()
        ranks = list(self.ranks().values())
        groups = "; ".join(
            ", ".join(self.labels[i] for i in group)
            for group in indistinguishable_groups(ranks, difference)
        )
        alike = f"are not told apart: {groups}" if groups else "do not occur"
        return (
            f"{self.n_sets} sets. Friedman's test that all methods are alike: "
            f"p = {friedman(self.scores).f_p:.2g} (F of Iman and Davenport). Average "
            f"ranks that differ by less than {difference:.2f} (Nemenyi, 5 %) {alike}."
            f"{self._who_is_missing()}"
        )

    def blocks(self) -> list[Block]:
        """Return what is said of the ranks."""
        words = Paragraph(self.sentence())
        return [self.table(), words] if self.enough else [words]

    def average_ranks(self) -> AverageRanks | None:
        """Return the ranks as a figure, if there are enough sets."""
        if not self.enough:
            return None
        return AverageRanks(self.ranks(), self.critical_difference())

    def _sorted(self) -> list[tuple[str, float]]:
        return sorted(self.ranks().items(), key=lambda pair: pair[1])

    def _against_reference(self) -> dict[str, list[str]]:
        reference = self.labels.index(REFERENCE)
        against = wilcoxon_against(self.scores, reference)
        above = np.count_nonzero(self.scores > self.scores[reference], axis=1)
        return {
            self.labels[row]: [str(above[row]), f"{100 * gain:+.1f}", f"{p:.2g}"]
            for row, gain, p in zip(
                against.others, against.median_difference, against.adjusted, strict=True
            )
        }

    def _who_is_missing(self) -> str:
        if not self.without:
            return ""
        return f" Without {', '.join(self.without)}, of which there is no score."


def significance_of(table: MetricTable) -> Significance:
    """Return what is compared of a table of scores."""
    empty = np.asarray(np.isnan(table.means).all(axis=1))
    choices = [i for i, label in enumerate(table.labels) if label != ALL_FEATURES]
    rows = [i for i in choices if not empty[i]]
    scores = table.means[rows]
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    return Significance(
        [table.labels[i] for i in rows],
        -scores if table.metric in LOWER_IS_BETTER else scores,
        [table.labels[i] for i in choices if empty[i]],
    )

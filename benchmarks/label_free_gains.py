"""Gains of paired scores: means with standard errors, wins, the worst set."""

from typing import NamedTuple

import numpy as np

# Of the three percentages of a score; targets are about the first two.
METRICS = ("ACC", "NMI", "5-NN")


class Gains(NamedTuple):
    """How much better one ranking is than another on the same sets.

    Every array has one number for each of the metrics.
    """

    names: tuple[str, ...]
    differences: np.ndarray

    @property
    def mean(self):
        """Mean gain."""
        return self.differences.mean(axis=0)

    @property
    def error(self):
        """Standard error of the mean gain; not a number for one set."""
        n_sets = len(self.differences)
        if n_sets < 2:
            return np.full(self.differences.shape[1], np.nan)
        return self.differences.std(axis=0, ddof=1) / np.sqrt(n_sets)

    @property
    def wins(self):
        """Percentage of sets with a gain; no difference is none."""
        return 100 * (self.differences > 0).mean(axis=0)

    @property
    def worst(self):
        """Smallest gain."""
        return self.differences.min(axis=0)

    @property
    def worst_names(self):
        """The sets of the smallest gains."""
        return [self.names[place] for place in self.differences.argmin(axis=0)]


def gains(results, names, better, worse):
    """Return the gains of one ranking over another on those of the sets that have both.

    ``results`` has a dictionary of scores for each set. Without such a set, and for a
    ranking against itself, there is None.
    """
    names = tuple(
        name for name in names if better in results[name] and worse in results[name]
    )
    if not names or better == worse:
        return None
    differences = [results[name][better] - results[name][worse] for name in names]
    return Gains(names, np.array(differences))


def shown_gain(found):
    """Return mean gains with their standard errors."""
    if found is None:
        return "-"
    return " / ".join(
        f"{mean:+.1f}" + ("" if np.isnan(error) else f" ± {error:.1f}")
        for mean, error in zip(found.mean, found.error, strict=True)
    )


def shown_wins(found):
    """Return percentages of sets that are won."""
    return "-" if found is None else " / ".join(f"{value:.0f}" for value in found.wins)


def shown_worst(found):
    """Return the smallest gains in both metrics of k-means, and on which set."""
    if found is None:
        return "-"
    pairs = list(zip(found.worst, found.worst_names, strict=True))[:2]
    return " / ".join(f"{value:+.1f} {name}" for value, name in pairs)


def shown_score(score):
    """Return a score as text."""
    return "-" if score is None else "/".join(f"{value:.0f}" for value in score)

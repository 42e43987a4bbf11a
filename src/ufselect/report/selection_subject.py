"""Whom a report is about, and how much it may cost."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ufselect.matrix import Index
from ufselect.selectors.base import UnsupervisedSelector

# What one part may cost, in multiplications: a few seconds of one core.
MOST_PRODUCTS = 2e10
# Random sets of features to compare with, in every report and on the terminal.
N_RANDOM = 99


class Effort(NamedTuple):
    """How much to compute for a report.

    Attributes
    ----------
    n_subsamples : int
        Fits to halves of the samples, for stability; 0 leaves it out.
    n_cluster_numbers : int
        Fits with different numbers of clusters, for sensitivity; 0 leaves it out.
    n_random : int
        Random sets of as many features, for verdicts; 0 leaves them out.
    n_decoy_fits : int
        Fits with permuted columns among the features, for the share that is there by
        chance; 0 leaves it out.
    """

    n_subsamples: int = 10
    n_cluster_numbers: int = 3
    n_random: int = N_RANDOM
    n_decoy_fits: int = 0


EFFORTS = {
    "quick": Effort(4, 0),
    "default": Effort(),
    "thorough": Effort(50, 5, n_decoy_fits=5),
}


class Subject(NamedTuple):
    """A fitted selector, the table it was fitted to, and how hard to try."""

    table: Any
    selector: UnsupervisedSelector
    refitted: UnsupervisedSelector
    names: Sequence[str]
    chosen: Index
    effort: Effort
    seed: int
    n_jobs: int | None
    seconds_left: float | None


def learned(selector: Any, name: str) -> Any:
    """Return what a selector, or the one that it fitted inside, has learned, or None.

    Examples
    --------
    >>> from ufselect import SCFS, AutoSelect
    >>> from ufselect.data import planted
    >>> selector = AutoSelect(SCFS(), random_state=0).fit(planted("blobs").table)
    >>> len(learned(selector, "labels_"))
    90
    """
    inside = getattr(selector, "selector_", None)
    return getattr(selector, name, getattr(inside, name, None))


def who_chose(selector: Any) -> str:
    """Return who chose: the name of a selector, and of the one that ranked for it.

    Examples
    --------
    >>> from ufselect import SCFS, AutoSelect
    >>> from ufselect.data import planted
    >>> who_chose(AutoSelect(SCFS(), random_state=0).fit(planted("blobs").table))
    'AutoSelect with SCFS'
    """
    name = type(selector).__name__
    inside = getattr(selector, "selector_", None)
    if inside is not None:
        return f"{name} with {who_chose(inside)}"
    # Of a consensus; there they may be pairs with a name.
    members = getattr(selector, "selectors", None) or ()
    kinds = {type(each).__name__ for each in members} - {"tuple"}
    return f"{name} of {', '.join(sorted(kinds))}" if kinds else name


def refuse_beyond(products: float) -> None:
    """Raise an error if a part would cost too much."""
    if products > MOST_PRODUCTS:
        raise ValueError(
            f"it would take about {products:.0e} multiplications, more than a report "
            "may cost; choose fewer features"
        )


def refuse_zero(count: int) -> None:
    """Raise an error if a part is not wanted."""
    if not count:
        raise ValueError("it was not asked for; a report of more effort has it")

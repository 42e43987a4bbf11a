"""Several selectors on the same table, with the same numbers and seed."""

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ufselect.matrix import Float, Index
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.tuning.members import checked_selector, seeded


class Ranked(NamedTuple):
    """What one selector made of the table.

    Attributes
    ----------
    name : str
    scores : ndarray of shape (p,), or None
        None if the fit failed.
    order : ndarray of shape (p,), or None
        Features from best to worst.
    seconds : float
        What the fit took.
    remarks : list of str
        What it warned of, or why it failed.
    """

    name: str
    scores: Float | None
    order: Index | None
    seconds: float
    remarks: list[str]


def rank_with_each(
    X: Any,
    selectors: Mapping[str, UnsupervisedSelector],
    *,
    n_features: int,
    n_clusters: int,
    random_state: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[Ranked]:
    """Fit selectors one after the other, each told the same numbers.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p)
    selectors : mapping of str to selector
        Unfitted; copies of them are.
    n_features, n_clusters : int
        How many features to select, and of how many clusters to think. Selectors
        without clusters are not told.
    random_state : int
        Seed of those that have none.
    progress : callable, optional
        Called with the fits done, all fits, and the name of the next.

    Examples
    --------
    >>> from ufselect import LaplacianScore, MaxVariance
    >>> from ufselect.data import planted
    >>> X = planted("blobs").table
    >>> both = {"variance": MaxVariance(), "Laplacian": LaplacianScore()}
    >>> found = rank_with_each(X, both, n_features=5, n_clusters=3)
    >>> [each.name for each in found], found[0].remarks
    (['variance', 'Laplacian'], [])
    """
    found = []
    for place, (name, selector) in enumerate(selectors.items()):
        if progress is not None:
            progress(place, len(selectors), name)
        copy = seeded(checked_selector(selector, "rank_with_each"), random_state)
        told = {"n_features_to_select": n_features, "n_clusters": n_clusters}
        known = copy.get_params(deep=False)
        if known.get("n_clusters") == "auto":
            del told["n_clusters"]  # It decides by itself.
        copy.set_params(**{key: told[key] for key in told if key in known})
        found.append(_ranked(name, copy, X))
    return found


def _ranked(name: str, selector: UnsupervisedSelector, X: Any) -> Ranked:
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            selector.fit(X)
        except (ArithmeticError, MemoryError, ValueError) as error:
            return Ranked(name, None, None, time.perf_counter() - start, [str(error)])
    seconds = time.perf_counter() - start
    remarks = dict.fromkeys(
        str(each.message) for each in caught if issubclass(each.category, UserWarning)
    )
    return Ranked(name, selector.scores_, selector.order_, seconds, list(remarks))

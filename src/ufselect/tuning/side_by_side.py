"""Rankings of one table side by side: by number of clusters, or by method."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from ufselect.matrix import Float, Index
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.rankings import (
    mean_of_pairs,
    rank_agreement,
    ranks_of,
    top_overlap,
)
from ufselect.tuning.fits import (
    LARGEST_SEED,
    FitEffort,
    Work,
    checked_selector,
    checked_table,
    fit_all,
    seeded,
)


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
        start = time.perf_counter()
        scores, order, remarks = None, None, []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            try:
                copy.fit(X)
                scores, order = copy.scores_, copy.order_
            except (ArithmeticError, MemoryError, ValueError) as error:
                remarks = [str(error)]
        if order is not None:
            said = [w for w in caught if issubclass(w.category, UserWarning)]
            remarks = list(dict.fromkeys(str(each.message) for each in said))
        seconds = time.perf_counter() - start
        found.append(Ranked(name, scores, order, seconds, remarks))
    return found


class Sensitivity(NamedTuple):
    """Agreement of rankings between numbers of clusters."""

    n_clusters: list[int]
    correlation: Float
    overlap: Float
    mean_correlation: float
    mean_overlap: float


def sensitivity_to_clusters(
    selector: UnsupervisedSelector,
    X: Any,
    n_clusters: Sequence[int] = (3, 5, 8, 12, 20),
    *,
    n_features: int | float | None = None,
    n_jobs: int | None = None,
    time_budget: float | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: bool = False,
) -> Sensitivity:
    """Return how far the rankings for several numbers of clusters agree.

    Parameters
    ----------
    selector : selector
        One with the parameter ``n_clusters``. A copy of it is fitted for every number,
        always with the same seed.
    X : {array-like, sparse matrix} of shape (n, p)
        Samples in rows.
    n_clusters : sequence of int
        Two or more. A number that cannot be fitted is left out with a warning.
    n_features : int, float or None
        How many of the best features to compare, as ``n_features_to_select``; None is
        what the selector has.
    n_jobs : int or None
        Fits at once, through joblib; None is one.
    time_budget : float or None
        Seconds after which no further fit is started.
    random_state : int, RandomState instance or None
        Source of a seed for a selector that has none.
    verbose : bool
        Print each number as it finishes.

    Returns
    -------
    sensitivity : Sensitivity
        The numbers that were fitted, Spearman's correlation and the overlap of the best
        features (as a share of them) between all pairs, and the means over pairs. For
        random rankings, the correlation is zero and the overlap is ``n_features / p``.

    Examples
    --------
    >>> from ufselect import SCFS
    >>> from ufselect.data import planted
    >>> from ufselect.tuning import sensitivity_to_clusters
    >>> X = planted("blobs").table
    >>> found = sensitivity_to_clusters(
    ...     SCFS(), X, (3, 4), n_features=10, random_state=0
    ... )
    >>> found.mean_overlap > 10 / 40
    True
    """
    checked_selector(selector, "sensitivity_to_clusters")
    if "n_clusters" not in selector.get_params(deep=False):
        raise ValueError(
            f"{type(selector).__name__} has no parameter n_clusters to be sensitive "
            "to; give a selector that has."
        )
    copy = seeded(selector, check_random_state(random_state).randint(LARGEST_SEED))
    if n_features is not None:
        copy.set_params(n_features_to_select=n_features)
    table = checked_table(copy, X)
    works = [
        Work(f"n_clusters={number}", clone(copy).set_params(n_clusters=number))
        for number in dict.fromkeys(n_clusters)
    ]
    for work in works:
        checked_selector(work.selector, "sensitivity_to_clusters")
    if len(works) < 2:
        raise ValueError(
            f"n_clusters={list(n_clusters)} leaves nothing to compare; give two "
            "different numbers at least."
        )
    finished = fit_all(
        table,
        works,
        FitEffort(n_jobs, time_budget, verbose),
        title="sensitivity_to_clusters",
        share=True,
        stacklevel=4,
    )
    fitted = [int(work.selector.get_params()["n_clusters"]) for work in finished.works]
    if len(fitted) < 2:
        raise ValueError(
            f"Only n_clusters={fitted[0]} could be fitted, which leaves nothing to "
            "compare; give other numbers, or more time."
        )
    ranks = ranks_of(finished.scores)
    correlation = rank_agreement(ranks)
    overlap = top_overlap(ranks, copy._resolve_number(table.shape[1]))
    means = mean_of_pairs(correlation), mean_of_pairs(overlap)
    return Sensitivity(fitted, correlation, overlap, *means)

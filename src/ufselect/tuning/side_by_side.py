"""Compare rankings of one table between methods or numbers of clusters."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from ufselect.matrix import Float, Index
from ufselect.matrix.checks import checked_matrix
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.rankings import (
    mean_of_pairs,
    rank_agreement,
    ranks_of,
    top_overlap,
)
from ufselect.tuning.fits import (
    MAX_SEED,
    Work,
    checked_selector,
    fit_all,
    seeded,
    user_warnings,
)


class Ranked(NamedTuple):
    """The ranking of the table by one selector.

    Attributes
    ----------
    name : str
    scores : ndarray of shape (p,), or None
        None if the fit failed.
    order : ndarray of shape (p,), or None
        Features from best to worst.
    seconds : float
        Time of the fit.
    remarks : list of str
        Its warnings, or the reason why it failed.
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
    """Fit several selectors with the same numbers of features and clusters.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p)
    selectors : mapping of str to selector
        Copies of them are fitted.
    n_features, n_clusters : int
        Number of features to select, and of clusters for selectors with this
        parameter.
    random_state : int
        Seed for selectors without one.
    progress : callable, optional
        Called with the number of finished fits, of all fits, and the next name.

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
    data = checked_matrix(X)
    found = []
    for place, (name, selector) in enumerate(selectors.items()):
        if progress is not None:
            progress(place, len(selectors), name)
        copy = seeded(checked_selector(selector, "rank_with_each"), random_state)
        given = {"n_features_to_select": n_features, "n_clusters": n_clusters}
        known = copy.get_params(deep=False)
        if known.get("n_clusters") == "auto":
            del given["n_clusters"]  # AutoSelect chooses it.
        copy.set_params(**{key: given[key] for key in given if key in known})
        start = time.perf_counter()
        scores = order = None
        try:
            with user_warnings() as remarks:
                copy.fit(data)
            scores, order = copy.scores_, copy.order_
        except (ArithmeticError, MemoryError, ValueError) as error:
            remarks = [str(error)]
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
    """Return the agreement of the rankings for several numbers of clusters.

    Parameters
    ----------
    selector : selector
        A selector with the parameter ``n_clusters``. A copy of it is fitted for every
        number, with the same seed.
    X : {array-like, sparse matrix} of shape (n, p)
        Samples in rows.
    n_clusters : sequence of int
        At least two. A number for which the fit fails is left out with a warning.
    n_features : int, float or None
        Number of the best features to compare, as ``n_features_to_select``; None means
        that of the selector.
    n_jobs : int or None
        Number of fits in parallel by joblib; None means 1.
    time_budget : float or None
        Seconds after which no further fit is started.
    random_state : int, RandomState instance or None
        Source of a seed for a selector without one.
    verbose : bool
        Print each number as it finishes.

    Returns
    -------
    sensitivity : Sensitivity
        The fitted numbers, Spearman's rank correlation and the share of common features
        among the best between all pairs, and their means over pairs. For random
        rankings, they are 0 and ``n_features / p`` on average.

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
            f"{type(selector).__name__} has no parameter n_clusters; give a selector "
            "that has one."
        )
    copy = seeded(selector, check_random_state(random_state).randint(MAX_SEED))
    if n_features is not None:
        copy.set_params(n_features_to_select=n_features)
    data = checked_matrix(X, owner=type(selector).__name__)
    works = [
        Work(f"n_clusters={number}", clone(copy).set_params(n_clusters=number))
        for number in dict.fromkeys(n_clusters)
    ]
    for work in works:
        checked_selector(work.selector, "sensitivity_to_clusters")
    if len(works) < 2:
        raise ValueError(
            f"n_clusters={list(n_clusters)} leaves nothing to compare; give at least "
            "two different numbers."
        )
    finished = fit_all(
        data,
        works,
        title="sensitivity_to_clusters",
        n_jobs=n_jobs,
        time_budget=time_budget,
        verbose=verbose,
        share=True,
    )
    fitted = [int(work.selector.get_params()["n_clusters"]) for work in finished.works]
    if len(fitted) < 2:
        raise ValueError(
            f"Only the fit with n_clusters={fitted[0]} succeeded, which leaves nothing "
            "to compare; give other numbers, or a larger time_budget."
        )
    ranks = ranks_of(finished.scores)
    correlation = rank_agreement(ranks)
    overlap = top_overlap(ranks, copy._resolve_number(data.shape[1]))
    means = mean_of_pairs(correlation), mean_of_pairs(overlap)
    return Sensitivity(fitted, correlation, overlap, *means)

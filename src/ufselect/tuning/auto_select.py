"""AutoSelect: test for structure, find the features related to it, and their number."""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ufselect._sklearn_compat import COUNT, Interval, StrOptions
from ufselect._warn import warn
from ufselect.evaluation.structure_found import (
    N_PERMUTATIONS,
    explained_shares,
    structure_of_matrix,
)
from ufselect.evaluation.subsamples import rows_of_groups
from ufselect.matrix import DataMatrix, Float, Index, as_matrix
from ufselect.matrix.base import few_threads
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.graph_scores import (
    MAX_SUBSAMPLE,
    draw_subsamples,
    relative_deviations,
    subsample_shares,
)
from ufselect.solvers.iterations import in_parallel, suits_threads
from ufselect.solvers.preparation import Kind, choose_preparation, prepare
from ufselect.solvers.rankings import (
    DistinctColumns,
    distinct_columns_of,
    lowered,
    ranks_of,
    redundant_features,
)
from ufselect.solvers.starts import distinct_rows
from ufselect.tuning.fits import MAX_SEED, FitsGroups, checked_selector, seeded

N_SUBSAMPLES = 6
N_COMPONENTS = 10
N_NEIGHBORS = 5
N_CLUSTERS = 8

# Weight of a ranking by graph energy in the consensus; one by SCFS has weight 1.
ENERGY_WEIGHT = 2

# A feature whose correlation with a better one exceeds this is redundant.
MAX_CORRELATION = 0.8

# If fewer non-redundant features are confirmed, redundant ones are, up to this number.
MIN_CONFIRMED = 10

# Largest false discovery rates of confirmed and of tentative features.
CONFIRMED_FDR = 0.05
TENTATIVE_FDR = 0.2


class AutoSelect(FitsGroups):
    """Feature selection with all settings chosen from X.

    Tests whether the table has structure, ranks the features by a consensus of graph
    energy and SCFS over subsamples, and keeps those that the structure of the other
    features explains better than permuted copies. docs/auto.md has the rules.

    Parameters
    ----------
    selector : selector or None, default=None
        A selector whose ranking replaces the consensus. If you also give a number of
        features, its ranking is not changed.
    n_features_to_select : int, float, None or "auto", default="auto"
        "auto" keeps the confirmed features; otherwise the number of features, fraction
        of them, or None for half.
    n_clusters : int or "auto", default="auto"
        Number of clusters of the selectors that need one; "auto" means 8.
    max_features : int or None, default=200
        Largest number of confirmed features.
    max_correlation : float, None or "auto", default="auto"
        A feature whose absolute correlation with a better one exceeds this is ranked
        below the others and not confirmed. None means no limit. "auto" means 0.8
        without a ``selector`` and None with one.
    n_jobs : int or None, default=None
        Number of subsamples fitted in parallel by joblib; None means 1.
    random_state : int, RandomState instance or None, default=None
        Seed, also for a selector without one.
    verbose : bool, default=False
        Print each decision.

    Attributes
    ----------
    structure_found_ : bool
        Whether the table has structure. If not, no feature is selected unless you give
        a number.
    structure_ : StructureTest
        The test: p-value, preparation, and the evidence for each preparation.
    standardize_ : {"none", "features", "samples"}
        The preparation that was chosen.
    calls_ : ndarray of str of shape (p,)
        "confirmed", "tentative" or "rejected" for each feature.
    q_values_ : ndarray of shape (p,)
        Smallest false discovery rate at which the feature is selected.
    explained_ : ndarray of shape (p,)
        Share of the variance of each feature that the structure of the others explains.
    permuted_explained_ : ndarray of shape (p,)
        The largest such share among 20 permuted copies of each feature.
    scores_ : ndarray of shape (p,)
        A quarter of 0 to 1 for each tier: rejected features, tentative ones, those that
        correlate with a better one, and the others; within it, by the ranking. If you
        give a ``selector`` and a number, they are the scores of the selector.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    n_selected_ : int
        Number of selected features.
    labels_ : ndarray of shape (n,)
        Clusters of the samples, by k-means on the selected features. Out-of-core, up to
        5000 evenly spaced samples are read, and all decisions use only these.
    n_clusters_ : int
        The given number, or one more than the directions with structure, from 2 to 8;
        1 without structure.
    reasons_ : list of str
        Each decision and its reason, as a sentence.
    selector_ : selector or None
        The fitted ``selector``, if one was given.

    Examples
    --------
    >>> from ufselect import AutoSelect
    >>> from ufselect.data import planted
    >>> X = planted("blobs", n_samples=90, n_useful=20, n_noise=480).table
    >>> selector = AutoSelect(random_state=0).fit(X)
    >>> selector.structure_found_, selector.n_clusters_, selector.n_selected_
    (True, 3, 21)
    >>> print(selector.reasons_[-1])
    21 of 500 features are confirmed at a false discovery rate of 5 %.
    """

    READS_OUT_OF_CORE = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": [None, UnsupervisedSelector],
        "n_features_to_select": [
            StrOptions({"auto"}),
            *UnsupervisedSelector._parameter_constraints["n_features_to_select"],
        ],
        "n_clusters": [StrOptions({"auto"}), COUNT],
        "max_features": [None, COUNT],
        "max_correlation": [
            StrOptions({"auto"}),
            None,
            Interval(Real, 0, 1, closed="both"),
        ],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": ["boolean"],
    }

    n_features_to_select: Any
    # The report lowers these for fits to halves of the samples.
    _n_permutations = N_PERMUTATIONS
    _n_subsamples = N_SUBSAMPLES

    def __init__(
        self,
        selector: UnsupervisedSelector | None = None,
        *,
        n_features_to_select: int | float | str | None = "auto",
        n_clusters: int | str = "auto",
        max_features: int | None = 200,
        max_correlation: float | str | None = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.selector = selector
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.max_features = max_features
        self.max_correlation = max_correlation
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _in_ranking(self) -> dict[str, NDArray[Any]]:
        return {
            "call": self.calls_,
            "explained": self.explained_,
            "q_value": self.q_values_,
        }

    def _resolve_number(self, n_features: int) -> int:
        if self.n_features_to_select == "auto":
            return n_features  # preliminary: ``_call`` decides the number
        return super()._resolve_number(n_features)

    def _score_features(self, data: DataMatrix) -> Float:
        random = check_random_state(self.random_state)
        self.reasons_: list[str] = []
        groups = self._groups_of(data.shape[0])
        if data.out_of_core or data.scattered:
            rows = data.some_rows()
            data = as_matrix(data.rows(rows))
            groups = None if groups is None else groups[rows]
        if data.summary().constant.all():
            raise ValueError(
                f"All columns are constant in the {data.shape[0]} samples that "
                "AutoSelect reads; give an array in memory."
            )
        if self.n_clusters != "auto":
            given = int(self.n_clusters)
            self._check_n_clusters(given, data.shape[0])

        # A copy of a column would seem to confirm it.
        distinct = distinct_columns_of(data)

        # Products with subsamples are small.
        with few_threads(0):
            self.structure_ = structure_of_matrix(
                distinct.matrix, self._n_permutations, random
            )
        self.structure_found_ = self.structure_.found
        self.standardize_ = self.structure_.standardize
        self.n_clusters_ = self._decided_clusters(data.shape[0])
        self._say(self.structure_.sentence)

        ranking = self._ranking(data, distinct, groups, random)

        with few_threads(0):
            scores = self._call(ranking, data, distinct, random)
        self.labels_ = self._clusters(scores, data, random)
        return scores

    def _decided_clusters(self, n_samples: int) -> int:
        if self.n_clusters != "auto":
            return int(self.n_clusters)
        if not self.structure_found_:
            return 1
        directions = max(self.structure_.n_directions, 1)
        return min(directions + 1, N_CLUSTERS, n_samples)

    def _ranking(
        self,
        data: DataMatrix,
        distinct: DistinctColumns,
        groups: Index | None,
        random: np.random.RandomState,
    ) -> Float:
        """Return scores between 0 and 1, of the selector or of the consensus."""
        self.selector_: UnsupervisedSelector | None = None
        if self.selector is not None:
            checked_selector(self.selector, "AutoSelect")
            copy = seeded(clone(self.selector), random.randint(MAX_SEED))
            if "n_clusters" in copy.get_params(deep=False):
                # Without structure n_clusters_ is 1, for which selectors fail.
                fewest = 2 if self.n_clusters == "auto" else 1
                copy.set_params(n_clusters=max(fewest, self.n_clusters_))
            decided_later = self.n_features_to_select == "auto"
            number = self.n_selected_
            number = min(number, self._most()) if decided_later else number
            copy.set_params(n_features_to_select=number)
            with few_threads(data.multiplications):
                self.selector_ = copy._fit_matrix(data)
            scores, varying = self.selector_.scores_, ~data.summary().constant
            lowest, span = scores[varying].min(), np.ptp(scores[varying]) or 1.0
            return np.where(varying, (scores - lowest) / span, 0.0)
        data = distinct.matrix
        subsamples = draw_subsamples(
            data.shape[0], self._n_subsamples, MAX_SUBSAMPLE, random
        )
        if groups is not None and len(subsamples) > 1:
            sizes = map(len, subsamples)
            subsamples = [rows_of_groups(groups, size, random) for size in sizes]
        deviations = relative_deviations(data, self.standardize_)
        scfs: Any = None
        # Without structure, SCFS is not fitted: it would converge slowly.
        if self.structure_found_:
            from ufselect.selectors import SCFS

            # With the preparation that suits all of X.
            preparation = choose_preparation(data)
            number = N_CLUSTERS if self.n_clusters == "auto" else int(self.n_clusters)
            scfs = SCFS(
                n_clusters=min(number, data.shape[0]),
                standardize=False if preparation == "none" else preparation,
            )
        seeds = random.randint(MAX_SEED, size=len(subsamples)).tolist()
        calls = (
            (
                *(data, rows, self.standardize_, deviations),
                scfs and clone(scfs).set_params(random_state=seed),
            )
            for rows, seed in zip(subsamples, seeds, strict=True)
        )
        with warnings.catch_warnings(), few_threads(0):
            # The ranking changes little in later iterations.
            warnings.simplefilter("ignore", ConvergenceWarning)
            ranks = in_parallel(
                member_ranks, calls, self.n_jobs, threads=suits_threads(data.raw)
            )
            consensus = np.exp(-np.log(np.vstack(list(ranks))).mean(axis=0))
        return distinct.for_all(consensus, 0.0)

    def _most(self) -> int:
        return self.n_features_in_ if self.max_features is None else self.max_features

    def _call(
        self,
        ranking: Float,
        data: DataMatrix,
        distinct: DistinctColumns,
        random: np.random.RandomState,
    ) -> Float:
        """Set the calls and the number of features; return the final scores."""
        n_features = data.shape[1]
        self.q_values_, self.explained_ = np.ones(n_features), np.zeros(n_features)
        self.permuted_explained_ = np.zeros(n_features)
        if self.structure_found_:
            rows = np.sort(random.permutation(data.shape[0])[:MAX_SUBSAMPLE])
            sample = distinct.matrix.take_rows(rows)
            size = float(sample.shape[1])
            centred = prepare(sample, self.standardize_, size).centred
            found = explained_shares(centred, random)
            self.explained_ = distinct.for_all(found.shares, 0.0)
            self.q_values_ = distinct.for_all(found.q_values, 1.0)
            self.permuted_explained_ = distinct.for_all(found.permuted, 0.0)
        tier = np.select(
            [self.q_values_ <= CONFIRMED_FDR, self.q_values_ <= TENTATIVE_FDR],
            [0.0, 2.0],
            3.0,
        )
        max_correlation = self.max_correlation
        if max_correlation == "auto":
            max_correlation = MAX_CORRELATION if self.selector is None else None
        redundant = np.zeros(n_features, dtype=bool)
        if max_correlation is not None:
            order = np.argsort(tier - ranking, kind="stable")
            behind = redundant_features(data, order, float(max_correlation))
            redundant[behind] = True
            tier[redundant] = np.maximum(tier[redundant], 1.0)
        scores = (ranking + 3 - tier) / 4
        best_first = np.argsort(-scores, kind="stable")
        number = int(np.count_nonzero(tier == 0))
        if self.max_correlation == "auto" and max_correlation is not None:
            # A single feature is too noisy for clusters: redundant ones average it.
            following = int(np.count_nonzero(tier <= 1))
            number = max(number, min(following, MIN_CONFIRMED))
        confirmed = best_first[: min(number, self._most())]
        self.calls_ = np.where(tier < 3, "tentative", "rejected")
        self.calls_[confirmed] = "confirmed"
        if self.n_features_to_select == "auto":
            self.n_selected_ = self._decided_number(len(confirmed))
            return np.asarray(scores)
        if not self.structure_found_:
            self._warn("Do not use this selection.")
        n_left = n_features - int(np.count_nonzero(redundant))
        if self.max_correlation != "auto" and n_left < self.n_selected_:
            warn(
                f"Only {n_left} instead of {self.n_selected_} features are selected, "
                "because all others correlate with a better one above "
                f"max_correlation={max_correlation}.",
            )
            self.n_selected_ = n_left
        if self.selector_ is None:
            return np.asarray(scores)
        # With a number and a selector, only redundant features lose their rank.
        behind, varying = np.flatnonzero(redundant), ~data.summary().constant
        return lowered(self.selector_.scores_, behind, varying)

    def _clusters(
        self, scores: Float, data: DataMatrix, random: np.random.RandomState
    ) -> NDArray[np.int32]:
        """Return clusters of the samples, computed from the selected features."""
        together = np.zeros(data.shape[0], dtype=np.int32)
        if self.n_selected_ == 0:
            return together
        chosen = np.sort(np.argsort(-scores, kind="stable")[: self.n_selected_])
        kind, size = self.standardize_, float(data.shape[1])
        points = prepare(data, kind, size).centred.columns(chosen)
        number = min(self.n_clusters_, distinct_rows(as_matrix(points)))
        if number < 2:
            return together
        k_means = KMeans(number, n_init=3, random_state=random.randint(MAX_SEED))
        # The only long products: those of all samples.
        with few_threads(points.size):
            return np.asarray(k_means.fit(points).labels_)

    def _decided_number(self, n_confirmed: int) -> int:
        """Return the number of features to keep; warn if none is confirmed."""
        n_features = len(self.calls_)
        if not self.structure_found_:
            self._warn(
                "No feature is selected; set n_features_to_select to select some "
                "nevertheless."
            )
            return 0
        rate = f"a false discovery rate of {100 * CONFIRMED_FDR:.0f} %"
        if n_confirmed:
            self._say(
                f"{n_confirmed} of {n_features} features are confirmed at {rate}."
            )
            return n_confirmed
        tentative = int(np.count_nonzero(self.calls_ == "tentative"))
        number = min(tentative, self._most())
        self._warn(
            f"No feature is confirmed at {rate}; {number} tentative ones are selected."
        )
        return number

    def _warn(self, sentence: str) -> None:
        self._say(sentence)
        warn(
            sentence if self.structure_found_ else " ".join(self.reasons_),
        )

    def _say(self, reason: str) -> None:
        self.reasons_.append(reason)
        if self.verbose:
            print(f"AutoSelect: {reason}")  # noqa: T201 - what verbose asks for


def member_ranks(
    data: DataMatrix, rows: Index, kind: Kind, deviations: Float, scfs: Any | None
) -> NDArray[np.float64]:
    """Return the ranks of all features on a subsample, one row per unit of weight."""
    sample = data.take_rows(rows)
    energy = deviations * subsample_shares(sample, kind, N_COMPONENTS, N_NEIGHBORS)
    votes = [energy] * ENERGY_WEIGHT
    n_distinct = distinct_rows(sample)
    if scfs is not None and n_distinct > 1:
        scfs.set_params(n_clusters=min(scfs.n_clusters, n_distinct))
        votes.append(scfs._fit_matrix(sample).scores_)
    return ranks_of(np.array(votes))

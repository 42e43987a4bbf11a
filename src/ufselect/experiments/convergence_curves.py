"""The setting behind a published convergence curve.

A curve in print says neither weights nor start. Both are searched for: every point of
the published grid from each kind of start, on the table as it is and shifted, first for
a few iterations, then the best of them to the end, then these from other seeds. The
search ends when its seconds are over.
"""

import time
from collections.abc import Iterator
from itertools import count, product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.preprocessing import minmax_scale

from ufselect.data import read_labelled
from ufselect.experiments.cells import Located
from ufselect.experiments.published import PublishedResults
from ufselect.experiments.store import Float
from ufselect.matrix import as_matrix
from ufselect.registry import all_selectors
from ufselect.solvers.scfs_paper import PaperAlgorithm, PaperProblem
from ufselect.solvers.starts import isometric_rows, squared_distances

# Fuzzy c-means, by their exponents: the larger, the softer. One of 1.0005, as in the
# public code, is k-means in practice.
C_MEANS = {f"c-means {m:g}": m for m in (1.05, 1.1, 1.15, 1.2, 1.3, 1.5)}
STARTS = ("k-means", *C_MEANS, "random")
# What may have been done to the table; the solver itself shifts it as a whole, where it
# has negative values. The public script adds the absolute smallest value in any case.
SHIFTS = ("none", "plus abs(min X)", "columns from 0", "columns from 0 to 1")
GAMMA = 1e6
# The paper stops here, and prints the last value again.
TOLERANCE = 1e-5
# How many iterations tell which settings are worth going on with, and how many are.
SCREENING_ITERATIONS = 3
MAX_FINALISTS = 12
# Largest distance of any point from the printed one, as a share of the way that the
# printed curve goes. A share of the value would call every flat curve met.
MET, NEAR = 0.02, 0.2
# Nearer than this, nothing is left to search for.
SAME = 1e-4


class CurveSetting(NamedTuple):
    """All that a curve of the published algorithm depends on, besides the data."""

    shift: str
    start: str
    alpha: float
    beta: float
    seed: int

    def __str__(self) -> str:
        """Return the setting in words."""
        return f"{self.without_seed()}, seed {self.seed}"

    def without_seed(self) -> str:
        """Return what is not chance, in words."""
        shift = "" if self.shift == "none" else f", {self.shift}"
        weights = f"alpha={self.alpha:g}, beta={self.beta:g}"
        return f"{weights}, start by {self.start}{shift}"


class CurveFit(NamedTuple):
    """The setting whose curve lies nearest to a published one."""

    setting: CurveSetting
    history: Float
    residual: float
    n_settings: int

    @property
    def verdict(self) -> str:
        """Return "met", "near" or "not met"."""
        if self.residual <= MET:
            return "met"
        return "near" if self.residual <= NEAR else "not met"


# Draws five of the six curves of the SCFS paper, on which it was found. It is tried
# first: on large tables time may be over before the search comes to it.
KNOWN = CurveSetting("plus abs(min X)", "c-means 1.2", 1e4, 1e4, 0)


def fit_curve(table: Any, n_clusters: int, printed: Float, seconds: float) -> CurveFit:
    """Search for the setting that draws a published curve.

    Parameters
    ----------
    table : array of shape (n_samples, n_features)
    n_clusters : int
    printed : array
        The objective after each iteration.
    seconds : float
        No further setting is tried after so long; one is tried in any case.

    Returns
    -------
    fit : CurveFit
        Its residual is the largest distance of a point from the printed one, as a
        share of the way from the first printed point to the last.

    Examples
    --------
    >>> from ufselect.registry import all_selectors
    >>> X = np.random.RandomState(0).uniform(size=(20, 8))
    >>> scfs = all_selectors()["SCFS"](
    ...     n_clusters=2, solver="paper", alpha=100.0, beta=1.0, random_state=0
    ... ).set_params(max_iter=10)
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     curve = scfs.fit(X).objective_history_
    >>> found = fit_curve(X, 2, curve, seconds=20)
    >>> found.verdict, found.setting.alpha
    ('met', 100.0)
    """
    begun = time.monotonic()
    search = _Search(table, n_clusters, printed)
    few = min(SCREENING_ITERATIONS, len(printed))
    screened: dict[CurveSetting, float] = {}
    for setting in dict.fromkeys([KNOWN, *_settings()]):
        screened[setting] = search.residual(search.history(setting, few))
        # The other half of the time is for the best of these.
        late = time.monotonic() >= begun + seconds / 2
        if late or screened[setting] < SAME:
            break
    finalists = sorted(screened, key=screened.__getitem__)[:MAX_FINALISTS]
    # One more finalist to the end in each round, and those before from another seed.
    candidates = (
        finalists[place]._replace(seed=total - place)
        for total in count()
        for place in range(min(total + 1, len(finalists)))
    )
    best, nearest = finalists[0], search.history(next(candidates), len(printed))
    for candidate in candidates:
        late = time.monotonic() >= begun + seconds
        if late or search.residual(nearest) < SAME:
            break
        history = search.history(candidate, len(printed), begun + seconds)
        if search.residual(history) < search.residual(nearest):
            best, nearest = candidate, history
    return CurveFit(best, nearest, search.residual(nearest), search.n_settings)


def fit_curves(
    published: PublishedResults, located: Located, seconds: float
) -> dict[str, CurveFit]:
    """Search for the setting of every published curve whose data are there."""
    found: dict[str, CurveFit] = {}
    for name, described in published.sets.items():
        path = located.paths.get(described.catalogue_name)
        if path is not None:
            data, printed = read_labelled(path), published.convergence[name]
            n_clusters = len(np.unique(data.classes))
            fit = fit_curve(data.table, n_clusters, printed, seconds)
            found[described.catalogue_name] = fit
    return found


def _settings() -> Iterator[CurveSetting]:
    """Yield every setting with the first seed; one problem after the other."""
    grid = all_selectors()["SCFS"].PARAM_GRID
    for shift, start in product(SHIFTS, STARTS):
        for alpha, beta in product(grid["alpha"], grid["beta"]):
            yield CurveSetting(shift, start, alpha, beta, 0)


def c_means(
    points: Float,
    n_clusters: int,
    exponent: float,
    random: np.random.RandomState,
    max_iter: int = 300,
) -> Float:
    """Return the memberships of a fuzzy c-means from random ones.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> U = c_means(points, 2, 1.2, np.random.RandomState(0))
    >>> U.argmax(axis=1)[[0, 2]] == U.argmax(axis=1)[[1, 3]]
    array([ True,  True])
    """
    memberships = random.uniform(size=(len(points), n_clusters))
    memberships /= memberships.sum(axis=1, keepdims=True)
    for _ in range(max_iter):
        weights = memberships**exponent
        centres = weights.T @ points / weights.sum(axis=0)[:, np.newaxis]
        squared = np.maximum(squared_distances(points, centres), 1e-300)
        previous = memberships
        memberships = softmax(-np.log(squared) / (exponent - 1), axis=1)
        # Of six tolerances, the one that meets the published curve of Lymphoma best.
        if np.linalg.norm(memberships - previous) < 1e-4:
            break
    return memberships


class _Search:
    """A table and a printed curve; problems and starts are made once."""

    def __init__(self, table: Any, n_clusters: int, printed: Float) -> None:
        dense = table.toarray() if hasattr(table, "toarray") else np.asarray(table)
        dense = dense.astype(np.float64)
        self.tables = {
            "none": dense,
            "plus abs(min X)": dense + abs(dense.min()),
            "columns from 0": dense - dense.min(axis=0),
            "columns from 0 to 1": minmax_scale(dense),
        }
        self.n_clusters, self.printed = n_clusters, np.asarray(printed)
        self.n_settings = 0
        self._problems: dict[str, PaperProblem] = {}
        self._starts: dict[tuple[str, str, int], PaperAlgorithm] = {}

    def residual(self, history: Float) -> float:
        """Return the largest distance from the first points of the printed curve."""
        distance = np.max(np.abs(history - self.printed[: len(history)]))
        return float(distance / abs(self.printed[0] - self.printed[-1]))

    def history(
        self, setting: CurveSetting, n_iterations: int, deadline: float = np.inf
    ) -> Float:
        """Return the objective; a run that has converged repeats its last value.

        One that the deadline has stopped is infinitely far from all others.
        """
        self.n_settings += 1
        fit = self._algorithm(setting).fit(
            setting.alpha,
            setting.beta,
            n_iterations,
            TOLERANCE,
            callback=lambda *_: time.monotonic() >= deadline,
        )
        missing = n_iterations - len(fit.history)
        last = fit.history[-1] if fit.converged else np.inf
        return np.pad(fit.history, (0, missing), constant_values=last)

    def _algorithm(self, setting: CurveSetting) -> PaperAlgorithm:
        shift, start, seed = setting.shift, setting.start, setting.seed
        if shift not in self._problems:
            data = as_matrix(self.tables[shift])
            self._problems[shift] = PaperProblem(data, "auto", self.n_clusters, GAMMA)
        key = (shift, start, seed)
        if key not in self._starts:
            random = np.random.RandomState(seed)
            init: Any = start
            if start in C_MEANS:
                points = points_at_distances(self.tables[shift])
                init = c_means(points, self.n_clusters, C_MEANS[start], random)
            self._starts[key] = self._problems[shift].begin(init, random)
        return self._starts[key]


def points_at_distances(table: Float) -> Float:
    """Return points with the distances of the rows, in few dimensions."""
    centred = table - table.mean(axis=0)
    n_samples, n_features = table.shape
    return centred if n_features <= n_samples else isometric_rows(centred @ centred.T)

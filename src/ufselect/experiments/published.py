"""Published tables and curves, and how our results compare with them.

A curve in print says neither weights nor start. Both are searched for: every point of
the published grid from each kind of start, on the table as it is and shifted, first for
a few iterations, then the best of them to the end, then these from other seeds. The
search ends when its seconds are over.
"""

import math
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import count, product
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import minmax_scale

from ufselect.data import read_labelled
from ufselect.experiments.cells import Located
from ufselect.experiments.store import Float
from ufselect.matrix import as_matrix
from ufselect.selectors import all_selectors
from ufselect.solvers.scfs_paper import PaperAlgorithm, PaperProblem

# Tables are printed with two decimals, so a number is known to half of the last one.
HALF_OF_THE_LAST_DIGIT = 0.005
STARTS = ("k-means", "fuzzy", "random")
# What may have been done to the table; the solver itself shifts it as a whole, where it
# has negative values.
SHIFTS = ("none", "columns from 0", "columns from 0 to 1")
GAMMA = 1e6
# How many iterations tell which settings are worth going on with, and how many are.
SCREENING_ITERATIONS = 3
MAX_FINALISTS = 12
# Largest distance of any point from the printed one, as a share of the way that the
# printed curve goes. A share of the value would call every flat curve met.
MET, NEAR = 0.02, 0.2


class Published(NamedTuple):
    """One printed cell, in percent."""

    mean: float
    std: float


class PublishedSet(NamedTuple):
    """A data set as described in print, and its name in the catalogue here.

    ``reconstructed`` is the SHA-256 of a file that was rebuilt from other sources, and
    ``reconstruction`` says how.
    """

    samples: int
    features: int
    classes: int
    kind: str
    domain: str
    catalogue_name: str
    reconstructed: str = ""
    reconstruction: str = ""


Cells = Mapping[str, Mapping[str, Published]]


@dataclass(frozen=True)
class PublishedResults:
    """What a paper prints; methods and data sets go by the names in the paper.

    Attributes
    ----------
    name, title : str
        The name of the results here, and the title of the paper.
    methods : mapping of str to str
        The class here of each method in the tables. A method without one, such as the
        Baseline (k-means on all features), is absent.
    reasons : mapping of str to str
        Why our row of a method may differ, where that is known.
    properties : mapping of str to mapping
        Method and property to a printed word, True for a tick or False for a cross.
    sets : mapping of str to PublishedSet
        The data sets.
    accuracy, mutual_information : mapping of str to mapping
        Method and data set to the printed mean and standard deviation, in percent.
    convergence : mapping of str to array
        Objective after each iteration; a run that stopped repeats its last value.
    """

    name: str
    title: str
    methods: Mapping[str, str]
    reasons: Mapping[str, str]
    properties: Mapping[str, Mapping[str, str | bool]]
    sets: Mapping[str, PublishedSet]
    accuracy: Cells
    mutual_information: Cells
    convergence: Mapping[str, NDArray[np.float64]]

    @property
    def catalogue_names(self) -> dict[str, str]:
        """The name in the catalogue here of each data set of the paper.

        That a set is named does not say that its file is at hand.
        """
        return {name: described.catalogue_name for name, described in self.sets.items()}


@cache
def published(name: str) -> PublishedResults:
    """Return the results that the paper of this name prints.

    Examples
    --------
    >>> from ufselect.experiments.published import published
    >>> published("scfs-2020").accuracy["SCFS"]["Lymphoma"]
    Published(mean=64.87, std=1.59)
    """
    folder = files("ufselect.experiments") / "published_tables"
    names = sorted(path.name.removesuffix(".toml") for path in folder.iterdir())
    if name not in names:
        raise ValueError(
            f"no published results are called {name!r}; there are: {', '.join(names)}"
        )
    content = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
    content["sets"] = {
        key: PublishedSet(**entry) for key, entry in content["sets"].items()
    }
    for table in ("accuracy", "mutual_information"):
        for row in content[table].values():
            row |= {key: Published(*pair) for key, pair in row.items()}
    for key, curve in content["convergence"].items():
        content["convergence"][key] = np.array(curve)
        content["convergence"][key].flags.writeable = False
    return PublishedResults(
        name, **{key: _frozen(part) for key, part in content.items()}
    )


def _frozen(part: Any) -> Any:
    """Return tables in tables that nobody can change, for all callers share them."""
    if not isinstance(part, dict):
        return part
    return MappingProxyType({key: _frozen(inner) for key, inner in part.items()})


def verdict(ours_mean: float, cell: Published) -> str:
    """Say where our mean (in percent) lies: "within", "above" or "below".

    Within means at most two published standard deviations from the published mean.
    Both printed numbers are known to half of their last digit only, which is granted:
    a mean of 58.82 with a deviation of 0.00 reaches from 58.805 to 58.835.

    Examples
    --------
    >>> from ufselect.experiments.published import Published, verdict
    >>> verdict(65.97, Published(64.87, 1.59)), verdict(59.0, Published(58.82, 0.0))
    ('within', 'above')
    """
    if not math.isfinite(ours_mean):
        raise ValueError(
            f"a mean of {ours_mean} cannot be compared; leave out cells without result"
        )
    reach = 2 * (cell.std + HALF_OF_THE_LAST_DIGIT) + HALF_OF_THE_LAST_DIGIT
    if abs(ours_mean - cell.mean) <= reach:
        return "within"
    return "above" if ours_mean > cell.mean else "below"


class CurveSetting(NamedTuple):
    """All that a curve of the published algorithm depends on, besides the data."""

    shift: str
    start: str
    alpha: float
    beta: float
    seed: int

    def __str__(self) -> str:
        """Return the setting in words."""
        shift = "" if self.shift == "none" else f", {self.shift}"
        weights = f"alpha={self.alpha:g}, beta={self.beta:g}"
        return f"{weights}, {self.start} (seed {self.seed}){shift}"


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
    >>> from ufselect.selectors import all_selectors
    >>> X = np.random.RandomState(0).uniform(size=(20, 8))
    >>> scfs = all_selectors()["SCFS"](
    ...     n_clusters=2, solver="paper", alpha=100.0, beta=1.0, random_state=0
    ... ).set_params(max_iter=10, tol=0)
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     curve = scfs.fit(X).objective_history_
    >>> found = fit_curve(X, 2, curve, seconds=20)
    >>> found.verdict, found.setting.alpha
    ('met', 100.0)
    """
    begun = time.monotonic()
    deadline = begun + seconds
    search = _Search(table, n_clusters, printed)
    few = min(SCREENING_ITERATIONS, len(printed))
    screened: dict[CurveSetting, float] = {}
    for setting in _settings():
        screened[setting] = search.residual(setting, few)
        # The other half of the time is for the best of these.
        if time.monotonic() >= begun + seconds / 2:
            break
    finalists = sorted(screened, key=screened.__getitem__)[:MAX_FINALISTS]
    best, residual = finalists[0], np.inf
    # Each finalist to the end, then all from another seed, and so on.
    candidates = (
        setting._replace(seed=seed) for seed in count() for setting in finalists
    )
    for candidate in candidates:
        found = search.residual(candidate, len(printed))
        if found < residual:
            best, residual = candidate, found
        if time.monotonic() >= deadline or residual == 0:
            break
    history = search.history(best, len(printed))
    return CurveFit(best, history, residual, search.n_settings)


def fit_curves(
    published: PublishedResults, located: Located, seconds: float
) -> dict[str, CurveFit]:
    """Search for the setting of every published curve whose data are there."""
    found = {}
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


class _Search:
    """A table and a printed curve; problems and starts are made once."""

    def __init__(self, table: Any, n_clusters: int, printed: Float) -> None:
        dense = table.toarray() if hasattr(table, "toarray") else np.asarray(table)
        self.tables = {
            "none": dense,
            "columns from 0": dense - dense.min(axis=0),
            "columns from 0 to 1": minmax_scale(dense),
        }
        self.n_clusters, self.printed = n_clusters, np.asarray(printed)
        self.n_settings = 0
        self._problems: dict[str, PaperProblem] = {}
        self._starts: dict[tuple[str, str, int], PaperAlgorithm] = {}

    def residual(self, setting: CurveSetting, n_iterations: int) -> float:
        """Return the largest distance from the first points of the printed curve."""
        self.n_settings += 1
        history = self.history(setting, n_iterations)
        distance = np.max(np.abs(history - self.printed[:n_iterations]))
        return float(distance / abs(self.printed[0] - self.printed[-1]))

    def history(self, setting: CurveSetting, n_iterations: int) -> Float:
        """Return the objective; a run that has stopped repeats its last value."""
        algorithm = self._algorithm(setting)
        fit = algorithm.fit(
            setting.alpha,
            setting.beta,
            n_iterations,
            0.0,
            report=lambda *_: False,
        )
        values = np.asarray(fit.history)
        missing = n_iterations - len(values)
        return np.pad(values, (0, missing), mode="edge")

    def _algorithm(self, setting: CurveSetting) -> PaperAlgorithm:
        shift, start, seed = setting.shift, setting.start, setting.seed
        if shift not in self._problems:
            data = as_matrix(self.tables[shift])
            self._problems[shift] = PaperProblem(
                data, data.summary(), "auto", self.n_clusters, GAMMA
            )
        key = (shift, start, seed)
        if key not in self._starts:
            random = np.random.RandomState(seed)
            self._starts[key] = self._problems[shift].begin(start, random)
        return self._starts[key]

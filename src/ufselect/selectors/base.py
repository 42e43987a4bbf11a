"""The base class of all selectors."""

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ufselect._sklearn_compat import (
    COUNT,
    Interval,
    RealNotInt,
    fit_context,
)
from ufselect._warn import warn
from ufselect.matrix import (
    ColumnSummary,
    DataMatrix,
    Float,
    SparseMatrix,
    as_matrix,
    is_out_of_core,
    out_of_core_columns,
)
from ufselect.matrix.base import BLOCK_BYTES, MAX_TO_SQUARE
from ufselect.matrix.checks import (
    check_number_types,
    checked_matrix,
    column_names,
    one_line_errors,
)
from ufselect.matrix.inputs import is_anndata, unwrapped
from ufselect.solvers.iterations import Callback, progress_callback
from ufselect.solvers.neighbours import MAX_EXACT_SAMPLES, SEARCH_MEGABYTES
from ufselect.solvers.preparation import check_magnitudes

if TYPE_CHECKING:
    import pandas as pd


class Properties(NamedTuple):
    """The parts of a method: the columns of the comparison in the SCFS paper."""

    self_expression: str = "no"
    similarity: str = "no"
    adaptive_graph: bool = False
    joint_learning: bool = False
    clustering: bool = False
    regression: bool = False
    regularisation: bool = False


class MemoryNeed(NamedTuple):
    """Bytes that a fit takes for its own arrays, and their main purpose."""

    n_bytes: float
    purpose: str


def square_arrays(count: int, side: int, others: float) -> MemoryNeed:
    """Return the need for a number of square arrays, and for other bytes."""
    return MemoryNeed(8 * count * side**2 + others, f"dense {side} x {side} matrices")


def prepared_bytes(data: DataMatrix) -> int:
    """Return the bytes of a prepared copy of X, and of the work to make it."""
    if isinstance(data, SparseMatrix):
        return 16 * data.multiplications
    copy = 8 * data.multiplications
    return copy + min(copy, 2 * BLOCK_BYTES)


def graph_bytes(data: DataMatrix) -> int:
    """Return the bytes of a prepared copy and of the neighbour search among samples.

    Products of sparse samples are computed in blocks, sparse and then dense.
    """
    most = 3 * 10**6 * SEARCH_MEGABYTES
    if isinstance(data, SparseMatrix):
        return prepared_bytes(data) + min(16 * data.shape[0] ** 2, most)
    if data.shape[0] <= MAX_EXACT_SAMPLES:
        return prepared_bytes(data) + min(2 * data.shape[0] ** 2, most)
    # A search in cells also keeps the samples in single precision.
    return prepared_bytes(data) + 4 * data.multiplications + most // 2


class UnsupervisedSelector(SelectorMixin, BaseEstimator, metaclass=ABCMeta):
    """Base class of all selectors: validates, asks for scores, ranks.

    A method derives from this class, declares its parameters in ``__init__`` and
    ``_parameter_constraints`` and its parts in ``PROPERTIES``, and implements
    ``_score_features``. This class does the rest: input checks, number of features,
    order, names, output frames.
    """

    PROPERTIES: ClassVar[Properties] = Properties()
    # Whether X may be on a Dask cluster, or in a Zarr or HDF5 file.
    READS_OUT_OF_CORE: ClassVar[bool] = False
    # Whether X may hold values whose squares overflow or vanish.
    ANY_UNIT: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            None,
            COUNT,
            Interval(RealNotInt, 0, 1, closed="right"),
        ]
    }

    n_features_to_select: int | float | None
    max_memory: float
    feature_names_in_: NDArray[np.object_]
    scores_: Float
    order_: NDArray[np.intp]

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Score and rank the features of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array} of shape (n, p)
            Samples in rows. It is not changed. Some methods also take a Dask array or
            data frame, a Zarr array, an HDF5 data set or a backed matrix of AnnData.
        y : ignored
            Present for pipelines; it is not used.

        Returns
        -------
        self : object
        """
        return self._fit_matrix(self._checked(X))

    def _fit_matrix(self, matrix: DataMatrix) -> Self:
        """Score and rank the features of a checked matrix, or of some rows of one."""
        matrix = self._accepted(matrix)
        self._keep_scores(self._score_features(matrix), matrix)
        return self

    def _checked(self, X: Any) -> DataMatrix:
        """Check X, keep its column names, and return it as a matrix."""
        name, table = type(self).__name__, unwrapped(X)
        if is_out_of_core(table) and not self.READS_OUT_OF_CORE:
            package = type(table).__module__.split(".")[0]
            raise TypeError(
                f"{name} needs X in memory but was given {package}'s "
                f"{type(table).__name__}; use SCFS, LaplacianScore, MCFS or "
                "MaxVariance, which read such data in blocks, or give an array "
                "(X.compute() or X[:])."
            )
        matrix = checked_matrix(X, owner=name, in_blocks=self.READS_OUT_OF_CORE)
        if isinstance(X, DataMatrix):
            return matrix
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if not is_out_of_core(table):
            # scikit-learn keeps the names, and refuses names of several types.
            validate_data(self, table, reset=True, skip_check_array=True)
        if (names := column_names(X)) is not None:
            self.feature_names_in_ = names
        return matrix

    @one_line_errors()
    def _accepted(self, matrix: DataMatrix) -> DataMatrix:
        """Set the number of features, and return a matrix that can be ranked.

        What it needs in memory is checked before any pass over it.
        """
        matrix = self._suited(matrix)
        n_samples, n_features = matrix.shape
        self.n_features_in_ = n_features
        self.n_selected_ = self._resolve_number(n_features)
        if (need := self._memory_needed(matrix)) is not None:
            self._check_memory(need)
        summary = matrix.summary()
        # What is in memory was checked before.
        self._check_columns_finite(summary)
        if summary.constant.all():
            raise ValueError(
                f"All {n_features} columns of X are constant: there is nothing to "
                "rank. Check that samples are in rows and features in columns."
            )
        if not self.ANY_UNIT:
            check_magnitudes(summary, n_samples, name_of=self._column_name)
        is_array = not matrix.out_of_core or isinstance(matrix.raw, np.ndarray)
        if is_array and matrix.raw.dtype == np.float32:
            peak = max(np.abs(summary.minimum).max(), np.abs(summary.maximum).max())
            limit = MAX_TO_SQUARE[np.dtype(np.float32)]
            if not 1 / limit < peak < limit:
                # Products would overflow or vanish in single precision.
                matrix = as_matrix(matrix.raw.astype(np.float64))
        return matrix

    def _adopt_columns(self, other: Self) -> None:
        """Take over the columns that another selector has read."""
        for name in ("n_features_in_", "feature_names_in_", "n_selected_"):
            if hasattr(other, name):
                setattr(self, name, getattr(other, name))

    def _keep_scores(self, scores: Float, data: DataMatrix) -> None:
        """Set scores and order, with constant columns last."""
        if not np.isfinite(scores).all():
            raise ValueError(
                f"{type(self).__name__} found no finite score for every feature; "
                "rescale X towards values of order one."
            )
        constant = data.summary().constant
        if constant.any():
            lowest = scores[~constant].min()
            scores = scores.copy()
            scores[constant] = 0.0 if lowest > 0 else lowest - 1.0
        self.scores_ = scores
        self.order_ = np.argsort(-self.scores_, kind="stable")

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X; those of a Dask collection stay lazy."""
        if not is_out_of_core(X) and not is_anndata(X):
            check_number_types(X)
            return super().transform(X)
        check_is_fitted(self, "order_")
        self._check_columns(X)
        return out_of_core_columns(X, self.get_support(indices=True))

    def _check_columns(self, X: Any) -> None:
        """Raise an error if X does not have the columns of the fit."""
        name, shape = type(self).__name__, tuple(X.shape)
        if len(shape) != 2 or shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {shape[-1] if len(shape) == 2 else 'no'} features, but {name} "
                f"is expecting {self.n_features_in_} features as input."
            )
        fitted, given = getattr(self, "feature_names_in_", None), column_names(X)
        if fitted is not None and given is not None and list(fitted) != list(given):
            raise ValueError(
                f"The feature names of X should match those that {name} was fitted "
                "with, in the same order."
            )

    def ranking(self, names: Sequence[str] | None = None) -> "pd.DataFrame":
        """Return all features by rank, as a data frame.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the features; by default those of the X that was fitted, or "x0",
            "x1" and so on.

        Returns
        -------
        ranking : DataFrame
            Columns "rank" (1 is the best), "feature", "score" and "selected".
            `AutoSelect` adds "call", "explained" and "q_value", `StabilitySelection`
            adds "frequency", and `Consensus` the rank for each of its members.

        Examples
        --------
        >>> from ufselect import MaxVariance
        >>> X = [[0.0, 1.0, 5.0], [0.1, 3.0, 5.0], [0.0, 9.0, 5.0]]
        >>> MaxVariance(1).fit(X).ranking()
           rank feature     score  selected
        0     1      x1  3.399346      True
        1     2      x0  0.047140     False
        2     3      x2  0.000000     False
        """
        import pandas as pd

        check_is_fitted(self, "order_")
        order = self.order_
        if names is None:
            every = [f"x{place}" for place in range(len(order))]
            names = getattr(self, "feature_names_in_", every)
        ranks = np.arange(1, len(order) + 1)
        columns = {
            "rank": ranks,
            "feature": [str(names[column]) for column in order],
            "score": self.scores_[order],
            "selected": ranks <= self.n_selected_,
        }
        more = {name: values[order] for name, values in self._in_ranking().items()}
        return pd.DataFrame(columns | more)

    def _in_ranking(self) -> dict[str, NDArray[Any]]:
        """Return further columns for `ranking`."""
        return {}

    def plot(self, ax: Any = None) -> Any:
        """Plot the scores by rank and the cut, with `ufselect.pl.scores`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        from ufselect.plotting.curves import scores

        return scores(self, ax=ax)

    def _suited(self, matrix: DataMatrix) -> DataMatrix:
        """Return a matrix in the form in which the method reads it."""
        return matrix

    @abstractmethod
    def _score_features(self, data: DataMatrix) -> Float:
        """Return one score per feature, higher is better, and set learned attributes.

        Parameters
        ----------
        data : DataMatrix
            Finite, at least two rows; ``data.raw`` is the array itself, and
            ``data.summary()`` has minimum, maximum, mean and deviation of the columns.
        """

    def _memory_needed(self, data: DataMatrix) -> MemoryNeed | None:
        """Return the memory that a fit needs beside X, if it is much more than X.

        Such a method has a parameter ``max_memory``: a fit that needs more is refused
        before it starts.
        """
        return None

    def _check_memory(self, need: MemoryNeed) -> None:
        name, limit = type(self).__name__, self.max_memory
        sentence = f"{name} needs about {need.n_bytes:.3g} bytes for {need.purpose}"
        if need.n_bytes > limit:
            raise ValueError(
                f"{sentence} but max_memory={limit:.3g}; raise max_memory, take fewer "
                "samples or features, or use another method."
            )
        if getattr(self, "verbose", False):
            print(f"{sentence}.")  # noqa: T201 - for verbose

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "order_")
        mask = np.zeros(len(self.order_), dtype=bool)
        mask[self.order_[: self.n_selected_]] = True
        return mask

    def _check_columns_finite(self, summary: ColumnSummary) -> None:
        """Raise an error that names the first column with a NaN or an infinity."""
        bad = ~(np.isfinite(summary.minimum) & np.isfinite(summary.maximum))
        if bad.any():
            raise ValueError(
                f"Input X contains NaN or infinity in column "
                f"{self._column_name(int(bad.argmax()))}; impute or drop such values "
                "before selecting."
            )

    def _column_name(self, index: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return str(index) if names is None else repr(str(names[index]))

    def _resolve_number(self, n_features: int) -> int:
        wanted = self.n_features_to_select
        if wanted is None:
            return max(1, n_features // 2)
        if not isinstance(wanted, float | np.floating):
            if wanted > n_features:
                raise ValueError(
                    f"n_features_to_select={wanted} but X has {n_features} features; "
                    f"ask for at most {n_features}, or for a fraction such as 0.5."
                )
            return int(wanted)
        return max(1, int(n_features * wanted))

    def _check_n_clusters(self, n_clusters: int, n_samples: int) -> None:
        if n_clusters > n_samples:
            raise ValueError(
                f"n_clusters={n_clusters} but X has n_samples={n_samples}; "
                f"ask for at most {n_samples} clusters."
            )

    def _warn_not_converged(self, max_iter: int) -> None:
        warn(
            f"{type(self).__name__} stopped after max_iter={max_iter} iterations "
            "before converging; raise max_iter or tol.",
            ConvergenceWarning,
        )

    def __sklearn_tags__(self) -> Any:
        """Declare that sparse input is accepted and labels are not needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = False
        return tags


class IterativeSelector(UnsupervisedSelector):
    """Base class of iterative selectors: progress, objective history, warnings."""

    max_iter: int
    tol: float
    verbose: bool
    n_iter_: int
    objective_history_: Float

    def _callback(self, unit: float = 1.0) -> Callback:
        """Return the callback for a solver, whose objectives are for |X| = unit."""
        return progress_callback(type(self).__name__, verbose=self.verbose, unit=unit)

    def _keep_history(
        self, history: Sequence[float] | Float, unit: float = 1.0
    ) -> None:
        """Set the number of iterations and the objective after each."""
        self.objective_history_ = np.array(history) / unit / unit
        self.n_iter_ = len(history)

    def _warn_unless(self, converged: bool) -> None:
        """Warn if a fit ended without converging."""
        if self.n_iter_ == self.max_iter and not converged:
            self._warn_not_converged(self.max_iter)

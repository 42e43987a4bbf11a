"""The interface of data matrices for solvers.

A solver works with ``(diag(sample_scale) raw - 1 shift') diag(scale)``. The three
vectors are stored separately and applied inside each product, so that a sparse matrix
stays sparse, a memory-mapped array stays on disk, and nothing is copied. Products use
the precision of the raw data and return float64.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ufselect.matrix.cache import active, cached

if TYPE_CHECKING:
    from ufselect.matrix.arrays import InMemoryMatrix

Float = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]
Arrays = tuple[Float, ...]

# Arrays with a row per sample, stored where the samples are; only the matrix that
# returned them can read them.
AlignedRows = Any

# A function of a block of samples, the same rows of such arrays, and further arguments.
# It returns new rows of such arrays, and arrays to be summed over all blocks.
Step = Callable[..., tuple[Arrays, Arrays]]

# Approximate size of dense blocks of a matrix: large enough for full BLAS speed, small
# compared with the data.
BLOCK_BYTES = 8_000_000

# Sums of squares of numbers up to this, and down to its inverse, do not overflow or
# underflow.
MAX_TO_SQUARE = {np.dtype(np.float64): 1e100, np.dtype(np.float32): 1e12}

# Above this number of samples, an estimate from a subsample is accurate enough.
MAX_SAMPLES_LOOKED_AT = 5000
# Largest number of values in such a subsample.
LOOKED_AT = 40_000_000

# Below this many multiplications, a product is too small for several threads.
MIN_THREADED_PRODUCT = 5_000_000


@cache
def libraries() -> ThreadpoolController:
    """Return the thread pools of this process, cached since finding them is slow."""
    return ThreadpoolController()


# Above this number of values, products with a table are faster with several threads.
MIN_THREADED_VALUES = 4_000_000


def few_threads(n_values: float) -> AbstractContextManager[Any]:
    """Return a context with one BLAS and OpenMP thread if there are few values.

    For such small products, further threads would only wait and occupy processors.
    """
    if n_values >= MIN_THREADED_VALUES:
        return nullcontext()
    limits: AbstractContextManager[Any] = libraries().limit(limits=1)
    return limits


# Above this number of values, the order of the factors changes the speed of a product.
LARGE_FACTOR = 250_000


def column_sums(thin: Float) -> Float:
    """Return the column sums of a tall, thin array.

    BLAS is several times faster than a reduction along the long axis.
    """
    return np.ones(len(thin)) @ thin


def product_with(matrix: Any, thin: Float) -> Float:
    """Return ``matrix @ thin`` in the precision of the matrix, as float64.

    Converting the thin factor is cheap; NumPy would convert a copy of the matrix. The
    product has column order if the thin factor has.
    """
    thin = thin.astype(matrix.dtype, copy=False)
    in_columns = thin.flags.f_contiguous and not thin.flags.c_contiguous
    if in_columns or (isinstance(matrix, np.ndarray) and matrix.size > LARGE_FACTOR):
        # With the thin factor on the left, BLAS takes 50 to 90 % of the time.
        product = (thin.T @ matrix.T).T
        product = product if in_columns else np.ascontiguousarray(product)
    else:
        product = matrix @ thin
    return product.astype(np.float64, copy=False)


def is_memory_mapped(array: Any) -> bool:
    """Return whether an array is memory-mapped or a view of such an array."""
    while array is not None:
        if isinstance(array, np.memmap):
            return True
        array = getattr(array, "base", None)
    return False


class ColumnSummary(NamedTuple):
    """Minimum, maximum, mean and standard deviation of each column."""

    minimum: Float
    maximum: Float
    mean: Float
    deviation: Float

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Columns that are constant up to rounding errors.

        A column counts as constant if its standard deviation is of the order of the
        rounding error of its mean.
        """
        rounding = 10 * np.finfo(np.float64).eps * np.abs(self.mean)
        return (self.minimum == self.maximum) | (self.deviation <= rounding)

    def take(self, index: Index) -> "ColumnSummary":
        """Return the statistics of some columns."""
        return ColumnSummary(*(part[index] for part in self))


class PartialSummary(NamedTuple):
    """Column statistics of some samples, which can be merged with those of others."""

    n_samples: int
    columns: ColumnSummary

    @classmethod
    def of(cls, piece: Float) -> Self:
        """Return the statistics of a dense block, which is overwritten."""
        n_samples = len(piece)
        minimum, maximum = piece.min(axis=0), piece.max(axis=0)
        # Divide before adding, so that large values do not overflow.
        mean = np.full(n_samples, 1 / n_samples) @ piece
        piece -= mean
        spread = np.where(maximum > minimum, maximum - minimum, 1.0)
        limit = MAX_TO_SQUARE[piece.dtype]
        if spread.min() < 1 / limit or spread.max() > limit:
            # In units of the range, squares neither overflow nor underflow.
            piece /= spread
        else:
            spread = np.ones_like(spread)
        squares = np.einsum("ij,ij->j", piece, piece)
        deviation = spread * np.sqrt(squares / n_samples)
        return cls(n_samples, ColumnSummary(minimum, maximum, mean, deviation))

    def merged(self, other: "PartialSummary") -> "PartialSummary":
        """Return the statistics of both sets of samples together."""
        here, there = self.columns, other.columns
        n_samples = self.n_samples + other.n_samples
        share = other.n_samples / n_samples
        apart = np.abs(there.mean - here.mean)
        largest = np.maximum(np.maximum(here.deviation, there.deviation), apart)
        unit = np.where(largest > 0, largest, 1.0)
        squares = (1 - share) * (here.deviation / unit) ** 2
        squares += share * (there.deviation / unit) ** 2
        squares += share * (1 - share) * (apart / unit) ** 2
        merged = ColumnSummary(
            np.minimum(here.minimum, there.minimum),
            np.maximum(here.maximum, there.maximum),
            here.mean + share * (there.mean - here.mean),
            unit * np.sqrt(squares),
        )
        return PartialSummary(n_samples, merged)


def repeated(piece: Float) -> Float:
    """Return, for each column, the share of rows that equal its median.

    The array is overwritten.
    """
    middle = len(piece) // 2
    piece.partition(middle, axis=0)
    same = np.count_nonzero(piece == piece[middle], axis=0)
    return (same - 1) / max(1, len(piece) - 1)


class DataMatrix(ABC):
    """An n x p matrix whose columns are shifted and scaled without a copy.

    Subclasses implement products with the raw data and the reading of dense blocks;
    this class computes Gram matrices and column statistics from these blocks.
    """

    # Whether the data are not in memory, so that every pass over them is expensive.
    out_of_core = False
    # Whether rows are distributed over several workers.
    scattered = False
    # Whether means are so small, compared with standard deviations, that a product with
    # raw data can be corrected for the shift without cancellation.
    near_zero = False
    # Size of dense blocks of the matrix.
    block_bytes = BLOCK_BYTES
    # Statistics of the columns, once they are known.
    _summary: ColumnSummary | None = None

    def __init__(
        self,
        raw: Any,
        shift: Float | None = None,
        scale: Float | None = None,
        sample_scale: Float | None = None,
    ) -> None:
        self.raw = raw
        self.shape: tuple[int, int] = raw.shape
        self.shift = np.zeros(raw.shape[1]) if shift is None else shift
        self.scale = np.ones(raw.shape[1]) if scale is None else scale
        self.sample_scale = sample_scale
        # Whether the matrix equals its raw data.
        self.plain = shift is None and scale is None and sample_scale is None

    def affine(self, shift: Float, scale: Float, *, near_zero: bool = False) -> Self:
        """Return the same samples with another shift and scale.

        With ``near_zero``, products may be corrected for the shift afterwards.
        """
        view = copy.copy(self)
        view.shift, view.scale, view.plain = shift, scale, False
        view.near_zero |= near_zero
        return view

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and a cache of results take: all but the summary.

        A copy is made for other values.
        """
        return {name: each for name, each in vars(self).items() if name != "_summary"}

    def scale_samples(self, factors: Float) -> Self:
        """Return the raw data with each row multiplied by a factor."""
        n_features = self.shape[1]
        view = self.affine(np.zeros(n_features), np.ones(n_features))
        view.sample_scale = factors
        return view

    def with_unit_rows(self, unit: float, counted: Mask | None = None) -> Self:
        """Return the raw data with rows scaled to unit length; zero rows stay zero.

        The length is that over the counted columns, by default all. In the given unit,
        squares of these neither overflow nor underflow.
        """
        n_samples, n_features = self.shape
        shrunk = np.full(n_features, 1 / unit)
        if counted is not None:
            shrunk[~counted] = 0.0
        norms = self.affine(np.zeros(n_features), shrunk).row_norms()
        factors = np.ones(n_samples)
        np.divide(1 / unit, norms, out=factors, where=norms > 0)
        return self.scale_samples(factors)

    @abstractmethod
    def dot(self, right: Float) -> Float:
        """Return ``X @ right`` for a p x k array."""

    @abstractmethod
    def transpose_dot(self, left: Float) -> Float:
        """Return ``X.T @ left`` for an n x k array."""

    def aligned(self, *arrays: Float) -> AlignedRows:
        """Store arrays with a row per sample where the samples are."""
        return arrays

    def gather(self, beside: AlignedRows) -> Float:
        """Return the first of the stored arrays as one NumPy array."""
        result: Float = beside[0]
        return result

    def as_array(self, beside: AlignedRows) -> Any:
        """Return the first of the stored arrays, on Dask as a Dask array."""
        return self.gather(beside)

    def pick(self, beside: AlignedRows, index: Index) -> Float:
        """Return some rows, in ascending order, of the first of the stored arrays."""
        result: Float = beside[0][index]
        return result

    def over_rows(
        self, step: Step, beside: AlignedRows = (), *arguments: Any
    ) -> tuple[AlignedRows, Arrays]:
        """Apply a step to all blocks of samples; return stored arrays and sums.

        A step must not change its arguments, since it may be run again. The arrays
        ``beside`` may be overwritten.
        """
        return step(self, beside, *arguments)

    def sums_over_rows(
        self, step: Step, beside: AlignedRows = (), *arguments: Any
    ) -> Arrays:
        """Apply a step to all blocks of samples; return only the sums."""
        return self.over_rows(step, beside, *arguments)[1]

    def normal_dot(self, right: Float) -> Float:
        """Return ``X.T @ (X @ right)``, in one pass over the samples."""
        return self.sums_over_rows(_normal_dot, (), right)[0]

    def columns(self, index: Index | slice) -> Float:
        """Return some columns as a dense n x a array, which is a copy."""
        return self._affine(self.raw[:, index], slice(None), index)

    def rows(self, index: Index | slice) -> Float:
        """Return some rows as a dense array, which is a copy."""
        return self._affine(self.raw[index], index, slice(None))

    def _affine(self, raw: Any, rows: Index | slice, columns: Index | slice) -> Float:
        """Return raw values of these rows and columns, dense, shifted and scaled."""
        raw = raw.toarray() if bool(sp.issparse(raw)) else raw
        # Fancy indexing and reading from a file have made a copy already.
        view = isinstance(self.raw, np.ndarray) and np.may_share_memory(raw, self.raw)
        piece = (np.array if view else np.asarray)(raw, np.float64)
        if self.sample_scale is not None:
            piece *= self.sample_scale[rows, np.newaxis]
        shift, scale = self.shift[columns], self.scale[columns]
        if shift.any():
            piece -= shift
        if (scale != 1).any():
            piece *= scale
        return piece

    def by_columns(self) -> Self:
        """Return the same matrix, stored for fast access to blocks of columns."""
        return self

    def take(self, index: Index) -> "DataMatrix":
        """Return a matrix of some columns with the same shift and scale."""
        part = self._take(index)
        if self._summary is not None:
            part._summary = self._summary.take(index)
        return part

    @abstractmethod
    def _take(self, index: Index) -> "DataMatrix":
        """Return some columns; their statistics are copied if they are known."""

    @abstractmethod
    def take_rows(self, index: Index) -> "InMemoryMatrix":
        """Return some rows of a matrix without shift and scale, in memory."""

    def points(self) -> Any:
        """Return the samples as rows, up to a shift, for distances between them.

        A shift does not change distances, but would make a sparse matrix dense.
        """
        return self.rows(slice(None))

    @property
    def precision(self) -> "np.dtype[Any]":
        """Return the precision of products: float32 for float32 data, else float64."""
        single = np.dtype(np.float32)
        return single if self.raw.dtype == single else np.dtype(np.float64)

    def rounded(self, precision: "np.dtype[Any]") -> Self:
        """Return the same matrix with its raw data in this precision."""
        if self.precision == precision:
            return self
        view = copy.copy(self)
        view.raw = self.raw.astype(precision)
        return view

    @property
    def multiplications(self) -> int:
        """Return the number of multiplications in a product with one vector."""
        return self.shape[0] * self.shape[1]

    def column_blocks(self, chosen: Index | None = None) -> Iterator[Any]:
        """Yield slices or chosen columns that need little memory when dense."""
        if chosen is None:
            return self._slices(self.shape[1], self.shape[0])
        slices = self._slices(len(chosen), self.shape[0])
        return (chosen[block] for block in slices)

    def feature_gram(self) -> Float:
        """Return ``X.T @ X`` (p x p)."""
        if active.get() is None:
            return self._feature_gram()
        return cached(type(self)._feature_gram, self)

    def sample_gram(self) -> Float:
        """Return ``X @ X.T`` (n x n)."""
        if active.get() is None:
            return self.weighted_gram()
        return cached(type(self).weighted_gram, self)

    def _feature_gram(self) -> Float:
        gram = np.zeros((self.shape[1], self.shape[1]))
        for block in self._slices(self.shape[0], self.shape[1]):
            piece = self.rows(block)
            gram += piece.T @ piece
        return gram

    def weighted_gram(self, weights: Float | None = None) -> Float:
        """Return ``X diag(w) X.T`` (n x n) for weights >= 0, by default ones.

        The result is not cached, as weights change from step to step.
        """
        gram = np.zeros((self.shape[0], self.shape[0]))
        for block in self.column_blocks():
            piece = self.columns(block)
            if weights is not None:
                piece *= np.sqrt(weights[block])
            gram += piece @ piece.T
        return gram

    def limited_threads(self) -> AbstractContextManager[Any]:
        """Return a context with one BLAS thread if products are small.

        Rounding then does not depend on the number of threads.
        """
        # Products are with X X' if that is smaller, else with X, of which a matrix that
        # is out-of-core reads one block at a time.
        kernel, size = self.shape[0] ** 2, self.multiplications
        if kernel < size:
            size = kernel
        elif self.out_of_core:
            size = min(size, self.block_bytes // 8)
        if size >= MIN_THREADED_PRODUCT:
            return nullcontext()
        limit: AbstractContextManager[Any] = libraries().limit(
            limits=1, user_api="blas"
        )
        return limit

    def summary(self) -> ColumnSummary:
        """Return statistics of the columns, which are computed once."""
        if self._summary is None:
            # The caller checks the result for NaN and infinity.
            with np.errstate(invalid="ignore"):
                self._summary = self._column_summary()
        return self._summary

    def _column_summary(self) -> ColumnSummary:
        """Return statistics of the columns, in one pass over blocks of rows."""
        blocks = self._slices(*self.shape)
        parts = (PartialSummary.of(self.rows(block)) for block in blocks)
        return reduce(PartialSummary.merged, parts).columns

    def repetition(self) -> Float:
        """Return, for each column, the share of samples that equal its median.

        If there are many samples, evenly spaced ones are used.
        """
        n_samples, n_features = self.shape
        if n_samples > MAX_SAMPLES_LOOKED_AT:
            return repeated(self.rows(self.some_rows()))
        share = np.empty(n_features)
        for block in self.column_blocks():
            share[block] = repeated(self.columns(block))
        return share

    def some_rows(self) -> Index:
        """Return the indices of evenly spaced samples, or of all if there are few."""
        n_samples, n_features = self.shape
        n_looked_at = min(MAX_SAMPLES_LOOKED_AT, max(500, LOOKED_AT // n_features))
        if n_samples <= n_looked_at:
            return np.arange(n_samples)
        return np.arange(n_looked_at) * n_samples // n_looked_at

    def row_norms(self) -> Float:
        """Return the Euclidean norm of each row."""
        norms = np.empty(self.shape[0])
        for block in self._slices(*self.shape):
            norms[block] = np.linalg.norm(self.rows(block), axis=1)
        return norms

    def _slices(self, length: int, other_length: int) -> Iterator[slice]:
        step = max(1, self.block_bytes // (8 * max(1, other_length)))
        for start in range(0, length, step):
            yield slice(start, min(start + step, length))


def _normal_dot(block: DataMatrix, rows: Arrays, right: Float) -> tuple[Arrays, Arrays]:
    return (), (block.transpose_dot(block.dot(right)),)

"""What a solver may ask of a data matrix.

The matrix seen by a solver is ``(diag(sample_scale) raw - 1 shift') diag(scale)``.
The three vectors are kept beside the raw data and applied inside each product, so
that a sparse matrix stays sparse, a mapped one stays on disk and nothing is copied.
Products use the precision of the raw data; what they return is float64.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache, reduce
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ufselect.matrix.cache import active, cached

Float = NDArray[np.float64]
Index = NDArray[np.intp]
Arrays = tuple[Float, ...]

# Thin arrays with a row for each sample, kept where the samples are: they are only
# handed back to the matrix.
Beside = Any

# What is done with a block of samples: from the block, the rows beside it and further
# arguments to new rows beside it, and arrays to be summed over all blocks.
Step = Callable[..., tuple[Arrays, Arrays]]

# Dense pieces cut from a matrix are kept near this size: large enough for BLAS to
# run at full speed, small enough to vanish beside the data.
BLOCK_BYTES = 8_000_000

# Sums of squares of numbers up to here, or down to their inverse, are safe.
LARGEST_TO_SQUARE = {np.dtype(np.float64): 1e100, np.dtype(np.float32): 1e12}

# From so many samples on, a look at some of them says as much as one at all.
MANY_SAMPLES = 5000
# Values that such a look may take.
LOOKED_AT = 40_000_000

# Below this many multiplications a product is too short to share between threads.
SHORT_PRODUCT = 5_000_000


@cache
def libraries() -> ThreadpoolController:
    """Return the libraries of this process; to look for them takes milliseconds."""
    return ThreadpoolController()


# Values of a matrix from which on the order of its factors matters.
LARGE_FACTOR = 250_000


def column_sums(thin: Float) -> Float:
    """Return the sums of the columns of a tall, thin array.

    BLAS is several times faster at this than a reduction along the long axis.
    """
    return np.ones(len(thin)) @ thin


def product_with(matrix: Any, thin: Float) -> Float:
    """Return ``matrix @ thin`` in the precision of the matrix, as float64.

    Rounding a thin factor costs little; NumPy would rather copy the matrix. The product
    lies in columns if the thin factor does.
    """
    thin = thin.astype(matrix.dtype, copy=False)
    in_columns = thin.flags.f_contiguous and not thin.flags.c_contiguous
    if in_columns or (isinstance(matrix, np.ndarray) and matrix.size > LARGE_FACTOR):
        # With the thin factor on the left, BLAS takes 0.5 to 0.9 of the time.
        product = (thin.T @ matrix.T).T
        product = product if in_columns else np.ascontiguousarray(product)
    else:
        product = matrix @ thin
    return product.astype(np.float64, copy=False)


def is_memory_mapped(array: Any) -> bool:
    """Tell whether an array is, or is a view of, a file on disk."""
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
        """Columns that hold a single value, as far as rounding lets one tell.

        A column whose standard deviation is of the order of the rounding errors of
        its mean carries nothing but those errors.
        """
        rounding = 10 * np.finfo(np.float64).eps * np.abs(self.mean)
        return (self.minimum == self.maximum) | (self.deviation <= rounding)


class PartialSummary(NamedTuple):
    """Statistics of the columns of some samples, to be merged with those of others."""

    n_samples: int
    columns: ColumnSummary

    @classmethod
    def of(cls, piece: Float) -> Self:
        """Return the statistics of a dense piece, which is overwritten."""
        n_samples = len(piece)
        minimum, maximum = piece.min(axis=0), piece.max(axis=0)
        # Divided before they are added, large values do not overflow.
        mean = np.full(n_samples, 1 / n_samples) @ piece
        piece -= mean
        spread = np.where(maximum > minimum, maximum - minimum, 1.0)
        limit = LARGEST_TO_SQUARE[piece.dtype]
        if spread.min() < 1 / limit or spread.max() > limit:
            # In units of the range, squares neither overflow nor vanish.
            piece /= spread
        else:
            spread = np.ones_like(spread)
        squares = np.einsum("ij,ij->j", piece, piece)
        deviation = spread * np.sqrt(squares / n_samples)
        return cls(n_samples, ColumnSummary(minimum, maximum, mean, deviation))

    def merged(self, other: "PartialSummary") -> "PartialSummary":
        """Return the statistics of both samples together."""
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
    """Return, for each column, the share of rows that repeat its median.

    The piece is overwritten.
    """
    middle = len(piece) // 2
    piece.partition(middle, axis=0)
    same = np.count_nonzero(piece == piece[middle], axis=0)
    return (same - 1) / max(1, len(piece) - 1)


class DataMatrix(ABC):
    """An n x p matrix, shifted and scaled column by column without being copied.

    Subclasses say how raw data are multiplied and cut into dense pieces; the Gram
    matrices and the column statistics are built here from those pieces.
    """

    # Whether the data are somewhere else, and every pass over them is work.
    out_of_core = False
    # Whether they are in several places, so that rows do not meet but through us.
    scattered = False
    # Whether columns lie so near zero, compared with their spread, that a product with
    # raw data may be corrected for the shift and loses no digits.
    near_zero = False
    # The size of the dense pieces that are cut from the matrix.
    block_bytes = BLOCK_BYTES

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
        # Whether raw data are the matrix itself.
        self.plain = shift is None and scale is None and sample_scale is None

    def affine(self, shift: Float, scale: Float, *, near_zero: bool = False) -> Self:
        """Return the same samples seen through another shift and scale.

        With ``near_zero``, products may be shifted instead of data.
        """
        view = copy.copy(self)
        view.shift, view.scale, view.plain = shift, scale, False
        view.near_zero |= near_zero
        return view

    def scale_samples(self, factors: Float) -> Self:
        """Return the raw data with each row multiplied by a factor."""
        n_features = self.shape[1]
        view = self.affine(np.zeros(n_features), np.ones(n_features))
        view.sample_scale = factors
        return view

    def with_unit_rows(self, unit: float) -> Self:
        """Return the raw data with rows of length one; a zero row keeps its zeros.

        In the given unit, squares of the data neither overflow nor vanish.
        """
        n_samples, n_features = self.shape
        shrunk = np.full(n_features, 1 / unit)
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

    def beside(self, *arrays: Float) -> Beside:
        """Put thin arrays beside the samples."""
        return arrays

    def gather(self, beside: Beside) -> Float:
        """Bring the first of the arrays beside the samples together."""
        result: Float = beside[0]
        return result

    def as_array(self, beside: Beside) -> Any:
        """Return the first of the arrays beside the samples, wherever it is."""
        return self.gather(beside)

    def pick(self, beside: Beside, index: Index) -> Float:
        """Return some rows, in rising order, of the first array beside the samples."""
        result: Float = beside[0][index]
        return result

    def over_rows(
        self, step: Step, beside: Beside = (), *arguments: Any
    ) -> tuple[Beside, Arrays]:
        """Go through all samples once; return what is beside them then, and sums.

        A step changes nothing it is given, for it may be done again. What was beside
        the samples before may be overwritten.
        """
        return step(self, beside, *arguments)

    def sums_over_rows(
        self, step: Step, beside: Beside = (), *arguments: Any
    ) -> Arrays:
        """Go through all samples once; return the sums, and put nothing beside them."""
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
        """Return what was cut out from these places, dense, shifted and scaled."""
        raw = raw.toarray() if bool(sp.issparse(raw)) else raw
        # What fancy indexing cut out, and what was read from a file, is a copy already.
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
        """Return the same matrix, stored so that blocks of columns are cheap to cut."""
        return self

    @abstractmethod
    def take(self, index: Index) -> "DataMatrix":
        """Return a matrix of some columns, shifted and scaled as here."""

    def points(self) -> Any:
        """Return the samples in rows, up to a shift, to measure distances between.

        A shift changes no distance, and would fill a sparse matrix.
        """
        return self.rows(slice(None))

    @property
    def precision(self) -> "np.dtype[Any]":
        """Return the precision of products: float32 if the data are, or float64."""
        single = np.dtype(np.float32)
        return single if self.raw.dtype == single else np.dtype(np.float64)

    def rounded(self, precision: "np.dtype[Any]") -> Self:
        """Return the same view of data with this precision."""
        if self.precision == precision:
            return self
        view = copy.copy(self)
        view.raw = self.raw.astype(precision)
        return view

    @property
    def multiplications(self) -> int:
        """Return the multiplications in a product with one vector."""
        return self.shape[0] * self.shape[1]

    def column_blocks(self) -> Iterator[slice]:
        """Yield slices of columns that are small when made dense."""
        return self._slices(self.shape[1], self.shape[0])

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

        Weights change from step to step: nothing is cached.
        """
        gram = np.zeros((self.shape[0], self.shape[0]))
        for block in self.column_blocks():
            piece = self.columns(block)
            if weights is not None:
                piece *= np.sqrt(weights[block])
            gram += piece @ piece.T
        return gram

    def limited_threads(self) -> AbstractContextManager[Any]:
        """Return a context with one thread of BLAS where products are short.

        There, rounding does not depend on how many threads there are.
        """
        # What is multiplied over and over: X X' if it is the smaller, else X, of which
        # an out-of-core matrix holds a block at a time.
        kernel, size = self.shape[0] ** 2, self.multiplications
        if kernel < size:
            size = kernel
        elif self.out_of_core:
            size = min(size, self.block_bytes // 8)
        if size >= SHORT_PRODUCT:
            return nullcontext()
        limit: AbstractContextManager[Any] = libraries().limit(
            limits=1, user_api="blas"
        )
        return limit

    # A NaN or an infinity is for the caller to find in the result.
    @np.errstate(invalid="ignore")
    def summary(self) -> ColumnSummary:
        """Return statistics of the columns, in one pass over blocks of rows."""
        blocks = self._slices(*self.shape)
        parts = (PartialSummary.of(self.rows(block)) for block in blocks)
        return reduce(PartialSummary.merged, parts).columns

    def repetition(self) -> Float:
        """Return, for each column, the share of samples that repeat its median.

        Of many samples, some that are evenly spaced are looked at.
        """
        n_samples, n_features = self.shape
        if n_samples > MANY_SAMPLES:
            return repeated(self.rows(self.some_rows()))
        share = np.empty(n_features)
        for block in self.column_blocks():
            share[block] = repeated(self.columns(block))
        return share

    def some_rows(self) -> Index:
        """Return the places of evenly spaced samples, few enough to look at."""
        n_samples, n_features = self.shape
        n_looked_at = min(MANY_SAMPLES, max(500, LOOKED_AT // n_features))
        if n_samples <= n_looked_at:
            return np.arange(n_samples)
        return np.arange(n_looked_at) * n_samples // n_looked_at

    def row_norms(self) -> Float:
        """Return the Euclidean norm of each row."""
        norms = np.empty(self.shape[0])
        for block in self._slices(*self.shape):
            norms[block] = np.linalg.norm(self.rows(block), axis=1)
        return norms

    def row_hashes(self) -> Float:
        """Return, for each row, whole numbers that tell it from others.

        They depend on every value and its column, and not on how rows are stored, cut
        into blocks or spread over machines.
        """
        generator = np.random.default_rng(0)
        factors = generator.integers(2**63, size=self.shape[1], dtype=np.uint64)
        hashes, _ = self.over_rows(_row_hashes, (), 2 * factors + 1)
        return self.gather(hashes)

    def _slices(self, length: int, other_length: int) -> Iterator[slice]:
        step = max(1, self.block_bytes // (8 * max(1, other_length)))
        for start in range(0, length, step):
            yield slice(start, min(start + step, length))


def _normal_dot(block: DataMatrix, rows: Arrays, right: Float) -> tuple[Arrays, Arrays]:
    return (), (block.transpose_dot(block.dot(right)),)


def _row_hashes(
    block: DataMatrix, rows: Arrays, factors: NDArray[np.uint64]
) -> tuple[Arrays, Arrays]:
    hashes = np.empty((block.shape[0], 2))
    for piece in block._slices(*block.shape):
        # Zeros have no sign here. Sums and products wrap around, so that their order
        # does not matter.
        bits = (block.rows(piece) + 0.0).view(np.uint64)
        mixed = ((bits ^ (bits >> np.uint64(29))) * factors).sum(axis=1)
        # Halves, as floats hold whole numbers up to 2^53.
        hashes[piece, 0], hashes[piece, 1] = mixed >> np.uint64(32), mixed % 2**32
    return (hashes,), ()

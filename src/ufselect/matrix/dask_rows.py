"""Matrices on a Dask cluster: rows stay on the workers, and only sums are returned.

Every pass over the rows is one Dask graph, with a task for each chunk and a tree that
adds up the results. Arrays with a row per sample stay on the worker that computed them.
Tasks do not change their inputs, so that Dask can run the tasks of a lost worker again
with the same result.
"""

import copy
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from ufselect.matrix.arrays import DenseMatrix, RowBlockMatrix, SparseMatrix, unmasked
from ufselect.matrix.base import (
    AlignedRows,
    Arrays,
    ColumnSummary,
    DataMatrix,
    Float,
    Index,
    Mask,
    PartialSummary,
    Step,
    repeated,
)

# Number of results that one task of the tree adds up.
FAN_IN = 8


class ChunkView(NamedTuple):
    """Shift, scale and columns that are applied to a chunk."""

    shift: Float
    scale: Float
    # If given, rows are scaled to unit length, in this unit and over these columns.
    unit_rows: tuple[float, Mask | None] | None
    columns: Index | None
    near_zero: bool

    def block(self, chunk: Any) -> DataMatrix:
        """Return the matrix interface over a chunk."""
        matrix = chunk_matrix(chunk)
        if self.unit_rows is not None:
            matrix = matrix.with_unit_rows(*self.unit_rows)
        if self.columns is not None:
            matrix = matrix.take(self.columns)
        return matrix.affine(self.shift, self.scale, near_zero=self.near_zero)


def chunk_matrix(chunk: Any) -> DataMatrix:
    """Return the matrix interface over the data of a chunk."""
    if bool(sp.issparse(chunk)):
        return SparseMatrix(chunk.tocsr())
    values = unmasked(chunk)
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    # RowBlockMatrix subtracts the shift before products, which avoids cancellation.
    return RowBlockMatrix(values)


class DaskMatrix(DataMatrix):
    """A Dask array with known chunks of rows.

    Parameters
    ----------
    raw : dask.array.Array of shape (n, p)
        Chunked along rows only.
    """

    out_of_core = scattered = True

    def __init__(self, raw: Any) -> None:
        super().__init__(raw)
        chunks = zip(raw.to_delayed().ravel(), raw.chunks[0], strict=True)
        # Drop empty chunks, which a filter may leave.
        filled = [(chunk, size) for chunk, size in chunks if size]
        self.chunks: list[Any] = [chunk for chunk, _ in filled]
        self.sizes: list[int] = [size for _, size in filled]
        self._unit_rows: tuple[float, Mask | None] | None = None
        self._columns: Index | None = None

    def scale_samples(self, factors: Float) -> Self:
        """Return the data with each row multiplied by a factor."""
        from dask.delayed import delayed

        view = super().scale_samples(factors)
        view._unit_rows = None
        view.chunks = [
            delayed(_scaled)(chunk, part)
            for chunk, part in zip(self.chunks, self._parts(factors), strict=True)
        ]
        return view

    def with_unit_rows(self, unit: float, counted: Mask | None = None) -> Self:
        """Return the raw data with rows scaled to unit length on the workers."""
        n_features = self.shape[1]
        view = self.affine(np.zeros(n_features), np.ones(n_features))
        view._unit_rows = unit, counted
        return view

    def _take(self, index: Index) -> "DaskMatrix":
        """Return a matrix of some columns, which stay on the workers."""
        view = copy.copy(self)
        view._columns = index if self._columns is None else self._columns[index]
        view.shift, view.scale = self.shift[index], self.scale[index]
        view.shape = (self.shape[0], len(index))
        return view

    def aligned(self, *arrays: Float) -> AlignedRows:
        """Send arrays with a row per sample to the workers."""
        from dask.base import persist
        from dask.delayed import delayed

        parts = [
            delayed((rows, ()), traverse=False)
            for rows in zip(*map(self._parts, arrays), strict=True)
        ]
        # One by one: Dask warns of large arrays in a graph.
        return [persist(part)[0] for part in parts]

    def gather(self, beside: AlignedRows) -> Float:
        """Return the first of the stored arrays as one NumPy array."""
        from dask.base import compute
        from dask.delayed import delayed

        return np.concatenate(compute(*(delayed(_first)(each) for each in beside)))

    def as_array(self, beside: AlignedRows) -> Any:
        """Return the first of the stored arrays as a Dask array."""
        import dask.array as da
        from dask.delayed import delayed

        width = delayed(_first)(beside[0]).shape[1].compute()
        parts = [
            da.from_delayed(delayed(_first)(each), (size, width), np.float64)
            for each, size in zip(beside, self.sizes, strict=True)
        ]
        return da.concatenate(parts)

    def pick(self, beside: AlignedRows, index: Index) -> Float:
        """Return some rows of the first of the stored arrays."""
        from dask.delayed import delayed

        return self._picked(delayed(_rows_of), beside, index)

    def _picked(
        self, cut: Callable[[Any, Index], Any], parts: Sequence[Any], index: Index
    ) -> Float:
        """Return the rows of an index, cut from the parts that contain them."""
        from dask.base import compute

        ends = np.cumsum(self.sizes)
        owner = np.searchsorted(ends, index, side="right")
        # For an empty index, the first part gives the number of columns.
        owners = np.unique(owner) if len(index) else np.zeros(1, np.intp)
        starts = ends - self.sizes
        cuts = compute(
            *(cut(parts[i], index[owner == i] - starts[i]) for i in owners.tolist())
        )
        result = np.empty((len(index), cuts[0].shape[1]))
        for i, rows in zip(owners, cuts, strict=True):
            result[owner == i] = rows
        return result

    def over_rows(
        self, step: Step, beside: AlignedRows = (), *arguments: Any
    ) -> tuple[AlignedRows, Arrays]:
        """Apply a step to all chunks on the workers."""
        from dask.base import persist
        from dask.delayed import delayed

        done = self._on_chunks(_do, step, beside, arguments)
        # Separate tasks, so that only the sums leave the workers.
        sums = [delayed(_sums_of)(each) for each in done]
        *done, total = persist(*done, tree(delayed(_added), sums))
        return done, _fetched(total)

    def sums_over_rows(
        self, step: Step, beside: AlignedRows = (), *arguments: Any
    ) -> Arrays:
        """Apply a step to all chunks; return sums and release those of the chunks."""
        from dask.delayed import delayed

        sums = self._on_chunks(_do_sums, step, beside, arguments)
        total: Arrays = tree(delayed(_added), sums).compute()
        return total

    def _on_chunks(
        self,
        do: Callable[..., Any],
        step: Step,
        beside: AlignedRows,
        arguments: tuple[Any, ...],
    ) -> list[Any]:
        """Return a task for each chunk and its rows of the stored arrays."""
        from dask.delayed import delayed

        shared = delayed((self._view(), arguments), traverse=False)
        kept = beside or [((), ())] * len(self.chunks)
        return [
            delayed(do)(step, shared, chunk, here)
            for chunk, here in zip(self.chunks, kept, strict=True)
        ]

    def _view(self) -> ChunkView:
        return ChunkView(
            self.shift, self.scale, self._unit_rows, self._columns, self.near_zero
        )

    def _parts(self, array: Float) -> list[Float]:
        """Return an array with a row per sample, split like the chunks."""
        return np.split(array, np.cumsum(self.sizes)[:-1])

    def dot(self, right: Float) -> Float:
        """Return ``X @ right`` as one array."""
        return self.gather(self.over_rows(_dot, (), right)[0])

    def transpose_dot(self, left: Float) -> Float:
        """Return ``X.T @ left``; ``left`` is sent to the workers."""
        return self.sums_over_rows(_transpose_dot, self.aligned(left))[0]

    def rows(self, index: Index | slice) -> Float:
        """Return some rows as a dense array."""
        from dask.delayed import delayed

        shared = delayed(self._view(), traverse=False)

        def cut(chunk: Any, part: Index) -> Any:
            return delayed(_cut)(shared, chunk, part)

        return self._picked(cut, self.chunks, np.arange(self.shape[0])[index])

    def take_rows(self, index: Index) -> DenseMatrix:
        """Return some rows in memory."""
        return DenseMatrix(self.rows(index))

    def columns(self, index: Index | slice) -> Float:
        """Return some columns as one array."""
        places = np.arange(self.shape[1])[index]
        return self.take(places).rows(slice(None))

    def _feature_gram(self) -> Float:
        return self.sums_over_rows(_gram)[0]

    def _column_summary(self) -> ColumnSummary:
        """Return statistics of the columns, merged from those of the chunks."""
        from dask.delayed import delayed

        shared = delayed(self._view(), traverse=False)
        parts = [
            delayed(_summary)(shared, chunk, (size, self.raw.shape[1]))
            for chunk, size in zip(self.chunks, self.sizes, strict=True)
        ]
        found: PartialSummary = tree(delayed(_merged), parts).compute()
        return found.columns

    def repetition(self) -> Float:
        """Return the share of evenly spaced samples that equal the median."""
        return repeated(self.rows(self.some_rows()))


def groups(parts: Sequence[Any]) -> list[list[Any]]:
    """Return the parts in groups of a few."""
    return [list(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]


def tree(merge: Callable[[list[Any]], Any], parts: Sequence[Any]) -> Any:
    """Return one result, merged from many in a tree."""
    while len(parts) > 1:
        parts = [merge(group) for group in groups(parts)]
    return parts[0]


def _fetched(persisted: Any) -> Any:
    """Return a persisted result without submitting another graph."""
    held = persisted.__dask_graph__()[persisted.key]
    return held.result() if hasattr(held, "result") else persisted.compute()


def _do(
    step: Step, shared: tuple[ChunkView, tuple[Any, ...]], chunk: Any, here: Any
) -> tuple[Arrays, Arrays]:
    view, arguments = shared
    return _over_chunk(view.block(chunk), step, here[0], arguments)


def _do_sums(
    step: Step, shared: tuple[ChunkView, tuple[Any, ...]], chunk: Any, here: Any
) -> Arrays:
    return _do(step, shared, chunk, here)[1]


def _over_chunk(
    block: DataMatrix, step: Step, rows: Arrays, arguments: tuple[Any, ...]
) -> tuple[Arrays, Arrays]:
    # RowBlockMatrix overwrites the rows it is given, which Dask may use again.
    return block.over_rows(step, block.aligned(*rows), *arguments)


def _first(done: tuple[Arrays, Arrays]) -> Float:
    return done[0][0]


def _rows_of(done: tuple[Arrays, Arrays], index: Index) -> Float:
    return done[0][0][index]


def _sums_of(done: tuple[Arrays, Arrays]) -> Arrays:
    return done[1]


def _added(sums: list[Arrays]) -> Arrays:
    return tuple(np.sum(arrays, axis=0) for arrays in zip(*sums, strict=True))


def _scaled(chunk: Any, factors: Float) -> Any:
    if bool(sp.issparse(chunk)):
        return sp.diags_array(factors) @ chunk
    return np.asarray(chunk) * factors[:, np.newaxis]


def _cut(view: ChunkView, chunk: Any, index: Index) -> Float:
    return view.block(chunk).rows(index)


def _summary(view: ChunkView, chunk: Any, shape: tuple[int, int]) -> PartialSummary:
    # This is the first pass over the data, which checks the shapes for later ones.
    if chunk.shape != shape:
        raise ValueError(
            f"X is a Dask array with a chunk of shape {chunk.shape}, but its metadata "
            f"declare {shape}; build it with the true chunk sizes, or call "
            "X.compute_chunk_sizes()."
        )
    block = view.block(chunk)
    return PartialSummary(block.shape[0], block.summary())


@np.errstate(invalid="ignore")
def _merged(parts: list[PartialSummary]) -> PartialSummary:
    return reduce(PartialSummary.merged, parts)


def _dot(block: DataMatrix, rows: Arrays, right: Float) -> tuple[Arrays, Arrays]:
    return (block.dot(right),), ()


def _transpose_dot(block: DataMatrix, rows: Arrays) -> tuple[Arrays, Arrays]:
    return (), (block.transpose_dot(rows[0]),)


def _gram(block: DataMatrix, rows: Arrays) -> tuple[Arrays, Arrays]:
    return (), (block.feature_gram(),)

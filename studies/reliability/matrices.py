"""Hypothesis strategies for small, badly behaved matrices.

A matrix is drawn in three steps: values, changes to them, and the container. The random
numbers of most values come from one drawn seed, which is a hundred times as fast as
drawing each.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

# Sampled, for what is drawn as an integer is small more often than not.
N_ROWS, N_COLUMNS, N_CHANGES = range(2, 15), range(1, 10), range(5)
DTYPES = ["float64", "float32", "int64", "int8", "uint8", "bool"]
FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
LARGEST_INTEGER = 2**62

Matrix = np.ndarray
Change = Callable[[Any, Matrix], Matrix]


def values(draw: Any) -> Matrix:
    """Return numbers of one kind: noise, clusters, ties, counts, or anything at all."""
    n, p = draw(st.sampled_from(N_ROWS)), draw(st.sampled_from(N_COLUMNS))
    kind = draw(st.sampled_from(["noise", "clusters", "ties", "counts", "any"]))
    if kind == "any":
        number = st.floats(-1e300, 1e300, allow_subnormal=True)
        return draw(arrays(np.float64, (n, p), elements=number))
    random = np.random.RandomState(draw(st.integers(0, 2**31)))
    if kind == "ties":
        return random.randint(-1, 2, (n, p)).astype(float)
    if kind == "counts":
        return random.poisson(0.5, (n, p)).astype(float)
    noise = random.standard_normal((n, p))
    if kind == "clusters":
        noise += 5.0 * random.randint(3, size=(n, 1)) * random.randint(2, size=p)
    return noise


def repeat_rows(draw: Any, X: Matrix) -> Matrix:
    """Return as many rows, drawn with repetition."""
    return X[draw(st.lists(st.integers(0, len(X) - 1), min_size=2, max_size=len(X)))]


def repeat_columns(draw: Any, X: Matrix) -> Matrix:
    """Return the columns with some of them again."""
    again = st.lists(st.integers(0, X.shape[1] - 1), min_size=1, max_size=3)
    return np.hstack([X, X[:, draw(again)]])


def hold_columns(draw: Any, X: Matrix) -> Matrix:
    """Return a matrix with a constant column, of any value."""
    column = draw(st.integers(0, X.shape[1] - 1))
    X[:, column] = draw(st.sampled_from([0.0, 0.1, -7.0, 1e8, 1e-300, 1e300]))
    return X


def combine_columns(draw: Any, X: Matrix) -> Matrix:
    """Return a matrix with a column that is the sum of the others."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.column_stack([X, X @ np.linspace(-1.0, 2.0, X.shape[1])])


def scale(draw: Any, X: Matrix) -> Matrix:
    """Return the matrix in another unit."""
    with np.errstate(over="ignore", under="ignore"):
        return X * 10.0 ** draw(st.integers(-300, 300))


def scale_columns(draw: Any, X: Matrix) -> Matrix:
    """Return a matrix whose columns have units of their own."""
    exponents = st.lists(
        st.integers(-300, 300), min_size=X.shape[1], max_size=X.shape[1]
    )
    with np.errstate(over="ignore", under="ignore"):
        return X * 10.0 ** np.array(draw(exponents), dtype=float)


def scale_a_row(draw: Any, X: Matrix) -> Matrix:
    """Return a matrix with one sample far from the others."""
    with np.errstate(over="ignore", under="ignore"):
        X[draw(st.integers(0, len(X) - 1))] *= 10.0 ** draw(st.integers(-300, 300))
    return X


def shift(draw: Any, X: Matrix) -> Matrix:
    """Return the matrix far from zero."""
    return X + 10.0 ** draw(st.integers(0, 16))


def empty_rows(draw: Any, X: Matrix) -> Matrix:
    """Return a matrix in which most rows hold one value at most."""
    some = draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=len(X)))
    X[np.ix_(np.unique(some), np.arange(X.shape[1] - draw(st.integers(0, 1))))] = 0.0
    return X


def spoil(draw: Any, X: Matrix) -> Matrix:
    """Return a matrix with a value that is not a number."""
    place = draw(st.integers(0, len(X) - 1)), draw(st.integers(0, X.shape[1] - 1))
    X[place] = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    return X


CHANGES: list[Change] = [
    repeat_rows,
    repeat_columns,
    hold_columns,
    combine_columns,
    scale,
    scale_columns,
    scale_a_row,
    shift,
    empty_rows,
]


def as_dtype(X: Matrix, dtype: str) -> Matrix:
    """Return the values as they would be stored in a type."""
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        most = min(np.iinfo(kind).max, LARGEST_INTEGER)
        least = max(np.iinfo(kind).min, -LARGEST_INTEGER)
        return np.clip(np.nan_to_num(X), least, most).astype(kind)
    with np.errstate(over="ignore", under="ignore"):
        return X.astype(kind)


def untidy(draw: Any, X: Matrix) -> sp.csr_array:
    """Return a sparse matrix with explicit zeros, unsorted indices and duplicates."""
    stored = sp.coo_array(X)
    rows, columns, data = stored.row, stored.col, stored.data
    if draw(st.booleans()):
        # Half of a value twice, but for a type that has no halves: zero and itself.
        halves = data.dtype.kind == "f"
        parts = [data / 2, data / 2] if halves else [np.zeros_like(data), data]
        rows, columns = np.tile(rows, 2), np.tile(columns, 2)
        data = np.concatenate(parts)
    zeros = draw(st.integers(0, 3))
    rows = np.append(rows, np.arange(zeros) % X.shape[0])
    columns = np.append(columns, np.arange(zeros) % X.shape[1])
    data = np.append(data, np.zeros(zeros, X.dtype))
    # By row and otherwise backwards, which is as unsorted as can be.
    order = np.lexsort((-columns, rows))
    starts = np.searchsorted(rows[order], np.arange(X.shape[0] + 1))
    return sp.csr_array((data[order], columns[order], starts), shape=X.shape)


def contained(draw: Any, X: Matrix) -> Any:
    """Return the values in one of the containers that people have."""
    kind = draw(st.sampled_from(["C", "F", "view", "frame", "sparse", "untidy"]))
    if kind == "C":
        return np.ascontiguousarray(X)
    if kind == "F":
        return np.asfortranarray(X)
    if kind == "view":
        return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    if kind == "frame":
        return pd.DataFrame(X, columns=[f"gene {i}" for i in range(X.shape[1])])
    if kind == "untidy":
        return untidy(draw, X)
    made = draw(st.sampled_from([sp.csr_array, sp.csr_matrix]))(X)
    return made.asformat(draw(st.sampled_from(FORMATS)))


@st.composite
def tables(draw: Any, *, gaps: bool = True) -> Any:
    """Return a matrix in a container; with gaps, one in ten has a NaN or infinity."""
    X = values(draw)
    for _ in range(draw(st.sampled_from(N_CHANGES))):
        X = draw(st.sampled_from(CHANGES))(draw, X)
    if gaps and draw(st.integers(0, 9)) == 9:
        X = spoil(draw, X)
    return contained(draw, as_dtype(X, draw(st.sampled_from(DTYPES))))

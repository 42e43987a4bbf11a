"""Hypothesis strategies: small, badly behaved tables, matrices and names.

The random numbers of most values come from one drawn seed, which is a hundred times as
fast as drawing each.
"""

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

# Sampled, for what is drawn as an integer is small more often than not.
N_ROWS, N_COLUMNS, N_CHANGES = range(2, 15), range(1, 10), range(5)
DTYPES = ["float64", "float32", "int64", "int8", "uint8", "bool"]
FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
MAX_INTEGER = 2**62


def values(draw):
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


def change(draw, X):
    """Return a matrix with one of the faults that tables have."""
    n, p = X.shape
    row, column = st.integers(0, n - 1), st.integers(0, p - 1)
    exponent = st.integers(-300, 300)
    kind = draw(st.integers(0, 8))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if kind == 0:  # repeated rows
            return X[draw(st.lists(row, min_size=2, max_size=n))]
        if kind == 1:  # repeated columns
            again = draw(st.lists(column, min_size=1, max_size=3))
            return np.hstack([X, X[:, again]])
        if kind == 2:  # a constant column
            level = st.sampled_from([0.0, 0.1, -7.0, 1e8, 1e-300, 1e300])
            X[:, draw(column)] = draw(level)
        elif kind == 3:  # a column that depends on the others
            return np.column_stack([X, X @ np.linspace(-1.0, 2.0, p)])
        elif kind == 4:  # another unit
            return X * 10.0 ** draw(exponent)
        elif kind == 5:  # units of their own
            powers = draw(st.lists(exponent, min_size=p, max_size=p))
            return X * 10.0 ** np.array(powers, dtype=float)
        elif kind == 6:  # a sample far from the others
            X[draw(row)] *= 10.0 ** draw(exponent)
        elif kind == 7:  # far from zero
            return X + 10.0 ** draw(st.integers(0, 16))
        else:  # rows that hold one value at most
            some = np.unique(draw(st.lists(row, min_size=1, max_size=n)))
            X[some, : p - draw(st.integers(0, 1))] = 0.0
    return X


def as_dtype(X, dtype):
    """Return the values as they would be stored in a type."""
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        highest = min(np.iinfo(kind).max, MAX_INTEGER)
        lowest = max(np.iinfo(kind).min, -MAX_INTEGER)
        return np.clip(np.nan_to_num(X), lowest, highest).astype(kind)
    with np.errstate(over="ignore", under="ignore"):
        return X.astype(kind)


def untidy(draw, X):
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


def contained(draw, X):
    """Return the values in one of the containers that people have."""
    kind = draw(st.sampled_from(["C", "F", "view", "frame", "sparse", "untidy"]))
    if kind == "C":
        return np.ascontiguousarray(X)
    if kind == "F":
        return np.asfortranarray(X)
    if kind == "view":
        return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    if kind == "frame":
        names = st.lists(NAMES, min_size=X.shape[1], max_size=X.shape[1], unique=True)
        return pd.DataFrame(X, columns=draw(names))
    if kind == "untidy":
        return untidy(draw, X)
    made = draw(st.sampled_from([sp.csr_array, sp.csr_matrix]))(X)
    return made.asformat(draw(st.sampled_from(FORMATS)))


@st.composite
def tables(draw, *, gaps=True):
    """Return a matrix in a container; with gaps, one in ten has a NaN or infinity."""
    X = values(draw)
    for _ in range(draw(st.sampled_from(N_CHANGES))):
        X = change(draw, X)
    if gaps and draw(st.integers(0, 9)) == 9:
        place = tuple(draw(st.integers(0, length - 1)) for length in X.shape)
        X[place] = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    return contained(draw, as_dtype(X, draw(st.sampled_from(DTYPES))))


@st.composite
def matrices(draw):
    """Return a small matrix with repeated rows and columns and constant columns."""
    n, p = draw(st.integers(2, 15)), draw(st.integers(1, 12))
    # Rounded: what underflows has tests of its own.
    number = st.floats(-1e6, 1e6).map(lambda value: round(value, 9))
    number |= st.integers(-3, 3).map(float)
    X = draw(arrays(np.float64, (n, p), elements=number))
    X = X[draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n) | st.just(...))]
    for column in draw(st.lists(st.integers(0, p - 1), max_size=3)):
        X[:, column] = X[:, 0] if draw(st.booleans()) else X[0, column]
    return X


# What spreadsheets, pages and file systems could take for something else.
ODD_NAMES = [
    "=1+1",
    "'=cmd()",
    "''+a",
    "@a",
    "-1.5",
    "'-1.5",
    "\uff1da",
    "'tis",
    "<b>",
    "a,b",
    'a"b',
    "a\tb",
    "x\u202egnp.exe",
    "ä",
]
NAMES = st.sampled_from(ODD_NAMES) | st.text(
    st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8
)

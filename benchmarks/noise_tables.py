"""Tables without any structure: what is found in them is found by mistake."""

import numpy as np
import scipy.sparse as sp
from halves import paths_of_halves

from ufselect.data import read_labelled

SAMPLES = (60, 300)
COLUMNS = (200, 5000)


def gaussian(rng, n, p):
    """Return independent normal values."""
    return rng.normal(size=(n, p))


def heavy_tailed(rng, n, p):
    """Return values of Student's t with 2 or 3 degrees of freedom."""
    return rng.standard_t(rng.integers(2, 4), size=(n, p))


def counts(rng, n, p):
    """Return Poisson counts; columns have rates of their own, samples have not."""
    return rng.poisson(rng.lognormal(0.5, 1.0, size=p), size=(n, p)).astype(float)


def permuted(rng, n, p):
    """Return some of a real table, with the values of every column in random order."""
    paths = [path for half in paths_of_halves().values() for path in half]
    table = read_labelled(paths[rng.integers(len(paths))]).table
    rows = rng.permutation(table.shape[0])[:n]
    columns = rng.permutation(table.shape[1])[:p]
    some = table[rows][:, columns]
    some = np.asarray(some.toarray() if sp.issparse(some) else some, dtype=float)
    some = some[:, some.min(axis=0) < some.max(axis=0)]
    return rng.permuted(some, axis=0)


KINDS = {
    "Gaussian": gaussian,
    "heavy-tailed": heavy_tailed,
    "counts": counts,
    "permuted real": permuted,
}


def noise_table(kind, seed):
    """Return a table of one kind, of a size that depends on the seed.

    Samples are uniform between their bounds, columns on a logarithmic scale. A permuted
    table has fewer of either if the real one has.
    """
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    n = int(rng.integers(SAMPLES[0], SAMPLES[1] + 1))
    p = round(np.exp(rng.uniform(*np.log(COLUMNS))))
    return KINDS[kind](rng, n, p)

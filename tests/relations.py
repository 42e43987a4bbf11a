"""What the ranking of each method depends on, and what it does not.

    python tests/relations.py

writes ``docs/methods/relations.md``, and the lists in the pages of the methods, from
the tables of this file. ``test_relations.py`` holds every method to them.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from textwrap import fill
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from quick_selectors import made, variants

from ufselect import (
    MCFS,
    AutoSelect,
    Consensus,
    GraphEnergy,
    StabilitySelection,
    all_selectors,
)

FOLDER = Path(__file__).parents[1] / "docs" / "methods"
FILE = FOLDER / "relations.md"
WIDTH = 140

# Scores are the same if they differ by at most this share of their range, and in the
# same order if their rank correlation is above this.
ROUNDING, SAME_ORDER = 1e-6, 0.97

N_SELECTED = 8

CONSENSUS = "Consensus of MCFS and GraphEnergy"
STABILITY = "StabilitySelection of LaplacianScore"

# Where all digits take most of the time.
QUICK = {"NDFS": {"tol": 1e-3}, "SCFS": {"max_iter": 10}}


@cache
def selectors():
    """Return the selectors that are tried, with a seed, by name."""
    wanted = {"n_features_to_select": N_SELECTED}
    found = {
        name: made(method, **wanted, **QUICK.get(name, {}))
        for name, method in all_selectors().items()
    }
    return found | {
        **variants(**wanted),
        "AutoSelect": made(AutoSelect),
        CONSENSUS: made(Consensus, selectors=[MCFS(), GraphEnergy()], **wanted),
        STABILITY: made(StabilitySelection, n_subsamples=4, **wanted),
    }


# Tables


def measurements(n_samples=40, n_features=18):
    """Return three groups in a third of the columns, each in a unit of its own."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_samples, n_features))
    levels = random.normal(scale=2, size=(3, n_features // 3))
    X[:, : n_features // 3] += levels[np.arange(n_samples) % 3]
    offsets = random.normal(scale=3, size=n_features)
    return X * np.exp(random.uniform(-1, 1, n_features)) + offsets


def counts(n_samples=40, n_features=18):
    """Return counts of three groups that differ in a third of the columns."""
    random = np.random.default_rng(1)
    rates = np.exp(random.normal(scale=0.5, size=(3, n_features)))
    rates[1:, n_features // 3 :] = rates[0, n_features // 3 :]
    return random.poisson(2 * rates[np.arange(n_samples) % 3]).astype(float)


def noise(n_samples=24, n_features=36):
    """Return independent columns without groups, for which a start matters most."""
    return np.random.default_rng(75).normal(size=(n_samples, n_features))


# Changes of a table


def permutation(size):
    return np.random.default_rng(3).permutation(size)


def with_constants(X):
    """Return X between constant columns, one of them large."""
    one = np.ones((len(X), 1))
    return np.hstack([5000 * one, X, -7 * one, 0 * one])


def own_units(X):
    factors = np.exp(np.random.default_rng(4).uniform(-2, 2, X.shape[1]))
    return X * factors


class Relation(NamedTuple):
    """A change of X, and what it should not change.

    ``back`` returns the scores of the columns of X from those of the changed table.
    """

    means: str
    tables: tuple[Callable, ...]
    change: Callable
    back: Callable = lambda scores: scores
    same_scores: bool = True
    parameters: Mapping = MappingProxyType({})


RELATIONS = {
    "order of features": Relation(
        "The features are permuted. Of features at equal distances from another, as in "
        "small tables of counts, the graphs of REFS and SGFS take the first ones.",
        (measurements, noise),
        lambda X: X[:, permutation(X.shape[1])],
        lambda scores: scores[np.argsort(permutation(len(scores)))],
    ),
    "order of samples": Relation(
        "The samples are permuted. Of samples at equal distances from another, all "
        "graphs take the first ones.",
        (measurements, noise),
        lambda X: X[permutation(len(X))],
    ),
    "seed": Relation(
        "Another `random_state`.",
        (measurements, noise),
        lambda X: X,
        same_scores=False,
        parameters={"random_state": 7},
    ),
    "sign of features": Relation(
        "Every second feature is multiplied by -1.",
        (measurements,),
        lambda X: X * np.where(np.arange(X.shape[1]) % 2, -1.0, 1.0),
    ),
    "offset of features": Relation(
        "A number is added to each feature.",
        (measurements,),
        lambda X: X + np.linspace(-20, 20, X.shape[1]),
    ),
    "unit of X": Relation(
        "All of X is multiplied by one number. The scores may have the unit of X.",
        (measurements, counts),
        lambda X: 1e6 * X,
        same_scores=False,
    ),
    "unit of single features": Relation(
        "Each feature is multiplied by a positive number. This is for measurements; "
        'with `standardize="auto"`, counts and codes keep their common unit.',
        (measurements, noise),
        own_units,
    ),
    "constant features": Relation(
        "Constant features are added, also large ones such as 5000 beside counts.",
        (measurements, counts),
        with_constants,
        lambda scores: scores[1:-2],
    ),
    "features twice": Relation(
        "Every feature is there twice, and twice as many are selected. The better one "
        "of each pair counts.",
        (measurements, counts),
        lambda X: np.hstack([X, X]),
        lambda scores: scores.reshape(2, -1).max(axis=0),
        same_scores=False,
        parameters={"n_features_to_select": 2 * N_SELECTED},
    ),
    "samples twice": Relation(
        "Every sample is there twice.",
        (measurements, counts),
        lambda X: np.vstack([X, X]),
        same_scores=False,
    ),
}


# Arrays of other types with the same numbers


def strided(X):
    wide = np.zeros((2 * len(X), 3 * X.shape[1]))
    wide[::2, ::3] = X
    return wide[::2, ::3]


def read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def named(X):
    return [f"gene {place}" for place in range(X.shape[1])]


def polars_frame(X):
    import polars

    return polars.DataFrame(X, schema=named(X))


def mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def on_dask(X):
    import dask.array

    return dask.array.from_array(X, chunks=(10, X.shape[1]))


def in_hdf5(X, folder):
    import h5py

    path = folder / f"{len(X)}.h5"
    with h5py.File(path, "w") as file:
        file["X"] = X
    return h5py.File(path)["X"]


class ArrayType(NamedTuple):
    """Another type of array with the same numbers, for tables that it can hold."""

    convert: Callable
    tables: tuple[Callable, ...] = (measurements, noise)
    same_scores: bool = True
    out_of_core: bool = False


ARRAY_TYPES = {
    "float32": ArrayType(lambda X, _: X.astype(np.float32), same_scores=False),
    "integers": ArrayType(lambda X, _: X.astype(np.int16), (counts,)),
    "Fortran order": ArrayType(lambda X, _: np.asfortranarray(X)),
    "strided": ArrayType(lambda X, _: strided(X)),
    "read-only": ArrayType(lambda X, _: read_only(X), (noise,)),
    "CSR": ArrayType(lambda X, _: sp.csr_array(X), (counts, noise)),
    "CSC": ArrayType(lambda X, _: sp.csc_array(X), (counts, noise)),
    "pandas": ArrayType(lambda X, _: pd.DataFrame(X, columns=named(X)), (noise,)),
    "polars": ArrayType(lambda X, _: polars_frame(X), (noise,)),
    "memory-mapped": ArrayType(mapped),
    "Dask": ArrayType(lambda X, _: on_dask(X), out_of_core=True),
    "HDF5": ArrayType(in_hdf5, out_of_core=True),
}


# What does not hold, and why

NMF = ("LDSSL", "MFFS", 'MFFS, shift="table"', "SGFS")
ALL_SPEC = ("SPEC", "SPEC, phi=1", "SPEC, phi=3")
ALL_GLSPFS = ("GLSPFS", 'GLSPFS, "lle"', 'GLSPFS, "ltsa"')

# For each relation, reasons why methods do not hold it.
DEPENDS_ON = {
    "order of features": {
        "It draws positions, whatever feature is there.": ("RandomSelection",),
    },
    "order of samples": {
        "The start is random, by the position of the samples, and the objective has "
        "many minima.": NMF,
        "k-means starts from samples that are drawn by their position. Where clusters "
        "are clear, all starts end alike.": ("NDFS", "SCFS"),
        "Subsamples are drawn by the position of the samples.": (
            *("AutoSelect", "GraphEnergy", STABILITY),
        ),
        "One of its selectors does.": (CONSENSUS,),
    },
    "seed": {
        "The start is random, and the objective has many minima.": NMF,
        "k-means starts from random samples. Where clusters are clear, all starts end "
        "alike.": ("NDFS", "SCFS"),
        "Subsamples are random, and so are the permuted copies of AutoSelect.": (
            *("AutoSelect", "GraphEnergy", STABILITY),
        ),
        "One of its selectors does.": (CONSENSUS,),
        "It is random.": ("RandomSelection",),
    },
    "sign of features": {
        "X has to be non-negative: after the shift, a feature of the other sign is "
        "another one.": NMF,
        "A feature and its negative are far apart in the graph of features.": ("REFS",),
    },
    "offset of features": {
        "A feature that is not centred is compared with eigenvectors.": ALL_SPEC[1:],
        "One number is added to all of X to make it non-negative.": (
            'MFFS, shift="table"',
        ),
    },
    "unit of X": {},
    "unit of single features": {
        "X is taken in its own units: features of a large variance weigh more. Scale "
        "them first if they have different units.": (
            *("CPFS", "GraphEnergy", "JELSR", *NMF, "LaplacianScore", "MaxVariance"),
            *("NDFS", *ALL_SPEC),
        ),
        "X is taken in its own units if the structure is clear in them.": (
            "AutoSelect",
        ),
        "One of its selectors does.": (*(CONSENSUS, STABILITY),),
    },
    "constant features": {},
    "features twice": {
        "Copies have a random start of their own.": NMF,
        "Opposite weights of a feature and its copy cancel in X W, so that the "
        "smallest eigenvalues belong to such pairs, of whatever features.": ("UDFS",),
        "The ridge leaves an error that a copy of a chosen feature lowers, so that "
        "some choices are copies. The first choices stay the same.": ("REFS",),
        "It draws positions, whatever feature is there.": ("RandomSelection",),
    },
    "samples twice": {
        "The copy of a sample is its nearest neighbour, so that a graph of the same "
        "n_neighbors reaches fewer others. Remove repeated samples first.": (
            *("FSASL", *ALL_GLSPFS, "GraphEnergy", "JELSR", "LaplacianScore", "MCFS"),
            *("NDFS", *ALL_SPEC, "SPUFS", "UDFS"),
        ),
        "One of its selectors does.": (*(CONSENSUS, STABILITY),),
        "Twice the samples have another random start.": (*NMF, "SCFS"),
        "A sample and its copy count as independent, so that more features seem to be "
        "related to the structure. Remove repeated samples first.": ("AutoSelect",),
    },
}


def why_not(method, relation):
    """Return the reason why a method does not hold a relation, None if it does."""
    for reason, methods in DEPENDS_ON[relation].items():
        if method in methods:
            return reason
    return None


def applies(selector, relation):
    """Return whether a fit of the selector can be changed in this way."""
    return relation != "seed" or "random_state" in selector.get_params()


# The page

HEAD = """# What a ranking depends on

The tests change tables in these ways and compare the scores. *same* means the same
scores up to rounding, *order* the same order of features (a rank correlation above
{order}), and a number a reason below why neither holds.

{means}

{relations}

{reasons}

## Types of arrays

The same numbers in another type of array give the *same* scores, or the same *order* in
single precision. Methods that do not read a type of array refuse it. On Dask and in
files, LaplacianScore and MCFS use landmarks if there are many samples, which changes
their scores; [large tables](../scale.md) has the details.

{arrays}
"""


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page():
    """Return the page of both tables in Markdown."""
    reasons: dict = {}
    rows, arrays = [], []
    for method, selector in selectors().items():
        row, by_array = [method], [method]
        for relation, what in RELATIONS.items():
            reason = why_not(method, relation)
            held = "same" if what.same_scores else "order"
            if reason:
                held = str(reasons.setdefault(reason, len(reasons) + 1))
            row.append(held if applies(selector, relation) else "no seed")
        for kind in ARRAY_TYPES.values():
            held = "same" if kind.same_scores else "order"
            read = selector.READS_OUT_OF_CORE or not kind.out_of_core
            by_array.append(held if read else "refused")
        rows.append(row)
        arrays.append(by_array)
    means = (f"* **{name}**: {each.means}" for name, each in RELATIONS.items())
    numbered = (f"{number}. {reason}" for reason, number in reasons.items())
    return HEAD.format(
        order=SAME_ORDER,
        means="\n".join(means),
        relations=table(["method", *RELATIONS], rows),
        reasons="\n".join(numbered),
        arrays=table(["method", *ARRAY_TYPES], arrays),
    )


def lists(method):
    """Return what the ranking of a method does not depend on, and what it does."""
    selector = selectors()[method]
    known = [relation for relation in RELATIONS if applies(selector, relation)]
    return {
        "Invariant to": [each for each in known if why_not(method, each) is None],
        "Not invariant to": [each for each in known if why_not(method, each)],
    }


def with_lists(method, text):
    """Return the page of a method with its lists as they are in the tables."""
    for title, names in lists(method).items():
        item = re.search(rf"^\* {title}: [^.]*\.(.*?)(?=\n\* |\n\n)", text, re.M | re.S)
        if item:
            words = (
                f"* {title}: {', '.join(names)}. {' '.join(item[1].split())}".strip()
            )
            written = fill(words, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
            text = text.replace(item[0], written)
    return text


def main():
    FILE.write_text(page(), encoding="utf-8")
    for method in all_selectors():
        own = FOLDER / f"{method.lower()}.md"
        own.write_text(with_lists(method, own.read_text("utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()

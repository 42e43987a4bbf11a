"""The examples of the gallery run, draw, and show what they say."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from ufselect.report import Plot

pyplot = pytest.importorskip("matplotlib.pyplot")

EXAMPLES = sorted(Path(__file__).parents[1].glob("examples/*.py"))


@pytest.fixture(autouse=True)
def no_window():
    for needed in ("anndata", "dask.array"):
        pytest.importorskip(needed)
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def best(names, count):
    return set(names["selector"].order_[:count])


# What a reader learns from an example, looked up among the names that it leaves.
LESSONS = {
    "beta_path": lambda names: np.all(
        np.diff(np.count_nonzero(names["norms"], axis=1)) >= 0
    ),
    "cells": lambda names: names["small"].var["marker"].mean() > 0.9,
    "clustering_pipeline": lambda names: np.sum(names["chosen"] < 13) >= 9,
    "critical_difference": lambda names: (
        names["ranks"].idxmin() == "SCFS"
        and names["p_values"].loc["SCFS", "LS"]
        < 0.05
        < names["p_values"].loc["SCFS", "NDFS"]
    ),
    "dask_rows": lambda names: np.array_equal(names["order"], names["near"].order_),
    "false_discoveries": lambda names: (
        15 <= names["found"].largest_k <= 25 and names["nothing"].largest_k == 0
    ),
    # The corners are the same in nearly all drawings.
    "digits": lambda names: not best(names, 20) & {0, 7, 56, 63},
    "genes": lambda names: (
        names["found"].mean() > 0.9 and names["by_variance"].mean() < 0.2
    ),
    "methods_compared": lambda names: (
        names["shares"]["blobs"]["SCFS"] > 90
        and names["shares"]["blobs"]["RandomSelection"] < 50
    ),
    "stability": lambda names: 0 < names["selector"].stability_.value < 1,
    "words": lambda names: (
        set(names["words"][names["order"][:30]])
        == set(" ".join(names["subjects"].values()).split())
    ),
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws_and_shows_what_it_says(path):
    if path.stem == "critical_difference":
        pytest.importorskip("scikit_posthocs")
    names = runpy.run_path(str(path))

    drawn = any(isinstance(value, Plot) for value in names.values())
    assert drawn or pyplot.get_fignums()
    assert LESSONS[path.stem](names)


def test_there_are_at_least_ten():
    assert len(EXAMPLES) >= 10
    assert LESSONS.keys() == {path.stem for path in EXAMPLES}

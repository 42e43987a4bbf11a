"""Rankings do not depend on the kernels that BLAS picks for a processor."""

import json
import os
import platform
import subprocess
import sys
import warnings
from itertools import combinations

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from ufselect import AutoSelect, all_selectors
from ufselect.data import data_folder, read_labelled

# SkylakeX needs AVX-512, and is what OpenBLAS falls back from where there is none.
KERNELS = ["Haswell", "Nehalem", "SkylakeX"]
OLD_KERNELS = ["Prescott", "Sandybridge"]
TABLES = ["lung_small", "colon", "Yale", "lymphoma"]
METHODS = [
    *("MCFS", "REFS", "JELSR", "LaplacianScore", "NDFS", "UDFS", "GraphEnergy"),
    *("SCFS", "AutoSelect"),
]
N_BEST = 50

uses_openblas = any(each["internal_api"] == "openblas" for each in threadpool_info())


def rankings():
    """Return the best features of every method and table, in this process."""
    methods = {**all_selectors(), "AutoSelect": AutoSelect}
    best = {}
    for table in TABLES:
        X = read_labelled(data_folder() / f"{table}.mat").table[:150, :400]
        X = np.ascontiguousarray(X, dtype=np.float64)
        for name in METHODS:
            selector = methods[name]()
            given = {"random_state": 0, "n_clusters": 5}
            if name == "AutoSelect":
                del given["n_clusters"]
            selector.set_params(
                **{key: given[key] for key in given if key in selector.get_params()}
            )
            best[f"{name} on {table}"] = selector.fit(X).order_[:N_BEST].tolist()
    return best


def rankings_under(kernel):
    done = subprocess.run(
        [sys.executable, __file__],
        env=os.environ | {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or not uses_openblas,
    reason="kernels are chosen by OpenBLAS for x86-64",
)
@pytest.mark.parametrize(
    "kernels", [KERNELS, pytest.param(KERNELS + OLD_KERNELS, marks=pytest.mark.nightly)]
)
def test_at_most_two_rankings_depend_on_the_kernel_and_by_one_feature(
    data_folder, kernels
):
    found = [rankings_under(kernel) for kernel in kernels]

    others = {
        name: max(
            len(set(one[name]) - set(other[name]))
            for one, other in combinations(found, 2)
        )
        for name in found[0]
    }
    different = {name: count for name, count in others.items() if count}
    assert len(others) == len(TABLES) * len(METHODS)
    assert len(different) <= 2, different
    assert max(different.values(), default=0) <= 1, different


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(rankings()))  # noqa: T201 - read by the test

"""SCFS of a float32 table: what is rounded, and that the answer stays."""

import numpy as np
import pytest

from ufselect import SCFS
from ufselect.data import read_labelled
from ufselect.matrix import as_matrix
from ufselect.solvers.scfs import SCFSProblem

BEST = 100


@pytest.mark.parametrize("name", ["Prostate-GE", "colon"])
def test_the_best_hundred_columns_do_not_depend_on_the_precision(name, data_folder):
    data = read_labelled(data_folder / f"{name}.mat")
    single = data.table.astype(np.float32)
    selector = SCFS(BEST, n_clusters=2, random_state=0)
    best, expected = (
        set(selector.fit(table).order_[:BEST])
        for table in (single, single.astype(np.float64))
    )

    assert best == expected


@pytest.mark.parametrize("shape", [(30, 70), (60, 20)], ids=["wide", "tall"])
def test_the_objective_does_not_depend_on_the_precision(planted, shape):
    single = planted(*shape).X.astype(np.float32)
    low, high = (
        SCFS(n_clusters=3, random_state=0).fit(table)
        for table in (single, single.astype(np.float64))
    )

    assert low.objective_history_[-1] == pytest.approx(
        high.objective_history_[-1], rel=1e-4
    )
    assert low.scores_.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_every_step_multiplies_by_has_the_digits_of_X(planted, dtype):
    problems = []
    for shape in [(12, 40), (40, 12)]:
        data = as_matrix(planted(*shape).X.astype(dtype))
        problems.append(SCFSProblem(data, "features", 3, True))
    wide, tall = problems
    partition = wide.begin("random", np.random.RandomState(0)).partition

    assert partition.K.dtype == dtype
    assert wide.K.dtype == np.float64
    assert tall.gram.dtype == dtype


def test_whole_numbers_on_disk_are_not_rounded_to_such(planted, tmp_path):
    numbers = np.round(100 * planted(40, 12).X).astype(np.int16)
    np.save(tmp_path / "numbers.npy", numbers)
    mapped = np.load(tmp_path / "numbers.npy", mmap_mode="r")
    selector = SCFS(n_clusters=3, random_state=0)
    scores = selector.fit(mapped).scores_

    np.testing.assert_allclose(
        scores, selector.fit(numbers.astype(np.float64)).scores_, rtol=1e-6
    )

"""The second process fits as this one does, and ends with its work."""

import signal
import subprocess
from functools import partial

import numpy as np
import pytest

from ufselect import AutoSelect
from ufselect.matrix import as_matrix
from ufselect.report import selection_report
from ufselect.report.halves import fit_halves
from ufselect.report.second_process import SecondProcess, begin, second_process


def test_the_second_process_ends_with_its_work():
    process = SecondProcess()
    with pytest.raises(subprocess.TimeoutExpired):
        process._process.wait(0.01)
    process.close()

    assert process._process.returncode == -signal.SIGKILL
    assert begin(dict) is None


def test_with_one_core_there_is_no_second_process(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 1)
    with second_process():
        assert begin(dict) is None


def table():
    X = np.random.default_rng(0).normal(size=(60, 30))
    X[:, :9] += 3 * np.repeat([0, 1, 2], 20)[:, np.newaxis]
    return X


def test_fits_to_halves_are_the_same_in_a_second_process():
    data, groups = as_matrix(table()), np.repeat(np.arange(12), 5)
    fits = partial(fit_halves, data, AutoSelect(), 2, 7, groups=groups, n_jobs=1)
    with second_process():
        beside = begin(fits).result()
    here = fits()

    assert [rows.tolist() for rows in beside.rows] == [
        rows.tolist() for rows in here.rows
    ]
    assert set(here.rows[0]) | set(here.rows[1]) == set(range(60))
    np.testing.assert_array_equal(beside.scores, here.scores)
    assert beside.warned == here.warned


@pytest.mark.parametrize("fails", [False, True], ids=["fits", "fails"])
def test_a_report_uses_fits_that_have_begun_or_fits_itself(fails):
    X = table()
    selector = AutoSelect(random_state=0).fit(X)
    # Without samples the fits fail, which ends the process.
    begun = as_matrix(X[:0] if fails else X)
    with second_process():
        halves = begin(
            partial(fit_halves, begun, AutoSelect(random_state=0), 2, 0, n_jobs=1)
        )
        beside = selection_report(X, selector, effort="quick", halves=halves)
    here = selection_report(X, selector, effort="quick")

    assert (halves.result() is None) == fails
    assert beside.stability.frame().equals(here.stability.frame())
    assert beside.against_random.frame().equals(here.against_random.frame())

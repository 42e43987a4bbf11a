"""The judges of studies see what they are there for; samples of what these try."""

import gc
from functools import partial
from weakref import ref

import mpmath
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from studies.reliability import conditioning, many_digits, repeatability
from studies.reliability.conditioning import NOT_OF_OFFSETS, NOT_OF_UNITS, planted
from studies.reliability.fuzzed_matrices import SELECTORS
from studies.reliability.long_runs import METHODS, fit_of, repeated
from studies.reliability.promises import (
    BrokenPromiseError,
    frozen,
    fuzz_question,
    fuzz_selector,
)
from ufselect import MaxVariance

X = np.arange(12.0).reshape(4, 3) ** 2


def spoil(self, data, summary):
    data.raw[0, 0] += 1.0
    return summary.deviation


def draw(self, data, summary):
    return np.random.default_rng().uniform(size=data.shape[1])


def overflow(self, data, summary):
    return summary.deviation + 1 / (1 + np.exp(np.full(data.shape[1], 1e3)))


def fail(self, data, summary):
    return np.linalg.inv(np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("score", "error"),
    [
        (spoil, BrokenPromiseError),
        (draw, BrokenPromiseError),
        (overflow, RuntimeWarning),
        (fail, np.linalg.LinAlgError),
    ],
)
def test_what_breaks_a_promise_is_raised(score, error, monkeypatch):
    assert fuzz_selector(MaxVariance(), X) == "answered"
    assert fuzz_selector(MaxVariance(), np.full((3, 2), np.nan)) == "refused"
    monkeypatch.setattr(MaxVariance, "_score_features", score)
    with pytest.raises(error):
        fuzz_selector(MaxVariance(), X.copy())
    for convert in (pd.DataFrame, sp.csr_array, sp.coo_array, sp.lil_array):
        assert frozen(convert(X)) == frozen(convert(X.copy()))
        assert frozen(convert(X)) != frozen(convert(X + 1.0))


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: np.zeros(3) + np.zeros(2), ValueError, "broadcast"),
        (partial(int, "?"), ValueError, "invalid literal"),
        (lambda: np.nan, BrokenPromiseError, "finite"),
        (lambda: (2.0, [np.inf]), BrokenPromiseError, "finite"),
        (partial(next, iter([1.0, 2.0])), BrokenPromiseError, "likewise"),
        (lambda: 1 / (1 + np.exp(np.array(1e3))), RuntimeWarning, "overflow"),
    ],
)
def test_an_answer_that_is_none_is_seen(ask, error, words):
    with pytest.raises(error, match=words):
        fuzz_question(ask, X)


@pytest.mark.parametrize("what", many_digits.CHECKS)
def test_double_precision_agrees_with_fifty_digits(what):
    with mpmath.workdps(many_digits.DIGITS):
        off, allowed = many_digits.CHECKS[what](many_digits.table(seed=0))

    assert 0 <= off <= allowed


@pytest.mark.parametrize("name", SELECTORS)
def test_units_offsets_clusters_and_the_order_of_rows_do_not_matter(name):
    table, ends = planted(0), []
    if name not in NOT_OF_UNITS:
        ends.append(conditioning.in_unit(332, np.asarray)(name, table).end)
    if name not in NOT_OF_OFFSETS:
        ends.append(conditioning.far_from_zero(1e8, sp.csr_array)(name, table).end)
    if name not in repeatability.STARTED_BY_ROWS:
        repeatability.in_another_order(name, table)

    assert ends in (["answered"] * len(ends), [])
    assert conditioning.all_clusters(name, table).end in {"answered", "refused"}


@pytest.mark.parametrize("solver", ["exact", "paper"])
def test_scfs_follows_a_start_in_another_order(solver):
    repeatability.from_a_start_in_another_order(solver, planted(0))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", METHODS)
def test_fits_in_a_loop_leak_nothing(method):
    fit, references = fit_of(method), []

    early, late = repeated(lambda: references.append(ref(fit())), 6)
    gc.collect()

    assert early | {"memory": 0} == late | {"memory": 0}
    assert [reference() for reference in references] == [None] * 6


def test_what_is_left_in_a_loop_is_noticed(tmp_path):
    files = []

    early, late = repeated(lambda: files.append((tmp_path / "file").open("w")), 5)
    for file in files:
        file.close()

    assert late["files"] - early["files"] == 4

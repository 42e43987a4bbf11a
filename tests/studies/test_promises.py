"""The judge of all that is tried sees what it is there to see."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from studies.reliability.promises import (
    BrokenPromiseError,
    documented,
    frozen,
    fuzz_question,
    fuzz_selector,
)
from ufselect import MaxVariance

X = np.arange(12.0).reshape(4, 3) ** 2


class Spoiling(MaxVariance):
    def _score_features(self, data, summary):
        data.raw[0, 0] += 1.0
        return summary.deviation


class Drawing(MaxVariance):
    def _score_features(self, data, summary):
        return np.random.default_rng().uniform(size=data.shape[1])


class Overflowing(MaxVariance):
    def _score_features(self, data, summary):
        return summary.deviation + 1 / (1 + np.exp(np.full(data.shape[1], 1e3)))


class Failing(MaxVariance):
    def _score_features(self, data, summary):
        return np.linalg.inv(np.zeros((2, 2)))


def test_a_good_answer_is_one():
    assert fuzz_selector(MaxVariance(), X) == "answered"


def test_a_sentence_is_a_refusal():
    assert fuzz_selector(MaxVariance(), np.full((3, 2), np.nan)) == "refused"


@pytest.mark.parametrize(
    ("method", "error"),
    [
        (Spoiling, BrokenPromiseError),
        (Drawing, BrokenPromiseError),
        (Overflowing, RuntimeWarning),
        (Failing, np.linalg.LinAlgError),
    ],
)
def test_what_breaks_a_promise_is_raised(method, error):
    with pytest.raises(error):
        fuzz_selector(method(), X.copy())


def test_an_error_of_somebody_else_is_no_refusal():
    with pytest.raises(ValueError, match="broadcast"):
        fuzz_question(lambda: np.zeros(3) + np.zeros(2), X)


@pytest.mark.parametrize("answer", [np.nan, [1.0, np.inf], (2.0, [np.nan])])
def test_a_number_that_is_not_finite_is_seen(answer):
    with pytest.raises(BrokenPromiseError, match="finite"):
        fuzz_question(lambda: answer, X)


def test_an_answer_that_changes_is_seen():
    answers = iter([1.0, 2.0])

    with pytest.raises(BrokenPromiseError, match="likewise"):
        fuzz_question(lambda: next(answers), X)


def test_a_warning_of_numpy_is_seen():
    with pytest.raises(RuntimeWarning):
        fuzz_question(lambda: 1 / (1 + np.exp(np.array(1e3))), X)


def test_what_was_raised_without_a_sentence_is_not_documented():
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - there is no message
        raise ValueError

    assert not documented(caught.value)


@pytest.mark.parametrize(
    "convert", [np.asarray, pd.DataFrame, sp.csr_array, sp.coo_array, sp.lil_array]
)
def test_a_change_of_any_container_is_seen(convert):
    other = X.copy()
    other[2, 1] += 1.0

    assert frozen(convert(X)) == frozen(convert(X.copy()))
    assert frozen(convert(X)) != frozen(convert(other))

"""Ask anything of any table: an answer that keeps the contract, or one sentence."""

import traceback
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import ufselect

# Where refusals come from that were written for the case.
REFUSING = [
    Path(ufselect.__file__).parent,
    Path(sklearn.__file__).parent / "utils" / "validation.py",
    Path(sklearn.__file__).parent / "utils" / "_param_validation.py",
]
MAX_SENTENCE = 500


def asked(question, allowed=()):
    """Return the answer, or the refusal as an error; anything else is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in allowed:
            warnings.simplefilter("ignore", category)
        try:
            return question()
        except (ValueError, TypeError) as error:
            raised_in = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
            written = any(raised_in.is_relative_to(place) for place in REFUSING)
            said = str(error)
            sentence = 0 < len(said) <= MAX_SENTENCE and "\n" not in said
            if written and sentence and not isinstance(error, np.linalg.LinAlgError):
                return error
            raise


def content_of(X):
    """Return the bytes of a table, by which a change of it is seen."""
    if isinstance(X, pd.DataFrame):
        return [X.to_numpy().tobytes()]
    if not sp.issparse(X):
        return [np.asarray(X).tobytes()]
    if X.format in {"lil", "dok"}:
        return [X.toarray().tobytes()]
    parts = ("data", "indices", "indptr", "row", "col", "offsets")
    return [
        np.asarray(getattr(X, part)).tobytes() for part in parts if hasattr(X, part)
    ]


def rank_twice(selector, X):
    """Fit two clones; return one, or the refusal that both get."""
    before = content_of(X)
    around = type(selector).__module__.startswith("ufselect.tuning")
    # Members of a selector around selectors may be left out, which a warning says.
    allowed = (ConvergenceWarning, *((UserWarning,) if around else ()))
    clones = [clone(selector) for _ in range(2)]
    first, second = (asked(partial(each.fit, X), allowed) for each in clones)
    assert content_of(X) == before
    if isinstance(first, Exception) or isinstance(second, Exception):
        assert str(first) == str(second)
        return first
    check_ranking(first, X)
    np.testing.assert_array_equal(first.scores_, second.scores_)
    return first


def check_ranking(fitted, X):
    """Hold a fitted selector against the contract."""
    scores, order = fitted.scores_, fitted.order_
    assert scores.shape == (X.shape[1],)
    assert np.isfinite(scores).all()
    assert np.array_equal(order, np.argsort(-scores, kind="stable"))
    assert np.isfinite(getattr(fitted, "objective_history_", [0.0])).all()
    support = fitted.get_support(indices=True)
    assert np.array_equal(support, np.sort(order[: fitted.n_selected_]))
    if not len(support):
        return  # scikit-learn warns when nothing is selected.
    assert fitted.transform(X).shape == (X.shape[0], len(support))
    if isinstance(X, pd.DataFrame):
        assert list(fitted.get_feature_names_out()) == list(X.columns[support])


def ask_twice(question, X, *, infinite=False):
    """Return the numbers of an answer that is the same twice, or the refusal."""
    before = content_of(X)
    # Fewer columns or clusters than asked for are told by a warning.
    allowed = (ConvergenceWarning, UserWarning)
    first, second = (asked(question, allowed) for _ in range(2))
    assert content_of(X) == before
    if isinstance(first, Exception) or isinstance(second, Exception):
        assert str(first) == str(second)
        return first
    numbers = numbers_in(first)
    assert not (np.isnan(numbers) if infinite else ~np.isfinite(numbers)).any()
    np.testing.assert_array_equal(numbers, numbers_in(second))
    return numbers


def numbers_in(answer):
    """Return all numbers of an answer, however it is put together."""
    if isinstance(answer, str) or answer is None:
        return np.empty(0)
    if isinstance(answer, list | tuple):
        return np.concatenate([np.empty(0), *map(numbers_in, answer)])
    return np.asarray(answer, dtype=float).ravel()

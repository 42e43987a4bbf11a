"""Checks for any input: a result that keeps the contract, or a one-sentence error."""

import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import ufselect

# Whoever refuses in words of their own: ourselves, and scikit-learn's validation.
REFUSING = [
    Path(ufselect.__file__).parent,
    Path(sklearn.__file__).parent / "utils" / "validation.py",
    Path(sklearn.__file__).parent / "utils" / "_param_validation.py",
]
LONGEST_SENTENCE = 500

End = Literal["answered", "refused"]


class BrokenPromiseError(AssertionError):
    """Neither an answer that keeps the contract nor a documented refusal."""


def require(kept: Any, promise: str) -> None:
    """Raise an error with the promise unless it is kept."""
    if not kept:
        raise BrokenPromiseError(promise)


def asked(question: Callable[[], Any], allowed: tuple[type[Warning], ...]) -> Any:
    """Return the answer, or the refusal as an error; anything else is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in allowed:
            warnings.simplefilter("ignore", category)
        try:
            return question()
        except (ValueError, TypeError) as error:
            if not documented(error):
                raise
            return error


def documented(error: Exception) -> bool:
    """Tell whether an error was raised on purpose, and says so in a line or two."""
    raised_in = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    deliberate = any(raised_in.is_relative_to(place) for place in REFUSING)
    message = str(error)
    plain = 0 < len(message) <= LONGEST_SENTENCE and "\n" not in message
    return deliberate and plain and not isinstance(error, np.linalg.LinAlgError)


def frozen(X: Any) -> list[bytes]:
    """Return the bytes of a table, by which a change of it is seen."""
    if isinstance(X, pd.DataFrame):
        return [X.to_numpy().tobytes()]
    if not sp.issparse(X):
        return [np.asarray(X).tobytes()]
    if X.format in {"lil", "dok"}:
        return [X.toarray().tobytes()]
    return [
        np.asarray(getattr(X, part)).tobytes()
        for part in ("data", "indices", "indptr", "row", "col", "offsets")
        if hasattr(X, part)
    ]


def fuzz_selector(selector: Any, X: Any) -> End:
    """Fit twice; return how that ended, or raise an error for a broken promise."""
    before = frozen(X)
    first, second = clone(selector), clone(selector)
    allowed = (ConvergenceWarning, *allowed_of(selector))
    ends = [asked(lambda one=one: one.fit(X), allowed) for one in (first, second)]
    require(frozen(X) == before, "X is unchanged")
    if isinstance(ends[0], Exception) or isinstance(ends[1], Exception):
        require(str(ends[0]) == str(ends[1]), "a second fit is refused like the first")
        return "refused"
    require_ranking(first, X)
    same = np.array_equal(first.scores_, second.scores_)
    require(same, "a second fit gives the same scores, bit for bit")
    return "answered"


def allowed_of(selector: Any) -> tuple[type[Warning], ...]:
    """Return the warnings of selectors around selectors: members may be left out."""
    around = type(selector).__module__.startswith("ufselect.tuning")
    return (UserWarning,) if around else ()


def require_ranking(fitted: Any, X: Any) -> None:
    """Hold a fitted selector against the contract."""
    p = X.shape[1]
    scores, order = fitted.scores_, fitted.order_
    require(scores.shape == (p,), "there is one score per feature")
    require(np.isfinite(scores).all(), "scores are finite")
    stable = np.argsort(-scores, kind="stable")
    require(np.array_equal(order, stable), "the order is that of the scores")
    support = fitted.get_support(indices=True)
    chosen = np.sort(order[: fitted.n_selected_])
    require(np.array_equal(support, chosen), "the support is the head of the order")
    if hasattr(fitted, "objective_history_"):
        history = np.asarray(fitted.objective_history_)
        require(np.isfinite(history).all(), "the objective is finite")
    if not len(support):
        return  # scikit-learn warns when nothing is selected.
    reduced = fitted.transform(X)
    require(reduced.shape == (X.shape[0], len(support)), "the selection has its size")
    if isinstance(X, pd.DataFrame):
        names = list(fitted.get_feature_names_out())
        require(names == list(X.columns[support]), "names are kept")


def fuzz_question(ask: Callable[[], Any], X: Any, *, infinite: bool = False) -> End:
    """Ask twice; return how that ended, or raise an error for a broken promise."""
    before = frozen(X)
    # Fewer columns or clusters than asked for are told by a warning.
    allowed = (ConvergenceWarning, UserWarning)
    ends = [asked(ask, allowed) for _ in range(2)]
    require(frozen(X) == before, "the table is unchanged")
    if isinstance(ends[0], Exception) or isinstance(ends[1], Exception):
        require(str(ends[0]) == str(ends[1]), "asked again, it is refused likewise")
        return "refused"
    first, second = (numbers_in(end) for end in ends)
    bad = np.isnan(first) if infinite else ~np.isfinite(first)
    require(not bad.any(), "all numbers of the answer are finite")
    require(np.array_equal(first, second), "asked again, it answers likewise")
    return "answered"


def numbers_in(answer: Any) -> np.ndarray:
    """Return all numbers of an answer, however it is put together."""
    if isinstance(answer, str) or answer is None:
        return np.empty(0)
    if isinstance(answer, list | tuple):
        return np.concatenate([np.empty(0), *map(numbers_in, answer)])
    return np.asarray(answer, dtype=float).ravel()

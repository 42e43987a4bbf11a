"""Any small table gets an answer that keeps the contract, or one sentence.

UFSELECT_FUZZ=50 draws fifty times as many tables, and others in every run.
"""

import os
import warnings
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from promises import ask_twice, rank_twice
from quick_selectors import made, variants
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from strategies import NAMES, matrices, tables

from ufselect import (
    SCFS,
    SPEC,
    AutoSelect,
    Consensus,
    LaplacianScore,
    MaxVariance,
    StabilitySelection,
    all_selectors,
    evaluation,
)
from ufselect.data import read_table
from ufselect.data.tables.table import Origin, Table
from ufselect.data.tables.writing import write_table
from ufselect.evaluation.criteria import CRITERIA
from ufselect.tuning import false_selections, sensitivity_to_clusters

pytestmark = pytest.mark.slow

MORE = int(os.environ.get("UFSELECT_FUZZ", "1"))
# The same tables in every run: a failure is the fault of the change it came with.
drawn = partial(
    settings,
    deadline=None,
    derandomize=MORE == 1,
    database=None,
    # Looking for a simpler table takes minutes; do so where it fails.
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
few = partial(made, n_clusters=2, max_iter=20)

SELECTORS = {
    **{name: few(method) for name, method in all_selectors().items()},
    "SCFS, one cluster": few(SCFS, n_clusters=1),
    "LaplacianScore, heat": few(LaplacianScore, weights="heat"),
    "SPEC, exponent 4": few(SPEC, exponent=4.0),
    **variants(n_clusters=2, max_iter=20),
}
AROUND = {
    "AutoSelect": few(AutoSelect, n_clusters="auto"),
    "AutoSelect, distinct": few(
        AutoSelect, n_features_to_select=0.5, max_correlation=0.9
    ),
    "Consensus": few(Consensus, n_clusters=[2, 3]),
    "StabilitySelection": few(StabilitySelection, n_subsamples=3),
}

# Once found by search, and kept.
# The sum of the columns is zero, and so is their product with a vector of ones.
OPPOSITE_COLUMNS = np.array([[0.0, 0.0], [1.0, -1.0], [3.0, -3.0]])
# A single cluster without an intercept has nothing to predict.
CENTRED_COLUMN = np.array([[1.0], [-1.0]])
# Scaled to unit length, all rows are equal.
PROPORTIONAL_ROWS = np.array([[1.0], [1.0], [1.0], [1.0], [2.0]])
# Shifted to be non-negative, one row is zero; Eq. (11) makes its G smaller and smaller.
ZERO_ROW = np.array([[0, 0, 0, 0, 0, 610946, 0, -263139, 866293, 67320]], float).T


@pytest.mark.parametrize("name", SELECTORS)
@drawn(max_examples=20 * MORE)
@given(X=tables(), n_clusters=st.integers(1, 4))
@example(X=OPPOSITE_COLUMNS, n_clusters=2)
@example(X=CENTRED_COLUMN, n_clusters=1)
@example(X=PROPORTIONAL_ROWS, n_clusters=2)
@example(X=ZERO_ROW, n_clusters=3)
def test_any_table_is_ranked_or_refused(name, X, n_clusters):
    selector = clone(SELECTORS[name])
    if "n_clusters" in selector.get_params():
        selector.set_params(n_clusters=n_clusters)

    rank_twice(selector, X)


@pytest.mark.parametrize("name", AROUND)
@drawn(max_examples=6 * MORE)  # one table may take many fits
@given(X=tables())
@example(X=OPPOSITE_COLUMNS)
@example(X=CENTRED_COLUMN)
@example(X=PROPORTIONAL_ROWS)
@example(X=ZERO_ROW)
def test_selectors_around_selectors_rank_or_refuse_any_table(name, X):
    rank_twice(AROUND[name], X)


@drawn(max_examples=20 * MORE)
@given(
    X=matrices(),
    n_clusters=st.integers(1, 4),
    init=st.sampled_from(["k-means", "fuzzy", "random"]),
    standardize=st.sampled_from([False, "features", "samples", "auto"]),
    fit_intercept=st.booleans(),
)
def test_scfs_descends_to_a_soft_partition(X, **parameters):
    for solver in ("exact", "paper"):
        selector = SCFS(**parameters, solver=solver, max_iter=50, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                selector.fit(X)
            except ValueError:
                continue

        history, memberships = selector.objective_history_, selector.memberships_
        np.testing.assert_allclose(memberships.sum(axis=1), 1.0, rtol=1e-9)
        if solver == "exact":
            # Far from zero and not centred, X loses digits to its offset.
            assert (np.diff(history) <= 1e-8 * history[0]).all()
            assert memberships.min() >= 0
            assert memberships.sum(axis=0).min() > 0


def columns_of(draw, X):
    """Return a selection of columns: a mask, indices, or some that do not exist."""
    p = X.shape[1]
    some = st.lists(st.integers(0, p - 1), min_size=1, max_size=4, unique=True)
    bad = st.lists(st.integers(-1, p), min_size=1, unique=True)
    return draw(
        some.map(sorted) | st.lists(st.booleans(), min_size=p, max_size=p) | bad
    )


def classes_of(draw, X):
    """Return a class for each sample: numbers or words, few or many."""
    highest, n = draw(st.sampled_from([0, 1, 2, 20])), X.shape[0]
    numbers = draw(st.lists(st.integers(0, highest), min_size=n, max_size=n))
    return [f"class {n}" for n in numbers] if draw(st.booleans()) else numbers


def of_columns(name, **others):
    metric = getattr(evaluation, name)
    return lambda draw, X: metric(X, columns_of(draw, X), **others)


def of_classes(name, **others):
    judge = getattr(evaluation, name)
    return lambda draw, X: judge(X, classes_of(draw, X), **others)


def of_labels(name):
    score = getattr(evaluation, name)
    return lambda draw, X: score(classes_of(draw, X), classes_of(draw, X))


def judged_ranking(draw, X):
    order, sizes = np.arange(X.shape[1]), [draw(st.integers(0, 3))]
    kwargs = {"seeds": [0], "n_init": 2, "sizes": sizes}
    return evaluation.judge_ranking(X, order, classes_of(draw, X), **kwargs)


def stability(draw, X):
    selections = [columns_of(draw, X) for _ in range(draw(st.integers(1, 5)))]
    return evaluation.selection_stability(selections, X.shape[1])


QUESTIONS = {
    **{name: of_labels(name) for name in ("clustering_accuracy", "purity")},
    **{name: of_labels(name) for name in ("mutual_information", "adjusted_rand")},
    "average_ranks": lambda draw, X: evaluation.average_ranks(X),
    "friedman": lambda draw, X: evaluation.friedman(X),
    "wilcoxon_against": lambda draw, X: evaluation.wilcoxon_against(
        X, draw(st.integers(0, X.shape[0]))
    ),
    "selection_stability": stability,
    "redundancy": lambda draw, X: evaluation.redundancy(X),
    "neighbourhood_agreement": of_columns("neighbourhood_agreement"),
    "clustering_agreement": of_columns(
        "clustering_agreement", n_clusters=2, seeds=[0], n_init=2
    ),
    "reconstruction_error": of_columns("reconstruction_error"),
    "held_out_reconstruction_error": of_columns("held_out_reconstruction_error"),
    "representatives": of_columns("representatives"),
    "repeated_k_means": lambda draw, X: evaluation.repeated_k_means(
        X, draw(st.integers(1, 5)), seeds=[0, 1], n_init=2
    ),
    "judge_by_k_means": of_classes("judge_by_k_means", seeds=[0], n_init=2),
    "judge_by_classification": of_classes(
        "judge_by_classification", n_splits=2, seeds=[0]
    ),
    "judge_ranking": judged_ranking,
    "sample_view": of_columns("sample_view"),
    **{
        f"verdict by {name}": of_columns(
            "verdict", criterion=name, n_random=5, random_state=0
        )
        for name in CRITERIA
    },
    "false_selections": lambda draw, X: false_selections(
        MaxVariance(), X, n_repeats=2, random_state=0
    ),
    "sensitivity_to_clusters": lambda draw, X: sensitivity_to_clusters(
        SPEC(phi=3), X, (2, 3), random_state=0
    ),
}
# Ratios whose documentation says that they are infinite where nothing ever varies.
MAY_BE_INFINITE = ("friedman", "verdict")


class Again:
    """Draw once what is asked twice."""

    def __init__(self, data):
        self.data, self.drawn, self.place = data, [], 0

    def __call__(self, strategy):
        if self.place == len(self.drawn):
            self.drawn.append(self.data.draw(strategy))
        self.place += 1
        return self.drawn[self.place - 1]


@pytest.mark.parametrize("name", QUESTIONS)
@drawn(max_examples=8 * MORE)
@given(X=tables(), data=st.data())
def test_any_table_has_a_number_or_a_reason(name, X, data):
    draw = Again(data)

    def ask():
        draw.place = 0
        return QUESTIONS[name](draw, X)

    ask_twice(ask, X, infinite=name.startswith(MAY_BE_INFINITE))


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx", "npz", "mat", "mtx"])
@drawn(max_examples=20 * MORE)
@given(names=st.lists(NAMES, min_size=2, max_size=5, unique=True))
def test_any_names_come_back_from_a_written_table(ending, names):
    values = np.arange(3.0 * len(names)).reshape(3, -1) ** 2
    samples = np.array(
        [f"{name} {i}" for i, name in zip("abc", names * 2, strict=False)]
    )
    origin = Origin(Path("x"), "x", None, {})
    table = Table(
        *(values, np.array(names), samples, "id", samples, "kind", "text", (), origin)
    )
    asked = {} if ending == "mtx" else {"labels": "kind"}
    if ending in ("csv", "parquet", "xlsx"):
        asked |= {"id_column": "id", "use": names, "header": True}
    with TemporaryDirectory() as folder:
        path = Path(folder, f"b.{ending}")
        write_table(table, range(len(names)), path)
        again = read_table(path, **asked)

    assert again.feature_names.tolist() == names
    assert again.sample_names.tolist() == samples.tolist()
    if ending != "mtx":
        assert again.labels.tolist() == samples.tolist()


@pytest.mark.parametrize("wrong", ["X changes", "chance", "overflow"])
def test_a_broken_promise_is_noticed(wrong, monkeypatch):
    X = np.arange(12.0).reshape(4, 3) ** 2

    def score(self, data):
        if wrong == "X changes":
            X[0, 0] += 1.0
        if wrong == "chance":
            return np.random.default_rng().uniform(size=3)
        return np.exp([1.0, 2.0, 1e3 if wrong == "overflow" else 0.0])

    assert not isinstance(rank_twice(MaxVariance(), X), Exception)
    assert "NaN" in str(rank_twice(MaxVariance(), np.full((3, 2), np.nan)))
    monkeypatch.setattr(MaxVariance, "_score_features", score)
    with pytest.raises((AssertionError, RuntimeWarning)):
        rank_twice(MaxVariance(), X)

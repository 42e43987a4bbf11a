"""X is checked once, where it enters; everything inside takes the matrix."""

import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ufselect
from ufselect import (
    SCFS,
    AutoSelect,
    Consensus,
    LaplacianScore,
    StabilitySelection,
    evaluation,
)
from ufselect.matrix import DataMatrix, as_matrix
from ufselect.report import selection_report
from ufselect.tuning import false_selections, sensitivity_to_clusters

ROOT = ufselect.__path__[0]


@pytest.fixture
def X(planted):
    return planted(60, 30, n_informative=12).X


def calls_of(function):
    """Return how often each function of the package is called."""
    counts = Counter()

    def note(frame, event, arg):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT):
            counts[code.co_qualname] += 1

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return counts


def quiet_fits():
    """Return fits of selectors around selectors, by name."""
    scfs = SCFS(5, n_clusters=3, random_state=0)
    return {
        "AutoSelect": lambda X: AutoSelect(random_state=0).fit(X),
        "AutoSelect of SCFS": lambda X: AutoSelect(scfs, random_state=0).fit(X),
        "Consensus": lambda X: Consensus(random_state=0).fit(X),
        "StabilitySelection": lambda X: StabilitySelection(n_subsamples=5).fit(X),
        "false_selections": lambda X: false_selections(scfs, X, n_repeats=2),
        "sensitivity": lambda X: sensitivity_to_clusters(scfs, X, (2, 3)),
        "verdicts": lambda X: evaluation.verdicts(X, scfs, n_random=9),
        "redundancy": evaluation.redundancy,
        "structure_test": evaluation.structure_test,
        "sample_view": evaluation.sample_view,
    }


@pytest.mark.parametrize("name", quiet_fits())
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, pd.DataFrame])
def test_X_is_checked_once(X, name, form):
    table, call = form(X), quiet_fits()[name]

    counts = calls_of(lambda: call(table))

    assert counts["check_finite"] == counts["check_number_types"] == 1


def test_a_report_checks_X_once_and_passes_matrices_on(X):
    selector = AutoSelect(random_state=0).fit(X)

    counts = calls_of(lambda: selection_report(X, selector, effort="quick"))

    assert counts["check_finite"] == 1
    # Those of halves, subsamples and permuted copies, and a few sets of columns.
    assert counts["DataMatrix.__init__"] < 60


def test_statistics_of_columns_are_computed_once(X, monkeypatch):
    seen, kinds = [], {type(as_matrix(X)), DataMatrix}
    for kind in kinds:
        if "_column_summary" in vars(kind):
            compute = kind._column_summary

            def noted(matrix, compute=compute):
                seen.append(matrix)
                return compute(matrix)

            monkeypatch.setattr(kind, "_column_summary", noted)
    Consensus([LaplacianScore(), SCFS(n_clusters=3)], random_state=0).fit(X)

    of_X = [each for each in seen if each.plain and each.shape == X.shape]
    assert len(of_X) == 1


SELECTED = [0, 3]
TAKES_TABLES = {
    "redundancy": evaluation.redundancy,
    "representatives": lambda X: evaluation.representatives(X, SELECTED),
    "skip_near_duplicates": lambda X: evaluation.skip_near_duplicates(
        X, SELECTED, 1, 0.9
    ),
    "reconstruction_error": lambda X: evaluation.reconstruction_error(X, SELECTED),
    "held_out_reconstruction_error": lambda X: evaluation.held_out_reconstruction_error(
        X, SELECTED
    ),
    "neighbourhood_agreement": lambda X: evaluation.neighbourhood_agreement(
        X, SELECTED
    ),
    "clustering_agreement": lambda X: evaluation.clustering_agreement(
        X, SELECTED, 2, seeds=[0]
    ),
    "judge_by_k_means": lambda X: evaluation.judge_by_k_means(
        X, np.arange(60) % 2, seeds=[0]
    ),
    "judge_ranking": lambda X: evaluation.judge_ranking(
        X, SELECTED, np.arange(60) % 2, sizes=[1], seeds=[0]
    ),
    "judge_by_classification": lambda X: evaluation.judge_by_classification(
        X, np.arange(60) % 2, seeds=[0]
    ),
    "structure_test": lambda X: evaluation.structure_test(X, random_state=0),
    "sample_view": evaluation.sample_view,
    "verdicts": lambda X: evaluation.verdicts(X, SELECTED, n_random=9, random_state=0),
}


def assert_same(found, expected):
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected


@pytest.mark.parametrize("name", TAKES_TABLES)
def test_evaluation_takes_what_fit_takes(X, name):
    anndata = pytest.importorskip("anndata")
    da = pytest.importorskip("dask.array")
    evaluate = TAKES_TABLES[name]
    expected = evaluate(X)

    for table in (
        pd.DataFrame(X, columns=[f"g{place}" for place in range(30)]),
        X.tolist(),
        anndata.AnnData(X),
        da.from_array(X, chunks=(20, 30)),
        as_matrix(X),
    ):
        assert_same(evaluate(table), expected)


@pytest.mark.parametrize("name", TAKES_TABLES)
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda X: X * 1j, "Complex data not supported"),
        (lambda X: np.where(X[7, 3] == X, np.nan, X), "NaN in column 3"),
        (lambda X: X.astype("datetime64[s]"), "holds dates or times"),
        (lambda X: X[:, 0], "1D array"),
        (lambda X: X[:1], "minimum of 2"),
    ],
    ids=["complex", "missing", "dates", "one dimension", "one sample"],
)
def test_evaluation_refuses_in_one_sentence(X, name, spoil, words):
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        TAKES_TABLES[name](spoil(X))

    assert len(str(caught.value).splitlines()) == 1

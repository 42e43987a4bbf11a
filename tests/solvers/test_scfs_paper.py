"""Algorithm 1 of the paper, against its plain transcription and reference numbers."""

import json
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from solvers.naive import algorithm_1, indicator_of, one_hot, planted, soft_partition

from ufselect.matrix import as_matrix
from ufselect.solvers.group_lasso import largest_penalty
from ufselect.solvers.scfs_paper import fit_paper, multiplicative_step
from ufselect.solvers.starts import kernel_matrix

ORACLES = Path(__file__).resolve().parents[1] / "oracles"
SHAPE = pytest.mark.parametrize("shape", [(40, 12), (20, 45), (30, 30)])


Found = namedtuple("Found", "indicators coef history converged")


def never(iteration, value):
    return False


def fit(X, indicators, alpha, beta, *, container=np.asarray, **options):
    settings = {"gamma": 1e6, "max_iter": 20, "tol": 0.0, "report": never} | options
    matrix = as_matrix(container(X))
    K = kernel_matrix(matrix)
    found = fit_paper(indicators, matrix, K, alpha=alpha, beta=beta, **settings)
    return Found(*found)


def problem(shape, start="crisp"):
    """Return data shifted to be non-negative, as published, and a start."""
    X, labels = planted(*shape)
    X = X - X.min()
    crisp = one_hot(labels)
    soft = soft_partition(len(X), 3)
    return X, indicator_of({"crisp": crisp, "soft": 0.9 * crisp + 0.1 * soft}[start])


@SHAPE
@pytest.mark.parametrize("start", ["crisp", "soft"])
@pytest.mark.parametrize(
    ("alpha", "beta"), [(1.0, 1.0), (100.0, 1.0), (1.0, 100.0), (1e4, 1e4)]
)
def test_it_equals_the_transcription(shape, start, alpha, beta):
    X, indicators = problem(shape, start)

    coef, expected, history = algorithm_1(X, indicators, alpha, beta, 1e6, 20)
    found = fit(X, indicators, alpha, beta)
    size = np.linalg.norm(coef, axis=1).max()

    np.testing.assert_allclose(found.history, history, rtol=1e-8)
    np.testing.assert_allclose(found.coef, coef, rtol=0, atol=1e-6 * size)
    np.testing.assert_allclose(found.indicators, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
@SHAPE
def test_sparse_data_give_the_same_history(shape, container):
    X, indicators = problem(shape)
    X = np.where(X > 3.0, X, 0.0)

    dense = fit(X, indicators, 1.0, 1.0)
    sparse = fit(X, indicators, 1.0, 1.0, container=container)

    np.testing.assert_allclose(sparse.history, dense.history, rtol=1e-8)


def reference_runs():
    for name in "AB":
        table = json.loads((ORACLES / f"scfs_{name}.json").read_text())
        for run in table["outputs"]["runs"]:
            given = run["parameters"]
            label = f"{name}-{given['G0']}-{given['alpha']}-{given['beta']}"
            yield pytest.param(name, run, table["parameters"]["iterations"], id=label)


@pytest.mark.parametrize(("name", "run", "n_iterations"), list(reference_runs()))
def test_it_equals_the_numbers_of_the_public_code(name, run, n_iterations):
    inputs = json.loads((ORACLES / f"inputs_{name}.json").read_text())
    given, values = run["parameters"], run["values"]

    found = fit(
        np.array(inputs["X"]),
        np.array(inputs[given["G0"]]),
        given["alpha"],
        given["beta"],
        gamma=given["gamma"],
        max_iter=n_iterations,
    )
    norms, expected = np.linalg.norm(found.coef, axis=1), np.array(values["row_norms"])

    np.testing.assert_allclose(found.history, values["objective"], rtol=1e-6)
    np.testing.assert_allclose(found.indicators, values["G"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(norms, expected, rtol=0, atol=1e-6 * expected.max())


@pytest.mark.parametrize(("name", "run", "n_iterations"), list(reference_runs()))
def test_it_stops_where_the_public_code_stops(name, run, n_iterations):
    inputs = json.loads((ORACLES / f"inputs_{name}.json").read_text())
    given, values = run["parameters"], run["values"]

    found = fit(
        np.array(inputs["X"]),
        np.array(inputs[given["G0"]]),
        given["alpha"],
        given["beta"],
        gamma=given["gamma"],
        tol=1e-5,
        max_iter=1000,
    )

    assert found.converged
    assert len(found.history) == values["n_iterations_with_authors_stopping_rule"]


@SHAPE
def test_a_zero_stays_zero(shape):
    X, indicators = problem(shape)

    found = fit(X, indicators, 1.0, 1.0, max_iter=50).indicators

    np.testing.assert_array_equal(found == 0, indicators == 0)


@SHAPE
def test_indicators_stay_non_negative_when_the_fit_is_negative(shape):
    X, indicators = problem(shape, "soft")

    step = multiplicative_step(
        indicators, X @ (X.T @ indicators), np.full_like(indicators, -1e9), 1.0, 1e3
    )

    assert not step.any()


def test_from_crisp_clusters_the_history_falls():
    X, indicators = problem((40, 12))

    history = np.array(fit(X, indicators, 1.0, 1.0, max_iter=100).history)

    assert np.all(np.diff(history) <= 1e-10 * history[:-1])


def test_from_random_memberships_the_history_may_rise():
    X, _ = problem((20, 45))
    indicators = np.random.default_rng(0).random((20, 3))

    history = np.array(fit(X, indicators, 1.0, 1.0, max_iter=100).history)

    assert np.any(np.diff(history) > 1e-3 * history[:-1])


class TestStopping:
    def test_it_says_that_it_converged(self):
        X, indicators = problem((40, 12))

        found = fit(X, indicators, 1.0, 1.0, tol=1e-5, max_iter=1000)

        assert found.converged
        assert len(found.history) < 1000

    def test_it_says_that_it_did_not(self):
        X, indicators = problem((40, 12))

        assert not fit(X, indicators, 1.0, 1.0, max_iter=3).converged

    def test_a_report_of_true_stops_it(self):
        X, indicators = problem((40, 12))

        found = fit(X, indicators, 1.0, 1.0, report=lambda iteration, _: iteration == 4)

        assert len(found.history) == 5


def test_the_start_is_left_alone():
    X, indicators = problem((20, 45))
    kept = indicators.copy()

    fit(X, indicators, 1.0, 1.0)

    np.testing.assert_array_equal(indicators, kept)


@pytest.mark.parametrize("shape", [(30, 30), (20, 45)])
def test_vanished_rows_do_not_change_the_result(shape):
    X, indicators = problem(shape)
    X = 1e-3 * X
    beta = 0.3 * largest_penalty(as_matrix(X), indicators)

    _, _, history = algorithm_1(X, indicators, 1.0, beta, 1e6, 100)
    found = fit(X, indicators, 1.0, beta, max_iter=100)
    norms = np.linalg.norm(found.coef, axis=1)

    assert np.mean(norms <= 1e-15 * norms.max()) > 0.5
    np.testing.assert_allclose(found.history, history, rtol=1e-8)


@SHAPE
def test_a_penalty_too_large_shrinks_every_row(shape):
    X, indicators = problem(shape)
    beta = 2 * largest_penalty(as_matrix(X), indicators)

    _, _, history = algorithm_1(X, indicators, 1.0, beta, 1e6, 100)
    found = fit(X, indicators, 1.0, beta, max_iter=100)

    np.testing.assert_allclose(found.history, history, rtol=1e-8)
    assert np.abs(found.coef).max() < 1e-14

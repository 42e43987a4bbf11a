"""Algorithm 1 of the paper, against its plain transcription and reference numbers."""

from collections import namedtuple

import numpy as np
import pytest
import scipy.sparse as sp
from oracle_files import all_runs, inputs, read
from solvers.naive import algorithm_1, indicator_of, one_hot, planted, soft_partition

from ufselect.matrix import as_matrix
from ufselect.solvers.group_lasso import largest_penalty
from ufselect.solvers.scfs_paper import fit_paper, multiplicative_step
from ufselect.solvers.starts import kernel_matrix

SHAPE = pytest.mark.parametrize("shape", [(40, 12), (20, 45), (30, 30)])


Found = namedtuple("Found", "indicators coef history converged")


def never(iteration, value):
    return False


def fit(X, indicators, alpha, beta, *, container=np.asarray, **options):
    settings = {"gamma": 1e6, "max_iter": 20, "tol": 0.0, "callback": never} | options
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
    indicators.flags.writeable = False

    coef, expected, history = algorithm_1(X, indicators, alpha, beta, 1e6, 20)
    found = fit(X, indicators, alpha, beta)
    size = np.linalg.norm(coef, axis=1).max()

    np.testing.assert_allclose(found.history, history, rtol=1e-8)
    np.testing.assert_allclose(found.coef, coef, rtol=0, atol=1e-6 * size)
    np.testing.assert_allclose(found.indicators, expected, rtol=0, atol=1e-6)
    for container in (sp.csr_array, sp.csc_array):
        sparse = fit(X, indicators, alpha, beta, container=container)
        np.testing.assert_allclose(sparse.history, history, rtol=1e-8)


@pytest.mark.parametrize(("name", "run"), list(all_runs("scfs")))
def test_it_equals_the_numbers_of_the_public_code_and_stops_where_it_does(name, run):
    data, given, values = inputs(name), run["parameters"], run["values"]
    X, G, weights = data["X"], data[given["G0"]], (given["alpha"], given["beta"])
    n_iterations = read(f"scfs_{name}")["parameters"]["iterations"]

    found = fit(X, G, *weights, gamma=given["gamma"], max_iter=n_iterations)
    stopped = fit(X, G, *weights, gamma=given["gamma"], tol=1e-5, max_iter=1000)
    norms, expected = np.linalg.norm(found.coef, axis=1), np.array(values["row_norms"])
    n_stopped = values["n_iterations_with_authors_stopping_rule"]

    np.testing.assert_allclose(found.history, values["objective"], rtol=1e-6)
    np.testing.assert_allclose(found.indicators, values["G"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(norms, expected, rtol=0, atol=1e-6 * expected.max())
    assert (stopped.converged, len(stopped.history)) == (True, n_stopped)


@SHAPE
def test_indicators_stay_non_negative_when_the_fit_is_negative(shape):
    X, indicators = problem(shape, "soft")

    step = multiplicative_step(
        indicators, X @ (X.T @ indicators), np.full_like(indicators, -1e9), 1.0, 1e3
    )

    assert not step.any()


def test_the_history_falls_from_crisp_clusters_but_may_rise_from_others():
    X, indicators = problem((40, 12))
    falls = np.array(fit(X, indicators, 1.0, 1.0, max_iter=100).history)
    X, indicators = problem((20, 45))[0], np.random.default_rng(0).random((20, 3))
    rises = np.array(fit(X, indicators, 1.0, 1.0, max_iter=100).history)

    assert np.all(np.diff(falls) <= 1e-10 * falls[:-1])
    assert np.any(np.diff(rises) > 1e-3 * rises[:-1])


def test_a_callback_that_returns_true_stops_it():
    X, indicators = problem((40, 12))

    found = fit(X, indicators, 1.0, 1.0, callback=lambda iteration, _: iteration == 4)

    assert (found.converged, len(found.history)) == (False, 5)


@pytest.mark.parametrize(
    ("shape", "unit", "share"),
    [
        *(((30, 30), 1e-3, 0.3), ((20, 45), 1e-3, 0.3)),
        *(((40, 12), 1.0, 2.0), ((20, 45), 1.0, 2.0), ((30, 30), 1.0, 2.0)),
    ],
)
def test_rows_that_vanish_do_not_change_the_result(shape, unit, share):
    X, indicators = problem(shape)
    X = unit * X
    beta = share * largest_penalty(as_matrix(X), indicators)

    _, _, history = algorithm_1(X, indicators, 1.0, beta, 1e6, 100)
    found = fit(X, indicators, 1.0, beta, max_iter=100)
    norms = np.linalg.norm(found.coef, axis=1)

    np.testing.assert_allclose(found.history, history, rtol=1e-8)
    if share > 1:
        assert norms.max() < 1e-14
    else:
        assert np.mean(norms <= 1e-15 * norms.max()) > 0.5

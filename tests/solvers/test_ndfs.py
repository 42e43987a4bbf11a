"""The alternation of NDFS, against reference numbers and its transcription."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from solvers.naive import planted

from ufselect.matrix import as_matrix
from ufselect.solvers.graphs import neighbour_graph, normalised_laplacian
from ufselect.solvers.spectral_regression import (
    fit_ndfs,
    indicator_from_labels,
    published_step,
    split_step,
    unit_columns,
)

ORACLES = Path(__file__).resolve().parents[1] / "oracles"
SHAPE = pytest.mark.parametrize("shape", [(40, 12), (20, 45), (30, 30)])
WEIGHTS = pytest.mark.parametrize(
    ("alpha", "beta", "gamma"), [(1.0, 1.0, 1e2), (10.0, 0.1, 1e4), (1.0, 1.0, 1e8)]
)


def never(iteration, value):
    return False


def fit(X, Ln, F, alpha, beta, gamma, **options):
    settings = {
        "ridge_weights": np.ones(X.shape[1]),
        "damped": False,
        "max_iter": 30,
        "tol": 0.0,
        "report": never,
    } | options
    return fit_ndfs(
        as_matrix(X),
        sp.csr_array(Ln),
        F,
        alpha=alpha,
        beta=beta,
        gamma=gamma,
        **settings,
    )


def problem(shape, moved=4):
    """Return data, its normalised Laplacian and a start with a few wrong labels."""
    X, labels = planted(*shape)
    labels = labels.copy()
    labels[:moved] = (labels[:moved] + 1) % 3
    Ln = normalised_laplacian(neighbour_graph(X, weights="heat")).toarray()
    return X - X.mean(axis=0), Ln, indicator_from_labels(labels, 3)


def transcription(X, Ln, F, alpha, beta, gamma, n_iterations):
    """Return W, F and the objectives, with every matrix written out."""
    n, p = X.shape
    D, history = np.eye(p), []
    for _ in range(n_iterations):
        inverse = np.linalg.inv(X.T @ X + beta * D)
        W = inverse @ X.T @ F
        M = Ln + alpha * (np.eye(n) - X @ inverse @ X.T)
        norms = np.linalg.norm(W, axis=1)
        D = np.diag(1 / (2 * np.sqrt(norms**2 + 2.2e-16)))
        F = F * (gamma * F) / (M @ F + gamma * F @ F.T @ F)
        F = F / np.linalg.norm(F, axis=0)
        history.append(
            np.trace(F.T @ Ln @ F)
            + alpha * (np.sum((X @ W - F) ** 2) + beta * norms.sum())
            + gamma / 2 * np.sum((F.T @ F - np.eye(F.shape[1])) ** 2)
        )
    return W, F, history


def reference_runs():
    for name in "AB":
        table = json.loads((ORACLES / f"ndfs_{name}.json").read_text())
        for run in table["outputs"]["runs"]:
            given = run["parameters"]
            label = "-".join([name, *(f"{value:.3}" for value in given.values())])
            yield pytest.param(name, run, table["parameters"], id=label)


def inputs_of(name, given):
    inputs = json.loads((ORACLES / f"inputs_{name}.json").read_text())
    X = np.array(inputs["X"])
    if given["X"] == "Xc":
        X = X - X.mean(axis=0)
    return X, np.array(inputs["Ln"]), np.array(inputs["F0"])


@pytest.mark.parametrize(("name", "run", "common"), list(reference_runs()))
def test_it_equals_the_numbers_of_the_public_code(name, run, common):
    given, values = run["parameters"], run["values"]
    X, Ln, F = inputs_of(name, given)

    found = fit(
        X,
        Ln,
        F,
        given["alpha"],
        given["beta"],
        given["gamma"],
        ridge_weights=np.full(X.shape[1], given["D0_diagonal"]),
        max_iter=common["iterations"],
    )
    norms, expected = np.linalg.norm(found.coef, axis=1), np.array(values["row_norms"])

    np.testing.assert_allclose(found.history, values["objective"], rtol=1e-6)
    np.testing.assert_allclose(found.indicators, values["F"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(norms, expected, rtol=0, atol=1e-6 * expected.max())


@SHAPE
@pytest.mark.parametrize("gamma", [1e4, 1e6, 1e8])
@pytest.mark.parametrize("wide", [False, True])
def test_both_sides_equal_the_transcription(shape, gamma, wide):
    X, Ln, F = problem(shape)

    W, expected, history = transcription(X, Ln, F, 1.0, 1.0, gamma, 15)
    found = fit(X, Ln, F, 1.0, 1.0, gamma, max_iter=15, wide=wide)

    np.testing.assert_allclose(found.history, history, rtol=1e-8)
    np.testing.assert_allclose(found.indicators, expected, atol=1e-7)
    np.testing.assert_allclose(found.coef, W, atol=1e-7 * np.abs(W).max())


@SHAPE
@WEIGHTS
def test_the_damped_objective_never_rises(shape, alpha, beta, gamma):
    X, Ln, F = problem(shape)

    history = fit(X, Ln, F, alpha, beta, gamma, damped=True, max_iter=100).history

    assert (np.diff(history) <= 1e-7 * np.array(history[:-1])).all()


@pytest.mark.parametrize(("name", "run", "common"), list(reference_runs()))
def test_damping_lowers_what_the_published_rule_may_raise(name, run, common):
    given = run["parameters"]
    X, Ln, F = inputs_of(name, given)
    weights = given["alpha"], given["beta"], given["gamma"]

    published = fit(X, Ln, F, *weights).history
    damped = fit(X, Ln, F, *weights, damped=True).history

    assert (np.diff(damped) <= 1e-7 * np.array(damped[:-1])).all()
    assert run["monotone"] == (np.diff(published) <= 1e-9 * published[0]).all()


@SHAPE
@WEIGHTS
def test_indicators_stay_non_negative_with_columns_of_unit_length(
    shape, alpha, beta, gamma
):
    X, Ln, F = problem(shape)

    indicators = fit(X, Ln, F, alpha, beta, gamma, damped=True).indicators

    assert indicators.min() >= 0
    np.testing.assert_allclose(np.linalg.norm(indicators, axis=0), 1.0)


@pytest.mark.parametrize("exponent", [1.0, 0.5, 0.25])
def test_both_steps_agree_where_nothing_is_negative(exponent):
    random = np.random.default_rng(0)
    F, pull = random.uniform(0.1, 1, (12, 3)), random.uniform(0, 5, (12, 3))
    ratio = published_step(F, pull, 50.0) / F
    expected = F * (ratio / ratio[0]) ** exponent

    found = split_step(F, pull, 50.0, exponent)

    np.testing.assert_allclose(found, unit_columns(expected), rtol=1e-10)


def test_a_negative_pull_makes_an_entry_grow():
    # The published rule would turn such an entry negative.
    F = unit_columns(np.array([[1.0, 0.1], [1.0, 0.1], [0.1, 1.0]]))
    pull = np.zeros((3, 2))
    pull[0, 1] = -5.0

    assert published_step(F, pull, 1.0)[0, 1] < 0
    assert split_step(F, pull, 1.0, 1.0)[0, 1] > F[0, 1]


@SHAPE
def test_a_zero_stays_zero_and_a_positive_start_does_not_lock(shape):
    # A public implementation starts from an indicator with zeros.
    X, Ln, F = problem(shape)
    locked = np.where(F > 0.2, F - 0.2, 0.0)

    found = fit(X, Ln, locked, 1.0, 0.1, 10.0, damped=True, max_iter=100)
    free = fit(X, Ln, F, 1.0, 0.1, 10.0, damped=True, max_iter=100)

    labels = np.arange(len(X)) % 3
    assert not found.indicators[locked == 0].any()
    np.testing.assert_array_equal(free.indicators.argmax(axis=1), labels)


@SHAPE
def test_with_a_huge_gamma_the_regression_is_that_of_the_start(shape):
    X, Ln, F = problem(shape)
    crisp = np.where(F > 0.2, F - 0.2, 0.0)

    found = fit(X, Ln, F, 1.0, 0.5, 1e12, damped=True, max_iter=2000, tol=1e-13)
    norms = np.linalg.norm(found.coef, axis=1)
    slope = 2 * X.T @ (X @ found.coef - crisp)
    inside = norms > 1e-4 * norms.max()
    pull = 0.5 * found.coef[inside] / norms[inside, np.newaxis]

    np.testing.assert_allclose(found.indicators, crisp, atol=1e-5)
    np.testing.assert_allclose(slope[inside], -pull, atol=2e-3)
    assert np.linalg.norm(slope[~inside], axis=1).max(initial=0) <= 0.5 * (1 + 2e-2)


@SHAPE
def test_the_order_of_samples_does_not_matter(shape):
    X, Ln, F = problem(shape)
    order = np.random.default_rng(0).permutation(len(X))

    first = fit(X, Ln, F, 1.0, 1.0, 1e4, damped=True)
    second = fit(
        X[order], Ln[np.ix_(order, order)], F[order], 1.0, 1.0, 1e4, damped=True
    )

    np.testing.assert_allclose(first.coef, second.coef, atol=1e-8)


def test_it_stops_when_it_has_converged_or_is_told_to():
    X, Ln, F = problem((40, 12))

    converged = fit(X, Ln, F, 1.0, 1.0, 1e8, damped=True, tol=1e-3)
    told = fit(X, Ln, F, 1.0, 1.0, 1e8, report=lambda iteration, _: iteration == 2)

    assert converged.converged
    assert len(converged.history) < 30
    assert not told.converged
    assert len(told.history) == 3


def test_the_start_is_left_alone():
    X, Ln, F = problem((20, 45))
    kept = F.copy()

    fit(X, Ln, F, 1.0, 1.0, 1e4, damped=True)

    np.testing.assert_array_equal(F, kept)

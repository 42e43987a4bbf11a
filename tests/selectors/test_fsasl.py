"""FSASL against reference numbers, a naive transcription and its limits."""

import numpy as np
import oracle_files
import pytest
import scipy.sparse as sp
from sklearn.linear_model import lars_path_gram

from ufselect import FSASL
from ufselect.matrix import as_matrix
from ufselect.solvers.fsasl import (
    fit_fsasl,
    neighbour_regulariser,
    reweighted_regression,
    smallest_eigenvectors,
)
from ufselect.solvers.graphs import squared_distances_of
from ufselect.solvers.group_lasso import largest_penalty
from ufselect.solvers.rows import row_norms

EXACT = [
    (letter, run)
    for letter in "AB"
    for run in oracle_files.runs("fsasl", letter)
    if run[0]["lasso"] == "exact"
]


def given_to(letter, parameters):
    """Return the data and the first graph of a run."""
    given = oracle_files.inputs(letter)
    X = given["X"]
    if parameters["X"] == "Xc":
        X = X - X.mean(axis=0)
    return X, given["S"].astype(float)


def fit(X, graph, parameters, max_iter):
    known = {name: parameters[name] for name in ["n_clusters", "alpha", "beta"]}
    return fit_fsasl(
        as_matrix(X),
        sp.csr_array(graph),
        gamma=parameters["gamma"],
        mu=parameters["mu"],
        max_iter=max_iter,
        **known,
    )


def naive_fit(X, graph, *, n_clusters, alpha, beta, gamma, mu, max_iter):
    """Return W and objectives, one formula per line and no shortcut."""
    n, p = X.shape
    P, LS, Z, sparsity, history = graph, np.zeros((n, n)), X, 0.0, []
    for iteration in range(max_iter):
        if iteration:
            S = naive_lassos(Z, alpha)
            LS = (np.eye(n) - S) @ (np.eye(n) - S).T
            P = naive_probabilities(Z, mu)
            sparsity = alpha * np.abs(S).sum()
        L = LS + beta * (np.diag(P.sum(axis=1)) - P)
        Y = np.linalg.eigh(L)[1][:, :n_clusters]
        D = np.eye(p)
        for _ in range(10):
            W = np.linalg.solve(X.T @ X + gamma * D, X.T @ Y)
            D = np.diag(1 / (2 * np.sqrt((W**2).sum(axis=1) + 2.2e-16)))
        Z = X @ W
        penalties = sparsity + beta * mu * (P**2).sum()
        norms = np.linalg.norm(W, axis=1).sum()
        history.append(np.trace(Z.T @ L @ Z) + penalties + gamma * norms)
    return W, np.array(history)


def naive_lassos(Z, alpha):
    n = len(Z)
    S = np.zeros((n, n))
    for i in range(n):
        others = np.delete(np.arange(n), i)
        correlation = Z[others] @ Z[i]
        penalty = alpha * np.abs(correlation).max()
        gram = Z[others] @ Z[others].T
        _, _, path = lars_path_gram(
            correlation, gram, n_samples=1, alpha_min=penalty, method="lasso"
        )
        S[others, i] = path[:, -1]
    return S


def naive_probabilities(Z, mu, k=5):
    n = len(Z)
    P = np.zeros((n, n))
    for i in range(n):
        d = ((Z - Z[i]) ** 2).sum(axis=1)
        near = [j for j in np.argsort(d) if j != i][:k]
        v = np.sort(-d[near] / (2 * mu))[::-1]
        rho = max(r for r in range(1, k + 1) if v[r - 1] + (1 - v[:r].sum()) / r > 0)
        P[i, near] = np.maximum(
            -d[near] / (2 * mu) + (1 - v[:rho].sum()) / rho,
            0,
        )
    return (P + P.T) / 2


@pytest.mark.parametrize(("letter", "run"), EXACT)
def test_row_norms_and_objectives_are_the_reference_numbers(letter, run):
    parameters, values = run
    X, graph = given_to(letter, parameters)
    found = fit(X, graph, parameters, parameters["iterations"])
    expected = np.array(values["row_norms"])

    np.testing.assert_allclose(found.history, values["objective"], rtol=1e-6)
    np.testing.assert_allclose(
        row_norms(found.coef), expected, rtol=0, atol=1e-6 * expected.max()
    )


@pytest.mark.parametrize("letter", ["A", "B"])
def test_regulariser_is_the_reference_number(letter):
    X = oracle_files.inputs(letter)["X"]
    parameters, _ = oracle_files.runs("fsasl", letter)[0]
    distances = squared_distances_of(X @ X.T)

    assert neighbour_regulariser(distances, 5) == pytest.approx(parameters["mu"])


@pytest.mark.parametrize("letter", ["A", "B"])
def test_fit_equals_the_naive_transcription(letter):
    given = oracle_files.inputs(letter)
    X, graph = given["X"] - given["X"].mean(axis=0), given["S"].astype(float)
    weights = {"alpha": 0.07, "beta": 0.5, "gamma": 0.3, "mu": 0.02, "max_iter": 4}

    W, history = naive_fit(X, graph, n_clusters=4, **weights)
    found = fit_fsasl(as_matrix(X), sp.csr_array(graph), n_clusters=4, **weights)

    np.testing.assert_allclose(found.history, history, rtol=1e-6)
    np.testing.assert_allclose(
        row_norms(found.coef), np.linalg.norm(W, axis=1), rtol=1e-5, atol=1e-8
    )


@pytest.mark.parametrize(
    ("letter", "run"), [(name, run) for name, run in EXACT if run[0]["X"] == "Xc"]
)
def test_selector_with_the_authors_choices_is_the_reference(letter, run):
    parameters, values = run
    X, _ = given_to(letter, parameters)
    weights = {name: parameters[name] for name in ["alpha", "beta", "gamma"]}
    expected = np.array(values["row_norms"])

    selector = FSASL(
        n_clusters=parameters["n_clusters"],
        mu="samples",
        standardize=False,
        max_iter=parameters["iterations"],
        tol=0,
        **weights,
    ).fit(X)

    np.testing.assert_allclose(selector.objective_history_, values["objective"], 1e-6)
    np.testing.assert_allclose(
        selector.scores_, expected, rtol=0, atol=1e-6 * expected.max()
    )


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_regression_through_features_is_that_through_samples(shape):
    random = np.random.RandomState(0)
    matrix = as_matrix(random.standard_normal(shape))
    target = random.standard_normal((shape[0], 3))
    through_samples = reweighted_regression(matrix, target, 0.5)
    through_features = reweighted_regression(
        matrix, target, 0.5, gram=matrix.feature_gram()
    )

    np.testing.assert_allclose(through_features, through_samples, atol=1e-8)


def test_reweighted_steps_lower_the_row_sparse_objective():
    random = np.random.RandomState(0)
    X, Y = random.standard_normal((30, 12)), random.standard_normal((30, 3))
    ridge = np.linalg.solve(X.T @ X + 0.5 * np.eye(12), X.T @ Y)
    coef = reweighted_regression(as_matrix(X), Y, 0.5)

    def objective(W):
        return ((X @ W - Y) ** 2).sum() + 0.5 * row_norms(W).sum()

    assert objective(coef) < objective(ridge)


def test_a_lasso_that_stops_early_would_change_the_fit():
    # What the authors' own solver gives differs from the exact reference.
    early, exact = (
        next(
            values["row_norms"]
            for parameters, values in oracle_files.runs("fsasl", "A")
            if parameters["lasso"].startswith(kind) and parameters["iterations"] == 20
        )
        for kind in ["authors", "exact"]
    )

    assert not np.allclose(early, exact, rtol=1e-3)


def test_authors_regulariser_makes_probabilities_uniform():
    # Distances of projected samples are far below those of the samples.
    X = 100 * oracle_files.inputs("A")["X"]
    common = {"n_clusters": 3, "standardize": False, "max_iter": 3, "tol": 0}
    samples = FSASL(mu="samples", **common).fit(X).scores_
    uniform = FSASL(mu=1e12, **common).fit(X).scores_
    projected = FSASL(mu="projected", **common).fit(X).scores_

    np.testing.assert_allclose(samples, uniform, rtol=1e-3)
    assert not np.allclose(projected, uniform, rtol=1e-2)


def test_first_round_is_a_regression_on_the_given_graph():
    given = oracle_files.inputs("A")
    X, graph = given["X"], given["S"].astype(float)
    target = smallest_eigenvectors(given["L"], 3)
    expected = reweighted_regression(as_matrix(X), target, 0.2)
    found = fit_fsasl(
        as_matrix(X),
        sp.csr_array(graph),
        n_clusters=3,
        alpha=0.1,
        beta=1.0,
        gamma=0.2,
        max_iter=1,
    )

    np.testing.assert_allclose(row_norms(found.coef), row_norms(expected), rtol=1e-6)


@pytest.mark.parametrize("shape", [(60, 40), (50, 80)])
@pytest.mark.parametrize("mu", ["projected", "samples"])
def test_useful_features_come_first(planted, shape, mu):
    data = planted(*shape, n_informative=8)
    selector = FSASL(8, n_clusters=3, mu=mu).fit(data.X)

    assert len(set(selector.order_[:8]) & set(data.informative)) >= 6


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_default_weights_do_not_depend_on_the_unit(planted, unit):
    X = planted(40, 20).X
    order = FSASL(n_clusters=3).fit(X).order_

    np.testing.assert_array_equal(FSASL(n_clusters=3).fit(unit * X).order_, order)


def test_order_of_samples_does_not_matter(planted):
    X = planted(40, 20).X
    scores = FSASL(n_clusters=3).fit(X).scores_
    shuffled = FSASL(n_clusters=3).fit(X[::-1]).scores_

    np.testing.assert_allclose(shuffled, scores, rtol=1e-6)


def test_fit_stops_when_the_objective_rests(planted):
    X = planted(40, 20).X
    loose = FSASL(n_clusters=3, tol=0.5).fit(X)
    strict = FSASL(n_clusters=3, tol=0).fit(X)

    assert loose.n_iter_ < strict.n_iter_ == 20


def test_auto_gamma_is_half_of_the_largest_useful_penalty():
    X = oracle_files.inputs("A")["X"]
    X = X - X.mean(axis=0)
    target = smallest_eigenvectors(oracle_files.inputs("A")["L"], 3)
    selector = FSASL(n_clusters=3, standardize=False, max_iter=1).fit(X)

    assert selector.gamma_ == pytest.approx(
        0.5 * largest_penalty(as_matrix(X), target), rel=1e-6
    )


def test_verbose_prints_each_round(planted, capsys):
    FSASL(n_clusters=3, max_iter=2, verbose=True).fit(planted(30, 10).X)

    assert capsys.readouterr().out.count("FSASL iteration") == 2


def test_more_clusters_than_samples_are_refused(planted):
    with pytest.raises(ValueError, match="n_clusters=31 but X has n_samples=30"):
        FSASL(n_clusters=31).fit(planted(30, 10).X)


def test_a_penalty_that_leaves_nothing_is_refused(planted):
    with pytest.raises(ValueError, match="leaves no feature in the model"):
        FSASL(n_clusters=3, gamma=1e15).fit(planted(30, 10).X)


@pytest.mark.parametrize(
    ("name", "value"),
    [("alpha", 1.5), ("beta", -1.0), ("gamma", "large"), ("mu", 0.0), ("tol", -1.0)],
)
def test_bad_parameters_are_refused(planted, name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of FSASL must be"):
        FSASL(**{name: value}).fit(planted(30, 10).X)

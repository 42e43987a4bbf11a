"""The reweighted step with a matrix of the samples; GLSPFS and SPUFS on it."""

import numpy as np
import pytest
import scipy.sparse as sp
from each_case import each
from oracle_files import all_runs, inputs, read
from sklearn.linear_model import MultiTaskLasso

from ufselect import GLSPFS, SPUFS
from ufselect.matrix import as_matrix
from ufselect.selectors import glspfs, spufs
from ufselect.solvers.graphs import (
    centred_kernel,
    gaussian_kernel,
    kernel_root,
    laplacian,
    local_linear_matrix,
    neighbour_graph,
    tangent_alignment_matrix,
)
from ufselect.solvers.structured_ridge import (
    ThroughFeatures,
    ThroughSamples,
    fit_structured,
    metric_gram,
    structured_problem,
)

SHAPE = each("shape", [(30, 12), (15, 40), (20, 20)])
LAPLACIAN = {"neighbours": lambda X: laplacian(neighbour_graph(X, 5, weights="heat"))}
LOCAL = LAPLACIAN | {
    "lle": lambda X: local_linear_matrix(X, 5),
    "ltsa": lambda X: tangent_alignment_matrix(X, 5, n_components=3),
}


def made(shape, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=shape)
    return X, random.normal(size=(shape[0], 3)), laplacian(neighbour_graph(X, 4))


def naive(X, target, graph, rho, penalty, n_iterations, axis=1):
    """Every matrix written out, p x p, as printed; axis=0 is the fault of a peer."""
    L = graph.toarray()
    weights, history = np.ones(X.shape[1]), []
    for _ in range(n_iterations):
        system = X.T @ (np.eye(len(X)) + rho * L) @ X + penalty * np.diag(weights)
        coef = np.linalg.solve(system, X.T @ target)
        norms = np.linalg.norm(coef, axis=axis)
        weights = 1 / (2 * norms)
        smooth = np.trace(coef.T @ X.T @ L @ X @ coef)
        error = np.sum((X @ coef - target) ** 2)
        history.append(error + rho * smooth + penalty * norms.sum())
    return coef, history


@each(("name", "run"), list(all_runs("glspfs")))
def test_it_equals_the_numbers_of_the_public_code(name, run):
    given, settings, values = inputs(name), run["parameters"], run["values"]
    lle = read(f"lle_{name}")["outputs"]["runs"][0]["values"]["L_LLE"]
    graph = given["L"] if settings["L"] == "L" else np.array(lle)
    X, target = as_matrix(given[settings["X"]]), kernel_root(given["K"])

    problem = structured_problem(X, target, graph, settings["r2"])
    found = fit_structured(
        problem, settings["r1"], max_iter=values["n_iterations"], tol=0.0
    )
    norms, expected = np.linalg.norm(found.coef, axis=1), np.array(values["row_norms"])

    np.testing.assert_allclose(found.history, values["objective"], rtol=1e-6)
    np.testing.assert_allclose(norms, expected, rtol=0, atol=1e-6 * expected.max())
    stopped = fit_structured(problem, settings["r1"], max_iter=21, tol=1e-4)
    assert len(stopped.history) == values["n_iterations"]


@SHAPE
@each("convert", [np.asarray, sp.csr_array])
def test_it_equals_the_formulas_written_out(shape, convert):
    X, target, graph = made(shape)
    X[:, 3] *= 1e-200  # such a row of W is zero from the first step on

    problem = structured_problem(as_matrix(convert(X)), target, graph, 0.7)
    found = fit_structured(problem, 2.0, max_iter=8, tol=0.0)
    rest = np.delete(np.arange(shape[1]), 3)
    coef, history = naive(X[:, rest], target, graph, 0.7, 2.0, 8)

    np.testing.assert_allclose(found.coef[rest], coef, atol=1e-8)
    np.testing.assert_allclose(found.history, history, rtol=1e-10)
    assert not found.coef[3].any()


@SHAPE
def test_features_and_samples_agree(shape):
    X, target, graph = made(shape)
    matrix, inverse_weights = as_matrix(X), np.linspace(0, 2, shape[1])
    gram = metric_gram(matrix, graph, 3.0)

    through = ThroughSamples(matrix, target, graph, 3.0)
    other = ThroughFeatures(gram, X.T @ target, np.sum(target**2))
    coef, error = through.solve(inverse_weights)

    np.testing.assert_allclose(coef, other.solve(inverse_weights)[0], atol=1e-10)
    np.testing.assert_allclose(through.gradient(coef), other.gradient(coef), atol=1e-8)
    assert error == pytest.approx(other.solve(inverse_weights)[1])


@SHAPE
@each("rho", [0.0, 1.0, 1e3])
@each("penalty", [1e-3, 10.0])
def test_the_objective_never_rises(shape, rho, penalty):
    X, target, graph = made(shape)
    problem = structured_problem(as_matrix(X), target, graph, rho)

    history = fit_structured(problem, penalty, max_iter=100, tol=0.0).history

    # Through features the error is a difference of numbers as large as |Y|^2.
    assert (np.diff(history) <= 1e-10 * np.sum(target**2)).all()


@SHAPE
def test_without_a_graph_it_is_the_multi_task_lasso(shape):
    X, target, graph = made(shape)
    peer = MultiTaskLasso(
        alpha=8.0 / (2 * len(X)), fit_intercept=False, tol=1e-12, max_iter=100_000
    )

    problem = structured_problem(as_matrix(X), target, graph, 0.0)
    found = fit_structured(problem, 8.0, max_iter=20_000, tol=0.0)

    np.testing.assert_allclose(found.coef, peer.fit(X, target).coef_.T, atol=1e-4)


# The selectors


def unit_size(X, size):
    """Return centred X in units where ``|X|^2 = size``, as the fit has it."""
    X = X - X.mean(axis=0)
    return X * np.sqrt(size / np.sum(X**2))


@each("shape", [(60, 30), (40, 100)])
@each("local", LOCAL)
def test_glspfs_equals_the_formulas_written_out(planted, shape, local):
    X = unit_size(planted(*shape).X, shape[0])
    squared = np.sum((X[:, np.newaxis] - X) ** 2, axis=2)
    target = kernel_root(centred_kernel(gaussian_kernel(squared)), share=0.999)
    options = {"local": local, "n_components": 3, "tol": 1e-9, "max_iter": 2000}

    selector = GLSPFS(r1=0.05, r2=0.5, standardize=False, **options).fit(X + 7.0)
    coef, _ = naive(X, target, LOCAL[local](X), 0.5, 0.05, selector.n_iter_)

    norms = np.linalg.norm(coef, axis=1)
    found = np.linalg.norm(selector.coef_, axis=1)
    np.testing.assert_allclose(found, norms, atol=1e-6 * norms.max())


@each("shape", [(60, 30), (25, 60)])
def test_spufs_equals_the_formulas_written_out_and_not_those_by_columns(planted, shape):
    X = unit_size(planted(*shape).X, shape[1])
    selector = SPUFS(alpha=0.5, beta=0.3, standardize=False).fit(X + 7.0)
    problem = (X, X, LOCAL["neighbours"](X), 0.3, 0.5, selector.n_iter_)

    rows = np.linalg.norm(naive(*problem)[0], axis=1)
    columns = np.linalg.norm(naive(*problem, axis=0)[0], axis=0)

    np.testing.assert_allclose(selector.scores_, rows, atol=1e-6 * rows.max())
    assert np.abs(selector.scores_ - columns).max() > 0.1 * rows.max()


PENALTIES = each(
    ("selector", "name", "share"),
    [(GLSPFS, "r1", glspfs.AUTO_R1), (SPUFS, "alpha", spufs.AUTO_ALPHA)],
)


@PENALTIES
def test_a_given_penalty_is_that_of_the_printed_objective(
    planted, selector, name, share
):
    X = planted(40, 30).X
    automatic = selector().fit(X)
    given = selector(**{name: getattr(automatic, f"{name}_")}).fit(X)

    np.testing.assert_allclose(given.scores_, automatic.scores_, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:.*stopped after")
@PENALTIES
@each("shape", [(30, 60), (60, 40)])
def test_rows_that_underflow_are_ranked_by_their_kkt_ratio(
    selector, name, share, shape
):
    random = np.random.default_rng(0)
    X = random.normal(size=shape) * np.geomspace(1.0, 0.2, shape[1])
    places = random.permutation(shape[1])
    automatic = selector(standardize=False).fit(X)
    penalty = {name: 0.95 * getattr(automatic, f"{name}_") / share}
    late = selector(standardize=False, tol=0.0, max_iter=1500, **penalty)

    scores, permuted = (late.fit(table).scores_ for table in (X, X[:, places]))

    assert len(np.unique(scores)) == shape[1]
    np.testing.assert_array_equal(np.argsort(-scores), places[np.argsort(-permuted)])

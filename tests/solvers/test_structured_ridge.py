"""The reweighted step with a matrix of the samples, in its two forms."""

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from regression_properties import objectives
from structured_formulas import reweighted

from ufselect import GLSPFS
from ufselect.matrix import as_matrix
from ufselect.solvers.graphs import laplacian, neighbour_graph
from ufselect.solvers.structured_ridge import (
    ThroughFeatures,
    ThroughSamples,
    metric_gram,
    structured_problem,
)

SHAPE = pytest.mark.parametrize("shape", [(30, 12), (15, 40), (20, 20)])


def made(shape, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=shape)
    return X, random.normal(size=(shape[0], 3)), laplacian(neighbour_graph(X, 4))


def steps_of(X, problem, penalty, count):
    return list(islice(GLSPFS()._iterate(as_matrix(X), problem, penalty), count))


@SHAPE
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_it_equals_the_formulas_written_out(shape, convert):
    X, target, graph = made(shape)
    X[:, 3] *= 1e-200  # such a row of W is zero from the first step on

    problem = structured_problem(as_matrix(convert(X)), target, graph, 0.7)
    steps = steps_of(X, problem, 2.0, 8)
    rest = np.delete(np.arange(shape[1]), 3)
    coef, history = reweighted(X[:, rest], target, graph, 0.7, 2.0, 8)

    np.testing.assert_allclose(steps[-1].W[rest], coef, atol=1e-8)
    np.testing.assert_allclose(objectives(steps), history, rtol=1e-10)
    assert not steps[-1].W[3].any()


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
@pytest.mark.parametrize("rho", [0.0, 1.0, 1e3])
@pytest.mark.parametrize("penalty", [1e-3, 10.0])
def test_the_objective_never_rises(shape, rho, penalty):
    X, target, graph = made(shape)
    problem = structured_problem(as_matrix(X), target, graph, rho)

    history = objectives(steps_of(X, problem, penalty, 100))

    # Through features the error is a difference of numbers as large as |Y|^2.
    assert (np.diff(history) <= 1e-10 * np.sum(target**2)).all()

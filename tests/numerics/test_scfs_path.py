"""A path through a grid: its order, and what is handed on."""

import numpy as np
import pytest

from ufselect.matrix import as_matrix
from ufselect.numerics.preparation import prepare
from ufselect.numerics.scfs_exact import ExactProblem
from ufselect.numerics.scfs_path import ExactPath, by_penalty


@pytest.fixture
def path(planted):
    data = as_matrix(planted(30, 70).X)
    prepared = prepare(data, data.summary(), "features", 3.0)
    problem = ExactProblem(prepared, 3.0, intercept=True)
    return ExactPath(problem, problem.clustered(3, np.random.RandomState(0)))


def fit(path, alpha, beta):
    return path.fit(
        alpha, beta, max_iter=100, tol=1e-5, report=lambda iteration, objective: False
    )


def test_the_penalty_only_falls_and_equal_ones_are_neighbours():
    weights = [1e-4, 1e-2, 1, 1e2]
    pairs = list(by_penalty(weights, weights))
    penalties = [round(np.log10(beta / alpha)) for alpha, beta in pairs]

    assert sorted(pairs) == [(a, b) for a in weights for b in weights]
    assert penalties == sorted(penalties, reverse=True)


def test_alphas_go_up_and_down_in_turns():
    pairs = list(by_penalty([1, 2, 4], [1, 2, 4]))

    assert [alpha for alpha, _ in pairs] == [1, 1, 2, 4, 2, 1, 2, 4, 4]


def test_weights_given_twice_are_fitted_twice():
    assert list(by_penalty([1, 1], [2])) == [(1, 2), (1, 2)]


def test_the_same_weights_again_have_little_left_to_do(path):
    first = fit(path, 0.1, 2e-4)
    again = fit(path, 0.1, 2e-4)

    assert len(again.history) < len(first.history)
    assert again.history[-1] <= first.history[-1]


def test_coefficients_are_handed_on(path):
    fit(path, 0.1, 2e-4)
    regression = path._regression
    before = regression.norm()
    fit(path, 0.1, 1e-4)

    assert path._regression is regression
    assert regression.norm() > before > 0

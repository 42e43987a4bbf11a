"""A path through a grid: its order, and what is handed on."""

from itertools import pairwise

import numpy as np
import pytest

from ufselect.matrix import as_matrix
from ufselect.numerics.preparation import prepare
from ufselect.numerics.scfs_exact import ExactProblem
from ufselect.numerics.scfs_path import ExactPath, to_and_fro


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


def test_neighbours_differ_in_one_weight_only():
    pairs = list(to_and_fro([1, 2, 3], [4, 5, 6]))

    assert sorted(pairs) == [(a, b) for a in (1, 2, 3) for b in (4, 5, 6)]
    for one, other in pairwise(pairs):
        assert (one[0] == other[0]) != (one[1] == other[1])


def test_the_same_weights_again_have_little_left_to_do(path):
    first = fit(path, 0.1, 2e-4)
    again = fit(path, 0.1, 2e-4)

    assert len(again.history) < len(first.history)
    assert again.history[-1] <= first.history[-1]


@pytest.mark.parametrize(("beta", "kept"), [(4e-4, True), (1e-6, True), (0.004, False)])
def test_coefficients_are_handed_on_unless_most_would_have_to_go(path, beta, kept):
    fit(path, 0.1, 2e-4)
    regression = path._regression
    fit(path, 0.1, beta)

    assert (path._regression is regression) == kept

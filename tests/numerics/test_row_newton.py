"""Newton steps of row-sparse regression: their equations, and that they descend."""

import numpy as np
import pytest
from numerics.naive import planted

from ufselect.matrix import as_matrix
from ufselect.numerics.least_squares import Point, Target
from ufselect.numerics.row_newton import _newton_direction, newton_step
from ufselect.numerics.rows import row_norms
from ufselect.numerics.working_set import working_set

SHAPES = [(40, 12), (15, 30)]
FORMS = ["primal", "dual"]


class Setting:
    """A problem on a full working set, and coefficients with some rows of zeros."""

    def __init__(self, shape, form, seed=0):
        random = np.random.default_rng(seed)
        X, _ = planted(*shape, seed=seed)
        self.X = X - X.mean(axis=0)
        self.Y = random.normal(size=(shape[0], 3))
        members = working_set(as_matrix(self.X), 3, form)
        members.set_target(Target.of(self.Y))
        members.admit(np.arange(shape[1]))
        self.problem = members.problem
        self.penalty = 0.2 * row_norms(2 * self.X.T @ self.Y).max()
        coef = 0.1 * random.normal(size=(shape[1], 3))
        coef[::4] = 0.0
        self.start = self.problem.at(coef)

    def objective(self, coef):
        error = np.sum((self.X @ coef - self.Y) ** 2)
        return error + self.penalty * np.linalg.norm(coef, axis=1).sum()

    def slope(self, coef):
        """Return the gradient on the rows that are not zero."""
        norms = np.linalg.norm(coef, axis=1, keepdims=True)
        slope = 2 * self.X.T @ (self.X @ coef - self.Y)
        slope += self.penalty * coef / np.where(norms > 0, norms, 1)
        return slope * (norms > 0)


@pytest.fixture(params=[(shape, form) for shape in SHAPES for form in FORMS])
def setting(request):
    return Setting(*request.param)


def test_a_point_knows_its_objective(setting):
    start = setting.start
    constant = np.sum(setting.Y**2)

    found = start.objective(setting.problem, setting.penalty) + constant

    assert found == pytest.approx(setting.objective(start.coef))


def test_the_direction_takes_the_gradient_to_zero_at_first_order(setting):
    start, problem = setting.start, setting.problem
    slack = 2 * row_norms(start.coef) / setting.penalty

    step = _newton_direction(problem, start, slack, problem.ridge(slack), 200)
    tiny = 1e-6
    change = setting.slope(start.coef + tiny * step) - setting.slope(start.coef)

    slope = setting.slope(start.coef)
    excess = np.linalg.norm(change / tiny + slope)
    assert excess <= 0.03 * np.linalg.norm(slope)


def test_one_product_is_the_reweighted_ridge_step(setting):
    start, problem = setting.start, setting.problem
    slack = 2 * row_norms(start.coef) / setting.penalty
    inside = slack > 0

    step = _newton_direction(problem, start, slack, problem.ridge(slack), 1)
    Z = setting.X[:, inside]
    inverse = np.linalg.inv(Z.T @ Z + np.diag(1 / slack[inside]))
    ridge = inverse @ (Z.T @ setting.Y) - start.coef[inside]
    length = np.vdot(step[inside], ridge) / np.vdot(ridge, ridge)

    np.testing.assert_allclose(step[inside], length * ridge, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n_products", [1, 4, 30])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("form", FORMS)
def test_no_step_rises_and_zeros_stay(form, seed, n_products):
    setting = Setting((15, 30), form, seed)
    point, value = setting.start, np.inf

    for _ in range(10):
        point = newton_step(setting.problem, point, setting.penalty, n_products)
        previous, value = value, setting.objective(point.coef)

        assert value <= previous * (1 + 1e-12)
        assert not point.coef[::4].any()


def test_few_steps_end_where_the_gradient_vanishes():
    setting = Setting((40, 12), "primal")
    setting.penalty *= 0.1
    point = setting.start

    for _ in range(12):
        point = newton_step(setting.problem, point, setting.penalty, 50)

    slopes = [
        np.linalg.norm(setting.slope(W)) for W in (point.coef, setting.start.coef)
    ]
    assert slopes[0] <= 1e-6 * slopes[1]


def test_nothing_moves_from_zero_or_without_a_factorisation():
    setting = Setting((15, 30), "dual")
    nowhere = setting.problem.at(np.zeros((30, 3)))
    plain = Setting((15, 30), "first-order")

    assert newton_step(setting.problem, nowhere, 1.0, 4) is nowhere
    assert newton_step(plain.problem, plain.start, 1.0, 4) is plain.start


def test_equations_without_a_solution_still_give_a_finite_step():
    columns = np.ones((4, 1)) * [1.0, 1.0]
    members = working_set(as_matrix(columns), 1, "primal")
    members.set_target(Target.of(np.full((4, 1), 0.5)))
    members.admit(np.arange(2))
    coef = np.array([[1e-3], [-1e-3]])
    start = Point(coef, members.problem.normal(coef))

    found = newton_step(members.problem, start, 1.0, 50)

    assert np.isfinite(found.coef).all()

"""Newton steps for row-sparse regression, on the rows that are not zero.

There ``|Z W - Y|^2 + penalty |W|_21`` is smooth. With ``s_i = 2 |w_i| / penalty`` and
``u_i = w_i / |w_i|``, half its second derivative takes V to

    Z'Z V + (v_i - u_i u_i'v_i) / s_i,

and without the term in u it is the matrix of a ridge regression, which couples no two
columns of W and is factored once. That makes a good preconditioner: the first of the
conjugate gradient steps is the reweighted ridge step, and few more are needed.
"""

import numpy as np

from ufselect.matrix.base import Float
from ufselect.numerics.least_squares import LeastSquares, Point
from ufselect.numerics.ridge import FeatureRidge, SampleRidge
from ufselect.numerics.rows import row_norms

# The equations of a step are solved to this residual, relative to the gradient.
RESIDUAL = 1e-2

# Of the objective, relative to ``|Y|^2``.
ROUNDING = 1e-15

# A step that is short next to the coefficients.
SHORT = 1e-5

# A second derivative next to that of the ridge regression that tells nothing.
FLAT = 1e-10

# How far to go along a step, until the objective falls.
LENGTHS = (1.0, 0.5, 0.25, 0.125, 0.0625)


def newton_step(
    problem: LeastSquares, start: Point, penalty: float, n_products: int
) -> Point:
    """Return where a Newton step leads; the objective does not rise.

    Rows that are zero stay so. The start is returned where W = 0, and where no
    factorisation is affordable.

    Parameters
    ----------
    problem : LeastSquares
    start : Point
    penalty : float
    n_products : int
        The largest number of conjugate gradient steps.
    """
    slack = 2 * row_norms(start.coef) / penalty
    ridge = problem.ridge(slack) if slack.any() else None
    if ridge is None:
        return start
    step = _newton_direction(problem, start, slack, ridge, n_products)
    before = start.objective(problem, penalty)
    if np.linalg.norm(step) <= SHORT * np.linalg.norm(start.coef):
        # At the end a step gains less than rounding shows, and still closes the gap. A
        # long one that gains nothing would only wander along columns that cancel.
        before += ROUNDING * problem.squared_target
    for length in LENGTHS:
        coef = start.coef + length * step
        # The function is not smooth where a row passes zero: such a row stops there.
        coef[np.einsum("ij,ij->i", start.coef, coef) <= 0] = 0.0
        found = Point(coef, problem.normal(coef))
        if found.objective(problem, penalty) < before:
            return found
    # The ridge regression itself never leads uphill, but for rounding.
    found = problem.at(ridge.inverse(problem.cross))
    return found if found.objective(problem, penalty) < before else start


def _newton_direction(
    problem: LeastSquares,
    start: Point,
    slack: Float,
    ridge: FeatureRidge | SampleRidge,
    n_products: int,
) -> Float:
    # Rows of W lie in columns here, as LAPACK likes them.
    coef = np.ascontiguousarray(start.coef.T)
    inside = slack > 0
    weights = np.divide(1.0, slack, out=np.zeros(len(slack)), where=inside)
    unit = coef / np.where(inside, row_norms(start.coef), 1.0)
    # Half the penalty pulls a row towards zero: |w| / slack.
    descent = ((problem.cross - start.image).T - weights * coef) * inside
    with np.errstate(all="ignore"):
        step = _conjugate_gradients(descent, ridge, weights, unit, n_products)
        if not np.isfinite(step).all():
            step = ridge.inverse(descent.T).T
    return np.ascontiguousarray(step.T)


def _conjugate_gradients(
    right: Float,
    ridge: FeatureRidge | SampleRidge,
    weights: Float,
    unit: Float,
    n_products: int,
) -> Float:
    """Solve ``(M - R) V = right``, M the matrix of the ridge regression.

    R is what the second derivative lacks of M, a projection of every row. As steps are
    made of ``Z = M^-1 residual``, M times them is made of residuals, and no other
    product with M or ``Z'Z`` is needed.
    """
    step, direction, image = (np.zeros_like(right) for _ in range(3))
    residual = right.copy()
    largest = RESIDUAL * np.linalg.norm(right)
    before = np.inf
    for _ in range(n_products):
        if np.linalg.norm(residual) <= largest:
            break
        preconditioned = ridge.inverse(residual.T).T
        decrease = float(np.vdot(residual, preconditioned))
        direction *= decrease / before
        direction += preconditioned
        image *= decrease / before
        image += residual
        along = weights * np.einsum("ij,ij->j", unit, direction)
        curved = image - along * unit
        curvature = np.vdot(direction, curved)
        if curvature <= FLAT * np.vdot(direction, image):
            # Columns that cancel: what is left of the residual is rounding.
            break
        length = decrease / curvature
        step += length * direction
        curved *= length
        residual -= curved
        before = decrease
    return step

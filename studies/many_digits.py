"""Do results agree with the same formulas in fifty decimal digits?

On small tables, mpmath evaluates the definitions of what ufselect computes in double
precision. A number is right if the difference, relative to the largest number of the
result, is at most what is allowed. For SCFS, the objective of the returned memberships
and coefficients is computed again, and the duality gap of the regression, which bounds
the distance of the objective from its minimum over W. `tests/test_many_digits.py` runs
it on one table.

    python -m studies many_digits [NUMBER_OF_TABLES]
"""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

from ufselect import SCFS, SPEC, LaplacianScore, MaxVariance, evaluation
from ufselect.matrix import as_matrix
from ufselect.solvers.lars import elastic_net_points
from ufselect.solvers.scfs import FINAL_GAP

DIGITS = 50
SHAPE, N_NEIGHBOURS, N_CLUSTERS = (12, 5), 3, 3
RIDGE = 0.1

# Shares of the largest number by which double precision may be off.
CLOSE, CLOSE_AFTER_EIGENVECTORS = 1e-12, 1e-9

Numbers = list[Any]
Check = Callable[[np.ndarray], tuple[float, float]]


def table(seed: int) -> np.ndarray:
    """Return a small table whose columns differ in unit and in offset."""
    random = np.random.RandomState(seed)
    X = random.standard_normal(SHAPE) + random.randint(3, size=(SHAPE[0], 1))
    return X * 10.0 ** np.arange(-2, 3) + np.arange(5)


def error(found: Any, exact: Numbers) -> float:
    """Return the largest difference, as a share of the largest number."""
    size = max(abs(value) for value in exact)
    pairs = zip(np.ravel(found).tolist(), exact, strict=True)
    return float(max(abs(mpf(one) - other) for one, other in pairs) / size)


def matrix(X: np.ndarray) -> Any:
    """Return an array in many digits."""
    return mpmath.matrix(X.tolist())


def column(X: Any, place: int) -> Numbers:
    """Return a column as a list."""
    return [X[i, place] for i in range(X.rows)]


def total(numbers: Any) -> Any:
    """Return the sum in many digits."""
    return mpmath.fsum(numbers)


def squares(X: Any) -> Any:
    """Return the sum of the squares of a matrix."""
    return total(value**2 for value in X)


def centred(X: Any) -> Any:
    """Return a matrix minus the means of its columns."""
    means = [total(column(X, j)) / X.rows for j in range(X.cols)]
    return mpmath.matrix(
        [[X[i, j] - means[j] for j in range(X.cols)] for i in range(X.rows)]
    )


def standard_deviations(X: np.ndarray) -> tuple[float, float]:
    """MaxVariance: the scores are standard deviations."""
    rest = centred(matrix(X))
    exact = [
        mpmath.sqrt(total(v**2 for v in column(rest, j)) / len(X))
        for j in range(rest.cols)
    ]
    return error(MaxVariance().fit(X).scores_, exact), CLOSE


def exact_graph(X: Any, *, heat: bool) -> Any:
    """Return the weights of the neighbour graph, from all distances."""
    n = X.rows
    far = [[squares(X[i, :] - X[j, :]) for j in range(n)] for i in range(n)]
    near = [
        sorted((j for j in range(n) if j != i), key=lambda j, i=i: far[i][j])
        for i in range(n)
    ]
    edges = {(i, j) for i in range(n) for j in near[i][:N_NEIGHBOURS]}
    lengths = sorted(mpmath.sqrt(far[i][j]) for i, j in edges)
    middle = len(lengths) // 2
    width = (lengths[middle] + lengths[-middle - 1]) / 2
    graph = mpmath.zeros(n)
    for i, j in edges:
        weight = mpmath.exp(-far[i][j] / (2 * width**2)) if heat else mpf(1)
        graph[i, j] = graph[j, i] = weight
    return graph


def smooth_shares(X: np.ndarray, *, heat: bool) -> Numbers:
    """Return ``1 - g'Lg / g'Dg`` for every column."""
    exact = matrix(X)
    graph = exact_graph(exact, heat=heat)
    n = exact.rows
    degrees = [total(graph[i, j] for j in range(n)) for i in range(n)]
    result = []
    for place in range(exact.cols):
        f = column(exact, place)
        mean = total(d * v for d, v in zip(degrees, f, strict=True)) / total(degrees)
        g = [value - mean for value in f]
        spread = total(d * v**2 for d, v in zip(degrees, g, strict=True))
        pairs = ((i, j) for i in range(n) for j in range(n))
        variation = total(graph[i, j] * (g[i] - g[j]) ** 2 for i, j in pairs) / 2
        result.append(1 - variation / spread)
    return result


def laplacian_score(X: np.ndarray) -> tuple[float, float]:
    """LaplacianScore, with the neighbours found in many digits too."""
    found = LaplacianScore(n_neighbors=N_NEIGHBOURS).fit(X).scores_
    return error(found, smooth_shares(X, heat=False)), CLOSE


def spec(X: np.ndarray) -> tuple[float, float]:
    """SPEC by phi2, with heat weights, which is a Laplacian score."""
    found = SPEC(n_neighbors=N_NEIGHBOURS).fit(X).scores_
    return error(found, smooth_shares(X, heat=True)), CLOSE


def leading_spec(X: np.ndarray) -> tuple[float, float]:
    """SPEC by phi3, with eigenvectors in many digits."""
    found = SPEC(phi=3, n_clusters=N_CLUSTERS, n_neighbors=N_NEIGHBOURS).fit(X).scores_
    exact = matrix(X)
    graph = exact_graph(exact, heat=True)
    n = exact.rows
    roots = [mpmath.sqrt(total(graph[i, j] for j in range(n))) for i in range(n)]
    edges = total(root**2 for root in roots)
    similarity = mpmath.matrix(n)
    for i in range(n):
        for j in range(n):
            # Without the trivial vector, which another may equal in its eigenvalue.
            trivial = roots[i] * roots[j] / edges
            similarity[i, j] = graph[i, j] / roots[i] / roots[j] - trivial
    # Largest last.
    values, vectors = mpmath.eigsy(similarity)
    result = []
    for place in range(exact.cols):
        h = [r * v for r, v in zip(roots, column(exact, place), strict=True)]
        size = total(value**2 for value in h)
        gain = mpf(0)
        for j in range(n - N_CLUSTERS + 1, n):
            product = total(vectors[i, j] * h[i] for i in range(n))
            gain += (1 + values[j]) * product**2 / size
        result.append(gain)
    return error(found, result), CLOSE_AFTER_EIGENVECTORS


def fitted_scfs(X: np.ndarray) -> tuple[Any, Any, Any, Any]:
    """Return a fit of SCFS to X as it is, and X, G and W in many digits."""
    selector = SCFS(
        n_clusters=N_CLUSTERS, standardize=False, random_state=0, tol=1e-9
    ).fit(X / 10.0 ** np.arange(-2, 3))
    memberships = matrix(selector.memberships_)
    sizes = [total(column(memberships, j)) for j in range(N_CLUSTERS)]
    indicator = mpmath.matrix(memberships.rows, N_CLUSTERS)
    for i in range(memberships.rows):
        for j in range(N_CLUSTERS):
            indicator[i, j] = memberships[i, j] / mpmath.sqrt(sizes[j])
    exact = centred(matrix(X / 10.0 ** np.arange(-2, 3)))
    return selector, exact, indicator, matrix(selector.coef_)


def row_lengths(W: Any) -> Numbers:
    """Return the norms of the rows."""
    return [mpmath.sqrt(squares(W[i, :])) for i in range(W.rows)]


def scfs_objective(X: np.ndarray) -> tuple[float, float]:
    """SCFS: Eq. 8, with an intercept, of the returned G and W."""
    selector, data, G, W = fitted_scfs(X)
    alpha, beta = mpf(selector.alpha_), mpf(selector.beta_)
    value = squares(data - G * (G.T * data))
    value += alpha * squares(data * W - centred(G)) + beta * total(row_lengths(W))
    return error(selector.objective_history_[-1], [value]), CLOSE


def scfs_gap(X: np.ndarray) -> tuple[float, float]:
    """SCFS: the duality gap of W at the returned G, as a share of |G|^2."""
    selector, data, G, W = fitted_scfs(X)
    penalty = mpf(selector.beta_) / mpf(selector.alpha_)
    target = centred(G)
    rest = target - data * W
    # A multiple of the rest, within the constraints of the dual problem.
    largest = max(row_lengths(data.T * rest))
    scale = min(mpf(1), penalty / (2 * largest))
    primal = squares(rest) + penalty * total(row_lengths(W))
    dual = squares(target) - squares(target - scale * rest)
    return float((primal - dual) / squares(target)), FINAL_GAP


def least_angles(X: np.ndarray) -> tuple[float, float]:
    """The path behind MCFS: at its end, correlations of the model equal the penalty."""
    values = (X - X.mean(axis=0)) / X.std(axis=0)
    target = values @ np.arange(1.0, 6.0)[:, np.newaxis] + values[:, :1] ** 2
    (point,) = elastic_net_points(as_matrix(values), target, 3, RIDGE)
    data, coef = matrix(values), matrix(point.coef[:, np.newaxis])
    slopes = data.T * (matrix(target) - data * coef) - mpf(RIDGE) * coef
    penalty = mpf(point.penalty)
    wrong = [
        abs(slopes[j] - mpmath.sign(coef[j]) * penalty)
        if coef[j] != 0
        else max(mpf(0), abs(slopes[j]) - penalty)
        for j in range(data.cols)
    ]
    return float(max(wrong) / penalty), CLOSE


def redundancies(X: np.ndarray) -> tuple[float, float]:
    """The metric redundancy: mean absolute correlation of pairs."""
    rest = centred(matrix(X))
    columns = [column(rest, j) for j in range(rest.cols)]
    sizes = [mpmath.sqrt(total(v**2 for v in each)) for each in columns]
    values = [
        abs(total(a * b for a, b in zip(columns[i], columns[j], strict=True)))
        / (sizes[i] * sizes[j])
        for i in range(rest.cols)
        for j in range(i)
    ]
    return error(evaluation.redundancy(X), [total(values) / len(values)]), CLOSE


def reconstructions(X: np.ndarray) -> tuple[float, float]:
    """The metric reconstruction error: what least squares leave."""
    rest = centred(matrix(X))
    kept = rest[:, 3:5]
    weights = mpmath.lu_solve(kept.T * kept, kept.T * rest[:, 0])
    left = squares(rest[:, 0] - kept * weights)
    for j in range(1, rest.cols):
        weights = mpmath.lu_solve(kept.T * kept, kept.T * rest[:, j])
        left += squares(rest[:, j] - kept * weights)
    found = evaluation.reconstruction_error(X, [3, 4])
    return abs(float(mpf(found) - left / squares(rest))), CLOSE


CHECKS: dict[str, Check] = {
    "standard deviations of MaxVariance": standard_deviations,
    "LaplacianScore": laplacian_score,
    "SPEC, phi 2": spec,
    "SPEC, phi 3": leading_spec,
    "objective of SCFS": scfs_objective,
    "duality gap of SCFS": scfs_gap,
    "least angle path of MCFS": least_angles,
    "redundancy": redundancies,
    "reconstruction_error": reconstructions,
}


def main(arguments: list[str]) -> int:
    """Print how far off each formula is at most; return 1 if one is too far."""
    wrong, number = False, int(*arguments or ["10"])
    with mpmath.workdps(DIGITS):
        for what, check in CHECKS.items():
            found = [check(table(seed)) for seed in range(number)]
            off, allowed = max(off for off, _ in found), found[0][1]
            wrong |= off > allowed
            print(f"{what:36} off by {off:.1g} at most, {allowed:.0e} allowed")
    return int(wrong)

"""SCFS with its constraint solved: alternate over soft partitions and row-sparse W.

Minimises Eq. 8 of the paper,

    |X - G G'X|^2 + alpha |X W - G|^2 + beta |W|_21,   G >= 0,  G G'1 = 1,

over ``G = P diag(P'1)^(-1/2)``, P a soft partition. With an intercept, X and G are
centred in the second term; as ``|G - mean(G)|^2 = |G|^2 - 1`` for every such G, this
changes nothing but a constant in the step for P.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ufselect.matrix.base import Beside, DataMatrix, Float
from ufselect.numerics.least_squares import Form
from ufselect.numerics.partitions import KernelPartition, SoftPartition
from ufselect.numerics.preparation import Prepared
from ufselect.numerics.row_partition import RowPartition
from ufselect.numerics.row_sparse import RowSparseRegression
from ufselect.numerics.rows import row_norms
from ufselect.numerics.soft_clustering import refine_partition, self_expression
from ufselect.numerics.starts import (
    LARGEST_SAMPLE,
    refuse_too_few_distinct,
    start_beside_rows,
    start_from_components,
)
from ufselect.numerics.working_set import reads_full_gram

Multiply = Callable[[Float], Float]
Report = Callable[[int, float], bool]
State = dict[str, Float]
Keep = Callable[[State], None]

PARTITION_STEPS = 20

# Iterations from one state that is kept to the next.
KEEP_EVERY = 5

# W is finished to this duality gap, relative to |G|^2, once G has settled.
FINAL_GAP = 3e-4

# Up to this many samples, X X' is small whatever is stored of X.
SMALL = 4096


class ExactFit(NamedTuple):
    """What the alternation ends with."""

    partition: SoftPartition
    coef: Float
    proximity: Float
    history: list[float]
    converged: bool

    @property
    def memberships(self) -> Any:
        """The soft partition, n x c."""
        return self.partition.memberships


class Products(NamedTuple):
    """``K B = X X'B`` for the first term, and ``|X|^2``."""

    multiply: Multiply
    total: float
    gram: Float | None


def sample_products(matrix: DataMatrix, total: float) -> Products:
    """Return products with ``K = X X'``, formed only where that saves work.

    With n <= p / 2 it does, and K takes no more than half the memory of X; but for a
    sparse X of many samples, next to which K would be large.
    """
    n_samples, n_features = matrix.shape
    affordable = n_samples <= SMALL or 2 * n_samples**2 <= matrix.multiplications
    if 2 * n_samples <= n_features and affordable and not matrix.scattered:
        gram = matrix.sample_gram()
        return Products(gram.__matmul__, total, gram)

    def multiply(right: Float) -> Float:
        return matrix.dot(matrix.transpose_dot(right))

    return Products(multiply, total, None)


class ExactProblem:
    """The data of Eq. 8, in the form that is cheapest.

    Parameters
    ----------
    prepared : Prepared
        Its centred matrix is the X of the first term, and with an intercept also
        that of the second.
    total : float
        ``|X|^2`` in the first term.
    intercept : bool
    """

    def __init__(self, prepared: Prepared, total: float, *, intercept: bool) -> None:
        self.matrix, self.intercept = prepared.centred, intercept
        self.regressors = prepared.centred if intercept else prepared.uncentred
        self.products = sample_products(self.matrix, total)
        # Made once for all starts.
        self.gram: Float | None = None
        if reads_full_gram(self.regressors.shape):
            self.gram = self._rounded(self.regressors.feature_gram())
        # What every step multiplies by; a start is worth all digits.
        kernel = self.products.gram
        self.kernel = None if kernel is None else self._rounded(kernel)

    def _rounded(self, gram: Float) -> Float:
        """Return a Gram matrix with as many digits as X has."""
        return gram.astype(self.matrix.precision, copy=False)

    def regression(self, n_targets: int) -> RowSparseRegression:
        """Return the second term, to be solved for one G after another."""
        known = self.gram is not None or self.products.gram is not None
        form: Form = "streamed" if self.regressors.streams and not known else "auto"
        return RowSparseRegression(
            self.regressors, n_targets, form=form, gram=self.gram
        )

    def partition(self, memberships: Beside) -> KernelPartition | RowPartition:
        """Return a partition beside the Gram matrix of samples, or beside their rows.

        ``memberships`` are beside the rows of the matrix.
        """
        if self.kernel is not None:
            gathered = self.matrix.gather(memberships)
            return KernelPartition(gathered, self.kernel)
        first, second = self.matrix, self.regressors
        offset = (first.shift - second.shift) * first.scale
        return RowPartition(self.matrix, memberships, offset)

    def clustered(
        self, n_clusters: int, random: np.random.RandomState
    ) -> KernelPartition | RowPartition:
        """Return the clusters of k-means in the leading components."""
        n_samples = self.matrix.shape[0]
        if n_samples <= LARGEST_SAMPLE:
            refuse_too_few_distinct(self.matrix, n_clusters)
            multiply = self.products.multiply
            start = start_from_components(multiply, n_samples, n_clusters, random)
            return self.partition(self.matrix.beside(start))
        gram = self.gram if self.intercept else None
        return self.partition(start_beside_rows(self.matrix, n_clusters, random, gram))


def cluster_only(partition: SoftPartition, total: float, max_steps: int = 50) -> None:
    """Lower ``|X - G G'X|^2`` alone."""
    refine_partition(partition, 0.0, length=1.0, max_steps=max_steps, tol=1e-5 * total)


def useful_penalty(cross: Float, size: float) -> float:
    """Return the penalty from which on W = 0, or say that any penalty does that.

    ``cross`` is ``X'G``, and ``size`` is ``|X - mean|``, next to which rounding is told
    from correlation.
    """
    largest = 2 * float(row_norms(cross).max())
    if largest <= 1e-10 * size:
        raise ValueError(
            "No feature is related to the clusters that the fit starts from, so that "
            f'beta="auto" has no scale (n_clusters={cross.shape[1]}); use more '
            "clusters or an init whose clusters differ."
        )
    return largest


def fit_exact(
    problem: ExactProblem,
    partition: SoftPartition,
    *,
    alpha: float,
    beta: float,
    max_iter: int,
    tol: float,
    report: Report,
    keep: Keep | None = None,
    state: State | None = None,
    regression: RowSparseRegression | None = None,
) -> ExactFit:
    """Alternate until the objective falls by less than tol, relative to itself.

    Parameters
    ----------
    problem : ExactProblem
    partition : SoftPartition
        To start from; it is changed.
    alpha, beta : float
    max_iter : int
    tol : float
    report : callable
        Called with the iteration and the objective; returning True stops the fit.
    keep : callable, optional
        Called every few iterations with what is needed to go on from there.
    state : dict of ndarray, optional
        What ``keep`` was called with last in a fit of the same problem, to go on.
    regression : RowSparseRegression, optional
        That of an earlier fit of the same problem, whose W is where this one begins.
    """
    if regression is None:
        regression = problem.regression(len(partition.sums.sizes))
    intercept, total = problem.intercept, problem.products.total
    values = regression.needs_values
    penalty, length = beta / alpha, 1.0
    history: list[float] = []
    converged = False
    if state is not None:
        partition.restore(state)
        regression.restore(state, partition.target(intercept, values=values))
        length, history = float(state["length"]), state["history"].tolist()

    def objective() -> float:
        sums = partition.sums
        error = np.sum(np.diag(sums.overlap) / sums.sizes) - intercept
        error += partition.explained
        error -= 2 * np.sum(sums.agreement / np.sqrt(sums.sizes))
        expression = self_expression(sums, total)
        return expression + alpha * max(float(error), 0.0) + beta * regression.norm()

    for iteration in range(len(history), max_iter):
        regression.improve(partition.target(intercept, values=values), penalty)
        partition.aim(regression)
        response = partition.follow(regression, penalty)
        length = refine_partition(
            partition,
            alpha,
            length=length,
            max_steps=PARTITION_STEPS,
            tol=0.01 * tol * total,
        )
        if response is not None:
            regression.follow(response, partition.target(intercept, values=values))
            partition.aim(regression)
        history.append(objective())
        fell = history[-2] - history[-1] if iteration else np.inf
        converged = fell < tol * history[-1]
        if report(iteration, history[-1]) or converged:
            break
        if keep is not None and (iteration + 1) % KEEP_EVERY == 0:
            reached = {"length": np.array(length), "history": np.array(history)}
            keep(reached | regression.state() | partition.state())
    target = partition.target(intercept, values=values)
    solution = regression.solve(target, penalty, tol=FINAL_GAP)
    partition.aim(regression)
    history[-1] = min(history[-1], objective())
    return ExactFit(partition, solution.coef, solution.proximity, history, converged)


def lower_of(best: ExactFit | None, other: ExactFit) -> ExactFit:
    """Return the fit with the lower objective, the first of two that are equal."""
    if best is None:
        return other
    return other if other.history[-1] < best.history[-1] else best


def fit_apart(
    problem: ExactProblem,
    start: Float,
    alpha: float,
    beta: float,
    max_iter: int,
    tol: float,
) -> ExactFit:
    """Fit in another process; of the partition, the memberships come back."""
    fit = fit_exact(
        problem,
        problem.partition(problem.matrix.beside(start)),
        alpha=alpha,
        beta=beta,
        max_iter=max_iter,
        tol=tol,
        report=lambda iteration, objective: False,
    )
    return fit._replace(partition=fit.memberships)

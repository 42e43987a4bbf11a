"""MFFS, SGFS and LDSSL: selection by non-negative factors.

Minimises, over S >= 0 (p x K, which features are selected) and V >= 0 (K x p, how the
others are made of them),

    (1)  |X - X S V|^2 + lam/2 |S'S - I|^2 + alpha tr(V L V') + beta |S|_21
         + gamma |S|_1 + delta tr(S'X'M X S)

for a non-negative X, the Laplacian ``L = D - A`` of a graph of features and a sparse,
positive semi-definite matrix M of samples whose rows sum to zero, ``M = M+ - M-`` by
sign. MFFS (W for S, H for V) has the first two terms, halved; SGFS those with alpha and
beta; LDSSL those with gamma and delta. Entry by entry, with ``Q = diag(1 / |s_i|)``,

    (2)  columns of S to unit length, rows of V by the inverse
    (3)  S <- S [(X'X V' + lam S + delta X'M- X S)
                 / (X'X S V V' + lam S S'S + beta/2 Q S + gamma/2 + delta X'M+ X S)]^e
    (4)  V <- V (S'X'X + alpha V A) / (S'X'X S V + alpha V D)

V is kept transposed, so that every factor is p x K. ``X'X`` is formed only where it is
no larger than X, and ``X'M X`` never. Equation numbers are this file's own.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ufselect.matrix.base import ColumnSummary, DataMatrix, Float, Index
from ufselect.solvers.graphs import degrees, laplacian
from ufselect.solvers.iterations import Iterations, Report
from ufselect.solvers.preparation import non_negative, without_offsets
from ufselect.solvers.ridge import row_norms

Multiply = Callable[[Float], Float]

# Powers of the multiplicative step, tried in turn until the objective falls. The
# quartic term is certain to fall with the last one only.
EXPONENTS = (1.0, 0.5, 0.25)

# A multiplicative step can never leave zero, so that no factor becomes zero.
SMALLEST_FACTOR = 1e-12

# Nor does it leave a very small value soon: smallest entry of S at the start.
SMALLEST_START = 1e-3

# An objective below this share of |X|^2 could fall for ever without meaning.
NEGLIGIBLE_SHARE = 1e-3


class Weights(NamedTuple):
    """The weights lam, alpha, beta and gamma of the objective."""

    orthogonality: float
    smoothness: float = 0.0
    sparsity: float = 0.0
    entry_sparsity: float = 0.0


class SampleTerm(NamedTuple):
    """The matrix M of samples and its weight delta."""

    matrix: sp.csr_array
    weight: float


class Factors(NamedTuple):
    """S and V', both p x K."""

    selection: Float
    loadings: Float


class FactorFit(NamedTuple):
    """What the iteration ends with."""

    factors: Factors
    history: list[float]
    converged: bool


class UnitProblem(NamedTuple):
    """Varying columns, shifted to be non-negative, times ``unit``, so that |X| = 1."""

    matrix: DataMatrix
    varying: Index
    unit: float


class _Products(NamedTuple):
    """``X'X S`` and ``X S``; the second has no rows where no term needs it."""

    gram: Float
    chosen: Float


class _State(NamedTuple):
    """Factors with products of S and the objective."""

    selection: Float
    loadings: Float
    products: _Products
    value: float


class _Model:
    """The objective, with all that stays the same while factors change."""

    def __init__(
        self,
        matrix: DataMatrix,
        weights: Weights,
        graph: sp.csr_array | None,
        samples: SampleTerm | None,
    ) -> None:
        self.matrix = matrix
        self.multiply: Multiply = lambda B: matrix.transpose_dot(matrix.dot(B))
        if has_small_gram(matrix):
            self.multiply = matrix.feature_gram().__matmul__
        self.total = float(np.sum(matrix.row_norms() ** 2))
        self.weights = weights
        self.graph = graph
        if graph is not None:
            self.laplacian = laplacian(graph)
            self.degrees = degrees(graph)[:, np.newaxis]
        self.samples = samples
        if samples is not None:
            # M = M+ - M-, neither of them negative.
            positive = sp.csr_array(samples.matrix.maximum(0))
            self.signed_parts = positive, sp.csr_array(positive - samples.matrix)
        self.rounding = float(np.finfo(matrix.raw.dtype).eps) * self.total

    def products(self, selection: Float) -> _Products:
        """Return the products of S with X that the terms need."""
        if self.samples is None:
            chosen = np.empty((0, selection.shape[1]))
            return _Products(self.multiply(selection), chosen)
        chosen = self.matrix.dot(selection)
        if has_small_gram(self.matrix):
            return _Products(self.multiply(selection), chosen)
        return _Products(self.matrix.transpose_dot(chosen), chosen)

    def state(
        self, selection: Float, loadings: Float, products: _Products | None = None
    ) -> _State:
        """Return factors with their objective; products are those of S if known."""
        if products is None:
            products = self.products(selection)
        value = self.loss(selection, loadings, products.gram)
        value += self.penalty(selection, loadings)
        value += self.roughness(products.chosen)
        return _State(selection, loadings, products, value)

    def loss(self, selection: Float, loadings: Float, product: Float) -> float:
        """Return ``|X - X S V|^2``."""
        fitted = np.sum((selection.T @ product) * (loadings.T @ loadings))
        value = self.total - 2 * float(np.vdot(product, loadings)) + float(fitted)
        return max(value, 0.0)

    def penalty(self, selection: Float, loadings: Float) -> float:
        """Return the terms of the objective in which X does not occur."""
        weights = self.weights
        overlap = selection.T @ selection
        overlap.flat[:: len(overlap) + 1] -= 1.0
        value = weights.orthogonality / 2 * float(np.vdot(overlap, overlap))
        if self.graph is not None:
            smooth = float(np.vdot(loadings, self.laplacian @ loadings))
            value += weights.smoothness * smooth
        # S is not negative.
        value += weights.entry_sparsity * float(selection.sum())
        return value + weights.sparsity * float(row_norms(selection).sum())

    def roughness(self, chosen: Float) -> float:
        """Return the term of the samples, given ``X S``."""
        if self.samples is None:
            return 0.0
        # M does not see the means, and without them there is less to cancel.
        centred = chosen - chosen.mean(axis=0)
        value = float(np.vdot(centred, self.samples.matrix @ centred))
        return self.samples.weight * max(value, 0.0)

    def selection_ratio(self, state: _State) -> Float:
        """Return the factor by which the multiplicative step changes S."""
        orthogonality, _, sparsity, entry_sparsity = self.weights
        selection, loadings = state.selection, state.loadings
        numerator = np.maximum(self.multiply(loadings), 0.0)
        numerator += orthogonality * selection
        denominator = np.maximum(state.products.gram, 0.0) @ (loadings.T @ loadings)
        denominator += orthogonality * (selection @ (selection.T @ selection))
        denominator += entry_sparsity / 2
        if sparsity > 0:
            norms = np.maximum(row_norms(selection), SMALLEST_FACTOR)[:, np.newaxis]
            denominator += sparsity / 2 * (selection / norms)
        if self.samples is not None:
            # Signs are split in M, not in X'M X, which would be p x p: X is not
            # negative, so that both parts stay so.
            up, down = (
                np.maximum(self.matrix.transpose_dot(part @ state.products.chosen), 0.0)
                for part in self.signed_parts
            )
            numerator += self.samples.weight * down
            denominator += self.samples.weight * up
        return safe_ratio(numerator, denominator)

    def loadings_ratio(self, state: _State) -> Float:
        """Return the factor by which the multiplicative step changes V'."""
        smoothness = self.weights.smoothness
        product = np.maximum(state.products.gram, 0.0)
        denominator = state.loadings @ (product.T @ state.selection)
        numerator = product
        if self.graph is not None:
            numerator = product + smoothness * (self.graph @ state.loadings)
            denominator += smoothness * self.degrees * state.loadings
        return safe_ratio(numerator, denominator)


def fit_factors(
    matrix: DataMatrix,
    start: Factors,
    weights: Weights,
    *,
    graph: sp.csr_array | None = None,
    samples: SampleTerm | None = None,
    exponent: float | None = None,
    max_iter: int,
    tol: float,
    report: Report | None = None,
) -> FactorFit:
    """Iterate from the start: columns of S to unit length, S, then V.

    With an exponent, the published rules are followed whatever the objective does.
    Without one it never rises: columns keep their length where unit length would
    raise it, and S takes the first of the powers 1, 1/2, 1/4 that does not.

    Parameters
    ----------
    matrix : DataMatrix
        Non-negative.
    start : Factors
        Positive; they are not changed.
    weights : Weights
    graph : csr_array of shape (p, p), optional
        Of features; without it there is no third term.
    samples : SampleTerm, optional
        Without it there is no last term.
    exponent : float, optional
        Power of every step for S.
    max_iter : int
    tol : float
        Stop when the objective changes by less than this share of itself or, for
        factors that are nearly exact, of a thousandth of ``|X|^2``.
    report : callable
        Told the iteration and the objective; returns whether to stop.
    """
    model = _Model(matrix, weights, graph, samples)
    selection, loadings = (np.maximum(part, SMALLEST_FACTOR) for part in start)
    state = model.state(selection, loadings)
    loop = Iterations(
        max_iter,
        tol,
        report,
        start=state.value,
        scale=NEGLIGIBLE_SHARE * model.total,
        rounding=model.rounding,
    )
    for _ in loop:
        state = rescale(model, state, guarded=exponent is None)  # (2)
        if exponent is None:
            state = guarded_step(model, state)
        else:
            ratio = model.selection_ratio(state)  # (3)
            state = model.state(
                stepped(state.selection, ratio, exponent), state.loadings
            )
        loadings = stepped(state.loadings, model.loadings_ratio(state), 1.0)  # (4)
        state = model.state(state.selection, loadings, state.products)
        loop.record(state.value)  # (1)
    factors = Factors(state.selection, state.loadings)
    return FactorFit(factors, loop.history, loop.converged)


def rescale(model: _Model, state: _State, *, guarded: bool) -> _State:
    """Give the columns of S unit length and make up for it in V."""
    norms = np.sqrt(np.einsum("ij,ij->j", state.selection, state.selection))
    products = _Products(*(part / norms for part in state.products))
    scaled = model.state(state.selection / norms, state.loadings * norms, products)
    return state if guarded and scaled.value > state.value else scaled


def guarded_step(model: _Model, state: _State) -> _State:
    """Return the state after the first step for S that does not raise the objective."""
    ratio = model.selection_ratio(state)
    for exponent in EXPONENTS:
        selection = stepped(state.selection, ratio, exponent)
        found = model.state(selection, state.loadings)
        if found.value <= state.value + model.rounding:
            return found
    return state


def stepped(factor: Float, ratio: Float, exponent: float) -> Float:
    """Return a factor after a multiplicative step."""
    power = ratio if exponent == 1.0 else ratio**exponent
    return np.maximum(factor * power, SMALLEST_FACTOR)


def safe_ratio(numerator: Float, denominator: Float) -> Float:
    """Return the ratio, and one where the denominator has vanished."""
    ratio = np.ones_like(numerator)
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    return ratio


def has_small_gram(matrix: DataMatrix) -> bool:
    """Tell whether ``X'X`` is no larger than X, of which zeros may not be stored."""
    return matrix.shape[1] ** 2 <= matrix.multiplications


def unit_problem(
    data: DataMatrix, summary: ColumnSummary, *, each_column: bool = False
) -> UnitProblem:
    """Return X as the model needs it, shifted by columns or as a whole.

    A constant column would be the best of all predictors and has nothing to say.
    """
    varying = np.flatnonzero(~summary.constant)
    if len(varying) < data.shape[1]:
        data = data.take(varying)
        summary = ColumnSummary(*(part[varying] for part in summary))
    if each_column:
        mean = summary.mean - summary.minimum
        data, shift = without_offsets(data, summary, summary.minimum)
        matrix = data.affine(shift, np.ones(len(varying)))
    else:
        matrix = non_negative(data, summary, "none")
        mean = summary.mean - matrix.shift
    roots = np.hypot(mean, summary.deviation)
    largest = roots.max()
    unit = 1 / (largest * np.sqrt(data.shape[0] * np.sum((roots / largest) ** 2)))
    matrix = matrix.affine(matrix.shift, np.full(len(varying), unit))
    return UnitProblem(matrix, varying, float(unit))


def random_factors(
    matrix: DataMatrix, n_components: int, random: np.random.RandomState
) -> Factors:
    """Return random factors, S with unit columns and V of matching size.

    V is drawn from (0, 1), S from a power of that: many columns that overlap as
    uniform ones do would all shrink together, rather than turn away from each other.
    Rows are dealt out in the order of a random projection of the columns: a column
    gets the same numbers wherever it stands. V is scaled so that ``X S V`` comes as
    near to X as its direction lets it; far larger, it would crush S at the first step.
    """
    n_samples, n_features = matrix.shape
    places = matrix.transpose_dot(random.standard_normal((n_samples, 1))).ravel()
    rank = np.argsort(np.argsort(places, kind="stable"), kind="stable")
    selection = random.uniform(size=(n_features, n_components))[rank]
    power = max(1.0, 2 * np.sqrt(n_components) - 2)
    selection = np.maximum(selection**power, SMALLEST_START)
    loadings = random.uniform(size=(n_features, n_components))[rank]
    selection /= np.sqrt(np.einsum("ij,ij->j", selection, selection))
    chosen = matrix.dot(selection)
    wanted = float(np.vdot(matrix.transpose_dot(chosen), loadings))
    found = float(np.sum((chosen.T @ chosen) * (loadings.T @ loadings)))
    return Factors(selection, loadings * (wanted / found))

"""MFFS, SGFS and LDSSL: feature selection by non-negative matrix factorisation.

Minimises, over S >= 0 (p x K, which selects features) and V >= 0 (K x p, which
reconstructs all features from these),

    |X - X S V|^2 + lam/2 |S'S - I|^2 + alpha tr(V L V') + beta |S|_21
    + gamma |S|_1 + delta tr(S'X'M X S)

for a non-negative X, the Laplacian ``L = D - A`` of a graph of features and a sparse,
positive semi-definite n x n matrix M whose rows sum to zero, with positive and negative
parts ``M = M+ - M-``. MFFS (W for S, H for V) has the first two terms, halved; SGFS
adds those with alpha and beta; LDSSL adds those with gamma and delta. The
multiplicative updates are, entry by entry and with ``Q = diag(1 / |s_i|)``,

    S <- S [(X'X V' + lam S + delta X'M- X S)
            / (X'X S V V' + lam S S'S + beta/2 Q S + gamma/2 + delta X'M+ X S)]^e
    V <- V (S'X'X + alpha V A) / (S'X'X S V + alpha V D)

after columns of S were scaled to unit length, and rows of V inversely. V is stored
transposed, so that both factors are p x K. ``X'X`` is formed only if it is no larger
than X, and ``X'M X`` never.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ufselect.matrix.base import DataMatrix, Float, Index
from ufselect.solvers.graphs import degrees, laplacian
from ufselect.solvers.iterations import Callback, Iterations
from ufselect.solvers.preparation import non_negative, without_offsets
from ufselect.solvers.ridge import row_norms

Multiply = Callable[[Float], Float]

# Exponents of the multiplicative step, tried in this order until the objective
# decreases. Only the last one guarantees that the quartic term decreases.
EXPONENTS = (1.0, 0.5, 0.25)

# Lower bound of the entries: a multiplicative step cannot change an entry of zero.
MIN_FACTOR = 1e-12

# Smallest entry of S at the start: very small entries need many steps to grow.
MIN_START = 1e-3

# Below this share of |X|^2, a relative decrease of the objective has no meaning.
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
    """Factors after the last iteration, and the objective after each."""

    factors: Factors
    history: list[float]
    converged: bool


class UnitProblem(NamedTuple):
    """Non-constant columns, shifted to be non-negative and scaled so that |X| = 1."""

    matrix: DataMatrix
    varying: Index
    unit: float


class _Products(NamedTuple):
    """``X'X S`` and ``X S``; the second has no rows if no term needs it."""

    gram: Float
    chosen: Float


class _State(NamedTuple):
    """Factors, ``X'X S`` and ``X S``, and the objective."""

    selection: Float
    loadings: Float
    products: _Products
    value: float


class _Model:
    """The objective and everything in it that does not depend on the factors."""

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
            # M = M+ - M-, both of them non-negative.
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
        """Return factors with their objective; products of S are reused if given."""
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
        """Return the terms of the objective that do not depend on X."""
        weights = self.weights
        overlap = selection.T @ selection
        overlap.flat[:: len(overlap) + 1] -= 1.0
        value = weights.orthogonality / 2 * float(np.vdot(overlap, overlap))
        if self.graph is not None:
            smooth = float(np.vdot(loadings, self.laplacian @ loadings))
            value += weights.smoothness * smooth
        # S is non-negative, so its sum is its l1 norm.
        value += weights.entry_sparsity * float(selection.sum())
        return value + weights.sparsity * float(row_norms(selection).sum())

    def roughness(self, chosen: Float) -> float:
        """Return the term of the samples, given ``X S``."""
        if self.samples is None:
            return 0.0
        # Rows of M sum to zero: subtracting the means only reduces cancellation.
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
            norms = np.maximum(row_norms(selection), MIN_FACTOR)[:, np.newaxis]
            denominator += sparsity / 2 * (selection / norms)
        if self.samples is not None:
            # Split M by sign, and not the p x p matrix X'M X: as X is non-negative,
            # so are X'M+ X and X'M- X.
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
    callback: Callback | None = None,
) -> FactorFit:
    """Alternate between normalising S, a step for S and a step for V.

    With an exponent, the steps are the published ones, even if the objective
    increases. Without one it never increases: S is normalised only if this does not
    increase it, and the exponent is the first of 1, 1/2, 1/4 that does not.

    Parameters
    ----------
    matrix : DataMatrix
        Non-negative.
    start : Factors
        Positive; not changed.
    weights : Weights
    graph : csr_array of shape (p, p), optional
        Graph of the features, for the term with alpha.
    samples : SampleTerm, optional
        Matrix of the samples, for the term with delta.
    exponent : float, optional
        Exponent of the multiplicative step for S.
    max_iter : int
    tol : float
        Stop when the objective f changes by less than ``tol (f + |X|^2 / 1000)``.
    callback : callable
        Called with the iteration and the objective; returns whether to stop.
    """
    model = _Model(matrix, weights, graph, samples)
    selection, loadings = (np.maximum(part, MIN_FACTOR) for part in start)
    state = model.state(selection, loadings)
    loop = Iterations(
        max_iter,
        tol,
        callback,
        start=state.value,
        scale=NEGLIGIBLE_SHARE * model.total,
        rounding=model.rounding,
    )
    for _ in loop:
        state = rescale(model, state, guarded=exponent is None)
        if exponent is None:
            state = guarded_step(model, state)
        else:
            ratio = model.selection_ratio(state)
            state = model.state(
                stepped(state.selection, ratio, exponent), state.loadings
            )
        loadings = stepped(state.loadings, model.loadings_ratio(state), 1.0)
        state = model.state(state.selection, loadings, state.products)
        loop.record(state.value)
    factors = Factors(state.selection, state.loadings)
    return FactorFit(factors, loop.history, loop.converged)


def rescale(model: _Model, state: _State, *, guarded: bool) -> _State:
    """Scale the columns of S to unit length and the rows of V inversely."""
    norms = np.sqrt(np.einsum("ij,ij->j", state.selection, state.selection))
    products = _Products(*(part / norms for part in state.products))
    scaled = model.state(state.selection / norms, state.loadings * norms, products)
    return state if guarded and scaled.value > state.value else scaled


def guarded_step(model: _Model, state: _State) -> _State:
    """Return the state after a step for S that does not increase the objective."""
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
    return np.maximum(factor * power, MIN_FACTOR)


def safe_ratio(numerator: Float, denominator: Float) -> Float:
    """Return the ratio, and one where the denominator is zero."""
    ratio = np.ones_like(numerator)
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    return ratio


def has_small_gram(matrix: DataMatrix) -> bool:
    """Return whether ``X'X`` has no more entries than X has stored values."""
    return matrix.shape[1] ** 2 <= matrix.multiplications


def unit_problem(data: DataMatrix, *, each_column: bool = False) -> UnitProblem:
    """Return X without constant columns, non-negative and with |X| = 1.

    Columns are shifted one by one or all by the same value. A constant column would
    have the largest weight without carrying information.
    """
    varying = np.flatnonzero(~data.summary().constant)
    if len(varying) < data.shape[1]:
        data = data.take(varying)
    summary = data.summary()
    if each_column:
        mean = summary.mean - summary.minimum
        data, shift = without_offsets(data, summary, summary.minimum)
        matrix = data.affine(shift, np.ones(len(varying)))
    else:
        matrix = non_negative(data, "none")
        mean = summary.mean - matrix.shift
    roots = np.hypot(mean, summary.deviation)
    largest = roots.max()
    unit = 1 / (largest * np.sqrt(data.shape[0] * np.sum((roots / largest) ** 2)))
    matrix = matrix.affine(matrix.shift, np.full(len(varying), unit))
    return UnitProblem(matrix, varying, float(unit))


def random_factors(
    matrix: DataMatrix, n_components: int, random: np.random.RandomState
) -> Factors:
    """Return random factors, S with unit columns and V scaled to fit X.

    V is uniform on (0, 1), and S is a power of such numbers: uniform columns overlap
    so much that the penalty would shrink all of them instead of separating them. Rows
    are assigned by the rank of a random projection of the columns of X, so that the
    factors do not depend on the order of the columns. V is scaled to minimise
    ``|X - X S V|``; a much larger V would make S almost zero in the first step.
    """
    n_samples, n_features = matrix.shape
    places = matrix.transpose_dot(random.standard_normal((n_samples, 1))).ravel()
    rank = np.argsort(np.argsort(places, kind="stable"), kind="stable")
    selection = random.uniform(size=(n_features, n_components))[rank]
    power = max(1.0, 2 * np.sqrt(n_components) - 2)
    selection = np.maximum(selection**power, MIN_START)
    loadings = random.uniform(size=(n_features, n_components))[rank]
    selection /= np.sqrt(np.einsum("ij,ij->j", selection, selection))
    chosen = matrix.dot(selection)
    wanted = float(np.vdot(matrix.transpose_dot(chosen), loadings))
    found = float(np.sum((chosen.T @ chosen) * (loadings.T @ loadings)))
    return Factors(selection, loadings * (wanted / found))

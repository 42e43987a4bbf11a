"""Slow and plain versions of the formulas, to compare the solvers with."""

from itertools import combinations

import numpy as np

EPSILON = 2e-16


def planted(n_samples, n_features, n_clusters=3, seed=0, distance=3.0):
    """Return data with clusters in a third of the columns, and their labels."""
    random = np.random.default_rng(seed)
    labels = np.arange(n_samples) % n_clusters
    centres = distance * random.normal(size=(n_clusters, n_features))
    centres[:, n_features // 3 :] = 0.0
    return centres[labels] + random.normal(size=(n_samples, n_features)), labels


def one_hot(labels):
    return np.eye(labels.max() + 1)[labels]


def soft_partition(n_samples, n_clusters, seed=0):
    random = np.random.default_rng(seed)
    return random.dirichlet(np.ones(n_clusters), size=n_samples)


def indicator_of(memberships):
    return memberships @ np.diag(memberships.sum(axis=0) ** -0.5)


def sum_of_row_norms(coef):
    return sum(np.sqrt(sum(value**2 for value in row)) for row in coef)


def group_lasso_objective(X, target, coef, penalty):
    return np.sum((X @ coef - target) ** 2) + penalty * sum_of_row_norms(coef)


def self_expression_error(X, indicators):
    return np.sum((X - indicators @ indicators.T @ X) ** 2)


def eq3(X, memberships, coef, alpha, beta, intercept):
    """Return the objective of the paper; X and G are centred for an intercept."""
    indicators = indicator_of(memberships)
    regressors, target = X, indicators
    if intercept:
        regressors = X - X.mean(axis=0)
        target = indicators - indicators.mean(axis=0)
    error = np.sum((regressors @ coef - target) ** 2)
    penalty = sum_of_row_norms(coef)
    return self_expression_error(X, indicators) + alpha * error + beta * penalty


def algorithm_1(X, indicators, alpha, beta, gamma, n_iterations):
    """Return W, G and the penalised objectives, with every matrix written out."""
    n_samples, n_features = X.shape
    ones = np.ones((n_samples, n_samples))
    kernel = X @ X.T + gamma * ones @ ones.T
    reweighting = np.eye(n_features)
    history = []
    for _ in range(n_iterations):
        normal = alpha * X.T @ X + beta * reweighting
        coef = np.linalg.inv(normal) @ (alpha * X.T @ indicators)
        norms = np.linalg.norm(coef, axis=1)
        reweighting = np.diag(1 / (2 * norms + EPSILON))
        mixed = kernel @ indicators
        numerator = np.maximum(2 * mixed + alpha * X @ coef, 0)
        denominator = (
            mixed @ indicators.T @ indicators
            + indicators @ indicators.T @ mixed
            + alpha * indicators
        )
        indicators = indicators * numerator / denominator
        projector = indicators @ indicators.T
        history.append(
            np.sum((X - projector @ X) ** 2)
            + alpha * np.sum((X @ coef - indicators) ** 2)
            + beta * np.sum(norms)
            + gamma * np.sum((projector @ ones - ones) ** 2)
        )
    return coef, indicators, history


def project_to_simplex(point):
    """Return the nearest point of the simplex, by the sorting rule."""
    total = 0.0
    threshold = 0.0
    for count, value in enumerate(sorted(point, reverse=True), start=1):
        total += value
        if value > (total - 1) / count:
            threshold = (total - 1) / count
    return np.array([max(value - threshold, 0.0) for value in point])


def project_by_enumeration(point):
    """Return the nearest point of the simplex, by trying every set of non-zeros."""
    best, best_distance = None, np.inf
    for size in range(1, len(point) + 1):
        for support in map(list, combinations(range(len(point)), size)):
            candidate = np.zeros(len(point))
            candidate[support] = point[support] + (1 - point[support].sum()) / size
            distance = np.sum((candidate - point) ** 2)
            if candidate.min() >= 0 and distance < best_distance:
                best, best_distance = candidate, distance
    return best


def partition_objective(kernel, memberships, fitted, alpha):
    """Return ``|X - GG'X|^2 + alpha |fitted - G|^2`` from K = XX'."""
    indicators = indicator_of(memberships)
    rest = np.eye(len(kernel)) - indicators @ indicators.T
    return np.trace(rest @ kernel @ rest) + alpha * np.sum((fitted - indicators) ** 2)


def partition_gradient(kernel, memberships, fitted, alpha):
    sizes = memberships.sum(axis=0)
    indicators = indicator_of(memberships)
    product = kernel @ indicators
    wrt_indicators = (
        -4 * product
        + 2 * product @ (indicators.T @ indicators)
        + 2 * indicators @ (indicators.T @ product)
        + 2 * alpha * (indicators - fitted)
    )
    correction = np.sum(wrt_indicators * indicators, axis=0) / sizes
    return wrt_indicators / np.sqrt(sizes) - correction / 2


def armijo_step(kernel, memberships, fitted, alpha):
    """Return the partition after one projected gradient step, halved until it falls."""
    slope = partition_gradient(kernel, memberships, fitted, alpha)
    before = partition_objective(kernel, memberships, fitted, alpha)
    length = 10.0
    while length > 1e-12:
        moved = np.array(
            [project_to_simplex(row) for row in memberships - length * slope]
        )
        if moved.sum(axis=0).min() > 0:
            after = partition_objective(kernel, moved, fitted, alpha)
            if after <= before + 1e-4 * np.sum(slope * (moved - memberships)):
                return moved
        length /= 4
    return memberships


def proximal_gradient(X, target, penalty, coef, n_steps):
    """Return W after plain proximal gradient steps on the group lasso."""
    curvature = 2 * np.linalg.norm(X, 2) ** 2
    for _ in range(n_steps):
        coef = coef - 2 * X.T @ (X @ coef - target) / curvature
        norms = np.maximum(np.linalg.norm(coef, axis=1, keepdims=True), 1e-300)
        coef = coef * np.maximum(1 - penalty / curvature / norms, 0)
    return coef


def alternation(X, memberships, alpha, beta, intercept, n_rounds):
    """Return P and W after plain alternation over Eq. (3)."""
    centred = X - X.mean(axis=0)
    kernel = centred @ centred.T
    regressors = centred if intercept else X
    coef = np.zeros((X.shape[1], memberships.shape[1]))
    for _ in range(n_rounds):
        target = indicator_of(memberships)
        if intercept:
            target = target - target.mean(axis=0)
        coef = proximal_gradient(regressors, target, beta / alpha, coef, 200)
        for _ in range(5):
            memberships = armijo_step(kernel, memberships, regressors @ coef, alpha)
    return memberships, coef

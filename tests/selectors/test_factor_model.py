"""MFFS, SGFS and LDSSL: their objectives as printed, and MFFS as the limit of both."""

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect import LDSSL, MFFS, SGFS
from ufselect.selectors.mffs import MAX_AUTO_COMPONENTS
from ufselect.solvers.graphs import neighbour_graph

METHOD = pytest.mark.parametrize("method", [MFFS, SGFS, LDSSL])
EXTENSION = pytest.mark.parametrize("method", [SGFS, LDSSL])


@pytest.fixture
def X(planted):
    return planted(40, 12, n_informative=6).X


def feature_laplacian(X, sigma):
    A = neighbour_graph(X.T, 5, weights="heat", bandwidth=sigma).toarray()
    return np.diag(A.sum(axis=1)) - A


def naive_discriminant(X, n_neighbors=5, sigma=None, mu=1.0):
    """Return L of LDSSL, neighbourhood by neighbourhood, from a kernel of all pairs."""
    squared = np.sum((X[:, np.newaxis] - X) ** 2, axis=2)
    order = np.argsort(squared, axis=1)[:, : n_neighbors + 1]
    if sigma is None:
        sigma = np.median(np.sqrt(np.take_along_axis(squared, order[:, 1:], axis=1)))
    kernel = np.exp(-squared / (2 * sigma**2))
    H = np.eye(n_neighbors + 1) - 1 / (n_neighbors + 1)
    L = np.zeros((len(X), len(X)))
    for near in order:
        inside = H @ kernel[np.ix_(near, near)] @ H + mu * np.eye(len(H))
        L[np.ix_(near, near)] += H @ np.linalg.inv(inside) @ H
    return L


def printed_objective(X, fitted):
    """Return the objective of the page."""
    S, V = fitted.coef_, fitted.components_
    X = X - X.min(axis=0) if fitted.shift == "features" else X - min(X.min(), 0.0)
    error = np.sum((X - X @ S @ V) ** 2)
    overlap = np.sum((S.T @ S - np.eye(S.shape[1])) ** 2)
    if isinstance(fitted, MFFS):
        return error / 2 + fitted.rho_ / 4 * overlap
    if isinstance(fitted, SGFS):
        smooth = np.trace(V @ feature_laplacian(X, fitted.sigma) @ V.T)
        sparse = np.linalg.norm(S, axis=1).sum()
    else:
        L = naive_discriminant(X, fitted.n_neighbors, fitted.sigma, fitted.mu)
        smooth = np.trace(S.T @ X.T @ L @ X @ S)
        sparse = np.abs(S).sum()
    penalties = fitted.alpha_ * smooth + fitted.beta_ * sparse
    return error + penalties + fitted.lam_ / 2 * overlap


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        (MFFS, {}),
        (MFFS, {"rho": 0.5, "shift": "table"}),
        (MFFS, {"rho": 1e4}),
        (SGFS, {}),
        (SGFS, {"alpha": 30.0, "beta": 20.0, "lam": 10.0, "sigma": 4.0}),
        (LDSSL, {}),
        (LDSSL, {"mu": 0.01, "n_neighbors": 3}),
        (LDSSL, {"alpha": 2.0, "beta": 20.0, "lam": 10.0, "sigma": 4.0, "mu": 0.1}),
    ],
)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_history_is_the_objective_as_printed(X, method, parameters, convert):
    fitted = method(**parameters, random_state=0).fit(convert(X))

    expected = printed_objective(X, fitted)

    assert fitted.objective_history_[-1] == pytest.approx(expected, rel=1e-6)


@EXTENSION
@pytest.mark.parametrize("rho", [0.5, 1e5])
@pytest.mark.parametrize("exponent", [None, 1.0, 0.5])
def test_without_alpha_and_beta_it_is_mffs(X, method, rho, exponent):
    common = {"exponent": exponent, "random_state": 0, "tol": 1e-3}

    mffs = MFFS(rho=rho, **common).fit(X)
    other = method(alpha=0, beta=0, lam=rho, **common).fit(X)

    np.testing.assert_allclose(other.scores_, mffs.scores_, rtol=1e-9)
    np.testing.assert_allclose(
        other.objective_history_, 2 * mffs.objective_history_, rtol=1e-9
    )


@METHOD
@pytest.mark.parametrize("weight", MFFS.PARAM_GRID["rho"])
def test_the_objective_never_rises(X, method, weight):
    names = ["rho"] if method is MFFS else ["alpha", "beta"]
    selector = method(**dict.fromkeys(names, weight), tol=1e-2, random_state=0)

    history = selector.fit(X).objective_history_

    assert (np.diff(history) <= 1e-9 * history[0]).all()


def test_alpha_by_default_is_a_share_of_all_features_at_once(X):
    shifted = X - X.min(axis=0)

    expected = 0.01 * np.sum(shifted**2) / np.trace(X.T @ naive_discriminant(X) @ X)

    assert LDSSL(random_state=0).fit(X).alpha_ == pytest.approx(expected, rel=1e-8)


def test_more_starts_are_never_worse(X):
    one, five = (
        MFFS(n_init=n_init, random_state=0).fit(X).objective_history_[-1]
        for n_init in (1, 5)
    )

    assert five <= one


@METHOD
def test_constant_columns_take_no_part(X, method):
    constants = np.tile([0.0, -1e9], (len(X), 1))

    alone = method(6, random_state=0).fit(X)
    beside = method(6, random_state=0).fit(np.hstack([constants, X]))

    np.testing.assert_allclose(beside.scores_[2:], alone.scores_, rtol=1e-6)
    assert not beside.coef_[:2].any()


def test_samples_that_equal_their_neighbours_leave_the_other_terms():
    X = np.repeat(np.random.RandomState(0).standard_normal((4, 6)), 8, axis=0)

    fitted = LDSSL(3, random_state=0).fit(X)

    assert fitted.alpha_ == 0
    assert np.isfinite(fitted.scores_).all()


@pytest.mark.parametrize(
    ("shape", "wanted", "expected"),
    [((40, 12), 5, 5), ((8, 30), None, 8), ((120, 140), None, MAX_AUTO_COMPONENTS)],
)
def test_components_are_as_many_as_features_up_to_a_limit(
    planted, shape, wanted, expected
):
    fitted = MFFS(wanted, tol=1e-1, random_state=0).fit(planted(*shape).X)

    assert fitted.n_components_ == expected
    assert fitted.coef_.shape == (shape[1], expected)
    assert fitted.components_.shape == (expected, shape[1])

"""LDSSL: MFFS with a local discriminant model of the samples and sparse entries."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import InvalidParameterError

from ufselect import LDSSL, MFFS


@pytest.fixture
def X(planted):
    return planted(40, 12, n_informative=6).X


def naive_discriminant(X, n_neighbors, sigma, mu):
    """Return L, clique by clique, from a kernel of all pairs."""
    n = len(X)
    squared = np.sum((X[:, np.newaxis] - X) ** 2, axis=2)
    order = np.argsort(squared, axis=1)[:, : n_neighbors + 1]
    if sigma is None:
        sigma = np.median(np.sqrt(np.take_along_axis(squared, order[:, 1:], axis=1)))
    kernel = np.exp(-squared / (2 * sigma**2))
    m = n_neighbors + 1
    H = np.eye(m) - 1 / m
    L = np.zeros((n, n))
    for clique in order:
        inside = H @ kernel[np.ix_(clique, clique)] @ H + mu * np.eye(m)
        L[np.ix_(clique, clique)] += H @ np.linalg.inv(inside) @ H
    return L


def printed_objective(X, fitted):
    S, V = fitted.coef_, fitted.components_
    L = naive_discriminant(X, fitted.n_neighbors, fitted.sigma, fitted.mu)
    X = X - X.min(axis=0) if fitted.shift == "features" else X - min(X.min(), 0.0)
    return (
        np.sum((X - X @ S @ V) ** 2)
        + fitted.alpha_ * np.trace(S.T @ X.T @ L @ X @ S)
        + fitted.beta_ * np.abs(S).sum()
        + fitted.lam_ / 2 * np.sum((S.T @ S - np.eye(S.shape[1])) ** 2)
    )


@pytest.mark.parametrize("rho", [0.5, 50.0, 1e5])
@pytest.mark.parametrize("exponent", [None, 1.0, 0.5])
def test_without_alpha_and_beta_it_is_mffs(X, rho, exponent):
    common = {"exponent": exponent, "random_state": 0, "tol": 1e-3}

    mffs = MFFS(rho=rho, **common).fit(X)
    ldssl = LDSSL(alpha=0, beta=0, lam=rho, **common).fit(X)

    np.testing.assert_allclose(ldssl.scores_, mffs.scores_, rtol=1e-9)
    np.testing.assert_allclose(
        ldssl.objective_history_, 2 * mffs.objective_history_, rtol=1e-9
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"mu": 0.01, "n_neighbors": 3},
        {"alpha": 2.0, "beta": 20.0, "lam": 10.0, "sigma": 4.0, "mu": 0.1},
    ],
)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_history_is_the_objective_as_printed(X, parameters, convert):
    fitted = LDSSL(**parameters, random_state=0).fit(convert(X))

    expected = printed_objective(X, fitted)

    assert fitted.objective_history_[-1] == pytest.approx(expected, rel=1e-6)


def test_alpha_by_default_is_a_share_of_all_features_at_once(X):
    fitted = LDSSL(random_state=0).fit(X)
    L = naive_discriminant(X, 5, None, 1.0)
    shifted = X - X.min(axis=0)

    expected = 0.01 * np.sum(shifted**2) / np.trace(X.T @ L @ X)

    assert fitted.alpha_ == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("alpha", LDSSL.PARAM_GRID["alpha"])
@pytest.mark.parametrize("beta", [1e-4, 1.0, 1e4])
def test_the_objective_never_rises(X, alpha, beta):
    selector = LDSSL(alpha=alpha, beta=beta, tol=1e-2, random_state=0)

    history = selector.fit(X).objective_history_

    assert (np.diff(history) <= 1e-9 * history[0]).all()


def test_a_larger_alpha_makes_its_term_smaller_mostly_by_shrinking_S(X):
    L = naive_discriminant(X, 5, None, 1.0)

    def roughness_and_size(alpha):
        S = LDSSL(alpha=alpha, random_state=0).fit(X).coef_
        return np.trace(S.T @ X.T @ L @ X @ S), np.sum(S**2)

    (rough, large), (smooth, small) = map(roughness_and_size, (0.0, 10.0))

    assert smooth < 0.1 * rough
    # The caution in the card: relative to S there is little difference.
    assert smooth / small > 0.5 * rough / large


def test_a_larger_beta_makes_the_sum_of_entries_smaller(X):
    little, much = (
        LDSSL(beta=beta, lam=10.0, random_state=0).fit(X).coef_.sum()
        for beta in (0.0, 100.0)
    )

    assert much < little


@pytest.mark.parametrize("shape", [(60, 30), (30, 60)])
@pytest.mark.parametrize("seed", [10, 11, 12])
def test_planted_columns_are_found(planted, shape, seed):
    X, _, informative = planted(*shape, seed=seed)
    selector = LDSSL(10, n_components=3, n_init=3, random_state=seed)

    found = selector.fit(X).get_support(indices=True)

    # Chance would find 3.3 of 10, or 1.7.
    assert len(np.intersect1d(found, informative)) >= 7


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_X_does_not_matter(X, factor):
    first = LDSSL(random_state=0).fit(X)
    second = LDSSL(random_state=0).fit(factor * X)

    np.testing.assert_allclose(second.scores_, first.scores_, rtol=1e-5)


def test_constant_columns_take_no_part(X):
    constants = np.tile([0.0, -1e9], (len(X), 1))

    alone = LDSSL(6, random_state=0).fit(X)
    beside = LDSSL(6, random_state=0).fit(np.hstack([constants, X]))

    np.testing.assert_allclose(beside.scores_[2:], alone.scores_, rtol=1e-6)


def test_samples_that_equal_their_neighbours_leave_the_other_terms():
    X = np.repeat(np.random.RandomState(0).standard_normal((4, 6)), 8, axis=0)

    fitted = LDSSL(3, random_state=0).fit(X)

    assert fitted.alpha_ == 0
    assert np.isfinite(fitted.scores_).all()


def test_more_components_than_features_are_refused(X):
    with pytest.raises(ValueError, match="n_components=13 but X has 12 features"):
        LDSSL(n_components=13).fit(X)


def test_it_warns_when_it_stops_too_early(X):
    with pytest.warns(ConvergenceWarning, match="LDSSL stopped after max_iter=2"):
        LDSSL(max_iter=2, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", -1.0),
        ("beta", "best"),
        ("lam", 0.0),
        ("mu", 0.0),
        ("n_neighbors", 0),
        ("sigma", 0.0),
        ("n_components", 0),
        ("exponent", 2.0),
    ],
)
def test_a_parameter_out_of_range_is_refused(X, name, value):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of LDSSL"):
        LDSSL(**{name: value}).fit(X)

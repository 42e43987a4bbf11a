"""SGFS: MFFS with a graph of features and sparse rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import InvalidParameterError

from ufselect import MFFS, SGFS
from ufselect.solvers.graphs import neighbour_graph


@pytest.fixture
def X(planted):
    return planted(40, 12, n_informative=6).X


def printed_objective(X, fitted, degrees_of):
    """Return the objective, with a graph whose degrees are found as asked."""
    S, V = fitted.coef_, fitted.components_
    X = X - X.min(axis=0) if fitted.shift == "features" else X - min(X.min(), 0.0)
    A = neighbour_graph(X.T, 5, weights="heat", bandwidth=fitted.sigma).toarray()
    L = np.diag(degrees_of(A)) - A
    return (
        np.sum((X - X @ S @ V) ** 2)
        + fitted.alpha_ * np.trace(V @ L @ V.T)
        + fitted.beta_ * np.linalg.norm(S, axis=1).sum()
        + fitted.lam_ / 2 * np.sum((S.T @ S - np.eye(S.shape[1])) ** 2)
    )


def sums(A):
    return A.sum(axis=1)


def norms(A):
    return np.linalg.norm(A, axis=1)


@pytest.mark.parametrize("rho", [0.5, 50.0, 1e5])
@pytest.mark.parametrize("exponent", [None, 1.0, 0.5])
def test_without_alpha_and_beta_it_is_mffs(X, rho, exponent):
    common = {"exponent": exponent, "random_state": 0, "tol": 1e-3}

    mffs = MFFS(rho=rho, **common).fit(X)
    sgfs = SGFS(alpha=0, beta=0, lam=rho, **common).fit(X)

    np.testing.assert_allclose(sgfs.scores_, mffs.scores_, rtol=1e-9)
    np.testing.assert_allclose(
        sgfs.objective_history_, 2 * mffs.objective_history_, rtol=1e-9
    )


@pytest.mark.parametrize(
    "parameters", [{}, {"alpha": 30.0, "beta": 20.0, "lam": 10.0, "sigma": 4.0}]
)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_history_is_the_objective_as_printed(X, parameters, convert):
    fitted = SGFS(**parameters, random_state=0).fit(convert(X))

    expected = printed_objective(X, fitted, sums)

    assert fitted.objective_history_[-1] == pytest.approx(expected, rel=1e-6)


def test_degrees_are_sums_and_not_norms_of_weights(X):
    fitted = SGFS(alpha=30.0, random_state=0).fit(X)

    wrong = printed_objective(X, fitted, norms)

    assert fitted.objective_history_[-1] != pytest.approx(wrong, rel=1e-2)


@pytest.mark.parametrize("alpha", SGFS.PARAM_GRID["alpha"])
@pytest.mark.parametrize("beta", [1e-4, 1.0, 1e4])
def test_the_objective_never_rises(X, alpha, beta):
    selector = SGFS(alpha=alpha, beta=beta, tol=1e-2, random_state=0)

    history = selector.fit(X).objective_history_

    assert (np.diff(history) <= 1e-9 * history[0]).all()


def test_a_larger_alpha_makes_near_features_alike(X):
    def roughness(alpha):
        V = SGFS(alpha=alpha, random_state=0).fit(X).components_
        A = neighbour_graph(X.T, 5, weights="heat").toarray()
        return np.trace(V @ (np.diag(sums(A)) - A) @ V.T) / np.sum(V**2)

    assert roughness(100.0) < 0.5 * roughness(0.0)


def test_a_larger_beta_makes_the_sum_of_row_norms_smaller(X):
    little, much = (
        SGFS(beta=beta, lam=10.0, random_state=0).fit(X).scores_.sum()
        for beta in (0.0, 100.0)
    )

    assert much < little


@pytest.mark.parametrize("shape", [(60, 30), (30, 60)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_columns_are_found(planted, shape, seed):
    X, _, informative = planted(*shape, seed=seed)
    selector = SGFS(10, n_components=3, n_init=3, random_state=seed)

    found = selector.fit(X).get_support(indices=True)

    # Chance would find 3.3 of 10, or 1.7.
    assert len(np.intersect1d(found, informative)) >= 7


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_X_does_not_matter(X, factor):
    first = SGFS(random_state=0).fit(X)
    second = SGFS(random_state=0).fit(factor * X)

    np.testing.assert_allclose(second.scores_, first.scores_, rtol=1e-5)


def test_constant_columns_take_no_part(X):
    constants = np.tile([0.0, -1e9], (len(X), 1))

    alone = SGFS(6, random_state=0).fit(X)
    beside = SGFS(6, random_state=0).fit(np.hstack([constants, X]))

    np.testing.assert_allclose(beside.scores_[2:], alone.scores_, rtol=1e-6)


def test_more_components_than_features_are_refused(X):
    with pytest.raises(ValueError, match="n_components=13 but X has 12 features"):
        SGFS(n_components=13).fit(X)


def test_it_warns_when_it_stops_too_early(X):
    with pytest.warns(ConvergenceWarning, match="SGFS stopped after max_iter=2"):
        SGFS(max_iter=2, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", -1.0),
        ("beta", "best"),
        ("lam", 0.0),
        ("n_neighbors", 0),
        ("sigma", 0.0),
        ("n_components", 0),
        ("exponent", 2.0),
    ],
)
def test_a_parameter_out_of_range_is_refused(X, name, value):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of SGFS"):
        SGFS(**{name: value}).fit(X)

"""MFFS: the selector around the factor model."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import InvalidParameterError

from ufselect import MFFS
from ufselect.selectors.factor_model import LARGEST_AUTO_COMPONENTS


@pytest.fixture
def X(planted):
    return planted(40, 12, n_informative=6).X


def printed_objective(X, fitted):
    """Return the objective of the paper, which the public code does not print."""
    W, H = fitted.coef_, fitted.components_
    X = X - X.min(axis=0) if fitted.shift == "features" else X - min(X.min(), 0.0)
    overlap = W.T @ W - np.eye(W.shape[1])
    residual = X - X @ W @ H
    return np.sum(residual**2) / 2 + fitted.rho_ / 4 * np.sum(overlap**2)


@pytest.mark.parametrize("rho", ["auto", 0.5, 1e4])
@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("shift", ["features", "table"])
def test_the_history_is_the_objective_as_printed(X, rho, offset, shift):
    fitted = MFFS(rho=rho, shift=shift, random_state=0).fit(X + offset)

    expected = printed_objective(X + offset, fitted)

    assert fitted.objective_history_[-1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("rho", MFFS.PARAM_GRID["rho"])
def test_the_objective_never_rises(X, rho):
    selector = MFFS(rho=rho, tol=1e-2, random_state=0)

    history = selector.fit(X).objective_history_

    assert (np.diff(history) <= 1e-9 * history[0]).all()


@pytest.mark.parametrize("shape", [(60, 30), (30, 60)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_columns_are_found(planted, shape, seed):
    X, _, informative = planted(*shape, seed=seed)
    selector = MFFS(10, n_components=3, n_init=3, random_state=seed)

    found = selector.fit(X).get_support(indices=True)

    # Chance would find 3.3 of 10, or 1.7.
    assert len(np.intersect1d(found, informative)) >= 7


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_X_does_not_matter(X, factor):
    first = MFFS(random_state=0).fit(X)
    second = MFFS(random_state=0).fit(factor * X)

    np.testing.assert_allclose(second.scores_, first.scores_, rtol=1e-5)
    assert second.rho_ == pytest.approx(factor**2 * first.rho_)


def test_more_starts_are_never_worse(X):
    one, five = (
        MFFS(n_init=n_init, random_state=0).fit(X).objective_history_[-1]
        for n_init in (1, 5)
    )

    assert five <= one


def test_constant_columns_take_no_part(X):
    constants = np.tile([0.0, -1e9], (len(X), 1))

    alone = MFFS(6, random_state=0).fit(X)
    beside = MFFS(6, random_state=0).fit(np.hstack([constants, X]))

    np.testing.assert_allclose(beside.scores_[2:], alone.scores_, rtol=1e-9)
    assert not beside.coef_[:2].any()


@pytest.mark.parametrize(
    ("shape", "wanted", "expected"),
    [((40, 12), 5, 5), ((8, 30), None, 8), ((120, 140), None, LARGEST_AUTO_COMPONENTS)],
)
def test_components_are_as_many_as_features_up_to_a_limit(
    planted, shape, wanted, expected
):
    X = planted(*shape).X

    fitted = MFFS(wanted, tol=1e-1, random_state=0).fit(X)

    assert fitted.n_components_ == expected
    assert fitted.coef_.shape == (shape[1], expected)
    assert fitted.components_.shape == (expected, shape[1])


def test_more_components_than_features_are_refused(X):
    message = "n_components=13 but X has 12 features that vary; ask for at most 12"

    with pytest.raises(ValueError, match=message):
        MFFS(n_components=13).fit(X)


def test_it_warns_when_it_stops_too_early(X):
    with pytest.warns(ConvergenceWarning, match="MFFS stopped after max_iter=2"):
        MFFS(max_iter=2, random_state=0).fit(X)


def test_verbose_prints_the_objective(X, capsys):
    fitted = MFFS(verbose=True, tol=1e-2, random_state=0).fit(X)

    last = capsys.readouterr().out.splitlines()[-1]

    assert last == (
        f"MFFS iteration {fitted.n_iter_}: "
        f"objective {fitted.objective_history_[-1]:.6g}"
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rho", 0.0),
        ("rho", "best"),
        ("rho", np.inf),
        ("n_components", 0),
        ("exponent", 1.5),
        ("exponent", 0.0),
        ("n_init", 0),
        ("max_iter", 0),
        ("tol", -1.0),
    ],
)
def test_a_parameter_out_of_range_is_refused(X, name, value):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of MFFS"):
        MFFS(**{name: value}).fit(X)

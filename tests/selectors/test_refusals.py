"""What selectors refuse, warn of and print: the same for all, tried on all at once."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import InvalidParameterError

from ufselect import (
    FSASL,
    GLSPFS,
    JELSR,
    LDSSL,
    MCFS,
    MFFS,
    NDFS,
    REFS,
    SCFS,
    SGFS,
    SPEC,
    SPFS,
    SPUFS,
    UDFS,
    all_selectors,
)
from ufselect.selectors.base import IterativeSelector

# Values outside the range that a docstring gives for a parameter.
BAD = {
    "n_clusters": [0],
    "n_components": [0],
    "n_neighbors": [0],
    "n_init": [0],
    "max_iter": [0],
    "tol": [-1e-3],
    "sigma": [0.0],
    "kernel_sigma": [0.0],
    "alpha": [-1.0, "best", np.inf],
    "beta": [-1.0, "best", np.nan],
    "gamma": [-1.0],
    "lam": [0.0],
    "rho": [0.0, "best"],
    "r1": [0.0],
    "r2": [-1.0],
    "mu": [0.0],
    "ridge": [0.0],
    "phi": [4],
    "exponent": [-1.0],
    "local": ["best"],
    "start": ["norm"],
    "strategy": ["best"],
    "shift": ["rows"],
    "standardize": ["rows"],
    "reconstruction": ["best"],
    "solver": ["best"],
    "init": ["best"],
}


@pytest.fixture
def X(planted):
    return planted(30, 12).X


@pytest.mark.parametrize(("name", "selector"), all_selectors().items())
def test_a_parameter_out_of_range_is_refused(X, name, selector):
    known = selector().get_params()
    bad = [(key, value) for key in BAD if key in known for value in BAD[key]]
    for key, value in bad:
        with pytest.raises(InvalidParameterError, match=f"'{key}' parameter of {name}"):
            selector(**{key: value}).fit(X)


@pytest.mark.parametrize("selector", [FSASL, JELSR, MCFS, NDFS, SPFS])
def test_more_clusters_than_samples_are_refused(X, selector):
    message = "n_clusters=31 but X has n_samples=30; ask for at most 30"

    with pytest.raises(ValueError, match=message):
        selector(n_clusters=31).fit(X)


@pytest.mark.parametrize("selector", [MFFS, SGFS, LDSSL])
def test_more_components_than_features_are_refused(X, selector):
    with pytest.raises(ValueError, match="n_components=13 but X has 12 features"):
        selector(n_components=13).fit(X)


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        (FSASL, "gamma"),
        (GLSPFS, "r1"),
        (JELSR, "alpha"),
        (NDFS, "beta"),
        (SPFS, "lam"),
        (SPUFS, "alpha"),
    ],
)
def test_a_penalty_that_leaves_nothing_is_refused(X, selector, name):
    message = rf"{name}=.* leaves no feature in the model \(W = 0\).*; lower {name}"

    with pytest.raises(ValueError, match=message):
        selector(**{name: 1e15}).fit(X)


def test_greedy_picks_need_no_clusters(X):
    assert SPFS(strategy="greedy", n_clusters=31).fit(X).order_.shape == (12,)


@pytest.mark.parametrize(
    "selector", [GLSPFS, JELSR, LDSSL, MFFS, NDFS, SGFS, SPUFS, UDFS]
)
def test_it_says_that_it_did_not_converge(X, selector):
    message = f"{selector.__name__} stopped after max_iter=2 iterations"

    with pytest.warns(ConvergenceWarning, match=message):
        selector(max_iter=2, tol=0.0).fit(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_iterations_are_printed_and_kept(X, capsys):
    iterative = [
        selector
        for selector in all_selectors().values()
        # What SPFS counts are searches; SCFS lowers its last objective once more.
        if issubclass(selector, IterativeSelector) and selector not in (SCFS, SPFS)
    ]
    assert len(iterative) >= 9
    for selector in iterative:
        fitted = selector(verbose=True, max_iter=3).fit(X)

        printed = capsys.readouterr().out
        last = fitted.objective_history_[-1]
        assert printed.count(f"{selector.__name__} iteration") == fitted.n_iter_
        assert f"iteration {fitted.n_iter_}: objective {last:.6g}" in printed
        assert len(fitted.objective_history_) == fitted.n_iter_


def test_published_grids_name_parameters():
    grids = {
        selector: getattr(selector, "PARAM_GRID", {})
        for selector in all_selectors().values()
    }

    assert all(set(grid) <= set(made().get_params()) for made, grid in grids.items())
    assert {len(grids[made]) for made in (SPEC, NDFS, MFFS)} == {1, 2, 3}
    assert np.isin(["alpha", "beta"], list(REFS().get_params())).all()

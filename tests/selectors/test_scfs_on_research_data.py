"""What the exact solver promises against the published one, on the paper's data."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from ufselect import SCFS
from ufselect.data import read_labelled

# The corners and the middle of the grid of the paper.
GRID = [(1.0, 1.0), (1.0, 1e4), (1e2, 1e2), (1e4, 1.0), (1e4, 1e4)]


def final_objective(X, n_clusters, **parameters):
    """Return the last objective, and whether the history ever rose.

    Where beta leaves no feature, the fit says so; its history is still there.
    """
    selector = SCFS(
        n_clusters=n_clusters,
        standardize=False,
        fit_intercept=False,
        random_state=0,
        **parameters,
    )
    try:
        selector.fit(X)
    except ValueError as error:
        if "W = 0" not in str(error):
            raise
    history = selector.objective_history_
    rose = bool(np.any(np.diff(history) > 1e-10 * history[:-1]))
    return history[-1], rose


def k_means_memberships(X, n_clusters):
    labels = KMeans(n_clusters, n_init=1, random_state=0).fit_predict(X)
    return np.eye(n_clusters)[labels]


@pytest.fixture(scope="module", params=["lymphoma", "Prostate-GE"])
def shifted(request, data_folder):
    data = read_labelled(data_folder / f"{request.param}.mat")
    return data.table + abs(data.table.min()), int(data.classes.max()) + 1


@pytest.mark.parametrize(("alpha", "beta"), GRID)
def test_exact_solver_ends_far_below_the_published_one(shifted, alpha, beta):
    X, n_clusters = shifted
    weights = {"alpha": alpha, "beta": beta}
    start = k_means_memberships(X, n_clusters)
    published, _ = final_objective(X, n_clusters, solver="paper", init=start, **weights)
    exact, exact_rose = final_objective(X, n_clusters, init=start, **weights)
    other, other_rose = final_objective(X, n_clusters, init="random", **weights)

    assert exact <= 0.95 * published
    assert not exact_rose
    assert not other_rose
    assert abs(other - exact) <= 0.02 * exact


def test_default_starts_end_far_below_the_published_solver_too(shifted):
    X, n_clusters = shifted
    published, _ = final_objective(X, n_clusters, solver="paper", alpha=1.0, beta=1.0)
    exact, _ = final_objective(X, n_clusters, alpha=1.0, beta=1.0)

    assert exact <= 0.95 * published

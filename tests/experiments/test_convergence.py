"""The setting behind a curve is found, and a curve of another kind is not met."""

import numpy as np
import pytest

from ufselect.experiments import convergence
from ufselect.experiments.convergence import CurveFit, CurveSetting, _Search, fit_curve

TABLE = np.random.default_rng(0).normal(size=(24, 10))


@pytest.mark.parametrize(
    "setting",
    [
        CurveSetting("none", "k-means", 100.0, 1.0, 0),
        CurveSetting("columns from 0 to 1", "fuzzy", 1e4, 100.0, 0),
    ],
)
def test_the_setting_of_a_curve_is_found(setting):
    curve = _Search(TABLE, 3, np.ones(30)).history(setting, 30)
    found = fit_curve(TABLE, 3, curve, seconds=20)

    assert found.verdict == "met"
    np.testing.assert_allclose(found.history, curve)
    assert found.setting == setting
    # The whole grid from every start and shift, then finalists.
    assert found.n_settings > 25 * 9


def test_another_curve_is_not_met_and_one_setting_is_tried_in_any_case(monkeypatch):
    tried = []
    original = _Search.history
    monkeypatch.setattr(
        convergence._Search,
        "history",
        lambda *given: tried.append(given[1]) or original(*given),
    )
    found = fit_curve(TABLE, 3, np.linspace(9e9, 1e9, 30), seconds=1e-9)

    assert (found.verdict, found.n_settings) == ("not met", 2)
    assert len(tried) == 3
    assert found.history.shape == (30,)
    assert str(found.setting) == "alpha=0.0001, beta=0.0001, k-means (seed 0)"


@pytest.mark.parametrize(
    ("residual", "verdict"),
    [(0.02, "met"), (0.021, "near"), (0.2, "near"), (0.21, "not met")],
)
def test_verdicts_are_drawn_at_shares_of_the_way(residual, verdict):
    setting = CurveSetting("none", "random", 1.0, 1.0, 0)

    assert CurveFit(setting, np.ones(2), residual, 1).verdict == verdict

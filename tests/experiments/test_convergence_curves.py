"""The search for the setting behind a published convergence curve."""

import numpy as np
import pytest

from ufselect.experiments.convergence_curves import (
    KNOWN,
    CurveFit,
    CurveSetting,
    _Search,
    c_means,
    fit_curve,
)

TABLE = np.random.default_rng(0).normal(size=(24, 10))


@pytest.mark.parametrize(
    "setting",
    [
        CurveSetting("none", "k-means", 100.0, 1.0, 0),
        CurveSetting("columns from 0 to 1", "c-means 1.2", 1e4, 100.0, 0),
    ],
)
def test_the_setting_of_a_curve_is_found(setting):
    curve = _Search(TABLE, 3, np.ones(30)).history(setting, 30)
    found = fit_curve(TABLE, 3, curve, seconds=60)

    assert found.verdict == "met"
    np.testing.assert_allclose(found.history, curve)
    assert found.setting == setting


def test_another_curve_is_not_met_and_one_setting_is_tried_in_any_case(monkeypatch):
    tried = []
    original = _Search.history
    monkeypatch.setattr(
        _Search,
        "history",
        lambda *given: tried.append(given[1]) or original(*given),
    )
    found = fit_curve(TABLE, 3, np.linspace(9e9, 1e9, 30), seconds=1e-9)

    assert (found.verdict, found.n_settings) == ("not met", 2)
    assert len(tried) == 2
    assert found.history.shape == (30,)
    assert str(found.setting) == (
        "alpha=10000, beta=10000, start by c-means 1.2, plus abs(min X), seed 0"
    )


def test_the_known_setting_is_tried_first_and_ends_the_search():
    curve = _Search(TABLE, 3, np.ones(30)).history(KNOWN, 30)
    found = fit_curve(TABLE, 3, curve, seconds=60)

    assert (found.setting, found.residual, found.n_settings) == (KNOWN, 0.0, 2)


def test_a_run_that_the_deadline_stops_is_never_the_nearest():
    search = _Search(TABLE, 3, np.linspace(2, 1, 30))
    setting = CurveSetting("none", "k-means", 1.0, 1.0, 0)

    assert np.isfinite(search.residual(search.history(setting, 30)))
    assert search.residual(search.history(setting, 30, deadline=0.0)) == np.inf


def test_c_means_softens_with_its_exponent():
    crisp, soft, softest = (
        c_means(TABLE, 3, exponent, np.random.RandomState(0)).max(axis=1).mean()
        for exponent in (1.05, 1.2, 1.5)
    )

    assert crisp > 0.9
    assert 1 / 3 <= softest < soft < crisp


def test_verdicts_on_curves_are_drawn_at_shares_of_the_way():
    setting = CurveSetting("none", "random", 1.0, 1.0, 0)
    verdicts = {0.02: "met", 0.021: "near", 0.2: "near", 0.21: "not met"}
    for residual, expected in verdicts.items():
        assert CurveFit(setting, np.ones(2), residual, 1).verdict == expected

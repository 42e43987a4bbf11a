"""Mathematical properties of every method of the pattern in selectors/regression.py."""

import warnings
from itertools import islice

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ufselect.matrix import as_matrix


def iterates(selector, X, structure, penalty, count):
    """Return the first iterates of a method, from a given structure of the samples."""
    return list(islice(selector._iterate(as_matrix(X), structure, penalty), count))


def objectives(steps):
    return [step.objective for step in steps]


def row_norms(coef):
    return np.linalg.norm(coef, axis=1)


def weight_in(fitted, name):
    """Return a weight as it was given, or as "auto" found it."""
    given = getattr(fitted, name)
    return getattr(fitted, f"{name}_") if given == "auto" else given


def assert_close(found, expected, share=1e-6):
    """Assert equality up to a share of the largest expected entry."""
    largest = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=share * largest)


class RegressionProperties:
    """Tests that a method inherits; its class sets ``METHOD`` and what differs.

    ``written_out(fitted, X)`` returns row norms and objectives of the printed formulas,
    every matrix written out, with the weights and for the iterations of the fit.
    """

    METHOD: type
    SHAPES = ((60, 20), (40, 120))
    # Settings in which the formulas are written out.
    SETTINGS = ({},)

    def fitted(self, X, **parameters):
        known = {"n_clusters": 3, "random_state": 0}
        names = self.METHOD().get_params()
        known = {key: value for key, value in known.items() if key in names}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self.METHOD(**known | parameters).fit(X)

    def written_out(self, fitted, X):
        raise NotImplementedError

    @pytest.fixture(params=[0, 1], ids=["tall", "wide"])
    def X(self, request, planted):
        return planted(*self.SHAPES[request.param], n_informative=8).X

    def test_fit_equals_the_formulas_written_out(self, X):
        for settings in self.SETTINGS:
            fitted = self.fitted(X, **settings)

            scores, history = self.written_out(fitted, X)

            np.testing.assert_allclose(fitted.objective_history_, history, rtol=1e-6)
            assert_close(fitted.scores_, scores)

    def test_scores_are_the_row_norms_of_the_coefficients(self, X):
        fitted = self.fitted(X)

        np.testing.assert_allclose(fitted.scores_, row_norms(fitted.coef_), rtol=1e-12)

    def test_scores_follow_their_features(self, X):
        places = np.random.default_rng(0).permutation(X.shape[1])

        scores = self.fitted(X).scores_

        assert_close(self.fitted(X[:, places]).scores_, scores[places])


class DescentProperties(RegressionProperties):
    """And of a method whose steps lower one objective, the printed one."""

    # The objective may rise by rounding, as a share of its first value.
    ROUNDING = 1e-9

    def test_objective_never_rises(self, X):
        history = self.fitted(X, tol=0.0, max_iter=60).objective_history_

        assert (np.diff(history) <= self.ROUNDING * history[0]).all()

    def test_the_weight_that_auto_finds_gives_the_same_scores_as_a_number(self, X):
        automatic = self.fitted(X)
        name = self.METHOD.PENALTY

        given = self.fitted(X, **{name: getattr(automatic, f"{name}_")})

        np.testing.assert_allclose(given.scores_, automatic.scores_, rtol=1e-5)

"""What the base of six methods does for any method: tried with the least of them."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ufselect.matrix import as_matrix
from ufselect.selectors.regression import Iterate, Problem, RegressionSelector


class Shrinking(RegressionSelector):
    """Multiplies W by one factor in every iteration."""

    PENALTY = "alpha"

    def __init__(
        self,
        n_features_to_select=None,
        *,
        alpha="auto",
        factor=0.5,
        n_neighbors=5,
        max_iter=100,
        tol=1e-3,
        max_memory=2e9,
        verbose=False,
    ):
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.factor = factor
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.max_memory = max_memory
        self.verbose = verbose

    def _prepare(self, data):
        alpha = self._penalty(0.2, 10.0, 4.0)
        return Problem(as_matrix(data.raw), None, alpha, 10 / 4, 4.0, 2.0)

    def _iterate(self, X, structure, penalty):
        W = np.arange(1.0, X.shape[1] + 1)[:, np.newaxis]
        while True:
            W = self.factor * W
            yield Iterate(structure, W, 8.0 + W.sum())


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(20, 4))


def test_scores_and_history_are_in_the_unit_of_the_data(X):
    fitted = Shrinking().fit(X)

    last = 0.5**fitted.n_iter_
    np.testing.assert_allclose(fitted.scores_, 4 * last * np.arange(1, 5))
    np.testing.assert_allclose(fitted.coef_[:, 0], fitted.scores_)
    assert fitted.objective_history_[-1] == pytest.approx((8 + 10 * last) / 4)
    assert len(fitted.objective_history_) == fitted.n_iter_ < 100
    assert fitted.alpha_ == pytest.approx(0.2 * 10 / 4)
    assert Shrinking(alpha=0.3).fit(X).alpha_ == pytest.approx(0.3)


def test_the_first_objective_may_be_incomparable(X, monkeypatch):
    before = Shrinking(tol=1.0).fit(X).n_iter_
    monkeypatch.setattr(Shrinking, "N_INCOMPARABLE", 1)

    assert Shrinking(tol=1.0).fit(X).n_iter_ == before + 1


def test_a_fit_that_ends_before_converging_says_so(X):
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        assert Shrinking(max_iter=3, tol=0.0).fit(X).n_iter_ == 3


@pytest.mark.parametrize(
    ("alpha", "advice"),
    [
        (7, r'lower alpha well below 2.5, or use alpha="auto"\.'),
        (1.5, r'lower alpha well below 1.5, or use alpha="auto"\.'),
        ("auto", r"lower alpha well below 0.5\."),
    ],
)
def test_the_sentence_for_an_empty_model_names_the_parameter_to_lower(X, alpha, advice):
    with pytest.raises(
        ValueError, match=rf"\(W = 0\), so there is no ranking; {advice}"
    ):
        Shrinking(alpha=alpha, factor=1e-15).fit(X)

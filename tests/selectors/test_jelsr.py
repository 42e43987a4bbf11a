"""JELSR as a selector."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import InvalidParameterError

from ufselect import JELSR
from ufselect.matrix import as_matrix
from ufselect.solvers.neighbourhoods import local_linear_matrix
from ufselect.solvers.spectral_regression import fit_jelsr

SHAPES = [(60, 20), (40, 120)]


@pytest.fixture(params=SHAPES, ids=["tall", "wide"])
def sample(request, planted):
    return planted(*request.param, n_informative=8)


def test_planted_columns_come_first(sample):
    order = JELSR(n_clusters=3).fit(sample.X).order_

    found = len(np.intersect1d(order[:8], sample.informative))
    assert found >= 7


def test_the_best_feature_has_the_longest_row(sample):
    # A public wrapper returns the ranking from worst to best.
    selector = JELSR(n_clusters=3).fit(sample.X)
    norms = np.linalg.norm(selector.coef_, axis=1)

    assert selector.order_[0] == norms.argmax()


def test_it_is_the_alternation_on_centred_data_in_its_own_unit(sample):
    X = sample.X - sample.X.mean(axis=0)
    unit = np.sqrt(3) / np.linalg.norm(X)
    selector = JELSR(n_clusters=3, alpha=2.0, beta=0.5).fit(sample.X)

    expected = fit_jelsr(
        as_matrix(X),
        local_linear_matrix(X),
        3,
        alpha=2.0,
        beta=0.5,
        # One weight for all features, in units where |X|^2 = 3.
        ridge_weights=np.full(X.shape[1], 1 / unit),
        drop_constant=True,
        max_iter=200,
        tol=1e-4,
        report=lambda iteration, value: False,
    )

    np.testing.assert_allclose(selector.objective_history_, expected.history, rtol=1e-8)
    np.testing.assert_allclose(
        selector.scores_, np.linalg.norm(expected.coef, axis=1), atol=1e-8
    )


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_the_data_does_not_matter(sample, factor):
    first = JELSR(n_clusters=3).fit(sample.X)
    second = JELSR(n_clusters=3).fit(factor * sample.X)

    np.testing.assert_allclose(
        second.scores_ * factor, first.scores_, rtol=1e-5, atol=1e-9
    )
    assert second.alpha_ == pytest.approx(factor * first.alpha_)


def test_an_offset_does_not_matter(sample):
    first = JELSR(n_clusters=3).fit(sample.X).scores_
    second = JELSR(n_clusters=3).fit(sample.X + 1e5).scores_

    np.testing.assert_allclose(second, first, rtol=1e-4, atol=1e-7)


def test_equal_columns_share_their_weight(sample):
    best = JELSR(n_clusters=3).fit(sample.X).order_[0]
    X = np.column_stack([sample.X, sample.X[:, best]])

    scores = JELSR(n_clusters=3).fit(X).scores_

    assert scores[best] == pytest.approx(scores[-1], rel=1e-6)


def test_the_objective_never_rises(sample):
    history = JELSR(n_clusters=3, tol=1e-7, max_iter=2000).fit(sample.X)
    history = history.objective_history_

    assert (np.diff(history) <= 1e-12 * history[0]).all()


def test_sparse_data_give_the_same_scores(sample):
    X = np.where(np.abs(sample.X) > 1, sample.X, 0.0)

    dense = JELSR(n_clusters=3).fit(X).scores_
    sparse = JELSR(n_clusters=3).fit(sp.csr_array(X)).scores_

    np.testing.assert_allclose(sparse, dense, rtol=1e-6, atol=1e-9)


def test_the_embedding_has_no_more_columns_than_samples_allow(planted):
    X = planted(4, 6, n_informative=3).X

    assert JELSR(n_clusters=4).fit(X).embedding_.shape == (4, 3)


def test_more_clusters_than_samples_are_refused(sample):
    message = "n_clusters=61 but X has n_samples=.*; ask for at most"

    with pytest.raises(ValueError, match=message):
        JELSR(n_clusters=61).fit(sample.X)


def test_an_alpha_that_leaves_nothing_is_refused(sample):
    with pytest.raises(ValueError, match=r"alpha=1e\+20 .*W = 0.* well below"):
        JELSR(n_clusters=3, alpha=1e20).fit(sample.X)


def test_it_says_that_it_did_not_converge(sample):
    with pytest.warns(ConvergenceWarning, match="JELSR stopped after max_iter=2"):
        JELSR(n_clusters=3, max_iter=2, tol=0).fit(sample.X)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", 0.0),
        ("alpha", "best"),
        ("beta", -1.0),
        ("n_clusters", 0),
        ("n_neighbors", 0),
        ("max_iter", 0),
        ("tol", -1e-3),
    ],
)
def test_a_parameter_out_of_range_is_refused(sample, name, value):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of JELSR"):
        JELSR(**{name: value}).fit(sample.X)


def test_the_published_grid_names_parameters():
    assert set(JELSR.PARAM_GRID) <= set(JELSR().get_params())


def test_verbose_prints_the_objective(sample, capsys):
    selector = JELSR(n_clusters=3, verbose=True).fit(sample.X)

    assert f"iteration {selector.n_iter_}: objective" in capsys.readouterr().out

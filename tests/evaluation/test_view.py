"""Samples in a plane: against scikit-learn, for tables of every kind."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.preprocessing import scale

from ufselect.evaluation import sample_view, view


def table_of(n_samples=30, n_features=12, seed=0):
    random = np.random.RandomState(seed)
    mixing = random.standard_normal((n_features, n_features))
    return 5 + random.standard_normal((n_samples, n_features)) @ mixing


@pytest.mark.parametrize("shape", [(30, 12), (9, 40)])
@pytest.mark.parametrize("selected", [None, [0, 3, 5, 7]])
def test_points_are_the_principal_components_of_scikit_learn(shape, selected):
    table = table_of(*shape)
    view = sample_view(table, selected)
    columns = scale(table)[:, slice(None) if selected is None else selected]
    pca = PCA(2).fit(columns)
    counts = np.random.RandomState(0).poisson(0.4, shape).astype(float)
    dense, sparse = (
        sample_view(container(counts), selected)
        for container in (np.asarray, sp.csr_array)
    )
    expected = pca.transform(columns) / np.sqrt(shape[1])

    assert np.abs(view.points) == pytest.approx(np.abs(expected))
    assert view.shares == pytest.approx(pca.explained_variance_ratio_)
    farthest = np.abs(view.points).argmax(axis=0)
    assert (view.points[farthest, [0, 1]] > 0).all()
    assert sparse.points == pytest.approx(dense.points)
    assert sparse.shares == pytest.approx(dense.shares)


def test_one_column_is_a_line_and_constant_ones_are_a_point():
    table = table_of()
    table[:, 2] = 1.0
    view, point = sample_view(table, [4]), sample_view(table, [2])

    assert view.shares == pytest.approx((1.0, 0.0))
    assert view.points[:, 1] == pytest.approx(0.0, abs=1e-6)
    assert (point.points == 0).all()
    assert point.shares == (0.0, 0.0)
    with pytest.raises(ValueError, match="All 3 columns of X are constant"):
        sample_view(np.ones((5, 3)))


def test_of_many_samples_the_same_are_drawn_for_any_columns(monkeypatch):
    monkeypatch.setattr(view, "MAX_SHOWN", 200)
    table = np.random.RandomState(0).standard_normal((210, 4))
    views = [sample_view(table, kept, random_state=3) for kept in (None, [0, 1])]
    other = sample_view(table, random_state=4)

    assert len(views[0].samples) == len(views[0].points) == 200
    assert (views[0].samples == views[1].samples).all()
    assert (views[0].samples != other.samples).any()
    assert (np.diff(views[0].samples) > 0).all()

"""AutoSelect: structure or none, calls of features, and what bad tables lead to."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.io import loadmat
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ufselect import MCFS, AutoSelect, LaplacianScore, RandomSelection
from ufselect.data import planted, read_labelled
from ufselect.evaluation import judge_by_k_means, skip_near_duplicates


def fitted(X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return AutoSelect(random_state=0, **parameters).fit(X)


@pytest.fixture(scope="module")
def blobs():
    return planted("blobs", n_samples=60, n_useful=15, n_noise=85)


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(0).normal(size=(80, 400))


# Structure, or none


def test_noise_is_answered_with_no_feature_and_a_warning(noise):
    selector = AutoSelect(random_state=0)

    with pytest.warns(UserWarning, match=r"This table shows no groups.*No feature is"):
        selector.fit(noise)

    assert not selector.structure_found_
    assert selector.structure_.p_value > 0.05
    assert (selector.n_selected_, selector.n_clusters_) == (0, 1)
    assert not selector.get_support().any()
    assert set(selector.calls_) == {"rejected"}
    # If a number is given, there is still a ranking.
    with pytest.warns(UserWarning, match="Do not use this selection"):
        selector.set_params(n_features_to_select=7).fit(noise)
    assert selector.get_support().sum() == 7


@pytest.mark.parametrize("geometry", ["blobs", "counts", "rings", "subspaces"])
def test_planted_columns_are_confirmed_and_come_first(geometry):
    data = planted(geometry, n_samples=90, n_useful=20, n_noise=180)

    selector = fitted(data.table)

    assert selector.structure_found_
    assert selector.standardize_ == selector.structure_.standardize
    assert data.informative[selector.order_[:20]].mean() >= 0.85
    assert data.informative[selector.get_support()].mean() >= 0.8


@pytest.mark.slow
def test_sixty_strong_columns_of_twenty_thousand_are_found():
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 20_000))
    X[:, :60] += random.normal(0, 2.5, size=(4, 60))[np.arange(100) % 4]

    order = fitted(X).order_

    assert np.mean(order[:60] < 60) >= 0.85


# Calls


def test_what_is_selected_is_confirmed_explained_and_the_same_again(blobs, capsys):
    selector = fitted(blobs.table, verbose=True)
    again = fitted(blobs.table, n_jobs=2)

    np.testing.assert_array_equal(
        selector.calls_ == "confirmed", selector.get_support()
    )
    assert selector.q_values_[selector.get_support()].max() <= 0.05
    assert selector.explained_[blobs.informative].min() > 0.3
    np.testing.assert_array_equal(selector.scores_, again.scores_)
    np.testing.assert_array_equal(selector.q_values_, again.q_values_)
    assert capsys.readouterr().out.splitlines() == [
        f"AutoSelect: {reason}" for reason in selector.reasons_
    ]
    assert selector.reasons_[0] == selector.structure_.sentence
    assert selector.reasons_[1].endswith(
        "features are confirmed at a false discovery rate of 5 %."
    )


def test_a_copy_of_a_better_feature_is_tentative(blobs):
    X = np.hstack([blobs.table, blobs.table[:, blobs.informative]])

    selector = fitted(X)

    # Of fewer than ten features copies would be kept.
    assert selector.n_selected_ > 10
    kept = skip_near_duplicates(
        X, selector.order_, selector.n_selected_, max_correlation=0.8
    )
    np.testing.assert_array_equal(kept, selector.order_[: selector.n_selected_])
    assert (selector.calls_ == "tentative").sum() >= 15
    assert fitted(X, max_correlation=None).n_selected_ >= 28
    assert fitted(X, max_features=4).get_support().sum() == 4


def test_columns_that_explain_nothing_are_not_chosen():
    # A tall table of few columns, of which half are noise.
    data = planted("blobs", n_samples=400, n_useful=6, n_noise=6)

    selector = fitted(data.table)

    assert selector.get_support()[data.informative].all()
    assert selector.n_selected_ <= 8


def test_tentative_features_are_selected_with_a_warning_if_none_is_confirmed(
    blobs, monkeypatch
):
    monkeypatch.setattr("ufselect.tuning.auto_select.CONFIRMED_FDR", 0.0)
    selector = AutoSelect(random_state=0)

    with pytest.warns(UserWarning, match="No feature is confirmed .* tentative"):
        selector.fit(blobs.table)

    assert selector.n_selected_ == (selector.calls_ == "tentative").sum()
    assert set(selector.calls_) == {"tentative", "rejected"}


# In any form


def test_names_are_kept_in_a_pipeline(blobs):
    frame = pd.DataFrame(blobs.table, columns=blobs.names)
    pipeline = make_pipeline(StandardScaler(), AutoSelect(random_state=0))

    chosen = pipeline.set_output(transform="pandas").fit_transform(frame)

    useful = [name.startswith("useful") for name in chosen]
    assert len(useful) >= 12
    assert np.mean(useful) >= 0.85


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_counts_are_selected_like_dense_ones(kind):
    data = planted("counts", n_samples=90, n_useful=20, n_noise=80)
    X = np.where(data.table > 4, data.table, 0.0)

    dense, sparse = fitted(X), fitted(sp.csr_array(X).asformat(kind))

    assert sparse.standardize_ == dense.standardize_ == "samples"
    assert (sparse.get_support() == dense.get_support()).mean() >= 0.95


@pytest.mark.parametrize("kind", ["mapped", "Dask"])
def test_what_is_not_in_memory_is_read_by_some_of_its_samples(tmp_path, kind):
    data = planted("blobs", n_samples=6000, n_useful=12, n_noise=18)
    if kind == "Dask":
        da = pytest.importorskip("dask.array")
        X = da.from_array(data.table, chunks=(2000, 30))
    else:
        np.save(tmp_path / "X.npy", data.table)
        X = np.load(tmp_path / "X.npy", mmap_mode="r")

    selector = fitted(X)

    assert selector.get_support()[data.informative].all()
    assert selector.n_selected_ <= 14


# A selector that is given


def test_a_given_selector_ranks_and_is_told_the_number_of_clusters(blobs):
    ranker = RandomSelection(random_state=1)
    selector = fitted(blobs.table, selector=ranker, n_features_to_select=10)
    decided = fitted(blobs.table, selector=ranker)
    told = fitted(blobs.table, selector=MCFS(), n_clusters=4).selector_
    without = fitted(blobs.table, selector=LaplacianScore(), n_clusters=3).selector_

    # A number leaves the ranking as it is; else what is rejected comes last.
    np.testing.assert_array_equal(selector.order_, selector.selector_.order_)
    assert selector.n_selected_ == 10
    assert blobs.informative[decided.get_support()].mean() >= 0.85
    assert told.n_clusters == 4
    assert isinstance(without, LaplacianScore)


# Bad tables


@pytest.mark.parametrize("row", [np.ones(4), np.arange(4.0), np.zeros(4)])
def test_tables_that_show_nothing_are_refused(row):
    with pytest.raises(ValueError, match="All 4 columns of X are constant"):
        AutoSelect().fit(np.tile(row, (20, 1)))
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        AutoSelect().fit(row[np.newaxis])


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape)


ODD = {
    "two samples": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "equal samples": np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [2.0, 1.0, 0.0]]),
    "few samples": normal(4, 10),
    "three columns": normal(50, 3),
    "one column": normal(50, 1),
    "copies": np.repeat(normal(20, 5), 4, axis=1),
    "one giant outlier": np.vstack([np.full(30, 1e6), normal(49, 30)]),
    "a block of zeros": np.pad(normal(10, 6) + 5.0, [(0, 30), (0, 24)]),
}


@pytest.mark.parametrize("X", ODD.values(), ids=ODD)
def test_odd_tables_have_a_sensible_answer(X):
    selector = fitted(X)

    assert np.isfinite(selector.scores_).all()
    assert len(selector.calls_) == X.shape[1]
    assert 0 <= selector.n_selected_ <= X.shape[1]
    assert selector.n_selected_ or set(selector.calls_) == {"rejected"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": "many"}, "'n_clusters' parameter"),
        ({"n_features_to_select": "all"}, "'n_features_to_select' parameter"),
        ({"n_features_to_select": 101}, "n_features_to_select=101 but X has 100"),
        ({"max_correlation": 1.5}, "'max_correlation' parameter"),
        ({"max_features": 0}, "'max_features' parameter"),
        (
            {"n_clusters": 61},
            "n_clusters=61 but X has n_samples=60; ask for at most 60",
        ),
    ],
)
def test_wrong_parameters_are_refused(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        AutoSelect(**parameters).fit(blobs.table)


# Real tables


RESEARCH = ("lung_small", "CNAE9", "Semeion", "Arrhythmia", "lymphoma", "bbcsport")


@pytest.mark.parametrize("name", RESEARCH)
def test_research_data_is_decided_about_as_it_is_stored(data_folder, name):
    # Integers of one byte, sparse columns: whatever is in the file.
    X = loadmat(data_folder / f"{name}.mat")["X"]
    X = X.tocsr()[:150] if sp.issparse(X) else X[:150]

    selector = fitted(X)

    assert selector.structure_found_
    assert 1 <= selector.get_support().sum() <= 200


def test_the_cells_of_zeisel_are_told_apart(data_folder):
    data = read_labelled(data_folder / "scZeiselSub.mat")

    chosen = fitted(data.table).transform(data.table)
    accuracy = judge_by_k_means(np.asarray(chosen), data.classes, seeds=range(3))[:, 0]

    assert accuracy.mean() > 0.9

"""AutoSelect: what it decides, from whom it asks, and when it cannot."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from planted_designs import DESIGNS
from scipy.io import loadmat
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from ufselect.tuning.deciding import Following, UpperGroup, decide_number

from ufselect import (
    MCFS,
    SCFS,
    AutoSelect,
    Consensus,
    LaplacianScore,
    RandomSelection,
)
from ufselect.data import data_folder, planted, read_labelled
from ufselect.evaluation import judge_by_k_means
from ufselect.tuning.auto_select import lowered


def fitted(X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return AutoSelect(random_state=0, **parameters).fit(X)


@pytest.fixture(scope="module")
def blobs():
    return planted("blobs", n_samples=60, n_useful=15, n_noise=85)


# What it decides


def test_the_number_of_features_is_within_a_factor_of_two_on_planted_designs():
    ratios = []
    for seed, (geometry, sizes) in enumerate(DESIGNS):
        data = planted(geometry, seed=seed, **sizes)
        ratios.append(fitted(data.table).n_selected_ / data.informative.sum())
    near = np.sum((np.array(ratios) >= 0.5) & (np.array(ratios) <= 2.0))

    assert near >= 8


@pytest.mark.parametrize("geometry", ["blobs", "counts"])
def test_what_stands_apart_is_selected_as_it_is(geometry):
    data = planted(geometry, n_samples=90, n_useful=20, n_noise=180)

    selector = fitted(data.table)

    np.testing.assert_array_equal(selector.get_support(), data.informative)
    assert selector.n_clusters_ == 3


def test_without_structure_there_are_two_clusters_and_the_reason_says_so():
    X = np.random.default_rng(0).normal(size=(100, 30))

    selector = fitted(X)

    assert selector.n_clusters_ == 2
    assert selector.reasons_[0] == (
        "No direction holds more variance than chance would give, so that there may be "
        "no clusters; 2 are assumed."
    )


def test_reasons_are_sentences_and_verbose_prints_them(blobs, capsys):
    selector = AutoSelect(random_state=0, verbose=True).fit(blobs.table)

    assert capsys.readouterr().out.splitlines() == [
        f"AutoSelect: {reason}" for reason in selector.reasons_
    ]
    assert selector.reasons_[1] == (
        "15 of 100 columns follow the clusters and stand apart from the others."
    )


def test_no_more_than_max_features_are_kept(blobs):
    selector = fitted(blobs.table, max_features=4)

    assert selector.get_support().sum() == 4
    assert selector.reasons_[1].endswith(
        "; the best 4 are kept (max_features; a number that is given may be larger)."
    )


@pytest.mark.parametrize(
    ("group", "n_features", "largest", "expected"),
    [
        (3, 100, 50, 10),
        (3, 8, None, 4),
        (80, 100, None, 80),
        (80, 100, 50, 50),
        (1, 1, 5, 1),
    ],
)
def test_a_number_has_a_floor_and_a_ceiling(group, n_features, largest, expected):
    following = Following(np.zeros(n_features), UpperGroup(group, 0.5))

    assert decide_number(following, largest)[0] == expected


def test_it_is_said_why_more_are_kept_than_stand_apart():
    reason = decide_number(Following(np.zeros(40), UpperGroup(9, 0.5)), None)[1]

    assert reason.endswith("; the best 10 are kept (no fewer, unless asked for).")


def test_a_given_number_is_not_decided(blobs):
    selector = fitted(blobs.table, n_features_to_select=7, n_clusters=4)

    assert (selector.get_support().sum(), selector.n_clusters_) == (7, 4)
    assert selector.reasons_ == []


# Whom it asks


def test_the_selector_is_told_what_was_decided(blobs):
    selector = fitted(blobs.table, selector=MCFS())

    told = selector.selector_.get_params()
    assert told["n_clusters"] == selector.n_clusters_
    assert told["n_features_to_select"] == selector.n_selected_


def test_by_default_scfs_ranks():
    data = planted("subspaces", n_samples=60, n_useful=15, n_noise=35)

    selector = fitted(data.table, n_clusters=3)
    seed = selector.selector_.random_state
    expected = SCFS(n_clusters=3, random_state=seed).fit(data.table)

    # No group stands apart here, so that nothing is put behind.
    np.testing.assert_array_equal(selector.order_, expected.order_)


def test_the_ranking_of_a_given_selector_stays_as_it_is(blobs):
    selector = fitted(blobs.table, selector=RandomSelection(random_state=1))

    np.testing.assert_array_equal(selector.order_, selector.selector_.order_)
    assert selector.n_selected_ == 15


def test_a_list_of_clusters_is_a_consensus(blobs):
    selector = fitted(blobs.table, n_clusters=[4, 2])

    assert isinstance(selector.selector_, Consensus)
    assert selector.n_clusters_ == [2, 4]
    assert list(selector.selector_.members_) == [
        "scfs n_clusters=2",
        "scfs n_clusters=4",
    ]


def test_jobs_do_not_matter(blobs):
    first = fitted(blobs.table, n_clusters=[2, 3], n_jobs=1)
    second = fitted(blobs.table, n_clusters=[2, 3], n_jobs=2)

    np.testing.assert_array_equal(first.scores_, second.scores_)


def test_a_method_without_clusters_may_rank(blobs):
    selector = fitted(blobs.table, selector=LaplacianScore(), n_clusters=[2, 3])

    assert isinstance(selector.selector_, LaplacianScore)
    assert selector.n_selected_ == 15


def test_a_time_budget_ends_the_consensus_early(blobs):
    selector = AutoSelect(n_clusters=[2, 3, 4], time_budget=1e-9, random_state=0)

    with pytest.warns(UserWarning, match="time_budget=1e-09 seconds were used up"):
        selector.fit(blobs.table)

    assert list(selector.selector_.members_) == ["scfs n_clusters=2"]


def test_no_two_features_correlate_above_the_limit(blobs):
    selector = fitted(blobs.table, n_features_to_select=30, max_correlation=0.5)

    chosen = blobs.table[:, selector.get_support()]
    correlation = np.abs(np.corrcoef(chosen.T)) - np.eye(30)
    assert correlation.max() <= 0.5


def test_fewer_features_than_wanted_give_a_warning():
    X = np.random.default_rng(0).normal(size=(30, 3))
    doubled = np.hstack([X, 2 * X])

    with pytest.warns(UserWarning, match="Only 3 of 5 features are left"):
        selector = AutoSelect(
            n_features_to_select=5, max_correlation=0.9, random_state=0
        ).fit(doubled)

    assert selector.get_support().sum() == 3


def test_lowered_scores_come_behind_in_their_order():
    scores = np.array([5.0, 1.0, 4.0, 2.0])

    found = lowered(scores, np.array([0, 2]))

    np.testing.assert_array_equal(np.argsort(-found), [3, 1, 0, 2])
    np.testing.assert_array_equal(found[[1, 3]], scores[[1, 3]])


# Where it is used


def test_names_are_kept_in_a_pipeline(blobs):
    frame = pd.DataFrame(blobs.table, columns=blobs.names)
    pipeline = make_pipeline(StandardScaler(), AutoSelect(random_state=0))

    chosen = pipeline.set_output(transform="pandas").fit_transform(frame)

    assert list(chosen) == [name for name in frame if name.startswith("useful")]


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_counts_are_selected_like_dense_ones(kind):
    data = planted("counts", n_samples=90, n_useful=20, n_noise=80)
    X = np.where(data.table > 4, data.table, 0.0)

    dense, sparse = fitted(X), fitted(sp.csr_array(X).asformat(kind))

    assert sparse.n_clusters_ == dense.n_clusters_
    np.testing.assert_array_equal(sparse.get_support(), dense.get_support())


def test_many_samples_are_counted_by_some_of_them():
    data = planted("blobs", n_samples=2500, n_useful=12, n_noise=18)

    selector = fitted(data.table)

    np.testing.assert_array_equal(selector.get_support(), data.informative)


@pytest.mark.parametrize(
    ("X", "n_clusters"),
    [
        (np.array([[0.0, 1.0], [1.0, 0.0]]), 2),
        (np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [2.0, 1.0, 0.0]]), 2),
    ],
)
def test_few_distinct_samples_have_few_clusters(X, n_clusters):
    assert fitted(X).n_clusters_ == n_clusters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": []}, "n_clusters=\\[\\] holds no number"),
        ({"n_clusters": "many"}, "'n_clusters' parameter"),
        ({"n_features_to_select": "all"}, "'n_features_to_select' parameter"),
        ({"n_features_to_select": 101}, "n_features_to_select=101 but X has 100"),
        ({"max_correlation": 1.5}, "'max_correlation' parameter"),
        ({"max_features": 0}, "'max_features' parameter"),
        ({"n_clusters": 61}, "n_clusters=61"),
    ],
)
def test_wrong_parameters_are_refused(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        AutoSelect(**parameters).fit(blobs.table)


def research_files():
    return sorted((data_folder() or Path("none")).glob("*.mat"))


@pytest.mark.parametrize("path", research_files(), ids=lambda path: path.stem)
def test_any_research_data_is_decided_about_as_it_is_stored(path):
    # Integers of one byte, sparse columns: whatever is in the file.
    X = loadmat(path)["X"]
    X = X.tocsr()[:150] if sp.issparse(X) else X[:150]

    selector = fitted(X)

    assert 1 <= selector.get_support().sum() <= 300
    assert len(selector.reasons_) == 2


@pytest.mark.skipif(data_folder() is None, reason="needs research data")
def test_the_cells_of_zeisel_are_told_apart():
    data = read_labelled(data_folder() / "scZeiselSub.mat")

    chosen = fitted(data.table).transform(data.table)
    accuracy = judge_by_k_means(np.asarray(chosen), data.classes, seeds=range(3))[:, 0]

    assert accuracy.mean() > 0.9


@pytest.mark.parametrize("n_clusters", [4, [2, 4]])
def test_more_clusters_than_samples_are_refused(n_clusters):
    message = "n_clusters=4 but X has n_samples=3; ask for at most 3"

    with pytest.raises(ValueError, match=message):
        AutoSelect(n_clusters=n_clusters, random_state=0).fit(np.eye(3))

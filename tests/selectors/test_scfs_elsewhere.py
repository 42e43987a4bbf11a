"""SCFS finds the same features wherever its data are."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from elsewhere import ELSEWHERE, backed, in_hdf5, in_memory, in_zarr, on_dask
from elsewhere import one_thread as in_one_thread
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from ufselect import SCFS, MaxVariance, all_selectors

PLACES = {
    name: ELSEWHERE[name]
    for name in (
        "Dask",
        "Dask uneven",
        "Dask by columns",
        "Dask float32",
        "Dask int",
        "Dask unknown",
        "Dask empty chunks",
        "Dask CSR",
        "Zarr",
        "Zarr in one chunk",
        "HDF5",
        "HDF5 chunked",
        "backed",
        "backed CSR",
    )
}


@pytest.fixture(autouse=True)
def one_thread():
    with in_one_thread():
        yield


@pytest.fixture(params=PLACES)
def place(request, tmp_path):
    return lambda array: PLACES[request.param](array, tmp_path)


def scfs(**parameters):
    known = {"n_features_to_select": 5, "n_clusters": 3, "random_state": 0}
    return SCFS(**{**known, **parameters})


def some_memberships(n_samples, n_clusters=3):
    random = np.random.default_rng(3)
    return random.dirichlet(np.ones(n_clusters), size=n_samples)


def assert_same_fit(found, expected):
    scores, largest = expected.scores_, expected.scores_.max()
    np.testing.assert_allclose(found.scores_, scores, rtol=0, atol=1e-5 * largest)
    np.testing.assert_array_equal(found.get_support(), expected.get_support())
    np.testing.assert_allclose(
        found.objective_history_, expected.objective_history_, rtol=1e-6
    )
    np.testing.assert_allclose(
        in_memory(found.memberships_), expected.memberships_, rtol=0, atol=1e-6
    )
    np.testing.assert_array_equal(in_memory(found.labels_), expected.labels_)
    assert found.standardize_ == expected.standardize_


# The same as in memory


def test_the_default_fit_is_the_same(place, planted):
    X = place(planted(60, 12, n_informative=5).X)
    expected = scfs().fit(in_memory(X).astype(np.float64))

    assert_same_fit(scfs().fit(X), expected)


@pytest.mark.parametrize("put", ["Dask uneven", "Zarr", "backed CSR"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"init": some_memberships(60)},
        {"init": "random", "n_init": 3},
        {"init": "fuzzy"},
        {"standardize": "samples"},
        {"standardize": False, "fit_intercept": False},
        {"n_clusters": 1, "standardize": False},
        {"n_clusters": 2, "n_init": 2},
        {"alpha": 0.5, "beta": 0.1},
        {"tol": 0.9},
    ],
    ids=str,
)
def test_a_fit_with_other_parameters_is_the_same(put, parameters, planted, tmp_path):
    X = np.abs(planted(60, 12, n_informative=5).X)
    expected = scfs(**parameters).fit(X)

    found = scfs(**parameters).fit(ELSEWHERE[put](X, tmp_path))

    assert_same_fit(found, expected)


@pytest.mark.parametrize("n_clusters", [20, 60])
def test_many_clusters_end_as_low(n_clusters, planted):
    """Rounding errors grow from step to step, whatever they come from."""
    X = planted(60, 12, n_informative=5).X
    kept = {"n_clusters": n_clusters, "alpha": 1.0, "beta": 0.1, "tol": 1e-3}
    expected = scfs(**kept).fit(X).objective_history_[-1]

    found = scfs(**kept).fit(on_dask(X, (25, -1))).objective_history_[-1]

    np.testing.assert_allclose(found, expected, rtol=1e-3)


@pytest.mark.parametrize("chunks", [-1, 3000, 1234, ((1, 5000, 499, 501),)])
def test_many_samples_start_from_a_sample_of_them(chunks, planted):
    X = planted(6001, 8, n_informative=4).X
    rows = chunks[0] if isinstance(chunks, tuple) else chunks

    found = scfs().fit(on_dask(X, (rows, -1)))

    assert_same_fit(found, scfs().fit(X))


def test_many_samples_in_a_file_are_read_in_blocks_of_it(planted, tmp_path):
    X = planted(6001, 8, n_informative=4).X

    found = scfs().fit(in_zarr(X, tmp_path, (700, 3)))

    assert_same_fit(found, scfs().fit(X))


@pytest.mark.parametrize("put", ["mapped", "Dask", "in memory, far from zero"])
def test_many_samples_may_have_fewer_columns_than_clusters(put, planted, tmp_path):
    X = planted(5200, 3, n_informative=3, distance=6.0).X
    kept = {"n_features_to_select": 2, "n_clusters": 5, "max_iter": 3, "tol": 0.1}
    expected = scfs(**kept).fit(X)
    np.save(tmp_path / "X.npy", X)
    if put == "Dask":
        X = on_dask(X, (2000, -1))
    else:
        X = np.load(tmp_path / "X.npy", mmap_mode="r") if put == "mapped" else X + 1e5

    found = scfs(**kept).fit(X)

    assert found.order_.tolist() == expected.order_.tolist()


@pytest.mark.parametrize("put", ["Dask", "Zarr", "HDF5"])
def test_more_features_than_make_a_gram_matrix(put, planted, tmp_path):
    X = planted(20, 4200, n_informative=40).X
    found = scfs(max_iter=5, tol=1e-2).fit(ELSEWHERE[put](X, tmp_path))

    assert_same_fit(found, scfs(max_iter=5, tol=1e-2).fit(X))


def test_a_streamed_working_set_finds_the_features_of_one_in_memory(
    planted, tmp_path, monkeypatch
):
    """With n > p > the largest Gram matrix, nothing but passes over rows is left."""
    monkeypatch.setattr("ufselect.solvers.group_lasso.LARGEST_GRAM", 10)
    X = planted(90, 30, n_informative=5).X
    expected = scfs().fit(X)

    for data in (on_dask(X, (40, -1)), in_hdf5(X, tmp_path)):
        assert_same_fit(scfs().fit(data), expected)


def test_the_numbers_in_a_mapped_file_give_the_same(planted, tmp_path):
    X = planted(6001, 8, n_informative=4).X
    np.save(tmp_path / "X.npy", X)

    found = scfs().fit(np.load(tmp_path / "X.npy", mmap_mode="r"))

    assert_same_fit(found, scfs().fit(X))


def test_a_fit_continues_from_the_memberships_of_another(planted):
    X = planted(60, 12, n_informative=5).X
    first = scfs(max_iter=2, tol=0.5).fit(on_dask(X, (25, -1)))
    again = scfs(init=first.memberships_).fit(on_dask(X, (25, -1)))

    expected = scfs(init=in_memory(first.memberships_)).fit(X)

    assert_same_fit(again, expected)


def test_the_largest_variances_are_the_same(place, planted):
    X = place(planted(60, 12).X)
    expected = MaxVariance(4).fit(in_memory(X).astype(np.float64))

    found = MaxVariance(4).fit(X)

    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-6)
    np.testing.assert_array_equal(found.order_, expected.order_)


# Memory


def mapped(array, folder):
    np.save(folder / "X.npy", array)
    return np.load(folder / "X.npy", mmap_mode="r")


def fitted_with_peak(selector, X):
    """Return a fitted selector and the most bytes that the fit held at a time."""
    tracemalloc.start()
    try:
        selector.fit(X)
        return selector, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("put", [mapped, in_hdf5])
def test_memory_follows_the_parameter(put, planted, tmp_path):
    X = put(planted(30_000, 60, n_informative=5).X, tmp_path)
    kept = {"n_clusters": 2, "tol": 0.1}
    scfs(**kept).fit(X[:100])  # imports

    few, least = fitted_with_peak(scfs(working_memory=2e5, **kept), X)
    many, most = fitted_with_peak(scfs(working_memory=6e6, **kept), X)

    assert least < most - 5e6
    assert most < 8 * 30_000 * 60 * 1.1
    np.testing.assert_allclose(few.scores_, many.scores_, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool, np.float16, ">f8"])
def test_mapped_numbers_of_any_type_are_read_in_blocks(dtype, planted, tmp_path):
    array = (planted(30_000, 60, n_informative=5).X > 0).astype(dtype)
    kept = {"n_clusters": 2, "tol": 0.1, "working_memory": 2e5}
    X = mapped(array, tmp_path)

    found, peak = fitted_with_peak(scfs(**kept), X)

    assert peak < 8 * array.size / 2
    expected = scfs(**kept).fit(array.astype(np.float64))
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-6)
    np.testing.assert_array_equal(found.transform(X), array[:, found.get_support()])


@pytest.mark.parametrize("wanted", [0, -1.0, "much"])
def test_no_memory_to_work_in_is_refused(wanted, planted):
    with pytest.raises(ValueError, match=r"'working_memory' parameter of SCFS must be"):
        scfs(working_memory=wanted).fit(planted(60, 12).X)


def test_at_least_one_row_is_read(planted, tmp_path):
    X = planted(60, 12, n_informative=5).X

    found = scfs(working_memory=0.5).fit(mapped(X, tmp_path))

    assert_same_fit(found, scfs().fit(X))


# What stays lazy


def test_what_has_a_row_for_each_sample_stays_on_dask(planted):
    da = pytest.importorskip("dask.array")
    selector = scfs().fit(on_dask(planted(60, 12).X, (25, -1)))

    assert isinstance(selector.memberships_, da.Array)
    assert isinstance(selector.labels_, da.Array)
    assert selector.memberships_.chunks == ((25, 25, 10), (3,))
    np.testing.assert_allclose(selector.memberships_.sum(axis=1), 1.0)


def test_selected_columns_of_dask_are_lazy(planted):
    da = pytest.importorskip("dask.array")
    X = planted(60, 12).X
    selector = scfs().fit(X)
    reads = []

    def read(block):
        reads.append(len(block))
        return block

    lazy = da.from_array(X, chunks=(25, 5)).map_blocks(read, meta=np.zeros((0, 0)))
    selected = selector.transform(lazy)

    assert reads == []
    np.testing.assert_array_equal(selected, selector.transform(X))


@pytest.mark.parametrize("put", sorted(set(PLACES) - {"Dask float32", "Dask int"}))
def test_selected_columns_are_those_in_memory(put, planted, tmp_path):
    X = planted(60, 12).X
    selector = scfs().fit(X)

    selected = selector.transform(PLACES[put](X, tmp_path))

    np.testing.assert_array_equal(in_memory(selected), selector.transform(X))


def test_selected_columns_of_a_sparse_file_are_sparse(planted, tmp_path):
    X = planted(60, 12).X
    selected = scfs().fit(X).transform(backed(sp.csr_matrix(X), tmp_path))

    assert sp.issparse(selected)


def test_a_selector_at_the_head_of_a_pipeline_passes_lazy_columns_on(planted):
    X = on_dask(planted(60, 12, n_informative=5).X, (25, -1))
    pipeline = make_pipeline(MaxVariance(8), scfs(n_features_to_select=3))

    assert pipeline.fit(X).transform(X).compute().shape == (60, 3)


# Data frames


@pytest.fixture
def frame(planted):
    pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    import dask.dataframe as dd

    X = pd.DataFrame(planted(60, 12, n_informative=5).X)
    X.columns = [f"gene {i}" for i in range(12)]
    return dd.from_pandas(X, npartitions=3)


def test_a_frame_of_dask_keeps_its_names(frame):
    selector = scfs().fit(frame)
    expected = scfs().fit(frame.compute())

    assert_same_fit(selector, expected)
    names = selector.get_feature_names_out().tolist()
    assert names == expected.get_feature_names_out().tolist()
    assert selector.transform(frame).columns.tolist() == names
    assert selector.transform(frame).compute().shape == (60, 5)


def test_a_frame_of_dask_with_other_names_is_refused(frame):
    selector = scfs().fit(frame)
    other = frame.rename(columns={"gene 0": "another"})

    with pytest.raises(ValueError, match=r"feature names of X should match"):
        selector.transform(other)


def test_numbers_are_no_names(frame):
    frame.columns = list(range(12))

    assert not hasattr(scfs().fit(frame), "feature_names_in_")


def test_names_of_an_earlier_fit_are_forgotten(frame, planted):
    selector = scfs().fit(frame)

    selector.fit(on_dask(planted(60, 12).X, (25, -1)))

    assert not hasattr(selector, "feature_names_in_")


def test_text_in_a_frame_of_dask_is_refused(frame):
    frame["city"] = "Oslo"

    with pytest.raises(ValueError, match=r"which are not numbers; convert or drop"):
        scfs().fit(frame)


def test_a_bad_column_of_a_frame_is_named(frame):
    frame["gene 3"] = frame["gene 3"] / 0.0

    with pytest.raises(ValueError, match=r"NaN or infinity in column 'gene 3'; "):
        scfs().fit(frame)


# Errors in one sentence


def refusal(data, **parameters):
    """Return the one sentence with which a fit is refused."""
    with pytest.raises((TypeError, ValueError)) as caught:
        scfs(**parameters).fit(data)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("put", ["Dask", "Dask CSR", "Zarr", "HDF5", "backed CSR"])
def test_a_value_that_is_not_finite_is_named(put, value, planted, tmp_path):
    X = planted(60, 12).X
    X[31, 7] = X[50, 7] = value

    sentence = refusal(ELSEWHERE[put](X, tmp_path))

    assert sentence.startswith("Input X contains NaN or infinity in column 7; impute")


def test_both_infinities_in_one_column_are_refused(planted):
    X = planted(60, 12).X
    X[3, 7], X[4, 7] = np.inf, -np.inf

    assert "in column 7" in refusal(on_dask(X, (25, -1)))


def test_wrong_shapes_are_refused(tmp_path):
    for put in (
        lambda array: on_dask(array, -1),
        lambda array: in_hdf5(array, tmp_path),
    ):
        assert "got 1D array instead" in refusal(put(np.ones(5)))
        assert "Found array with 1 sample(s)" in refusal(put(np.ones((1, 5))))
        assert "Found array with 0 feature(s)" in refusal(put(np.ones((5, 0))))


def test_complex_numbers_and_text_are_refused():
    assert refusal(on_dask(np.ones((5, 2), complex), -1)).startswith("Complex data")
    text = on_dask(np.array([["a", "b"], ["c", "d"]]), -1)
    assert refusal(text).endswith("drop such columns before selecting.")


def test_too_many_features_are_refused(planted):
    sentence = refusal(on_dask(planted(60, 12).X, -1), n_features_to_select=13)

    assert sentence.startswith("n_features_to_select=13 but X has 12 features; ask")


def test_too_few_distinct_rows_are_refused():
    X = np.tile(np.random.default_rng(0).normal(size=(2, 5)), (20, 1))

    sentence = refusal(on_dask(X, (15, -1)))

    assert sentence.startswith("X has 2 distinct rows, fewer than n_clusters=3; ask")


def test_too_few_distinct_rows_of_many_are_refused():
    X = np.tile(np.random.default_rng(0).normal(size=(2, 5)), (2600, 1))

    sentence = refusal(on_dask(X, (2000, -1)))

    assert sentence.startswith("X has 2 distinct rows, fewer than n_clusters=3; ask")


def test_more_clusters_than_samples_are_refused(planted):
    sentence = refusal(on_dask(planted(9, 12).X, (4, -1)), n_clusters=10)

    assert sentence.startswith("n_clusters=10 but X has n_samples=9; ask for at most")


def test_constant_columns_come_last(planted):
    X = planted(60, 12, n_informative=5).X
    X[:, [0, 8]] = 3.0, 0.0

    selector = scfs().fit(on_dask(X, (25, -1)))

    assert sorted(selector.order_[-2:].tolist()) == [0, 8]
    assert (selector.scores_[[0, 8]] == 0).all()


def test_nothing_but_constant_columns_is_refused():
    sentence = refusal(on_dask(np.ones((9, 4)), (4, -1)), n_features_to_select=2)

    assert sentence.startswith("All 4 columns of X are constant: there is nothing")


def test_the_paper_solver_needs_x_in_one_place(planted, tmp_path):
    X = planted(60, 12, n_informative=5).X
    sentence = refusal(on_dask(X, (25, -1)), solver="paper")
    in_file = scfs(solver="paper").fit(in_hdf5(X, tmp_path))

    assert (
        sentence == 'solver="paper" needs X in one place; use solver="exact" for Dask.'
    )
    np.testing.assert_allclose(
        in_file.scores_, scfs(solver="paper").fit(X).scores_, rtol=1e-6
    )


def test_a_wrong_number_of_columns_to_transform_is_refused(planted):
    selector = scfs().fit(planted(60, 12).X)

    with pytest.raises(ValueError, match=r"X has 3 features, but SCFS is expecting 12"):
        selector.transform(on_dask(np.ones((4, 3)), -1))
    with pytest.raises(ValueError, match=r"X has no features, but SCFS is expecting"):
        selector.transform(on_dask(np.ones(4), -1))


IN_MEMORY = [
    name for name, kind in all_selectors().items() if not kind.READS_OUT_OF_CORE
]


@pytest.mark.parametrize("name", IN_MEMORY)
def test_a_method_that_needs_memory_says_what_to_do(name, planted, tmp_path):
    selector = all_selectors()[name]()
    X = planted(30, 6, n_informative=3).X
    for data, kind in [
        (on_dask(X, -1), "dask's Array"),
        (in_zarr(X, tmp_path, (9, 6)), "zarr's Array"),
        (in_hdf5(X, tmp_path), "h5py's Dataset"),
    ]:
        with pytest.raises(TypeError) as caught:
            clone(selector).fit(data)

        sentence = str(caught.value)
        assert sentence.startswith(
            f"{name} needs X in memory but was given {kind}; use"
        )
        assert "\n" not in sentence


def test_some_methods_read_what_is_elsewhere():
    assert {"SCFS", "MaxVariance"} <= set(all_selectors()) - set(IN_MEMORY)

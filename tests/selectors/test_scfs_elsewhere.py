"""SCFS finds the same features wherever its data are."""

import numpy as np
import pytest
import scipy.sparse as sp
from elsewhere import ELSEWHERE, backed, in_hdf5, in_memory, in_zarr, on_dask
from elsewhere import one_thread as in_one_thread
from memory import traced_memory
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from ufselect import SCFS, MaxVariance, all_selectors

PLACES = {
    name: ELSEWHERE[name]
    for name in (
        *("Dask uneven", "Dask by columns", "Dask float32", "Dask int", "Dask unknown"),
        *("Dask empty chunks", "Dask CSR", "Zarr", "HDF5 chunked", "backed CSR"),
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
    array = in_memory(X).astype(np.float64)
    for selector in (scfs(), MaxVariance(4)):
        expected = clone(selector).fit(array)
        found = selector.fit(X)

        np.testing.assert_array_equal(found.get_support(), expected.get_support())
        np.testing.assert_allclose(found.scores_, expected.scores_, atol=1e-5)
        selected = in_memory(expected.transform(X)).astype(np.float64)
        np.testing.assert_array_equal(selected, expected.transform(array))
        if isinstance(found, SCFS):
            assert_same_fit(found, expected)


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


def test_many_samples_start_from_a_sample_of_them(planted, tmp_path):
    X = planted(6001, 8, n_informative=4).X
    expected = scfs().fit(X)
    places = [on_dask(X, (rows, -1)) for rows in (-1, 1234, (1, 5000, 499, 501))]

    for data in (*places, in_zarr(X, tmp_path, (700, 3)), mapped(X, tmp_path)):
        assert_same_fit(scfs().fit(data), expected)


@pytest.mark.parametrize("put", ["mapped", "Dask", "in memory, far from zero"])
def test_many_samples_may_have_fewer_columns_than_clusters(put, planted, tmp_path):
    X = planted(5200, 3, n_informative=3, distance=6.0).X
    kept = {"n_features_to_select": 2, "n_clusters": 5, "max_iter": 3, "tol": 0.1}
    expected = scfs(**kept).fit(X)
    if put == "Dask":
        X = on_dask(X, (2000, -1))
    else:
        X = mapped(X, tmp_path) if put == "mapped" else X + 1e5

    found = scfs(**kept).fit(X)

    assert found.order_.tolist() == expected.order_.tolist()


@pytest.mark.parametrize("put", ["Dask", "Zarr", "HDF5"])
def test_more_features_than_make_a_gram_matrix(put, planted, tmp_path):
    X = planted(20, 4200, n_informative=40).X
    found = scfs(max_iter=5, tol=1e-2).fit(ELSEWHERE[put](X, tmp_path))

    assert_same_fit(found, scfs(max_iter=5, tol=1e-2).fit(X))


# Memory


def mapped(array, folder):
    np.save(folder / "X.npy", array)
    return np.load(folder / "X.npy", mmap_mode="r")


def fitted_with_peak(selector, X):
    """Return a fitted selector and the most bytes that the fit held at a time."""
    with traced_memory() as memory:
        selector.fit(X)
    return selector, memory.peak


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


def test_at_least_one_row_is_read(planted, tmp_path):
    X = planted(60, 12, n_informative=5).X

    found = scfs(working_memory=0.5).fit(mapped(X, tmp_path))

    assert_same_fit(found, scfs().fit(X))
    for wanted in (0, -1.0, "much"):
        sentence = refusal(X, working_memory=wanted)
        assert sentence.startswith("The 'working_memory' parameter of SCFS must be")


# What stays lazy


def test_what_has_a_row_for_each_sample_stays_where_it_is(planted, tmp_path):
    da = pytest.importorskip("dask.array")
    X = planted(60, 12, n_informative=5).X
    lazy = on_dask(X, (25, -1))
    selector = scfs().fit(lazy)
    pipeline = make_pipeline(MaxVariance(8), scfs(n_features_to_select=3))

    assert isinstance(selector.memberships_, da.Array)
    assert isinstance(selector.labels_, da.Array)
    assert selector.memberships_.chunks == ((25, 25, 10), (3,))
    np.testing.assert_allclose(selector.memberships_.sum(axis=1), 1.0)
    # A fit continues from them, and selected columns are read when asked for.
    again = scfs(init=selector.memberships_).fit(lazy)
    assert_same_fit(again, scfs(init=in_memory(selector.memberships_)).fit(X))
    reads = []
    watched = lazy.map_blocks(lambda block: reads.append(1) or block, dtype=X.dtype)
    selected = selector.transform(watched)
    n_reads = len(reads)
    np.testing.assert_array_equal(selected, selector.transform(X))
    assert len(reads) >= n_reads + 3
    assert pipeline.fit(lazy).transform(lazy).compute().shape == (60, 3)
    assert sp.issparse(selector.transform(backed(sp.csr_matrix(X), tmp_path)))


# Data frames


@pytest.fixture
def frame(planted):
    pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    import dask.dataframe as dd

    X = pd.DataFrame(planted(60, 12, n_informative=5).X)
    X.columns = [f"gene {i}" for i in range(12)]
    return dd.from_pandas(X, npartitions=3)


def test_a_frame_of_dask_keeps_its_names(frame, planted):
    selector = scfs().fit(frame)
    expected = scfs().fit(frame.compute())

    assert_same_fit(selector, expected)
    names = selector.get_feature_names_out().tolist()
    assert names == expected.get_feature_names_out().tolist()
    assert selector.transform(frame).columns.tolist() == names
    assert selector.transform(frame).compute().shape == (60, 5)
    with pytest.raises(ValueError, match=r"feature names of X should match"):
        selector.transform(frame.rename(columns={"gene 0": "another"}))
    selector.fit(on_dask(planted(60, 12).X, (25, -1)))
    assert not hasattr(selector, "feature_names_in_")
    bad = frame.assign(**{"gene 3": frame["gene 3"] / 0.0})
    assert "NaN or infinity in column 'gene 3'; " in refusal(bad)
    text = refusal(frame.assign(city="Oslo"))
    assert "which are not numbers; convert or drop" in text
    frame.columns = list(range(12))
    assert not hasattr(scfs().fit(frame), "feature_names_in_")


# Errors in one sentence


def refusal(data, **parameters):
    """Return the one sentence with which a fit is refused."""
    with pytest.raises((TypeError, ValueError)) as caught:
        scfs(**parameters).fit(data)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("put", ["Dask", "Dask CSR", "Zarr", "HDF5", "backed CSR"])
def test_a_value_that_is_not_finite_is_named(put, planted, tmp_path):
    for first, second in ((np.nan, np.nan), (np.inf, np.inf), (np.inf, -np.inf)):
        X = planted(60, 12).X
        X[31, 7], X[50, 7] = first, second

        sentence = refusal(ELSEWHERE[put](X, tmp_path))
        start = "Input X contains NaN or infinity in column 7; impute"
        assert sentence.startswith(start)


def test_what_cannot_be_fitted_is_refused(planted, tmp_path):
    for put in (lambda X: on_dask(X, -1), lambda X: in_hdf5(X, tmp_path)):
        assert "got 1D array instead" in refusal(put(np.ones(5)))
        assert "Found array with 1 sample(s)" in refusal(put(np.ones((1, 5))))
        assert "Found array with 0 feature(s)" in refusal(put(np.ones((5, 0))))
    X, two = planted(60, 12).X, np.random.default_rng(0).normal(size=(2, 5))
    text = on_dask(np.array([["a", "b"], ["c", "d"]]), -1)
    few = {"n_features_to_select": 2}
    assert refusal(text).endswith("drop such columns before selecting.")
    for data, asked, start in [
        (on_dask(np.ones((5, 2), complex), -1), {}, "Complex data"),
        (on_dask(X, -1), {"n_features_to_select": 13}, "n_features_to_select=13 but X"),
        (on_dask(X[:9], (4, -1)), {"n_clusters": 10}, "n_clusters=10 but X has n_samp"),
        (on_dask(np.tile(two, (20, 1)), (15, -1)), {}, "X has 2 distinct rows, fewer"),
        (on_dask(np.tile(two, (2600, 1)), (2000, -1)), {}, "X has 2 distinct rows, f"),
        (on_dask(np.ones((9, 4)), (4, -1)), few, "All 4 columns of X are constant:"),
    ]:
        assert refusal(data, **asked).startswith(start)
    selector = scfs().fit(X)
    with pytest.raises(ValueError, match=r"X has 3 features, but SCFS is expecting 12"):
        selector.transform(on_dask(np.ones((4, 3)), -1))
    with pytest.raises(ValueError, match=r"X has no features, but SCFS is expecting"):
        selector.transform(on_dask(np.ones(4), -1))


def test_the_paper_solver_needs_x_in_one_place(planted, tmp_path):
    X = planted(60, 12, n_informative=5).X
    sentence = refusal(on_dask(X, (25, -1)), solver="paper")
    in_file = scfs(solver="paper").fit(in_hdf5(X, tmp_path))

    assert sentence == 'solver="paper" does not support Dask; use solver="exact".'
    np.testing.assert_allclose(
        in_file.scores_, scfs(solver="paper").fit(X).scores_, rtol=1e-6
    )


def test_a_method_that_needs_memory_says_what_to_do(planted, tmp_path):
    in_memory_only = {
        name: kind
        for name, kind in all_selectors().items()
        if not kind.READS_OUT_OF_CORE
    }
    X = planted(30, 6, n_informative=3).X
    assert not {"SCFS", "MaxVariance"} & set(in_memory_only)
    for data, place in [
        (on_dask(X, -1), "dask's Array"),
        (in_zarr(X, tmp_path, (9, 6)), "zarr's Array"),
        (in_hdf5(X, tmp_path), "h5py's Dataset"),
    ]:
        for name, kind in in_memory_only.items():
            said = rf"^{name} needs X in memory but was given {place}; use[^\n]*$"
            with pytest.raises(TypeError, match=said):
                kind().fit(data)

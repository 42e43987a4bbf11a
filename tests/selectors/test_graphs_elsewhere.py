"""LaplacianScore and MCFS on samples that are elsewhere, joined through landmarks."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from memory import traced_memory
from scipy.linalg import eigh
from sklearn.linear_model import lars_path

import ufselect.data
from ufselect import MCFS, LaplacianScore
from ufselect.matrix import as_matrix
from ufselect.solvers.landmarks import find_landmarks, landmark_weights

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

METHODS = pytest.mark.parametrize("method", [LaplacianScore, MCFS])


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(X, n_rows=37):
    return da.from_array(X, chunks=(n_rows, -1))


def as_zarr(X, folder):
    zarr = pytest.importorskip("zarr")
    stored = zarr.open_array(
        str(folder / "X.zarr"), mode="w", shape=X.shape, chunks=(31, 5), dtype=X.dtype
    )
    stored[:] = X
    return stored


def as_hdf5(X, folder):
    h5py = pytest.importorskip("h5py")
    file = h5py.File(folder / f"{len(list(folder.iterdir()))}.h5", "w")
    return file.create_dataset("X", data=X, chunks=(23, 4))


def best(scores, count):
    return set(np.argsort(-scores, kind="stable")[:count])


# Against matrices written out


def whole_graph(X, landmarks):
    """Return S, n x n, from Z written out."""
    Z = landmark_weights(as_matrix(X), landmarks).toarray()
    return Z @ np.diag(1 / Z.sum(axis=0)) @ Z.T


@pytest.mark.parametrize(
    ("weights", "sigma"), [("binary", None), ("heat", None), ("heat", 3.0)]
)
def test_laplacian_scores_are_those_of_the_whole_graph(planted, weights, sigma):
    X = 100 * planted(120, 15, distance=1.0).X + np.arange(15)
    unit = X.std(axis=0).max()
    centred = X - X.mean(axis=0)
    bandwidth = np.inf if weights == "binary" else sigma and 100 * sigma / unit
    landmarks = find_landmarks(as_matrix(centred / unit), 30, 4, bandwidth=bandwidth)
    L = np.eye(120) - whole_graph(centred / unit, landmarks)
    ratio = np.diag(centred.T @ L @ centred) / np.sum(centred**2, axis=0)

    selector = LaplacianScore(
        n_neighbors=4, weights=weights, sigma=sigma and 100 * sigma, n_landmarks=30
    ).fit(chunked(X))

    np.testing.assert_allclose(selector.scores_, 1 - ratio, rtol=1e-8)


def transcription(X, S, n_clusters, n_nonzero, ridge=1e-3):
    """Return the functions and the scores by dense algebra and scikit-learn's path."""
    functions = eigh(S)[1][:, ::-1][:, 1 : n_clusters + 1]
    augmented = np.vstack([X, np.sqrt(ridge) * np.eye(X.shape[1])])
    scores = np.zeros(X.shape[1])
    for y in functions.T:
        target = np.concatenate([y, np.zeros(X.shape[1])])
        _, _, path = lars_path(augmented, target, method="lasso")
        a = path[:, np.flatnonzero(np.count_nonzero(path, axis=0) == n_nonzero)[0]]
        scores = np.maximum(scores, np.abs(a) / np.linalg.norm(a))
    return functions, scores


@pytest.mark.parametrize("sigma", [None, 2.0])
@pytest.mark.parametrize("n_nonzero", [3, 11])
def test_mcfs_is_that_of_the_whole_graph(planted, n_nonzero, sigma):
    X = planted(120, 15, distance=1.0).X
    prepared = (X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(120)
    bandwidth = np.inf if sigma is None else sigma / np.sqrt(120)
    landmarks = find_landmarks(as_matrix(prepared), 30, 5, bandwidth=bandwidth)
    S = whole_graph(prepared, landmarks)
    functions, expected = transcription(prepared, S, 3, n_nonzero)
    inside = expected > 0

    selector = MCFS(n_nonzero, n_clusters=3, sigma=sigma, n_landmarks=30)
    selector.fit(chunked(X))
    embedding = selector.embedding_
    overlap = np.abs(embedding.compute().T @ functions)

    assert isinstance(embedding, da.Array)
    assert embedding.chunks == ((37, 37, 37, 9), (3,))

    np.testing.assert_allclose(overlap, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(selector.scores_[inside], expected[inside], rtol=1e-8)
    assert selector.scores_[~inside].max(initial=0) < expected[inside].min()


# Where the samples are, and how they are cut


@METHODS
def test_chunks_do_not_matter(planted, method):
    # Between counts, many distances are equal.
    counts = np.random.RandomState(0).poisson(1.0, size=(300, 8)).astype(float)
    selector = method(3, n_landmarks=60)
    for X in (planted(200, 20, distance=1.0).X, counts):
        scores = [selector.fit(chunked(X, n_rows)).scores_ for n_rows in (300, 77, 9)]
        np.testing.assert_allclose(scores[1:], [scores[0]] * 2, rtol=0, atol=1e-10)


def as_sparse_chunks(X, folder):
    return chunked(X).map_blocks(sp.csr_array)


def as_backed(X, folder):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(sp.csr_matrix(X)).write_h5ad(folder / "X.h5ad")
    return anndata.read_h5ad(folder / "X.h5ad", backed="r").X


@METHODS
@pytest.mark.parametrize("standardize", ["samples", False])
@pytest.mark.parametrize("store", [as_zarr, as_hdf5, as_sparse_chunks, as_backed])
def test_files_and_sparse_data_give_the_scores_of_chunks(
    planted, method, standardize, store, tmp_path
):
    X = np.maximum(planted(200, 20).X, 0.0)
    selector = method(6, n_landmarks=60)
    if method is MCFS:
        selector.set_params(standardize=standardize)
    known = selector.fit(chunked(X)).scores_
    found = selector.fit(store(X, tmp_path)).scores_

    np.testing.assert_allclose(found, known, rtol=0, atol=1e-10)


# Against the same methods in memory


@METHODS
def test_few_or_mapped_samples_are_ranked_as_in_memory(planted, method, tmp_path):
    X = planted(120, 20).X
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    known, found = method(6).fit(X), method(6, n_landmarks=120).fit(chunked(X))
    in_file = method(6, n_landmarks=30).fit(mapped)

    np.testing.assert_allclose(found.scores_, known.scores_, rtol=1e-10)
    np.testing.assert_array_equal(found.order_, known.order_)
    np.testing.assert_allclose(in_file.scores_, known.scores_, rtol=1e-10)


@pytest.mark.parametrize("geometry", ["blobs", "rings", "subspaces", "counts"])
def test_as_much_is_found_as_in_memory(geometry):
    data = ufselect.data.planted(geometry, n_samples=1500, n_noise=40)
    X = np.asarray(data.table, dtype=float)
    useful = set(np.flatnonzero(data.informative))
    for table in (X, chunked(X, 600)):
        assert best(LaplacianScore().fit(table).scores_, 10) == useful
    selector = MCFS(10, n_clusters=2)
    known = best(selector.fit(X).scores_, 10)
    found = best(selector.fit(chunked(X, 600)).scores_, 10)

    assert len(found & useful) >= len(known & useful) - 1
    # By chance two of ten would be the same.
    assert len(found & known) >= 5


# Unusual samples


@METHODS
def test_constant_columns_units_and_repeated_samples_are_no_obstacle(planted, method):
    X, selector = planted(120, 20).X, method(6, n_landmarks=30)
    known = selector.fit(chunked(X)).order_
    for unit in (1e-150, 1e150):
        np.testing.assert_array_equal(selector.fit(chunked(unit * X)).order_, known)
    repeated = np.repeat(X[:15], 20, axis=0)
    assert np.isfinite(selector.fit(chunked(repeated)).scores_).all()
    X[:, [3, 7]] = 0.1, -5e7
    assert set(selector.fit(chunked(X)).order_[-2:]) == {3, 7}
    X[50, 4] = np.nan
    with pytest.raises(ValueError, match="contains NaN or infinity in column 4"):
        selector.fit(chunked(X))


@METHODS
def test_no_more_landmarks_than_neighbours_are_refused(planted, method):
    with pytest.raises(ValueError, match=r"n_landmarks=5 .* at least 6 landmarks"):
        method(n_landmarks=5, n_neighbors=5).fit(chunked(planted(120, 20).X))


def peak_of_fit(selector, X):
    with traced_memory() as memory:
        selector.fit(X)
    return memory.peak


def test_sums_of_chunks_are_not_kept_together(planted):
    X = planted(1500, 10).X
    peak = peak_of_fit(LaplacianScore(n_landmarks=400), chunked(X, 30))

    # The sums of all chunks would take 64 MB.
    assert peak < 32e6


@pytest.mark.parametrize(
    ("shape", "n_wanted"), [((1200, 300), 10), ((900, 300), 150), ((6000, 20), 5)]
)
def test_a_fit_takes_no_more_memory_than_it_says(planted, shape, n_wanted):
    X = chunked(planted(*shape).X, 300)
    with pytest.raises(ValueError, match=r"needs about .* bytes for") as caught:
        MCFS(n_wanted, max_memory=1.0).fit(X)
    need = float(re.search(r"about (\S+) bytes", str(caught.value)).group(1))

    assert need / 4 < peak_of_fit(MCFS(n_wanted), X) < need


def test_more_features_than_memory_has_room_for_are_refused():
    X = da.zeros((3000, 50_000), chunks=(100, -1))
    message = r"MCFS needs .* dense 50000 x 50000 matrices but max_memory=2e\+09; raise"

    with pytest.raises(ValueError, match=message):
        MCFS(100).fit(X)

"""Where clusterings begin."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state
from solvers.naive import planted

from ufselect.matrix import as_matrix
from ufselect.solvers import starts
from ufselect.solvers.starts import (
    c_means_centres,
    crisp_memberships,
    isometric_rows,
    k_means_centres,
    kernel_matrix,
    leading_eigenpairs,
    nearest_centres,
    squared_distances,
    start_memberships,
    with_every_cluster,
)

KINDS = ["k-means", "fuzzy", "random"]
SHAPES = [(60, 8), (20, 50)]


def start(kind, X, n_clusters=3, seed=0, gram=False):
    matrix = as_matrix(X)
    return start_memberships(
        kind,
        matrix,
        n_clusters,
        check_random_state(seed),
        matrix.sample_gram() if gram else None,
    )


def assert_soft_partition(memberships):
    assert memberships.min() >= 0
    assert memberships.sum(axis=0).min() > 0
    np.testing.assert_allclose(memberships.sum(axis=1), 1)


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 12, 20])
@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_soft_partition_without_empty_clusters(kind, shape, gram, n_clusters):
    X, _ = planted(*shape)

    memberships = start(kind, X, n_clusters, gram=gram)

    assert memberships.shape == (shape[0], n_clusters)
    assert_soft_partition(memberships)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_start(kind):
    X, _ = planted(40, 6)

    first, second = (start(kind, X, 5, seed=3) for _ in range(2))

    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("kind", KINDS)
def test_another_seed_gives_another_start(kind):
    X = np.random.default_rng(0).normal(size=(60, 6))

    first, second = (start(kind, X, 6, seed=seed) for seed in (0, 1))

    assert not np.array_equal(first, second)


@pytest.mark.parametrize("kind", ["k-means", "fuzzy"])
@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_clusters_far_apart_are_found(kind, gram, shape):
    X, labels = planted(*shape, distance=30)

    # c-means from random memberships may merge two clusters: the best of a few.
    scores = [
        adjusted_rand_score(labels, start(kind, X, gram=gram, seed=seed).argmax(axis=1))
        for seed in range(1 if kind == "k-means" else 5)
    ]

    assert max(scores) == 1.0


@pytest.mark.parametrize("kind", ["k-means", "fuzzy"])
@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
def test_sparse_and_dense_data_start_alike(kind, container):
    X, _ = planted(30, 8)
    X = np.where(np.abs(X) > 1, X, 0.0)

    np.testing.assert_array_equal(start(kind, container(X)), start(kind, X))


class TestThroughTheGramMatrix:
    def test_distances_are_kept(self):
        X, _ = planted(20, 50)

        points = isometric_rows(X @ X.T)

        np.testing.assert_allclose(
            squared_distances(points, points), squared_distances(X, X), atol=1e-6
        )

    def test_fewer_dimensions_than_samples_do_no_harm(self):
        X, _ = planted(20, 4)

        points = isometric_rows(X @ X.T)

        np.testing.assert_allclose(
            squared_distances(points, points), squared_distances(X, X), atol=1e-6
        )

    @pytest.mark.parametrize("size", [1e-100, 1e100])
    def test_the_unit_does_not_matter(self, size):
        X = size * planted(20, 50)[0]

        points = isometric_rows(X @ X.T) / size

        np.testing.assert_allclose(points @ points.T, (X / size) @ (X / size).T)

    def test_k_means_finds_the_partition_it_finds_on_the_points(self):
        X, _ = planted(30, 60, distance=10)

        through_gram = start("k-means", X, gram=True).argmax(axis=1)
        on_points = KMeans(3, n_init=3, random_state=0).fit(X).labels_

        assert adjusted_rand_score(through_gram, on_points) == 1.0


class TestSampling:
    @pytest.fixture(autouse=True)
    def few_samples(self, monkeypatch):
        monkeypatch.setattr("ufselect.solvers.starts.LARGEST_SAMPLE", 20)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
    def test_every_sample_gets_a_cluster(self, kind, container):
        X, _ = planted(200, 6)

        memberships = start(kind, container(X), 4)

        assert memberships.shape == (200, 4)
        assert_soft_partition(memberships)

    def test_clusters_far_apart_are_found(self):
        X, labels = planted(200, 6, distance=30)

        found = start("k-means", X).argmax(axis=1)

        assert adjusted_rand_score(found, labels) == 1.0

    def test_only_the_sample_is_read(self, monkeypatch):
        matrix = as_matrix(planted(200, 6)[0])
        read = []
        original = matrix.rows
        monkeypatch.setattr(
            matrix, "rows", lambda index: read.append(len(index)) or original(index)
        )

        start_memberships("k-means", matrix, 3, check_random_state(0))

        assert read == [20]

    def test_the_same_seed_gives_the_same_start(self):
        X, _ = planted(200, 6)

        first, second = (start("k-means", X, seed=1) for _ in range(2))

        np.testing.assert_array_equal(first, second)


class TestCentres:
    @pytest.mark.parametrize("find", [k_means_centres, c_means_centres])
    def test_each_is_the_mean_of_its_samples(self, find):
        points, _ = planted(60, 4, distance=20)

        centres = find(points, 3, check_random_state(1))
        labels = squared_distances(points, centres).argmin(axis=1)
        means = [points[labels == cluster].mean(axis=0) for cluster in set(labels)]

        assert len(means) == 3
        np.testing.assert_allclose(centres, means, atol=1e-4)

    @pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
    def test_the_nearest_is_found_in_a_shifted_matrix(self, container):
        X, _ = planted(40, 5)
        shift, scale = np.arange(5.0), np.linspace(1, 2, 5)
        points = (X - shift) * scale
        centres = points[:4]

        found = nearest_centres(as_matrix(container(X)).affine(shift, scale), centres)

        expected = squared_distances(points, centres).argmin(axis=1)
        np.testing.assert_array_equal(found, expected)


class TestEveryCluster:
    def test_full_labels_are_kept(self):
        labels = np.array([2, 0, 1, 1])

        np.testing.assert_array_equal(with_every_cluster(labels, 3), labels)

    def test_empty_clusters_take_from_the_largest(self):
        labels = np.array([0, 0, 0, 0, 2, 2])

        filled = with_every_cluster(labels, 4)

        assert np.bincount(filled, minlength=4).tolist() == [2, 1, 2, 1]
        assert labels.tolist() == [0, 0, 0, 0, 2, 2]

    def test_as_many_clusters_as_samples(self):
        filled = with_every_cluster(np.zeros(5, dtype=np.intp), 5)

        assert sorted(filled) == [0, 1, 2, 3, 4]

    def test_centres_that_coincide_leave_no_cluster_empty(self, monkeypatch):
        monkeypatch.setattr(
            "ufselect.solvers.starts.k_means_centres",
            lambda points, n_clusters, random: points[[0] * n_clusters],
        )

        assert_soft_partition(start("k-means", planted(30, 4)[0], 6))


@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_data_are_left_alone(kind, gram):
    matrix = as_matrix(planted(30, 8)[0])
    products = matrix.sample_gram()
    kept = matrix.raw.copy(), products.copy()

    start_memberships(
        kind, matrix, 3, check_random_state(0), products if gram else None
    )

    np.testing.assert_array_equal(matrix.raw, kept[0])
    np.testing.assert_array_equal(products, kept[1])


def test_crisp_memberships_have_one_cluster_per_sample():
    memberships = crisp_memberships(np.array([1, 0, 1]), 3)

    assert memberships.tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0]]


class TestComponents:
    def test_leading_eigenpairs_are_those_of_the_eigendecomposition(self):
        X = np.random.RandomState(0).standard_normal((30, 8)) * 2.0 ** -np.arange(8)
        X -= X.mean(axis=0)
        for matrix in (X @ X.T, X.T @ X):
            random = np.random.RandomState(1)
            values, vectors = leading_eigenpairs(
                matrix.__matmul__, len(matrix), 3, random
            )
            found = (vectors * values) @ vectors.T
            values, vectors = np.linalg.eigh(matrix)
            expected = (vectors[:, -3:] * values[-3:]) @ vectors[:, -3:].T

            np.testing.assert_allclose(found, expected, atol=1e-8)

    @pytest.mark.parametrize("with_kernel", [False, True])
    def test_clusters_hidden_in_noise_are_found_for_every_seed(self, with_kernel):
        labels = np.arange(90) % 3
        X = np.random.RandomState(0).standard_normal((90, 300))
        X[:, :9] += 4.0 * np.eye(3)[labels][:, np.arange(9) % 3]
        X -= X.mean(axis=0)
        K = X @ X.T if with_kernel else None

        for seed in range(5):
            random = np.random.RandomState(seed)
            (memberships,) = starts.start("k-means", as_matrix(X), 3, random, K=K)
            found = memberships.argmax(axis=1)

            assert len(set(zip(found, labels, strict=True))) == 3


class TestKernelMatrix:
    def test_the_gram_matrix_is_formed_only_when_it_is_the_smaller(self):
        assert kernel_matrix(as_matrix(planted(40, 12)[0])) is None
        assert kernel_matrix(as_matrix(planted(24, 60)[0])).shape == (24, 24)

    def test_the_gram_matrix_is_not_formed_next_to_a_sparse_matrix_of_many_samples(
        self, monkeypatch
    ):
        monkeypatch.setattr(starts, "SMALL_KERNEL", 20)
        sparse = sp.csr_array(sp.eye_array(30, 100))

        assert kernel_matrix(as_matrix(sparse)) is None

"""Where clusterings begin."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state
from solvers.naive import planted

from ufselect.matrix import as_matrix
from ufselect.solvers import starts
from ufselect.solvers.starts import (
    c_means_centres,
    crisp_memberships,
    distinct_rows,
    isometric_rows,
    k_means_centres,
    kernel_matrix,
    leading_eigenpairs,
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


@pytest.mark.parametrize("n_clusters", [1, 3, 20])
@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_soft_partition_that_depends_on_the_seed(kind, shape, gram, n_clusters):
    X = np.random.default_rng(0).normal(size=shape)
    X.flags.writeable = False

    first, again, other = (
        start(kind, X, n_clusters, seed, gram=gram) for seed in (0, 0, 1)
    )

    assert first.shape == (shape[0], n_clusters)
    assert_soft_partition(first)
    np.testing.assert_array_equal(first, again)
    X = np.where(np.abs(X) > 1, X, 0.0)
    for container in (sp.csr_array, sp.csc_array):
        same = start(kind, container(X), n_clusters, gram=gram)
        np.testing.assert_array_equal(same, start(kind, X, n_clusters, gram=gram))
    if n_clusters == 3:
        assert not np.array_equal(first, other)


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


@pytest.mark.parametrize("shape", [(20, 50), (20, 4)])
@pytest.mark.parametrize("size", [1e-100, 1.0, 1e100])
def test_rows_from_the_gram_matrix_keep_distances(shape, size):
    X, _ = planted(*shape)

    points = isometric_rows(size * X @ (size * X).T) / size

    np.testing.assert_allclose(
        squared_distances(points, points), squared_distances(X, X), atol=1e-6
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("centred", [False, True])
def test_of_many_samples_only_some_are_read(kind, container, centred, monkeypatch):
    monkeypatch.setattr(starts, "MAX_SAMPLE", 20)
    X, labels = planted(200, 6, distance=30)
    matrix, read = as_matrix(container(X)), []
    if centred:
        matrix = matrix.affine(X.mean(axis=0), np.linspace(1, 2, 6))
    original = matrix.rows
    monkeypatch.setattr(
        matrix, "rows", lambda index: read.append(len(index)) or original(index)
    )

    memberships = start_memberships(kind, matrix, 3, check_random_state(0))

    assert_soft_partition(memberships)
    assert read == ([] if kind == "random" else [20])
    if kind == "k-means":
        assert adjusted_rand_score(memberships.argmax(axis=1), labels) == 1.0


@pytest.mark.parametrize("find", [k_means_centres, c_means_centres])
def test_each_centre_is_the_mean_of_its_samples(find):
    points, _ = planted(60, 4, distance=20)

    centres = find(points, 3, check_random_state(1))
    labels = squared_distances(points, centres).argmin(axis=1)
    means = [points[labels == cluster].mean(axis=0) for cluster in set(labels)]

    assert len(means) == 3
    np.testing.assert_allclose(centres, means, atol=1e-4)


def test_empty_clusters_take_from_the_largest(monkeypatch):
    labels = np.array([0, 0, 0, 0, 2, 2])
    full = np.array([2, 0, 1, 1])

    filled = with_every_cluster(labels, 4)

    assert np.bincount(filled, minlength=4).tolist() == [2, 1, 2, 1]
    assert labels.tolist() == [0, 0, 0, 0, 2, 2]
    assert sorted(with_every_cluster(np.zeros(5, dtype=np.intp), 5)) == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(with_every_cluster(full, 3), full)
    assert crisp_memberships(full, 3).argmax(axis=1).tolist() == full.tolist()
    # Centres that coincide leave no cluster empty.
    monkeypatch.setattr(
        starts, "k_means_centres", lambda points, n, random: points[[0] * n]
    )
    assert_soft_partition(start("k-means", planted(30, 4)[0], 6))


def test_leading_eigenpairs_are_those_of_the_eigendecomposition():
    X = np.random.RandomState(0).standard_normal((30, 8)) * 2.0 ** -np.arange(8)
    X -= X.mean(axis=0)
    for matrix in (X @ X.T, X.T @ X):
        random = np.random.RandomState(1)
        values, vectors = leading_eigenpairs(matrix.__matmul__, len(matrix), 3, random)
        found = (vectors * values) @ vectors.T
        values, vectors = np.linalg.eigh(matrix)
        expected = (vectors[:, -3:] * values[-3:]) @ vectors[:, -3:].T

        np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("with_kernel", [False, True])
def test_clusters_hidden_in_noise_are_found_for_every_seed(with_kernel):
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


def test_the_kernel_matrix_is_formed_only_when_it_is_the_smaller(monkeypatch):
    assert kernel_matrix(as_matrix(planted(40, 12)[0])) is None
    assert kernel_matrix(as_matrix(planted(24, 60)[0])).shape == (24, 24)
    monkeypatch.setattr(starts, "SMALL_KERNEL", 20)
    # Not next to a sparse matrix of many samples.
    assert kernel_matrix(as_matrix(sp.csr_array(sp.eye_array(30, 100)))) is None


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_distinct_rows_are_counted_and_too_few_refused(container):
    rows = planted(5, 4)[0]
    close = np.vstack([rows, rows[:1] * (1 + 1e-6), rows[:1] * (1 + 1e-15)])
    matrix = as_matrix(container(np.repeat(rows, 3, axis=0)))
    message = "X has 5 distinct rows, fewer than n_clusters=6; ask for at most 5 clus"

    assert distinct_rows(matrix) == 5
    assert distinct_rows(as_matrix(container(close))) == 6
    for kind in ("k-means", "random"):
        with pytest.raises(ValueError, match=message):
            starts.start(kind, matrix, 6, check_random_state(0))
        starts.start(kind, matrix, 5, check_random_state(0))


def test_given_memberships_are_checked_and_scaled():
    matrix, good = as_matrix(planted(6, 4)[0]), np.full((6, 2), 0.5) + 4e-7
    negative, empty = np.full((6, 2), 0.5), np.eye(2)[np.zeros(6, dtype=int)]
    negative[3] = 1.25, -0.25

    (found,) = starts.start(good, matrix, 2, check_random_state(0))

    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-14)
    for bad, message in [
        (good[:, :1], r"shape \(6, 1\) but must have .* = \(6, 2\)"),
        (negative, "smallest entry is -0.25, .* row sums are between 1 and 1"),
        (1.1 * good, "row sums are between 1.1 and 1.1"),
        (empty, "leaves cluster 1 empty"),
        (good[:, 0], "Expected 2D array, got 1D array"),
        (np.nan * good, "init contains NaN"),
    ]:
        with pytest.raises(ValueError, match=message):
            starts.start(bad, matrix, 2, check_random_state(0))

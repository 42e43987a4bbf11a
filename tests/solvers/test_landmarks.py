"""The graph through landmarks against matrices written out, and at its limits."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from solvers.naive import planted

from ufselect.matrix import RowBlockMatrix, as_matrix
from ufselect.solvers.landmarks import (
    Landmarks,
    explained_squares,
    find_landmarks,
    interpolated,
    landmark_embedding,
    landmark_sums,
    landmark_weights,
)


def naive_weights(X, places, n_nearest, bandwidth):
    """Return Z, sample by sample."""
    Z = np.zeros((len(X), len(places)))
    for i, x in enumerate(X):
        distances = np.array([np.linalg.norm(x - place) for place in places])
        nearest = np.argsort(distances)[:n_nearest]
        Z[i, nearest] = np.exp(-(distances[nearest] ** 2) / (2 * bandwidth**2))
    return Z / Z.sum(axis=1, keepdims=True)


def naive_graph(X, landmarks):
    """Return S, n x n."""
    Z = naive_weights(X, *landmarks)
    Z = Z[:, Z.sum(axis=0) > 0]
    return Z @ np.diag(1 / Z.sum(axis=0)) @ Z.T


def centred(n_samples=90, n_features=7, distance=1.0):
    X = planted(n_samples, n_features, distance=distance)[0]
    return X - X.mean(axis=0)


def twenty(X, n_nearest=4, bandwidth=np.inf):
    # The last is so far away that no sample is tied to it.
    return Landmarks(np.vstack([X[:80:4], X[:1] + 100]), n_nearest, bandwidth)


BANDWIDTHS = pytest.mark.parametrize("bandwidth", [np.inf, 2.0])


@BANDWIDTHS
def test_explained_squares_are_those_of_the_whole_graph(bandwidth):
    X = centred()
    landmarks = twenty(X, bandwidth=bandwidth)
    S = naive_graph(X, landmarks)
    weights = landmark_weights(as_matrix(X), landmarks).toarray()

    sums = landmark_sums(as_matrix(X), landmarks, gram=True)
    found = explained_squares(sums)

    np.testing.assert_allclose(weights, naive_weights(X, *landmarks), atol=1e-12)
    np.testing.assert_allclose(sums.gram, X.T @ X)
    np.testing.assert_allclose(S.sum(axis=1), 1.0)
    np.testing.assert_allclose(found, np.diag(X.T @ S @ X), rtol=1e-8)


@BANDWIDTHS
def test_the_embedding_is_that_of_the_whole_graph(bandwidth):
    X = centred()
    landmarks = twenty(X, bandwidth=bandwidth)
    matrix = as_matrix(X)
    expected = np.linalg.eigh(naive_graph(X, landmarks))[1][:, ::-1][:, 1:4]

    functions = landmark_embedding(landmark_sums(matrix, landmarks), 3)
    found = matrix.gather(interpolated(matrix, landmarks, functions))

    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(np.abs(found.T @ expected), np.eye(3), atol=1e-8)
    assert subspace_angles(found, expected).max() < 1e-8
    few = landmark_sums(matrix, Landmarks(X[:4], 2))
    assert landmark_embedding(few, 8).shape == (4, 3)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_blocks_of_any_size_and_kind_give_the_same_sums(container):
    X = centred()
    landmarks = twenty(X, bandwidth=2.0)
    shift, scale, factors = X[3], np.linspace(1.0, 2.0, 7), np.linspace(0.5, 1.0, 90)
    seen = (factors[:, np.newaxis] * X - shift) * scale
    blocks = RowBlockMatrix(container(X), shift, scale, factors, block_bytes=8 * 7 * 11)

    whole = landmark_sums(as_matrix(seen), landmarks, gram=True)
    pieces = landmark_sums(blocks, landmarks, gram=True)

    for one, other in zip(whole, pieces, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-10, atol=1e-10)


def test_landmarks_as_near_as_the_last_are_taken_too():
    places = np.array([[1.0], [-1.0], [3.0], [1.0]])
    # A shift, and so a rounding error of another size, makes no difference.
    for shift in [0.0, 0.1, 1 / 3]:
        view = as_matrix(np.array([[shift]])).affine(np.array([shift]), np.ones(1))
        weights = landmark_weights(view, Landmarks(places, 1))

        np.testing.assert_allclose(weights.toarray(), [[1 / 3, 1 / 3, 0, 1 / 3]])


# Limits


def test_samples_have_no_neighbours_or_all_at_the_limits():
    # Z = S = I: no feature varies over the graph, and nothing is told apart.
    X = centred(30)
    sums = landmark_sums(as_matrix(X), Landmarks(X, 1))

    np.testing.assert_allclose(sums.graph, np.eye(30))
    np.testing.assert_allclose(explained_squares(sums), np.sum(X**2, axis=0))
    # S = 11'/n: a centred feature varies over the graph as it does at all.
    all_alike = landmark_sums(as_matrix(X), Landmarks(X[:5], 5))
    np.testing.assert_allclose(explained_squares(all_alike), 0.0, atol=1e-20)
    # Of few distinct samples, all are landmarks.
    few = find_landmarks(as_matrix(np.repeat(X[:3], 50, axis=0)), 20, 5)
    np.testing.assert_allclose(np.sort(few.places, axis=0), np.sort(X[:3], axis=0))
    assert few.n_nearest == 2
    # With a landmark in each cluster, the clusters explain what lies between.
    X, labels = planted(60, 6, distance=50.0)
    X -= X.mean(axis=0)
    means = np.array([X[labels == label].mean(axis=0) for label in range(3)])
    sums = landmark_sums(as_matrix(X), Landmarks(means, 1))
    np.testing.assert_allclose(explained_squares(sums), 20 * np.sum(means**2, axis=0))


def distance_to_nearest(X, places):
    squared = np.sum((X[:, np.newaxis] - places) ** 2, axis=2)
    return np.sqrt(squared.min(axis=1)).mean()


def test_landmarks_are_nearer_to_samples_than_as_many_of_them():
    X = centred(300)
    random = np.random.RandomState(0)
    drawn = [X[random.permutation(300)[:30]] for _ in range(10)]
    places = find_landmarks(as_matrix(X), 30, 3).places

    assert places.shape == (30, 7)
    assert distance_to_nearest(X, places) < 0.95 * min(
        distance_to_nearest(X, some) for some in drawn
    )


def test_landmarks_do_not_depend_on_the_last_digits_of_a_view():
    # Of counts, many distances are equal: a rounding error decides between them.
    X = np.random.RandomState(0).poisson(1.0, size=(400, 5)).astype(float)
    mean = X.mean(axis=0)
    one = as_matrix(X).affine(mean, np.full(5, 1 / 3))
    other = as_matrix(X).affine(
        np.nextafter(mean, 9), np.full(5, np.nextafter(1 / 3, 1))
    )

    np.testing.assert_allclose(
        find_landmarks(other, 40, 3).places,
        find_landmarks(one, 40, 3).places,
        atol=1e-12,
    )


def test_the_bandwidth_is_the_median_distance_to_a_landmark():
    X = centred()
    landmarks = find_landmarks(as_matrix(X), 20, 4, bandwidth=None)
    distances = np.linalg.norm(X[:, np.newaxis] - landmarks.places, axis=2)
    nearest = np.sort(distances, axis=1)[:, :4]
    positive = nearest[nearest > 1e-6]

    np.testing.assert_allclose(landmarks.bandwidth, np.median(positive), rtol=1e-5)


def test_equal_samples_and_fewer_landmarks_than_neighbours_are_refused():
    message = "n_landmarks=5 .* n_neighbors=5; use at least 6"

    with pytest.raises(ValueError, match=message):
        find_landmarks(as_matrix(centred()), 5, 5)
    with pytest.raises(ValueError, match=r"The 40 samples .* are all equal"):
        find_landmarks(as_matrix(np.ones((40, 3))), 10, 2)

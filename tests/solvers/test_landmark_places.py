"""Where landmarks are put, and that it does not depend on rounding."""

import numpy as np
import pytest
from solvers.naive import planted

from ufselect.matrix import as_matrix
from ufselect.solvers.landmarks import find_landmarks, rounded


def centred(n_samples=90):
    X = planted(n_samples, 7, distance=1.0)[0]
    return X - X.mean(axis=0)


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


def test_rounding_keeps_seven_digits_of_any_number():
    values = np.array([0.0, -1 / 3, 1e-300, 3e200])

    np.testing.assert_allclose(rounded(values), values, rtol=1e-7)
    np.testing.assert_array_equal(
        rounded(np.nextafter(values, 1)[1:]), rounded(values[1:])
    )


def test_of_few_distinct_samples_all_are_landmarks():
    X = np.repeat(np.arange(6.0).reshape(3, 2), 50, axis=0)
    landmarks = find_landmarks(as_matrix(X), 20, 5)

    np.testing.assert_allclose(landmarks.places, X[::50])
    assert landmarks.n_nearest == 2


def test_the_bandwidth_is_the_median_distance_to_a_landmark():
    X = centred()
    landmarks = find_landmarks(as_matrix(X), 20, 4, bandwidth=None)
    distances = np.linalg.norm(X[:, np.newaxis] - landmarks.places, axis=2)
    nearest = np.sort(distances, axis=1)[:, :4]
    positive = nearest[nearest > 1e-6]

    np.testing.assert_allclose(landmarks.bandwidth, np.median(positive), rtol=1e-5)


def test_equal_samples_are_refused():
    with pytest.raises(ValueError, match=r"The 40 samples .* are all equal"):
        find_landmarks(as_matrix(np.ones((40, 3))), 10, 2)


def test_fewer_landmarks_than_neighbours_are_refused():
    message = "n_landmarks=5 .* n_neighbors=5 of them; ask for at least 6"

    with pytest.raises(ValueError, match=message):
        find_landmarks(as_matrix(centred()), 5, 5)

"""Kernels of samples and their roots."""

import numpy as np
import pytest
from each_case import each
from oracle_files import inputs
from scipy.spatial.distance import pdist, squareform

from ufselect.solvers.graphs import (
    centred_kernel,
    gaussian_kernel,
    kernel_root,
    median_distance,
    squared_distances_of,
)

X = np.random.default_rng(0).normal(size=(12, 5))


def test_distances_from_products_are_distances():
    expected = squareform(pdist(X, "sqeuclidean"))

    np.testing.assert_allclose(squared_distances_of(X @ X.T), expected, atol=1e-12)


@each("name", ["A", "B"])
def test_kernel_bandwidth_and_root_equal_the_reference(name):
    given = inputs(name)
    squared = squared_distances_of(given["Xc"] @ given["Xc"].T)

    median = median_distance(squared)
    kernel = gaussian_kernel(squared, median)

    assert median == pytest.approx(float(given["sigma"]), rel=1e-10)
    np.testing.assert_allclose(kernel, given["K"], rtol=1e-9)
    np.testing.assert_allclose(kernel_root(kernel, n_columns=3), given["Yk"], rtol=1e-6)


def test_by_default_the_squared_median_divides_the_squared_distance():
    squared = squared_distances_of(X @ X.T)

    expected = np.exp(-squared / median_distance(squared) ** 2)

    np.testing.assert_allclose(gaussian_kernel(squared), expected)


@each("unit", [1e-140, 1e140])
def test_the_unit_of_the_points_does_not_matter(unit):
    expected = gaussian_kernel(squared_distances_of(X @ X.T))
    scaled = unit * X

    kernel = gaussian_kernel(squared_distances_of(scaled @ scaled.T))

    np.testing.assert_allclose(kernel, expected, rtol=1e-9)


def test_mostly_equal_points_have_the_median_of_the_others():
    squared = squared_distances_of(np.outer([0, 0, 0, 0, 3.0], [0, 0, 0, 0, 3.0]))

    assert median_distance(squared) == 3.0


def test_equal_points_have_a_bandwidth():
    assert median_distance(np.zeros((3, 3))) == 1.0


def test_a_centred_kernel_has_no_sums():
    kernel = gaussian_kernel(squared_distances_of(X @ X.T))
    centring = np.eye(12) - 1 / 12

    centred = centred_kernel(kernel)

    np.testing.assert_allclose(centred, centring @ kernel @ centring, atol=1e-14)


def test_the_whole_root_gives_the_kernel_back():
    kernel = centred_kernel(gaussian_kernel(squared_distances_of(X @ X.T)))

    root = kernel_root(kernel)

    assert root.shape == (12, 11)
    np.testing.assert_allclose(root @ root.T, kernel, atol=1e-12)


@each("share", [0.5, 0.9, 0.999])
def test_a_truncated_root_keeps_its_share_and_not_a_column_more(share):
    kernel = gaussian_kernel(squared_distances_of(X @ X.T))

    squares = np.sum(kernel_root(kernel, share=share) ** 2, axis=0)

    assert squares.sum() >= share * 12
    assert squares[:-1].sum() < share * 12

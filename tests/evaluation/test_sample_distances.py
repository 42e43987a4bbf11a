"""Distances between samples and to means of them, against their definition."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ufselect.evaluation.sample_distances import SampleDistances

SHAPES = pytest.mark.parametrize("shape", [(30, 4), (12, 40)])
KEPT = pytest.mark.parametrize("keep_pairs_up_to", [0, 5000])


@SHAPES
@KEPT
def test_distances_to_samples_are_euclidean(shape, keep_pairs_up_to):
    columns = np.random.default_rng(0).standard_normal(shape) + 3.0
    geometry = SampleDistances(columns, keep_pairs_up_to)
    samples = np.array([[1, 5, 7], [0, 2, 11]])
    expected = cdist(columns, columns, "sqeuclidean")[samples]

    assert geometry.to_samples(samples) == pytest.approx(expected)
    assert geometry.variance == pytest.approx(columns.var(axis=0).mean())


@SHAPES
@KEPT
@pytest.mark.parametrize("group", [1, 2])
def test_distances_to_means_are_euclidean(shape, keep_pairs_up_to, group):
    random = np.random.default_rng(1)
    columns = random.standard_normal(shape)
    labels = np.array([random.permutation(np.arange(shape[0]) % 3) for _ in range(4)])
    sizes = np.array([np.bincount(row) for row in labels], dtype=float)
    expected = [
        cdist([columns[row == j].mean(axis=0) for j in range(3)], columns) ** 2
        for row in labels
    ]
    members = labels + 3 * np.arange(4)[:, None]
    geometry = SampleDistances(sp.csr_array(columns), keep_pairs_up_to)

    assert geometry.to_means(members, sizes, group) == pytest.approx(np.array(expected))

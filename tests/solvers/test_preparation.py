"""Preparation of X: what is chosen, and what the prepared matrix is."""

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect.matrix import RowBlockMatrix, as_matrix
from ufselect.solvers.preparation import (
    choose_preparation,
    non_negative,
    prepare,
)

KINDS = ["features", "samples", "none"]
CONTAINERS = [np.asarray, sp.csr_array, sp.csc_array]
KIND, CONTAINER = (
    pytest.mark.parametrize("kind", KINDS),
    pytest.mark.parametrize("container", CONTAINERS),
)


def measurements():
    return np.random.default_rng(0).normal(5, 2, size=(50, 20))


def counts(rate=0.3):
    return np.random.default_rng(0).poisson(rate, size=(50, 20)).astype(float)


def codes():
    return np.random.default_rng(0).integers(-1, 2, size=(50, 20)).astype(float)


def choice(X):
    matrix = as_matrix(X)
    return choose_preparation(matrix)


def prepared(X, kind, size=3.0):
    matrix = as_matrix(X)
    return prepare(matrix, kind, size)


def explicit(X, kind):
    """Return X with features or samples scaled, in plain NumPy."""
    if kind == "features":
        return X / X.std(axis=0)
    if kind == "samples":
        lengths = np.linalg.norm(X, axis=1, keepdims=True)
        return X / np.where(lengths > 0, lengths, 1.0)
    return X


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (measurements(), "features"),
        *((counts(rate), "samples") for rate in (0.05, 0.3, 1.0, 3.0)),
        (codes(), "none"),
        (np.hstack([measurements(), np.zeros((50, 60))]), "features"),
    ],
)
def test_the_choice_depends_on_neither_order_nor_unit_nor_container(X, expected):
    random = np.random.default_rng(1)
    shuffled = X[random.permutation(50)][:, random.permutation(X.shape[1])]

    for table in (X, shuffled, 1e-6 * X, 1e6 * X):
        assert {choice(container(table)) for container in CONTAINERS} == {expected}


@pytest.mark.parametrize("n_zeros", [0, 3, 6, 15, 24, 25, 26, 40])
@pytest.mark.parametrize("sign", [1, -1])
def test_sparse_mapped_and_dense_data_decide_alike(n_zeros, sign, tmp_path):
    X = np.abs(measurements()) + 0.1
    X[:n_zeros] = 0.0
    X[-1] *= sign
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")

    assert {choice(make(X)) for make in CONTAINERS} == {choice(mapped)}


@CONTAINER
@KIND
@pytest.mark.parametrize("data", [measurements, counts, codes])
def test_both_views_are_the_explicit_matrix(container, data, kind):
    X = data()
    # Constant columns and rows of zeros become nothing.
    X[:, 3] = 0.0 if kind == "samples" else 0.1
    X[7] = 0.0 if kind == "samples" else X[7]
    varying = np.flatnonzero(X.std(axis=0) > 1e-9)
    result = prepared(container(X), kind, 7.0)
    expected = result.unit * explicit(X[:, varying], kind)
    expected_centred = expected - expected.mean(axis=0)
    centred = result.centred.rows(slice(None))
    uncentred = result.uncentred.dot(np.eye(20))

    np.testing.assert_allclose(uncentred[:, varying], expected, atol=1e-12)
    np.testing.assert_allclose(centred[:, varying], expected_centred, atol=1e-12)
    np.testing.assert_allclose(result.centred.dot(np.eye(20)), centred, atol=1e-12)
    np.testing.assert_allclose(centred[:, 3], 0, atol=1e-12)
    assert np.sum(centred**2) == pytest.approx(7.0, rel=1e-10)


@CONTAINER
@KIND
@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_extreme_units_do_not_matter(container, kind, size):
    found = prepared(container(size * counts()), kind).centred
    expected = prepared(counts(), kind).centred.rows(slice(None))

    for result, product in [
        (found.rows(slice(None)), expected),
        (found.dot(np.eye(20)), expected),
        (found.transpose_dot(np.eye(50)), expected.T),
        (found.feature_gram(), expected.T @ expected),
        (found.sample_gram(), expected @ expected.T),
    ]:
        np.testing.assert_allclose(result, product, atol=1e-9)
    single = [
        prepared(container((unit * counts()).astype(np.float32)), kind).centred
        for unit in (2.0**-20, 2.0**20)
    ]
    grams = [each.sample_gram() for each in single]
    np.testing.assert_allclose(*grams, atol=1e-6)
    X = size * (counts() + np.eye(50, 20))
    unit_rows = as_matrix(container(X)).with_unit_rows(X.max()).rows(slice(None))
    np.testing.assert_allclose(unit_rows, explicit(X / size, "samples"), rtol=1e-9)


class TestLargeOffsets:
    @pytest.mark.parametrize("offset", [1e4, 1e8, -1e8])
    @KIND
    def test_products_are_those_of_exact_centring(self, kind, offset):
        X = np.random.default_rng(0).normal(size=(60, 15)) + offset
        precise = X.astype(np.longdouble)
        if kind == "samples":
            precise /= np.sqrt(np.sum(precise**2, axis=1, keepdims=True))
        precise -= precise.mean(axis=0)
        if kind == "features":
            precise /= np.sqrt(np.mean(precise**2, axis=0))
        exact = np.asarray(precise * np.sqrt(3 / np.sum(precise**2)), dtype=np.float64)

        centred = prepared(X, kind).centred

        for found, expected in [
            (centred.dot(np.eye(15)), exact),
            (centred.transpose_dot(np.eye(60)), exact.T),
            (centred.feature_gram(), exact.T @ exact),
            (centred.sample_gram(), exact @ exact.T),
        ]:
            size = np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * size)

    @pytest.mark.parametrize("kind", ["features", "none"])
    @pytest.mark.parametrize("convert", [sp.csr_array, sp.csc_array])
    def test_sparse_products_keep_their_digits_too(self, kind, convert):
        # A column far from zero among words, and one that is constant.
        X = np.random.default_rng(0).poisson(0.3, size=(60, 15)).astype(float)
        X[:, [3, 4]] = np.column_stack([X[:, 3] + 1e8, np.full(60, 1e10)])
        expected = prepared(X, kind).centred

        found = prepared(convert(X), kind).centred

        for product in ["feature_gram", "sample_gram"]:
            exact = getattr(expected, product)()
            np.testing.assert_allclose(
                getattr(found, product)(), exact, atol=1e-7 * np.abs(exact).max()
            )
        assert (found.feature_gram()[4] == 0).all()

    def test_single_precision_loses_no_more_than_it_must(self):
        X = np.random.default_rng(0).normal(size=(60, 15)).astype(np.float32)
        X += np.float32(1e3)
        exact = X.astype(np.float64) - X.astype(np.float64).mean(axis=0)

        result = prepared(X, "none")
        found, expected = result.centred.dot(np.eye(15)), result.unit * exact

        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())

    @pytest.mark.parametrize("far", [False, True])
    @KIND
    def test_mapped_blocks_are_copied_only_if_they_lie_far_from_zero(
        self, far, kind, tmp_path
    ):
        # One far column is enough.
        data = measurements() + (1e8 if far else 0.0) * (np.arange(20) == 4)
        np.save(tmp_path / "X.npy", data)
        X = np.load(tmp_path / "X.npy", mmap_mode="r")

        centred = prepared(X, kind).centred
        _, block = next(centred.factors())
        in_memory = prepared(data, kind).centred
        expected = in_memory.normal_dot(np.eye(20))

        assert isinstance(in_memory, RowBlockMatrix) is far
        assert np.shares_memory(block.raw, X) is not far
        np.testing.assert_allclose(centred.normal_dot(np.eye(20)), expected, atol=1e-9)


@CONTAINER
@KIND
def test_data_are_shifted_as_a_whole_if_they_are_negative(container, kind):
    for X in (counts(), codes() * np.linspace(1, 2, 20)):
        matrix, scaled = as_matrix(container(X)), explicit(X, kind)

        found = non_negative(matrix, kind).rows(slice(None))

        shifted = scaled - min(scaled.min(), 0.0)
        np.testing.assert_allclose(found, shifted, atol=1e-12)
        assert found.min() == pytest.approx(0, abs=1e-12)

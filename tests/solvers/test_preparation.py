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
CONTAINERS = {"dense": np.asarray, "CSR": sp.csr_array, "CSC": sp.csc_array}


@pytest.fixture(params=CONTAINERS)
def container(request):
    return CONTAINERS[request.param]


def measurements():
    return np.random.default_rng(0).normal(5, 2, size=(50, 20))


def counts(rate=0.3):
    return np.random.default_rng(0).poisson(rate, size=(50, 20)).astype(float)


def codes():
    return np.random.default_rng(0).integers(-1, 2, size=(50, 20)).astype(float)


def choice(X):
    matrix = as_matrix(X)
    return choose_preparation(matrix, matrix.summary())


def prepared(X, kind, size=3.0):
    matrix = as_matrix(X)
    return prepare(matrix, matrix.summary(), kind, size)


def explicit(X, kind):
    """Return X with features or samples scaled, in plain NumPy."""
    if kind == "features":
        return X / X.std(axis=0)
    if kind == "samples":
        lengths = np.linalg.norm(X, axis=1, keepdims=True)
        return X / np.where(lengths > 0, lengths, 1.0)
    return X


class TestChoice:
    def test_measurements_have_their_features_scaled(self, container):
        assert choice(container(measurements())) == "features"

    @pytest.mark.parametrize("rate", [0.05, 0.3, 1.0, 3.0])
    def test_counts_have_their_samples_scaled(self, container, rate):
        assert choice(container(counts(rate))) == "samples"

    def test_codes_with_both_signs_are_left_alone(self, container):
        assert choice(container(codes())) == "none"

    @pytest.mark.parametrize("data", [measurements, counts, codes])
    def test_order_does_not_matter(self, container, data):
        X = data()
        random = np.random.default_rng(1)
        shuffled = X[random.permutation(50)][:, random.permutation(20)]

        assert choice(container(shuffled)) == choice(container(X))

    @pytest.mark.parametrize("n_zeros", [0, 3, 6, 15, 24, 25, 26, 40])
    @pytest.mark.parametrize("sign", [1, -1])
    def test_sparse_and_dense_decide_alike(self, n_zeros, sign):
        X = np.abs(measurements()) + 0.1
        X[:n_zeros] = 0.0
        X[-1] *= sign

        decisions = {choice(make(X)) for make in CONTAINERS.values()}

        assert len(decisions) == 1

    @pytest.mark.parametrize("rate", [0.3, 2.0, 10.0])
    def test_sparse_and_dense_decide_alike_on_counts(self, rate):
        decisions = {choice(make(counts(rate))) for make in CONTAINERS.values()}

        assert len(decisions) == 1

    def test_a_mapped_file_decides_alike(self, tmp_path):
        np.save(tmp_path / "counts.npy", counts())

        assert choice(np.load(tmp_path / "counts.npy", mmap_mode="r")) == "samples"

    def test_constant_columns_have_no_say(self, container):
        X = np.hstack([measurements(), np.zeros((50, 60))])

        assert choice(container(X)) == "features"

    @pytest.mark.parametrize("size", [1e-6, 1e6])
    @pytest.mark.parametrize("data", [measurements, counts, codes])
    def test_the_unit_does_not_matter(self, data, size):
        assert choice(size * data()) == choice(data())


class TestPrepared:
    @pytest.mark.parametrize("data", [measurements, counts, codes])
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("size", [1.0, 7.0])
    def test_the_centred_matrix_has_the_size_asked_for(
        self, container, data, kind, size
    ):
        centred = prepared(container(data()), kind, size).centred.rows(slice(None))

        assert np.sum(centred**2) == pytest.approx(size, rel=1e-10)
        np.testing.assert_allclose(centred.mean(axis=0), 0, atol=1e-12)

    @pytest.mark.parametrize("data", [measurements, counts, codes])
    @pytest.mark.parametrize("kind", KINDS)
    def test_both_views_are_the_explicit_matrix(self, container, data, kind):
        result = prepared(container(data()), kind)
        expected = result.unit * explicit(data(), kind)
        right = np.random.default_rng(1).normal(size=(20, 2))

        np.testing.assert_allclose(
            result.uncentred.dot(right), expected @ right, atol=1e-12
        )
        np.testing.assert_allclose(
            result.centred.dot(right),
            (expected - expected.mean(axis=0)) @ right,
            atol=1e-12,
        )

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_the_unit_of_the_data_does_not_matter(self, container, kind, dtype):
        X = counts()
        small, large = (
            prepared(container((size * X).astype(dtype)), kind).centred.sample_gram()
            for size in (2.0**-20, 2.0**20)
        )

        np.testing.assert_allclose(small, large, atol=1e-6)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("size", [1e-200, 1e200])
    def test_extreme_units_do_not_matter(self, container, kind, size):
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

    @pytest.mark.parametrize("kind", KINDS)
    def test_constant_columns_become_nothing(self, container, kind):
        X = measurements() if kind != "samples" else counts()
        X[:, 3] = 0.0 if kind == "samples" else 0.1

        centred = prepared(container(X), kind).centred.rows(slice(None))

        np.testing.assert_allclose(centred[:, 3], 0, atol=1e-12)
        assert np.sum(centred**2) == pytest.approx(3.0, rel=1e-10)

    def test_order_does_not_matter(self, container):
        random = np.random.default_rng(1)
        samples, features = random.permutation(50), random.permutation(20)
        X = counts()

        here = prepared(container(X), "samples").centred.rows(slice(None))
        there = prepared(container(X[np.ix_(samples, features)]), "samples")

        np.testing.assert_allclose(
            there.centred.rows(slice(None)), here[np.ix_(samples, features)], atol=1e-12
        )


class TestSampleScaling:
    def test_rows_have_unit_length(self, container):
        matrix = as_matrix(container(counts(1.0)))

        lengths = matrix.with_unit_rows(7.0).row_norms()

        np.testing.assert_allclose(lengths, 1)

    def test_zero_rows_survive(self, container):
        X = counts(1.0)
        X[[3, 30]] = 0.0

        result = prepared(container(X), "samples")

        assert not result.uncentred.rows(np.array([3, 30])).any()
        assert np.isfinite(result.centred.rows(slice(None))).all()

    @pytest.mark.parametrize("size", [1e-200, 1e200])
    def test_extreme_values_have_a_length(self, container, size):
        X = size * (counts() + np.eye(50, 20))
        found = as_matrix(container(X)).with_unit_rows(X.max())
        plain = X / size
        expected = plain / np.linalg.norm(plain, axis=1, keepdims=True)

        np.testing.assert_allclose(found.rows(slice(None)), expected, rtol=1e-9)


class TestLargeOffsets:
    @pytest.mark.parametrize("offset", [1e4, 1e8, -1e8])
    @pytest.mark.parametrize("kind", KINDS)
    def test_products_are_those_of_exact_centring(self, kind, offset):
        X = np.random.default_rng(0).normal(size=(60, 15)) + offset
        precise = X.astype(np.longdouble)
        if kind == "samples":
            precise /= np.sqrt(np.sum(precise**2, axis=1, keepdims=True))
        precise -= precise.mean(axis=0)
        if kind == "features":
            precise /= np.sqrt(np.mean(precise**2, axis=0))
        exact = np.asarray(precise * np.sqrt(3 / np.sum(precise**2)), dtype=np.float64)
        right = np.random.default_rng(1).normal(size=(15, 2))
        left = np.random.default_rng(2).normal(size=(60, 2))

        centred = prepared(X, kind).centred

        for found, expected in [
            (centred.dot(right), exact @ right),
            (centred.transpose_dot(left), exact.T @ left),
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
        right = np.random.default_rng(1).normal(size=(15, 2))

        result = prepared(X, "none")
        expected = result.unit * exact @ right

        np.testing.assert_allclose(
            result.centred.dot(right), expected, atol=1e-6 * np.abs(expected).max()
        )

    def test_one_far_column_is_enough(self):
        X = measurements()
        X[:, 4] += 1e8

        assert isinstance(prepared(X, "none").centred, RowBlockMatrix)

    def test_near_data_keep_the_fast_products(self):
        assert not isinstance(prepared(measurements(), "none").centred, RowBlockMatrix)

    @pytest.mark.parametrize("far", [False, True])
    def test_mapped_blocks_are_copied_only_if_they_lie_far_from_zero(
        self, far, tmp_path
    ):
        np.save(tmp_path / "X.npy", measurements() + (1e5 if far else 0.0))
        X = np.load(tmp_path / "X.npy", mmap_mode="r")

        centred = prepared(X, "features").centred
        _, block = next(centred.factors())

        assert np.shares_memory(block.raw, X) is not far

    @pytest.mark.parametrize("kind", KINDS)
    def test_mapped_products_are_those_of_data_in_memory(self, kind, tmp_path):
        np.save(tmp_path / "X.npy", measurements())
        X = np.load(tmp_path / "X.npy", mmap_mode="r")
        right = np.random.default_rng(1).normal(size=(20, 2))
        expected = prepared(measurements(), kind).centred.normal_dot(right)

        found = prepared(X, kind).centred.normal_dot(right)

        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


class TestNonNegative:
    @pytest.mark.parametrize("kind", ["features", "none"])
    def test_negative_data_are_shifted_as_a_whole(self, container, kind):
        X = codes() * np.linspace(1, 2, 20)
        matrix = as_matrix(container(X))
        scaled = explicit(X, kind)

        found = non_negative(matrix, matrix.summary(), kind).rows(slice(None))

        np.testing.assert_allclose(found, scaled - scaled.min(), atol=1e-12)
        assert found.min() == pytest.approx(0, abs=1e-12)

    @pytest.mark.parametrize("kind", KINDS)
    def test_non_negative_data_are_not_shifted(self, container, kind):
        matrix = as_matrix(container(counts()))

        found = non_negative(matrix, matrix.summary(), kind).rows(slice(None))

        np.testing.assert_allclose(found, explicit(counts(), kind), atol=1e-12)

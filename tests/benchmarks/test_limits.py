"""Counts of the operations that no program avoids."""

import limits
import numpy as np
import pytest
import scipy.sparse as sp


def test_a_fit_counts_its_gram_matrix_once_and_a_product_per_iteration():
    X = np.ones((10, 300))

    counted = limits.scfs_operations(X, n_clusters=3, n_iterations=7)

    # Half of X X' by symmetry; then X X' is multiplied, which is less than X twice.
    assert counted == 10 * 10 * 300 + 7 * 3 * 2 * 10 * 10


def test_a_tall_table_is_multiplied_twice_rather_than_by_its_kernel():
    X = np.ones((300, 10))

    counted = limits.scfs_operations(X, n_clusters=3, n_iterations=7)

    assert counted == 300 * 10 * 10 + 7 * 3 * 4 * 300 * 10


def test_of_a_sparse_table_only_what_is_stored_counts():
    X = sp.csr_matrix(np.eye(50))

    assert limits.scfs_operations(X, n_clusters=2, n_iterations=1) == 2 * 4 * 50


def test_the_limit_is_the_time_at_the_speed_of_this_machine(monkeypatch):
    monkeypatch.setattr(limits, "product_speed", lambda threads: 1e9 * (threads or 2))

    assert limits.limit(4e9) == pytest.approx(2.0)
    assert limits.limit(4e9, threads=1) == pytest.approx(4.0)

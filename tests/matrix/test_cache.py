import numpy as np
import pytest
import scipy.sparse as sp

from ufselect.matrix import as_matrix
from ufselect.matrix.cache import (
    ResultCache,
    cached,
    cached_results,
    cached_unchanged,
)


def counted(calls):
    def work(*inputs):
        calls.append(inputs)
        return np.array([1.0])

    return work


def test_equal_inputs_are_worked_on_once_inside_only():
    calls = []
    work = counted(calls)

    with cached_results():
        cached(work, np.eye(2))
        cached(work, np.eye(2))
        cached(work, np.ones((2, 2)))
    cached(work, np.eye(2))

    assert len(calls) == 3


def test_a_result_may_be_changed_by_who_got_it():
    graph = sp.csr_array(np.eye(2))

    def work():
        return graph.copy()

    with cached_results():
        first = cached(work)
        first.data[:] = 7
        second = cached(work)

    assert second.toarray().tolist() == [[1, 0], [0, 1]]


def test_results_live_on_and_the_least_recently_used_is_dropped():
    calls, results = [], ResultCache(kept=2)
    work = counted(calls)

    for names in ("aba", "cab"):
        with cached_results(results):
            for name in names:
                cached(work, name)

    assert [name for (name,) in calls] == ["a", "b", "c", "b"]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_views_of_one_table_do_not_share_their_gram_matrices(form):
    table = np.random.default_rng(0).normal(size=(6, 4))
    matrix = as_matrix(form(table))
    shifted = matrix.affine(np.full(4, 2.0), np.full(4, 3.0))

    with cached_results():
        grams = [view.feature_gram() for view in (matrix, shifted, matrix)]
        kernels = [view.sample_gram() for view in (matrix, shifted, matrix)]

    moved = (table - 2) * 3
    np.testing.assert_allclose(grams[0], table.T @ table)
    np.testing.assert_allclose(grams[1], moved.T @ moved)
    np.testing.assert_allclose(kernels[1], moved @ moved.T)
    np.testing.assert_array_equal(grams[0], grams[2])
    np.testing.assert_array_equal(kernels[0], kernels[2])


def test_a_result_for_all_is_handed_out_itself_and_its_parts_are_not_kept():
    calls = []
    part = counted(calls)

    def whole(name):
        return [cached(part, name)]

    with cached_results() as results:
        first, second = (cached_unchanged(whole, "table") for _ in range(2))
        cached(part, "table")

    assert first is second
    assert len(calls) == 2
    assert len(results._results) == 2
    # Outside, nothing is shared.
    assert cached_unchanged(part, 1) is not cached_unchanged(part, 1)
    assert len(calls) == 4

"""Rows on Dask: what is sent, what comes back, and that nothing there is changed."""

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
import dask  # noqa: E402 - after the check that it is there
from elsewhere import of_sparse_chunks, on_dask, one_thread  # noqa: E402
from scipy import sparse as sp  # noqa: E402

from ufselect import MaxVariance  # noqa: E402
from ufselect.matrix import as_matrix  # noqa: E402
from ufselect.matrix.dask_rows import FAN_IN, tree  # noqa: E402


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield


def numbers(n_samples=40, n_features=6):
    return np.random.default_rng(0).normal(size=(n_samples, n_features))


def matrix_of(array, chunk_rows=7):
    return as_matrix(on_dask(array, (chunk_rows, -1)))


def added(block, rows, factor):
    return (rows[0] + block.dot(factor),), (block.transpose_dot(rows[0]),)


class Shipped:
    """A scheduler that notes what comes back from the tasks."""

    def __init__(self):
        self.results = []

    def __call__(self, graph, keys, **options):
        found = dask.get(graph, keys, **options)
        self.results.append(found)
        return found


@pytest.mark.parametrize("n_parts", [1, 2, FAN_IN, FAN_IN + 1, 3 * FAN_IN**2 + 5])
def test_a_tree_merges_every_part_once(n_parts):
    merges = []

    def merge(group):
        merges.append(len(group))
        return sum(group)

    assert tree(merge, list(range(n_parts))) == sum(range(n_parts))
    assert max(merges, default=0) <= FAN_IN


def test_a_chunk_with_other_rows_than_it_says_and_masked_cells_are_refused():
    X = numbers()
    lying = [dask.delayed(X[:10]), dask.delayed(X[10:])]
    chunks = [da.from_delayed(each, (20, 6), float) for each in lying]
    with pytest.raises(
        ValueError, match=r"chunk of shape \(.0, \d+\), but its metadata declare \(20,"
    ):
        MaxVariance().fit(da.concatenate(chunks))

    masked = da.ma.masked_greater(on_dask(X, (7, -1)), 2.0)
    with pytest.raises(ValueError, match="NaN or infinity in column 1"):
        MaxVariance().fit(masked)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_a_pass_may_be_repeated_from_the_same_rows(container):
    """A task of a worker that died is done again, with what it had been given."""
    matrix = as_matrix(of_sparse_chunks(numbers(), container))
    start = matrix.aligned(np.ones((40, 2)))

    first, _ = matrix.over_rows(added, start, np.ones((6, 2)))
    again, _ = matrix.over_rows(added, start, np.ones((6, 2)))

    np.testing.assert_array_equal(matrix.gather(first), matrix.gather(again))
    np.testing.assert_array_equal(matrix.gather(start), np.ones((40, 2)))


def test_what_is_beside_the_rows_is_a_lazy_array_with_their_chunks():
    matrix = matrix_of(numbers(), 9)

    lazy = matrix.as_array(matrix.aligned(np.arange(80.0).reshape(40, 2)))

    assert isinstance(lazy, da.Array)
    assert lazy.chunks == ((9, 9, 9, 9, 4), (2,))
    np.testing.assert_array_equal(lazy, np.arange(80.0).reshape(40, 2))


def test_every_pass_reads_a_chunk_once():
    reads = []

    def read(block):
        reads.append(len(block))
        return block

    raw = da.from_array(numbers(), chunks=(10, -1)).map_blocks(
        read, meta=np.zeros((0, 0))
    )
    matrix = as_matrix(raw)

    matrix.over_rows(added, matrix.aligned(np.ones((40, 2))), np.ones((6, 2)))

    assert reads == [10, 10, 10, 10]


def test_a_matrix_of_taken_columns_sends_no_others():
    matrix = matrix_of(numbers(40, 6)).take(np.array([4, 1]))
    shipped = Shipped()

    with dask.config.set(scheduler=shipped):
        rows = matrix.rows(np.array([0, 39]))

    assert rows.shape == (2, 2)
    sizes = [np.size(part) for result in shipped.results for part in result]
    assert sizes == [2, 2]

"""SCFS on a real cluster of processes, one of which may die."""

import os
import signal

import numpy as np
import pytest
from elsewhere import on_dask

from ufselect import SCFS
from ufselect.matrix.dask_rows import DaskMatrix
from ufselect.solvers.iterations import showing_progress

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

N_CLUSTERS = 3
# Samples that are looked at on the client, where there are many of them.
FEW = 150


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def many(planted, monkeypatch):
    """Return samples that are called many, although they are not."""
    monkeypatch.setattr("ufselect.matrix.base.MAX_SAMPLES_LOOKED_AT", FEW)
    monkeypatch.setattr("ufselect.solvers.starts.MAX_SAMPLE", FEW)
    return planted(3000, 10, n_informative=4, distance=1.0).X


def scfs():
    return SCFS(4, n_clusters=N_CLUSTERS, random_state=0)


def assert_same_fit(found, expected):
    scores, largest = expected.scores_, expected.scores_.max()
    np.testing.assert_allclose(found.scores_, scores, rtol=0, atol=1e-6 * largest)
    np.testing.assert_array_equal(found.order_, expected.order_)
    np.testing.assert_allclose(
        found.objective_history_, expected.objective_history_, rtol=1e-6
    )
    np.testing.assert_array_equal(found.labels_.compute(), expected.labels_)


class Travelled:
    """Notes the bytes of everything that comes from the workers to the client."""

    def __init__(self, monkeypatch):
        self.sizes = []
        for kind, name in (
            (distributed.Client, "gather"),
            (distributed.Future, "result"),
        ):
            monkeypatch.setattr(kind, name, self.noting(getattr(kind, name)))

    def noting(self, fetch):
        def noted(*arguments, **options):
            result = fetch(*arguments, **options)
            self.sizes.append(bytes_of(result))
            return result

        return noted


def bytes_of(result):
    if isinstance(result, np.ndarray):
        return result.nbytes
    return sum(map(bytes_of, result)) if isinstance(result, list | tuple) else 8


class Killer:
    """Kills one worker after an iteration of a fit."""

    def __init__(self, client, iteration):
        self.before = client.run(os.getpid)
        self.killed = None
        self.iteration = iteration

    def __call__(self, name, number):
        if number == self.iteration:
            self.killed = next(iter(self.before.values()))
            os.kill(self.killed, signal.SIGKILL)


def test_the_result_is_that_in_memory_and_only_sums_and_a_sample_travel(
    client, many, monkeypatch
):
    X = on_dask(many, ((1, 1999, 1000), -1)).persist()
    monkeypatch.delattr(DaskMatrix, "gather")
    travelled = Travelled(monkeypatch)

    found = scfs().fit(X)

    n_features, sample = many.shape[1], 8 * FEW * many.shape[1]
    sums = 8 * (n_features * N_CLUSTERS + 2 * N_CLUSTERS**2 + N_CLUSTERS)
    assert len(travelled.sizes) > found.n_iter_
    assert sorted(travelled.sizes)[-2:] == [8 * FEW * N_CLUSTERS, sample]
    assert np.median(travelled.sizes) <= sums
    assert_same_fit(found, scfs().fit(many))


def test_given_memberships_are_sent_in_pieces(client, many):
    memberships = np.random.default_rng(0).dirichlet(np.ones(N_CLUSTERS), len(many))
    X = on_dask(many, (1000, -1)).persist()
    selector = scfs().set_params(init=memberships, max_iter=2, tol=0.5)

    # A larger graph is warned of, and a warning is an error here.
    largest = memberships.nbytes // 2
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": largest}):
        found = selector.fit(X).order_.tolist()

    assert found == selector.fit(many).order_.tolist()


def test_a_worker_that_dies_in_the_middle_changes_nothing(client, many):
    expected = scfs().fit(many)
    assert expected.n_iter_ > 2
    X = on_dask(many, (1000, -1)).persist()
    killer = Killer(client, iteration=2)

    with showing_progress(killer):
        found = scfs().fit(X)

    client.wait_for_workers(2, timeout=60)
    assert killer.killed is not None
    assert killer.killed not in client.run(os.getpid).values()
    assert_same_fit(found, expected)

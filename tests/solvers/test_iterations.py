"""The loop that all alternating solvers share, and workers for several starts."""

import os

import numpy as np
import pytest
from joblib import cpu_count, parallel_config
from threadpoolctl import threadpool_info

from ufselect import SCFS
from ufselect.matrix.base import libraries
from ufselect.solvers.iterations import Iterations, in_parallel, in_threads


def run(values, **options):
    """Record values until the loop ends; return it."""
    loop = Iterations(**{"max_iter": len(values), "tol": 0.0} | options)
    for iteration in loop:
        loop.record(values[iteration])
    return loop


def test_it_ends_when_little_changes():
    assert run([8.0, 4.0, 2.0, 1.9, 1.0], tol=0.1).history == [8.0, 4.0, 2.0, 1.9]
    assert run([8.0, 4.0, 4.0, 2.0]).converged
    assert not run([8.0, 4.0, 2.0]).converged
    # The first value has none before it, unless the start is known.
    assert len(run([5.0, 3.0], tol=0.1).history) == 2
    assert len(run([5.0, 3.0], tol=0.1, start=5.1).history) == 1


def test_a_change_is_small_beside_the_objective_its_scale_and_rounding():
    values = [1.0, 0.5, 0.4, 0.3]

    assert len(run(values, tol=0.1, scale=4.6).history) == 2
    assert len(run(values, rounding=0.11).history) == 3
    assert len(run([-1.0, -1.05, -2.0], tol=0.1).history) == 2


def test_iterations_of_another_objective_are_not_compared():
    values = [1.0, 1.0, 1.0, 1.0]

    assert len(run(values).history) == 2
    assert len(run(values, n_incomparable=1).history) == 3
    assert len(run(values, n_incomparable=3).history) == 4


def test_a_report_hears_every_iteration_and_may_end_the_loop():
    heard = []

    def callback(iteration, value):
        heard.append((iteration, value))
        return iteration == 2

    loop = run([9.0, 7.0, 5.0, 3.0], callback=callback)

    assert heard == [(0, 9.0), (1, 7.0), (2, 5.0)]
    assert loop.history == [9.0, 7.0, 5.0]
    assert not loop.converged


# Workers: the same results as without, and no more threads than cores.


def threads_inside(number):
    """Return the number back, the process, and the threads that work in it."""
    # Loads both libraries, if the worker is new.
    SCFS(n_clusters=2).fit(np.random.default_rng(0).standard_normal((12, 3)))
    found = {each["user_api"]: each["num_threads"] for each in threadpool_info()}
    return number, os.getpid(), found


def blas_threads():
    return {
        each["filepath"]: each["num_threads"]
        for each in threadpool_info()
        if each["user_api"] == "blas"
    }


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_two_workers_have_no_more_threads_than_cores(backend):
    before = blas_threads()
    with parallel_config(backend=backend):
        found = list(in_parallel(threads_inside, [(0,), (1,), (2,)], n_jobs=2))
    allowed = max(1, cpu_count() // 2)

    assert [number for number, _, _ in found] == [0, 1, 2]
    assert all(process != os.getpid() for _, process, _ in found) == (backend == "loky")
    for _, _, threads in found:
        assert threads["blas"] <= allowed
        assert threads["openmp"] <= allowed
    assert blas_threads() == before


def test_one_worker_is_this_process_with_all_its_threads():
    before = blas_threads()

    def threads(number):
        return number, blas_threads()

    assert list(in_parallel(threads, [(5,)], n_jobs=None)) == [(5, before)]


def test_calls_are_asked_for_as_workers_become_free():
    asked = []

    def calls():
        for number in range(4):
            asked.append(number)
            yield (number,)

    first = next(in_parallel(abs, calls(), n_jobs=1))

    assert first == 0
    assert len(asked) < 4


@pytest.mark.parametrize("shape", [(30, 70), (60, 20)], ids=["wide", "tall"])
@pytest.mark.parametrize("init", ["k-means", "random"])
def test_starts_fitted_at_once_end_as_they_do_one_by_one(planted, shape, init):
    X = planted(*shape).X

    def fitted(n_jobs):
        options = {"n_clusters": 4, "init": init, "n_init": 3, "random_state": 1}
        return SCFS(n_jobs=n_jobs, **options).fit(X)

    with parallel_config(backend="threading"):
        alone, one, two = map(fitted, (None, 1, 2))

    for other in (one, two):
        for name in ("scores_", "memberships_", "objective_history_"):
            np.testing.assert_array_equal(getattr(other, name), getattr(alone, name))
    if (shape, init) == ((30, 70), "k-means"):
        # In other processes.
        np.testing.assert_allclose(fitted(2).scores_, alone.scores_, rtol=1e-9)


def test_in_threads_each_thread_has_one_blas_thread_and_results_keep_their_order():
    blas = libraries().select(user_api="blas")

    def threads_inside(number):
        return number, max(each["num_threads"] for each in blas.info())

    with blas.limit(limits=2):
        found = list(in_threads(threads_inside, [(i,) for i in range(20)]))
        after = max(each["num_threads"] for each in blas.info())

    assert found == [(i, 1) for i in range(20)]
    assert after == 2
    assert list(in_threads(threads_inside, [])) == []

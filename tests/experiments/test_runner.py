"""Runs end whole: stopped, killed and shared between processes."""

import multiprocessing
import os
import signal
from contextlib import contextmanager

import misbehaving
import numpy as np
import pytest
from real_command import SHARED
from scipy.sparse.linalg import ArpackNoConvergence
from small_experiments import content, query, run_in_process, small_plan

from ufselect import LaplacianScore
from ufselect.experiments import protocol, runner, worker_pool
from ufselect.experiments.limits import Limits
from ufselect.experiments.runner import Stopped, distinct_cells, run_plan
from ufselect.experiments.stored import read_experiment

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


@pytest.fixture(scope="module")
def calm_and_warm(located, tmp_path_factory):
    """Return the store of an undisturbed run that hands starts on."""
    path = tmp_path_factory.mktemp("calm") / "warm.sqlite"
    run_plan(small_plan(methods=[WARM]), path, located)
    return path


def test_processes_compute_what_one_computes_and_a_second_run_nothing(
    plan, located, calm, tmp_path
):
    path = tmp_path / "two.sqlite"
    progress = run_plan(plan, path, located, n_jobs=2)
    rankings, scores, claims = content(path)
    again = run_plan(plan, path, located)

    # Per set: SCFS 4 on the grid and 2 fixed, LS, random 10, variance, all features.
    assert progress.computed == progress.total == len(rankings) == 2 * 19
    # Two numbers of features (one for all features), 3 metrics, 2 repetitions.
    assert len(scores) == 2 * (18 * 2 + 1) * 3 * 2
    assert claims == 0
    assert content(calm) == content(path)
    assert (again.known, again.computed) == (again.total, 0)


def test_another_plan_keeps_what_the_first_one_computed(located, calm, tmp_path):
    path = tmp_path / "store.sqlite"
    run_plan(small_plan(sets=["one"]), path, located)
    longer = run_plan(small_plan(), path, located)
    before = content(path)
    run_plan(small_plan(features=[2, 3, 6]), path, located)
    rankings, scores, _ = content(path)

    assert (longer.known, longer.computed) == (19, 19)
    assert before == content(calm)
    # Other numbers of features need no new rankings.
    assert rankings == before[0]
    assert {score[2] for score in scores} == {2, 3, 6, 12}


def reasons_in(path):
    return [row[6] for row in content(path)[0] if row[5] == "failed"]


def test_what_a_method_raises_is_the_reason_of_its_cell_and_stops_nobody(
    located, tmp_path, monkeypatch
):
    def gives_up(*arguments):
        raise ArpackNoConvergence("no convergence", [], [])

    def broken(*arguments):
        return np.nan

    monkeypatch.setattr(LaplacianScore, "_score_features", gives_up)
    monkeypatch.setitem(protocol.STRUCTURE, "redundancy", broken)
    methods = [
        {"selector": "SCFS", "fixed": {"n_clusters": 99}},
        {"selector": "LaplacianScore"},
    ]
    for changes, reason, n_computed in [
        ({"methods": methods[:1]}, "n_clusters=99", 12),
        (
            {"methods": methods[1:]},
            "ArpackNoConvergence: ARPACK error -1: no convergence",
            12,
        ),
        # All features need no number.
        (
            {"features": [500], "methods": methods[:1]},
            "ValueError: one has 12 features, fewer than the plan's features=[500]",
            1,
        ),
        (
            {"judge": {"metrics": ["redundancy"]}, "methods": methods[:1]},
            "ValueError: redundancy of the first 3 features is nan; leave the metric",
            0,
        ),
    ]:
        path = tmp_path / f"{n_computed}{reason[:5]}.sqlite"
        progress = run_plan(small_plan(sets=["one"], **changes), path, located)

        assert (progress.computed, progress.failed) == (n_computed, 13 - n_computed)
        assert any(reason in found for found in reasons_in(path))
        assert len(reasons_in(path)) == progress.failed


def test_other_content_under_the_same_name_is_another_cell(plan, located):
    prints = located.fingerprints()
    changed = {**prints, "one": "0" * 64}

    keys = set(distinct_cells(plan, prints))
    other = set(distinct_cells(plan, changed))

    assert len(keys & other) == len(keys) / 2


WARM = {
    "selector": "SCFS",
    "parameters": {"n_clusters": 3},
    # The largest beta leaves no feature: the next fit goes on from the one before.
    "grid": {"alpha": [1.0, 10.0], "beta": [0.1, 1e9, 0.05, 0.02]},
    "warm_start": True,
}


def steps_of(path):
    return query(
        path,
        "SELECT parameters, before, length(history) / 8 FROM rankings "
        "WHERE selector = 'SCFS' AND parameters LIKE '%beta%' AND status = 'done' "
        "ORDER BY set_name, parameters",
    )


def test_starts_are_handed_on_along_the_last_parameter(
    located, calm_and_warm, tmp_path
):
    cold = {**WARM, "warm_start": False}
    run_plan(small_plan(methods=[cold]), tmp_path / "cold.sqlite", located)
    warm, cold = steps_of(calm_and_warm), steps_of(tmp_path / "cold.sqlite")
    handed_on = [before != "[]" for _, before, _ in warm]

    assert sum(handed_on) == 2 * 2 * 2
    # From a good start a fit needs fewer iterations.
    assert sum(row[2] for row in warm) < sum(row[2] for row in cold)


@pytest.mark.parametrize("stop_after", [1, 3, 12])
def test_an_interrupted_run_says_what_it_kept_and_ends_as_if_it_was_not(
    located, calm_and_warm, tmp_path, stop_after
):
    path, plan = tmp_path / "stopped.sqlite", small_plan(methods=[WARM])

    def interrupt(progress):
        if progress.finished == stop_after:
            raise KeyboardInterrupt

    with pytest.raises(Stopped, match=f"{stop_after} of 42 cells are kept in {path}"):
        run_plan(plan, path, located, report=interrupt)
    rest = run_plan(plan, path, located)

    assert rest.known <= stop_after
    assert rest.finished == 42
    # Starts that are handed on do not depend on who computes.
    assert content(path) == content(calm_and_warm)


def test_a_ranking_that_cannot_be_judged_anew_is_kept_with_what_it_has(
    located, tmp_path
):
    path = tmp_path / "store.sqlite"
    plan, beyond = (small_plan(sets=["one"], features=[k]) for k in (3, 500))
    run_plan(plan, path, located)
    before = content(path)

    failed = run_plan(beyond, path, located).failed
    again = run_plan(plan, path, located)
    cells = read_experiment(path, beyond).cells
    reasons = set(cells[cells["state"] == "failed"]["reason"])

    assert failed == 18
    assert content(path)[0] == before[0]
    assert set(before[1]) < set(content(path)[1])
    assert again.known == again.total
    assert len(reasons) == 1
    assert "fewer than the plan's features=[500]" in reasons.pop()


@POSIX
def test_a_cell_that_kills_its_process_is_tried_again_on_request_only(
    located, tmp_path, monkeypatch
):
    path = tmp_path / "store.sqlite"
    plan = small_plan(sets=["one"], methods=[{"selector": "LaplacianScore"}])
    monkeypatch.setattr(worker_pool, "work_on", misbehaving.work_but_die_in_one_method)
    first = run_plan(plan, path, located, n_jobs=2)
    monkeypatch.undo()
    reasons = [row[6] for row in content(path)[0] if row[5] == "stopped"]

    later = run_plan(plan, path, located)
    on_request = run_plan(plan, path, located, retry=True)

    assert (first.computed, first.failed) == (12, 1)
    assert reasons == ["its process died 2 times (exit code 7); try again with --retry"]
    assert (later.known, later.computed, later.failed) == (12, 0, 1)
    assert (on_request.known, on_request.computed, on_request.failed) == (12, 1, 0)


def test_the_limits_of_a_plan_hold_unless_others_are_given(
    located, tmp_path, monkeypatch
):
    seen = []

    @contextmanager
    def looking(n_jobs, dask, limits):
        seen.append(limits)
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(runner, "computing", looking)
    plan = small_plan(sets=["one"], cell_timeout=60, cell_memory="2GB")
    for limits in (Limits(), Limits(seconds=5)):
        with pytest.raises(Stopped):
            run_plan(plan, tmp_path / "a.sqlite", located, limits=limits)

    assert seen == [Limits(60, 2 * 10**9), Limits(5, 2 * 10**9)]


MANY_SEEDS = {"selector": "SCFS", "parameters": {"n_clusters": 3}, "seeds": 24}

# A server that has loaded everything once, so that a restart takes no time.
server = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
server.set_forkserver_preload(SHARED)  # there is one for all tests


def start(path, located, queue, **plan_changes):
    arguments = (path, located, queue, plan_changes)
    process = server.Process(target=run_in_process, args=arguments)
    process.start()
    return process


@pytest.mark.slow
@POSIX
def test_a_run_killed_at_eight_moments_ends_like_an_undisturbed_one(located, tmp_path):
    # Enough work that it is still going on at the last kill.
    longer = {"judge": {"repetitions": 10, "restarts": 10}, "methods": [MANY_SEEDS]}
    run_plan(small_plan(**longer), tmp_path / "calm.sqlite", located)
    path = tmp_path / "killed.sqlite"
    random = np.random.default_rng(0)
    queue = server.SimpleQueue()
    killed_at_work = 0
    for _ in range(8):
        process = start(path, located, queue, **longer)
        process.join(timeout=random.uniform(0.05, 0.25))
        if process.is_alive():
            killed_at_work += 1
            os.kill(process.pid, signal.SIGKILL)
        process.join()

    run_plan(small_plan(**longer), path, located)

    assert killed_at_work == 8
    assert content(path) == content(tmp_path / "calm.sqlite")
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "calm.sqlite",
        "killed.sqlite",
    ]


@pytest.mark.slow
@POSIX
def test_two_runs_share_a_store_and_no_cell_is_done_twice(located, calm, tmp_path):
    path = tmp_path / "shared.sqlite"
    queue = server.SimpleQueue()

    processes = [start(path, located, queue) for _ in range(2)]
    for process in processes:
        process.join()
    computed = [queue.get() for _ in processes]

    assert sum(computed) == 38
    assert content(path) == content(calm)


@pytest.mark.slow
def test_the_workers_of_a_dask_cluster_compute_the_same(
    plan, located, calm, tmp_path, monkeypatch
):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(worker_pool, "SCHEDULER_TIMEOUT_SECONDS", 0.5)
    path = tmp_path / "there.sqlite"

    with pytest.raises(ValueError, match=r"no Dask scheduler answers at tcp://127"):
        run_plan(plan, path, located, dask="tcp://127.0.0.1:1")
    monkeypatch.undo()
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        run_plan(plan, path, located, dask=cluster.scheduler_address)

    assert content(path) == content(calm)

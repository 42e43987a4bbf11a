"""Runs end whole: failed, over a limit, stopped and killed."""

import multiprocessing
import os
import signal
import sys
import time
from dataclasses import replace

import misbehaving
import pytest
from small_experiments import content, query, run_in_process, small_plan

from ufselect.experiments import run
from ufselect.experiments.results import read_experiment
from ufselect.experiments.run import in_workers, run_plan

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs the files of Linux")


@pytest.mark.slow
def test_workers_compute_what_one_process_computes_and_a_second_call_nothing(
    plan, located, calm, tmp_path
):
    path = tmp_path / "two.sqlite"
    progress = run_plan(plan, path, located, n_jobs=2)
    runs, scores = content(path)
    again = run_plan(plan, path, located)

    # Per set: SCFS 4 on the grid and 2 fixed, LS, random 10, variance, all features.
    assert progress.computed == progress.total == len(runs) == 2 * 19
    # Two numbers of features (one for all features), 3 metrics, 2 repetitions.
    assert len(scores) == 2 * (18 * 2 + 1) * 3 * 2
    assert content(calm) == (runs, scores)
    assert (again.known, again.computed) == (again.total, 0)
    assert list(tmp_path.iterdir()) == [path]


def test_another_plan_uses_what_the_first_one_computed(
    located, calm, tmp_path, monkeypatch
):
    path = tmp_path / "store.sqlite"
    run_plan(small_plan(sets=["one"]), path, located)
    longer = run_plan(small_plan(), path, located)
    before = content(path)
    # Other numbers of features need no new rankings.
    monkeypatch.setattr("ufselect.experiments.work._ranked", None)
    other = run_plan(small_plan(features=[2, 3, 6]), path, located)

    assert (longer.known, longer.computed) == (19, 19)
    assert before == content(calm)
    assert other.computed == other.total == 38
    assert set(before[1]) < set(content(path)[1])


@pytest.mark.parametrize(
    ("changes", "reason", "n_failed"),
    [
        pytest.param(
            {"methods": [{"selector": "SCFS", "fixed": {"n_clusters": 99}}]},
            "ValueError: n_clusters=99",
            1,
            id="method",
        ),
        pytest.param(
            {"preparations": ["log"]},
            "ValueError: preparation 'log' needs values of at least 0",
            19,
            id="preparation",
        ),
        # All features need no number.
        pytest.param(
            {"features": [500]},
            "ValueError: one has 12 features, fewer than the plan's features=[500]",
            18,
            id="judge",
        ),
    ],
)
def test_an_error_is_the_reason_of_its_run_and_repeated_on_request_only(
    located, tmp_path, changes, reason, n_failed
):
    path, plan = tmp_path / "store.sqlite", small_plan(sets=["one"], **changes)
    first = run_plan(plan, path, located)
    later = run_plan(plan, path, located)
    retried = run_plan(plan, path, located, retry=True)
    reasons = query(path, "SELECT reason FROM runs WHERE status = 'failed'")

    assert first.failed == later.failed == retried.failed == n_failed
    assert later.computed == retried.computed == 0
    assert len(reasons) == n_failed
    assert all(found.startswith(reason) for (found,) in reasons)


def test_selectors_that_fit_others_are_methods(located, tmp_path):
    methods = [
        {"selector": "AutoSelect", "seeds": 2},
        {"selector": "Consensus", "parameters": {"selectors": ["SPEC", "MCFS"]}},
        {
            "selector": "StabilitySelection",
            "parameters": {"selector": "MaxVariance", "n_subsamples": 5},
        },
    ]
    plan = small_plan(sets=["one"], methods=methods, clusters="classes")
    run_plan(plan, tmp_path / "store.sqlite", located)
    table = read_experiment(tmp_path / "store.sqlite").table("fixed", "accuracy")

    assert table["mean"].notna().all()
    assert table.loc["AutoSelect", "one"]["repetitions"] == 2 * 2
    assert table.loc["AutoSelect", "one"]["labels"] == "number of classes"
    # The groups are in a third of the features.
    assert table.loc["AutoSelect", "one"]["mean"] > table.loc["random", "one"]["mean"]


@pytest.mark.parametrize("stop_after", [1, 12])
def test_an_interruption_says_what_is_kept_and_the_same_call_goes_on(
    plan, located, calm, tmp_path, stop_after
):
    path = tmp_path / "stopped.sqlite"

    def interrupt(progress):
        if progress.finished == stop_after:
            raise KeyboardInterrupt

    kept = f"{stop_after} of 38 runs are kept in {path}"
    with pytest.raises(KeyboardInterrupt, match=kept):
        run_plan(plan, path, located, callback=interrupt)
    rest = run_plan(plan, path, located)

    assert rest.known == stop_after
    assert content(path) == content(calm)


@pytest.mark.slow
@LINUX
def test_a_run_that_exceeds_a_limit_or_kills_its_process_harms_no_other():
    jobs = ["well", "sleeps", "allocates", "exits", "is killed", "well", "well"]
    ended = list(in_workers(misbehaving.work, jobs, 2, timeout=3, memory=0.5))
    reasons = {job: outcome.reason for job, outcome in ended}
    processes = {
        int(outcome.reason.split()[1]) for job, outcome in ended if job == "well"
    }

    assert sorted(job for job, _ in ended) == sorted(jobs)
    assert "longer than the 3 s that a run may take" in reasons["sleeps"]
    assert "more than the 0.5 GB that a run may take" in reasons["allocates"]
    assert "its process died (EXIT(7))" in reasons["exits"]
    assert "its process died (SIGKILL(-9)), perhaps for" in reasons["is killed"]
    assert os.getpid() not in processes
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


@pytest.mark.slow
def test_a_worker_that_dies_while_it_is_idle_is_replaced():
    ended = in_workers(misbehaving.work, iter(["well", "well"]), 1)
    _, first = next(ended)
    os.kill(int(first.reason.split()[1]), signal.SIGTERM)
    time.sleep(1)

    assert "process" in next(ended)[1].reason


@pytest.mark.parametrize(
    ("changes", "dask", "sentence"),
    [
        ({"timeout": 5}, "tcp://127.0.0.1:1", "limited on this machine only"),
        ({}, "tcp://127.0.0.1:1", "no Dask scheduler answers at tcp://127.0.0.1:1"),
    ],
    ids=["limits", "nobody"],
)
def test_a_cluster_that_cannot_compute_is_named(
    plan, located, tmp_path, monkeypatch, changes, dask, sentence
):
    pytest.importorskip("distributed")
    monkeypatch.setattr(run, "SCHEDULER_TIMEOUT_SECONDS", 0.5)
    with pytest.raises(ValueError, match=sentence):
        run_plan(replace(plan, **changes), tmp_path / "a.sqlite", located, dask=dask)


@pytest.mark.slow
def test_the_workers_of_a_dask_cluster_compute_the_same(plan, located, calm, tmp_path):
    distributed = pytest.importorskip("distributed")
    path = tmp_path / "there.sqlite"
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        run_plan(plan, path, located, dask=cluster.scheduler_address)

    assert content(path) == content(calm)


def finished_in(path):
    try:
        return query(path, "SELECT count(*) FROM scores")[0][0]
    except Exception:  # noqa: BLE001 - it is being created
        return 0


@pytest.mark.slow
@LINUX
def test_a_killed_experiment_loses_at_most_what_was_in_flight(located, tmp_path):
    path, calm = tmp_path / "killed.sqlite", tmp_path / "calm.sqlite"
    many = {"selector": "SCFS", "parameters": {"n_clusters": 3}, "seeds": 24}
    changes = {"judge": {"repetitions": 10, "restarts": 10}, "methods": [many]}
    run_plan(small_plan(**changes), calm, located)
    context = multiprocessing.get_context("spawn")
    at_work = 0
    for _ in range(3):
        before = finished_in(path)
        process = context.Process(target=run_in_process, args=(path, located, changes))
        process.start()
        while process.is_alive() and finished_in(path) <= before:
            time.sleep(0.01)
        at_work += process.is_alive()
        kept = query(path, "SELECT key FROM runs")
        process.kill()
        process.join()
        # Nothing that was kept is lost, and what is there is whole.
        assert set(kept) <= set(query(path, "SELECT key FROM runs"))
        assert set(content(path)[0]) <= set(content(calm)[0])

    run_plan(small_plan(**changes), path, located)

    assert at_work == 3
    assert content(path) == content(calm)
    assert sorted(tmp_path.iterdir()) == [calm, path]

"""Processes that hang, die or grow harm no other cell, and none is left behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import misbehaving
import pytest
from misbehaving import DIES, DIES_ONCE, EATS, HANGS, IS_KILLED, WELL

import ufselect
from ufselect.experiments import worker_pool
from ufselect.experiments.cells import Cell
from ufselect.experiments.limits import Limits
from ufselect.experiments.store import DONE, STOPPED
from ufselect.experiments.work import Job
from ufselect.experiments.worker_pool import Worker, WorkerPool

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs the files of Linux")
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


@pytest.fixture
def outcomes(tmp_path):
    """Return what becomes of batches of cells that behave so, in the order they end."""

    def job(seed):
        return Job(Cell("set", "", "", "", "", seed), None, tmp_path / "sign", None)

    def outcomes_of(*batches, n_workers=1, **limits):
        jobs = [
            [job(seed) for seed in (batch if isinstance(batch, list) else [batch])]
            for batch in batches
        ]
        pool = WorkerPool(misbehaving.work, n_workers, Limits(**limits))
        with closing(pool):
            return [(job.cell.seed, result) for job, result in pool.results(jobs)]

    return outcomes_of


def processes(ended):
    return [int(outcome.order[0]) for _, outcome in ended if outcome.order is not None]


@POSIX
def test_cells_are_computed_by_other_processes_which_are_gone_afterwards(outcomes):
    alone, both = outcomes(WELL, WELL, WELL), outcomes(WELL, WELL, n_workers=2)

    assert [outcome.status for _, outcome in alone] == [DONE] * 3
    assert len(set(processes(alone))) == 1
    assert os.getpid() not in processes(alone)
    for process in processes(alone + both):
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_a_cell_that_hangs_is_given_up_and_the_others_are_not(outcomes):
    ended = outcomes([WELL, HANGS, WELL], WELL, n_workers=2, seconds=0.5)
    hanging = dict(ended)[HANGS]

    assert sorted(seed for seed, _ in ended) == [WELL, WELL, WELL, HANGS]
    assert len(set(processes(ended))) == 3
    assert hanging.status == STOPPED
    assert "longer than the 0.5 s" in hanging.reason


@LINUX
def test_a_cell_that_eats_memory_is_given_up(outcomes):
    ((_, eater), (_, other)) = outcomes(EATS, WELL, memory=400_000_000)

    assert eater.status == STOPPED
    assert "more than the 400 MB" in eater.reason
    assert other.status == DONE


@POSIX
def test_a_process_that_dies_is_replaced_once_and_then_reported(outcomes):
    # Deaths of one cell are not counted against the next.
    ended = outcomes([DIES, IS_KILLED, DIES_ONCE, WELL], DIES)

    assert [outcome.status for _, outcome in ended] == [
        *(STOPPED, STOPPED, DONE, DONE, STOPPED)
    ]
    assert ended[0][1].reason.startswith("its process died 2 times (exit code 7)")
    assert "(signal SIGKILL, perhaps for want of memory)" in ended[1][1].reason


@POSIX
def test_the_death_of_the_server_that_starts_processes_is_survived(outcomes):
    outcomes(WELL)
    server = multiprocessing.forkserver._forkserver
    os.kill(server._forkserver_pid, signal.SIGKILL)

    ended = outcomes(WELL, DIES_ONCE, n_workers=2)

    assert [outcome.status for _, outcome in ended] == [DONE] * 2


@LINUX
def test_no_file_stays_open_and_no_process_alive(outcomes):
    outcomes(WELL)
    before = len(list(Path("/proc/self/fd").iterdir()))
    # Other tests may have left the idle workers of joblib.
    others = set(multiprocessing.active_children())
    for _ in range(3):
        outcomes(WELL, DIES, WELL, n_workers=2)

    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert set(multiprocessing.active_children()) <= others


def test_a_process_ends_in_silence_when_nobody_listens_any_more():
    worker = Worker(misbehaving.work)
    worker.jobs.append(Job(Cell("set", "", "", "", "", WELL), None, "", None))
    worker.begin()
    worker.pipe.close()
    worker.process.join()

    # With a traceback the exit code would be 1.
    assert worker.process.exitcode == 0
    worker.end()


def test_processes_load_from_where_this_one_does(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with worker_pool._starting():
        paths = os.environ["PYTHONPATH"].split(os.pathsep)
        safe = os.environ["PYTHONSAFEPATH"]

    assert str(Path(ufselect.__file__).parents[1]) in paths
    assert safe == "1"
    assert os.environ["PYTHONPATH"] == "somewhere"
    assert "PYTHONSAFEPATH" not in os.environ


def test_memory_cannot_be_limited_where_it_cannot_be_seen(outcomes, monkeypatch):
    monkeypatch.setattr(worker_pool, "can_watch_memory", lambda: False)

    with pytest.raises(ValueError, match="on Linux only"):
        outcomes(WELL, memory=10**9)


FIRST_START = """
from multiprocessing import forkserver
from pathlib import Path

from ufselect.experiments.worker_pool import Worker

worker = Worker(print)
worker.jobs.append([])
worker.begin()
status = Path(f"/proc/{forkserver._forkserver._forkserver_pid}/status").read_text()
worker.end()
print(status.split("SigBlk:")[1].split()[0])
"""


@LINUX
def test_ctrl_c_does_not_reach_the_server_while_it_loads():
    source = str(Path(ufselect.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", FIRST_START],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )

    assert int(done.stdout, 16) & (1 << (signal.SIGINT - 1))

"""Readers that fail: one sentence, a subprocess that may be lost, a memory limit."""

import multiprocessing
import os
import signal
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from ufselect.data import TableError
from ufselect.data.tables.isolation import (
    EndedError,
    available_bytes,
    damage_errors,
    isolated,
    within_memory,
)

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="it is not possible")


@pytest.mark.parametrize(
    ("error", "kind", "sentence"),
    [
        (SystemError("Negative"), TableError, "off or damaged .*: Negative.;"),
        (struct.error("a\nbuffer"), TableError, r"damaged .read as b: a buffer.; copy"),
        (ArithmeticError(), TableError, "read as b: ArithmeticError.; copy, download"),
        (MemoryError(), TableError, "^a needs more memory than"),
        (KeyboardInterrupt(), KeyboardInterrupt, "^$"),
        (ImportError("pip"), ImportError, "pip"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_damage_is_one_sentence_and_what_is_no_damage_is_not_called_so(
    error, kind, sentence
):
    with pytest.raises(kind, match=sentence), damage_errors("a", "b"):
        raise error


def raise_error(error):
    raise error


def end_by(number):
    os.kill(os.getpid(), number)


def loop():
    while True:
        pass


def take(n_bytes, most):
    with within_memory(most):
        return len(np.ones(n_bytes, dtype=np.uint8))


@on_linux
def test_a_subprocess_returns_and_raises_as_this_one_would():
    values = np.random.default_rng(0).normal(size=(300, 400))
    before = len(list(Path("/proc/self/fd").iterdir()))

    np.testing.assert_array_equal(isolated(np.transpose, values), values.T)
    assert isolated(os.getpid) != os.getpid()
    with pytest.raises(TableError, match="one sentence"):
        isolated(raise_error, TableError("one sentence"))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@on_linux
@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ((end_by, signal.SIGSEGV), "ended by SIGSEGV"),
        ((end_by, signal.SIGABRT), "ended by SIGABRT"),
        ((os._exit, 3), "the process that read it ended"),
        ((loop,), "did not end"),
    ],
    ids=["crash", "abort", "exit", "loop"],
)
def test_the_end_of_a_subprocess_is_an_exception(call, reason):
    with pytest.raises(EndedError, match=reason):
        isolated(*call, seconds=1)


@on_linux
def test_an_interruption_leaves_no_process_behind():
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            isolated(loop)
    finally:
        signal.signal(signal.SIGALRM, before)

    assert multiprocessing.active_children() == []


def fresh_pid(_):
    return os.getpid(), isolated(os.getpid)


@on_linux
def test_a_worker_that_may_have_no_subprocess_reads_by_itself():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        ((worker, reader),) = pool.map(fresh_pid, [0])

    assert worker == reader


@on_linux
def test_memory_runs_out_in_one_process_and_not_on_the_machine():
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    with within_memory():
        during = resource.getrlimit(resource.RLIMIT_DATA)

    assert available_bytes() > 10**6
    assert during[0] < 2**60
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    # In a subprocess, for how much of its memory is unused nobody knows.
    with pytest.raises(MemoryError):
        isolated(take, 4 * 10**8, 10**8)
    assert isolated(take, 10**7, 10**8) == 10**7
    with pytest.raises(MemoryError):
        isolated(np.ones, 4 * 10**8, memory=10**8)

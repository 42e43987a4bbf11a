"""Readers that fail: one sentence, a subprocess that may be lost, a memory limit."""

import os
import signal
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from table_reading import refused

from ufselect.data import TableError
from ufselect.data.tables.isolation import (
    EndedError,
    available_bytes,
    damage_errors,
    isolated,
    within_memory,
)

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="it is not possible")


def test_damage_is_one_sentence_and_what_is_no_damage_is_not_called_so():
    damage = "^a is cut off or damaged .read as b: {}.; copy, download or save"
    for error, kind, sentence in [
        (SystemError("Negative size"), TableError, damage.format("Negative size")),
        (struct.error("a\nbuffer"), TableError, damage.format("a buffer")),
        (ArithmeticError(), TableError, damage.format("ArithmeticError")),
        (MemoryError(), TableError, "^a needs more memory than"),
        (KeyboardInterrupt(), KeyboardInterrupt, "^$"),
        (ImportError("pip"), ImportError, "pip"),
    ]:
        with pytest.raises(kind, match=sentence), damage_errors("a", "b"):
            raise error


def raise_table_error():
    raise TableError("one sentence")


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
        isolated(raise_table_error)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@on_linux
def test_the_end_of_a_subprocess_is_an_exception():
    for name in ("SIGSEGV", "SIGABRT", "SIGKILL"):
        with pytest.raises(EndedError, match=f"ended by {name}"):
            isolated(end_by, getattr(signal, name))
    with pytest.raises(EndedError, match="the process that read it ended"):
        isolated(os._exit, 3)
    with pytest.raises(EndedError, match="did not end"):
        isolated(loop, seconds=1)


@on_linux
def test_an_interruption_leaves_no_process_behind(monkeypatch):
    def interrupted(stream):
        raise KeyboardInterrupt

    children, fork = [], os.fork
    monkeypatch.setattr(os, "fork", lambda: children.append(fork()) or children[-1])
    monkeypatch.setattr("ufselect.data.tables.isolation._received", interrupted)
    with pytest.raises(KeyboardInterrupt):
        isolated(loop)

    with pytest.raises(ChildProcessError):
        os.waitpid(children[0], os.WNOHANG)


@on_linux
def test_a_library_that_ends_its_process_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix array real general\n2 1\n1\n2\n")

    def crash(file, request, notes):
        end_by(signal.SIGSEGV)

    monkeypatch.setattr("ufselect.data.tables.matrices.read_matrix_market", crash)
    refused(r"a\.mtx is cut off or damaged .*SIGSEGV", path, isolate=True)


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

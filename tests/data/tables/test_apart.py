"""Work in a process of its own: what ends that process is an exception in this one."""

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from ufselect.data.tables import reading
from ufselect.data.tables.isolation import EndedError, isolated
from ufselect.data.tables.table import TableError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it is not possible")


def raise_table_error():
    raise TableError("one sentence")


def end_by(number):
    os.kill(os.getpid(), number)


def go_round_in_circles():
    while True:
        pass


def test_numbers_come_over_whole():
    values = np.random.default_rng(0).normal(size=(300, 400))

    np.testing.assert_array_equal(isolated(np.transpose, values), values.T)


def test_it_is_another_process():
    assert isolated(os.getpid) != os.getpid()


def test_what_is_raised_there_is_raised_here():
    with pytest.raises(TableError, match="one sentence"):
        isolated(raise_table_error)


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGKILL"])
def test_its_end_is_an_exception(name):
    with pytest.raises(EndedError, match=f"ended by {name}"):
        isolated(end_by, getattr(signal, name))


def test_an_end_without_a_signal_is_one_too():
    with pytest.raises(EndedError, match="the process that read it ended"):
        isolated(os._exit, 3)


def test_a_circle_comes_to_an_end():
    with pytest.raises(EndedError, match="came to no end"):
        isolated(go_round_in_circles, seconds=1)


def test_an_interruption_leaves_no_process_behind(monkeypatch):
    def interrupted(stream):
        raise KeyboardInterrupt

    children, fork = [], os.fork
    monkeypatch.setattr(os, "fork", lambda: children.append(fork()) or children[-1])
    monkeypatch.setattr("ufselect.data.tables.isolation._received", interrupted)
    with pytest.raises(KeyboardInterrupt):
        isolated(go_round_in_circles)

    with pytest.raises(ChildProcessError):
        os.waitpid(children[0], os.WNOHANG)


def test_nothing_stays_open():
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        isolated(os.getpid)

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_library_that_ends_its_process_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix array real general\n2 1\n1\n2\n")

    def crash(file, request, notes):
        end_by(signal.SIGSEGV)

    monkeypatch.setattr("ufselect.data.tables.matrices.read_matrix_market", crash)
    with pytest.raises(TableError, match=r"a\.mtx is cut off or damaged .*SIGSEGV"):
        reading.read_table(path, isolate=True)

"""Fits in a loop leave nothing behind; thousands of them are tried by long_runs."""

import gc
import threading
from weakref import ref

import pytest

from studies.reliability.long_runs import METHODS
from studies.reliability.loops import fit_of, repeated

COUNTED = ("files", "threads", "children")


def growth(step, number):
    """Return how many more files, threads and children there are in the end."""
    early, late = repeated(step, number)
    return [late[what] - early[what] for what in COUNTED]


def still_alive(references):
    gc.collect()
    return sum(reference() is not None for reference in references)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", METHODS)
def test_fits_in_a_loop_leak_nothing(method):
    fit, references = fit_of(method), []

    more = growth(lambda: references.append(ref(fit())), 6)

    assert more == [0, 0, 0]
    assert len(references) == 6
    assert still_alive(references) == 0


def test_what_is_left_in_a_loop_is_noticed(tmp_path):
    files, threads, end = [], [], threading.Event()

    def leave_things():
        files.append((tmp_path / "file").open("w"))
        threads.append(threading.Thread(target=end.wait))
        threads[-1].start()

    more = growth(leave_things, 5)
    end.set()
    for file, thread in zip(files, threads, strict=True):
        file.close()
        thread.join()

    assert more == [4, 4, 0]


def test_a_selector_that_somebody_keeps_is_noticed():
    kept = [fit_of("MaxVariance")() for _ in range(3)]

    assert still_alive([ref(selector) for selector in kept]) == 3

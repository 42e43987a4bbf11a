"""Work on cells that hangs, crashes or uses too much memory, depending on the seed."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from ufselect.experiments.store import DONE, Outcome
from ufselect.experiments.work import work_on

WELL, HANGS, DIES, IS_KILLED, EATS, DIES_ONCE = range(6)
eaten = []


def work(cell, judge, path, order):
    """Behave as the seed demands; a file at the path marks a second attempt."""
    if cell.seed == HANGS:
        time.sleep(600)
    if cell.seed == DIES or (cell.seed == DIES_ONCE and first_time(path)):
        os._exit(7)
    if cell.seed == IS_KILLED:
        os.kill(os.getpid(), signal.SIGKILL)
    while cell.seed == EATS:
        eaten.append(np.ones(1_000_000))
        time.sleep(0.005)
    return Outcome(DONE, order=np.array([os.getpid()], dtype=np.int32))


def work_but_die_in_one_method(cell, judge, path, order):
    if cell.selector == "LaplacianScore":
        os._exit(7)
    return work_on(cell, judge, path, order)


def first_time(path):
    try:
        Path(path).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True

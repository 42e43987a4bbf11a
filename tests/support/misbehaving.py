"""Work that hangs, crashes or uses too much memory, depending on the job."""

import os
import signal
import time

import numpy as np

from ufselect.experiments.work import Outcome

eaten = []


def work(job):
    if job == "sleeps":
        time.sleep(600)
    if job == "exits":
        os._exit(7)
    if job == "is killed":
        os.kill(os.getpid(), signal.SIGKILL)
    while job == "allocates":
        eaten.append(np.ones(1_000_000))
        time.sleep(0.005)
    return Outcome(reason=f"process {os.getpid()}")

"""Runs that are killed, interrupted or terminated, in all or some processes."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

from studies.findings import Count, Outcome
from studies.reliability.experiment_runs import (
    Content,
    Ended,
    Run,
    content_of,
    prepare,
    run_whole,
    stray_files,
)
from studies.settings import Settings


class Bench(NamedTuple):
    """Where trials are made, what undisturbed runs find, and how long they take."""

    folder: Path
    store: Path
    whole: Content
    seconds: float


def undisturbed(folder: Path) -> Bench:
    """Run the experiment in peace, and keep its store."""
    prepare(folder)
    store = folder / "whole.sqlite"
    start = time.monotonic()
    ended = run_whole(folder, store=store)
    taken = time.monotonic() - start
    if ended.code != 0:
        raise ValueError(f"the undisturbed run failed: {ended.complaint}")
    return Bench(folder, store, content_of(store), taken)


class Sent(NamedTuple):
    """A signal, to whom, and the exit codes with which a run may answer it."""

    number: signal.Signals
    to_all: bool
    codes: tuple[int, ...]


KINDS = {
    "SIGKILL at any moment": Sent(signal.SIGKILL, False, (-9,)),
    "SIGKILL of all processes at any moment": Sent(signal.SIGKILL, True, (-9,)),
    "SIGINT to all processes, as by Ctrl-C, at any moment of the work": Sent(
        signal.SIGINT, True, (130,)
    ),
    "SIGTERM at any moment of the work": Sent(signal.SIGTERM, False, (130,)),
}


def signals(what: str, bench: Bench, settings: Settings) -> Iterator[Outcome]:
    """Send signals to runs at random moments, go on after each, and compare."""
    random = np.random.default_rng(settings.seed)
    count, store = Count(what), bench.folder / "signals.sqlite"
    while count.tried < settings.count(5, 1):
        disturb(count, bench, store, KINDS[what], random)
    ended = run_whole(bench.folder, store=store)
    problems = unlike(ended, store, bench)
    outcome = count.outcome("the same command then ends like an undisturbed run")
    yield outcome if not problems else lost_at_last(outcome, problems)


def disturb(
    count: Count, bench: Bench, store: Path, sent: Sent, random: np.random.Generator
) -> None:
    """Start or go on, send the signal, and look at what is left."""
    before = content_of(store)
    run = Run(bench.folder, store=store)
    if sent.number != signal.SIGKILL:
        run.begun()  # Before that it is the interpreter that answers.
    time.sleep(random.uniform(0, 0.8 * bench.seconds))
    with suppress(ProcessLookupError):
        (os.killpg if sent.to_all else os.kill)(run.process.pid, sent.number)
    ended = run.end()
    if ended.code == 0:  # The signal came too late; begin anew.
        store.unlink()
        return
    after = content_of(store)
    count.answer(
        not before.within(after) and "what was finished is gone",
        not after.within(bench.whole) and "not what an undisturbed run finds",
        ended.traceback and f"traceback: {ended.complaint[-80:]}",
        ended.code not in sent.codes and f"exit code {ended.code}",
        bool(run.left_behind()) and "processes stay behind",
    )


def unlike(ended: Ended, store: Path, bench: Bench) -> list[str]:
    """Return in what a finished run differs from an undisturbed one."""
    problems = [
        ended.code != 0 and f"exit code {ended.code}: {ended.complaint[-120:]}",
        ended.traceback and "a traceback",
        content_of(store) != bench.whole and "not what an undisturbed run finds",
        bool(stray_files(store)) and f"{stray_files(store)} stays behind",
    ]
    return [str(problem) for problem in problems if problem]


def lost_at_last(outcome: Outcome, problems: list[str]) -> Outcome:
    """Return an outcome all of which is lost."""
    return Outcome(
        outcome.what, outcome.tried, 0, 0, outcome.tried, "; ".join(problems)
    )


def helpers(bench: Bench, settings: Settings) -> Iterator[Outcome]:
    """Kill one of the processes that compute, or the one that starts them."""
    random = np.random.default_rng(settings.seed)
    targets: dict[str, Callable[[Run], list[int]]] = {
        "SIGKILL of one process that computes": workers_of,
        "SIGKILL of the process that starts the others": servers_of,
    }
    for what, find in targets.items():
        count, store = Count(what), bench.folder / "helpers.sqlite"
        while count.tried < settings.count(3, 1):
            run = Run(bench.folder, store=store)
            killed = kill_one(run, find, random, bench.seconds)
            ended = run.end()
            if killed:
                stays = bool(run.left_behind()) and "processes stay behind"
                count.answer(*unlike(ended, store, bench), stays)
            store.unlink()
        yield count.outcome("replaced; the run ends like an undisturbed one")


def kill_one(
    run: Run,
    find: Callable[[Run], list[int]],
    random: np.random.Generator,
    seconds: float,
) -> bool:
    """Kill one of the processes that are found at some moment of the work."""
    run.begun()
    time.sleep(random.uniform(0, seconds / 2))
    with suppress(ProcessLookupError, psutil.NoSuchProcess):
        found = find(run)
        if not found:
            return False
        os.kill(int(random.choice(found)), signal.SIGKILL)
        return True
    return False


def servers_of(run: Run) -> list[int]:
    """Return the processes that start others."""
    return [
        child.pid
        for child in psutil.Process(run.process.pid).children()
        if any("forkserver" in word for word in child.cmdline())
    ]


def workers_of(run: Run) -> list[int]:
    """Return the processes that compute."""
    servers = map(psutil.Process, servers_of(run))
    return [child.pid for server in servers for child in server.children()]

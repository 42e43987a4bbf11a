"""Readers at work in a process that is watched: memory, time, what it starts."""

import builtins
import json
import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

# More than any of the small files, or what they could honestly become, can need.
MOST_BYTES = 1 << 30
MOST_SECONDS = 5
LONGEST_SENTENCE = 2000
ENDED = "ended"
# What nothing that a file holds may bring about.
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "subprocess.", "socket.connect")
# What our own processes send to each other; of a file nothing is unpickled. Errors go
# through tblib where Dask has loaded it.
OURS = {"numpy", "pathlib", "pyarrow", "scipy", "tblib", "ufselect"}


class Trial(NamedTuple):
    """A file, what is wrong with it, and how it is read."""

    what: str
    path: Path
    read: Callable[[Path], Any]
    refusals: tuple[type[Exception], ...]
    seconds: int = MOST_SECONDS


class Verdict(NamedTuple):
    """How it ended: answered, refused, lost, or with the process; what was said."""

    trial: Trial
    kind: str
    said: str


def verdicts(trials: Sequence[Trial]) -> Iterator[Verdict]:
    """Try all, in children that are replaced when they end too early."""
    done = 0
    while done < len(trials):
        rest = trials[done:]
        code, judged = _in_a_child(rest)
        yield from judged
        done += len(judged)
        if len(judged) < len(rest):
            _keep(rest[len(judged)])
            yield Verdict(rest[len(judged)], ENDED, f"the process ended ({code})")
            done += 1


def _in_a_child(trials: Sequence[Trial]) -> tuple[str, list[Verdict]]:
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(writing, trials)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as stream:
        said = [json.loads(line) for line in stream if line.endswith("\n")]
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    named = signal.Signals(-code).name if code < 0 else str(code)
    return named, [Verdict(trials[i], *each) for i, each in enumerate(said)]


def _work(writing: int, trials: Sequence[Trial]) -> None:
    try:
        _limit()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with open(writing, "w", encoding="utf-8") as stream:
            for trial in trials:
                print(json.dumps(judged(trial)), file=stream, flush=True)
    finally:
        os._exit(0)


def _limit() -> None:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, used + MOST_BYTES))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    sys.addaudithook(_watch)


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event.startswith(FORBIDDEN):
        raise SystemExit(f"{event} was called")
    if event == "pickle.find_class" and not _is_ours(*arguments):
        raise SystemExit(f"{arguments} was unpickled")


def _is_ours(module: str, name: str) -> bool:
    if module == "builtins":
        found = getattr(builtins, name, None)
        return isinstance(found, type) and issubclass(found, BaseException)
    return module.split(".")[0] in OURS


def judged(trial: Trial) -> tuple[str, str]:
    """Return how the reading of a file ends, and what is said of it."""
    # Of computing, so that a busy machine makes no difference.
    signal.setitimer(signal.ITIMER_PROF, trial.seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trial.read(trial.path)
    except trial.refusals as error:
        return _of_sentence(str(error))
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is a loss
        _keep(trial)
        return "lost", f"{type(error).__name__}: {error}"[:LONGEST_SENTENCE]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "answered", ""


def _keep(trial: Trial) -> None:
    """Keep a file that was lost, for whoever will mend that."""
    if folder := os.environ.get("RELIABILITY_LOST"):
        target = Path(folder, f"{os.getpid()}-{trial.path.parent.name}-{trial.what}")
        target.write_bytes(trial.path.read_bytes())


def _of_sentence(said: str) -> tuple[str, str]:
    short = len(said) < LONGEST_SENTENCE and len(said.splitlines()) == 1
    return ("refused" if short else "lost"), said[:LONGEST_SENTENCE]

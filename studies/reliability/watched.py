"""Run work in a monitored process: memory, time, child processes and exit status."""

import builtins
import faulthandler
import json
import os
import resource
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from studies.findings import Outcome

MOST_BYTES = 2 << 30
# Of the processor, so that a busy machine makes no difference; of the clock, for what
# waits without computing.
MOST_SECONDS = 5
CLOCK_PER_PROCESSOR = 20
LONGEST_SENTENCE = 2000
# What nothing that is read may bring about.
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "subprocess.", "socket.connect")
# What our own processes send to each other; of a file nothing is unpickled. Errors go
# through tblib where Dask has loaded it.
OURS = {"numpy", "pathlib", "pyarrow", "scipy", "tblib", "ufselect"}
HANGING = {"SIGPROF", "SIGALRM", "SIGXCPU"}


class Trial(NamedTuple):
    """What is tried, the work itself, and the errors by which it may be refused."""

    what: str
    work: Callable[[], object]
    refusals: tuple[type[Exception], ...]
    seconds: int = MOST_SECONDS


class Verdict(NamedTuple):
    """How it ended: answered, refused, lost, crashed or hung; what was said."""

    trial: Trial
    kind: str
    said: str


def verdicts(trials: Sequence[Trial], *, foreign: bool = True) -> Iterator[Verdict]:
    """Try all, in children that are replaced when they end too early.

    What reads foreign files may unpickle nothing, start nothing and connect nowhere.
    """
    done = 0
    while done < len(trials):
        rest = trials[done:]
        code, judged = _in_a_child(rest, foreign)
        yield from judged
        done += len(judged)
        if len(judged) < len(rest):
            kind = "hung" if code in HANGING else "crashed"
            yield Verdict(rest[len(judged)], kind, f"the process ended ({code})")
            done += 1


def _in_a_child(trials: Sequence[Trial], foreign: bool) -> tuple[str, list[Verdict]]:
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(writing, trials, foreign)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as stream:
        said = [json.loads(line) for line in stream if line.endswith("\n")]
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    named = signal.Signals(-code).name if code < 0 else str(code)
    return named, [Verdict(trials[i], *each) for i, each in enumerate(said)]


def _work(writing: int, trials: Sequence[Trial], foreign: bool) -> None:
    try:
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
        for number in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        if "dask" in sys.modules:
            # The threads of the parent, for which Dask would wait, are not in a child.
            sys.modules["dask"].config.set(scheduler="synchronous")
        if foreign:
            sys.addaudithook(_watch)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with open(writing, "w", encoding="utf-8") as stream:
            for trial in trials:
                print(json.dumps(_judged(trial)), file=stream, flush=True)
    finally:
        os._exit(0)


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


def _judged(trial: Trial) -> tuple[str, str]:
    """Return how a trial ends, and what is said of it."""
    signal.setitimer(signal.ITIMER_PROF, trial.seconds)
    signal.setitimer(signal.ITIMER_REAL, CLOCK_PER_PROCESSOR * trial.seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trial.work()
    except trial.refusals as error:
        said = str(error)
        short = len(said) < LONGEST_SENTENCE and len(said.splitlines()) == 1
        return ("refused" if short else "lost"), said[:LONGEST_SENTENCE]
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is a loss
        return "lost", f"{type(error).__name__}: {error}"[:LONGEST_SENTENCE]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return "answered", ""


def counted(what: str, tried: Iterable[Verdict], note: str = "") -> Outcome:
    """Return how often what happened; the note says what was wrong first."""
    kinds: Counter[str] = Counter()
    said = []
    for verdict in tried:
        kinds[verdict.kind] += 1
        if verdict.kind not in ("answered", "refused"):
            said.append(f"{verdict.trial.what}: {verdict.said}"[:200])
    return Outcome(
        what,
        kinds.total(),
        *(kinds[kind] for kind in ("answered", "refused", "lost")),
        note="; ".join([*([note] if note else []), *said[:3]]),
        crashed=kinds["crashed"],
        hung=kinds["hung"],
    )

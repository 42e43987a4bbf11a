"""Runs with stand-ins for the command, which take their time or misbehave."""

import sys
import time

import pytest

from ufselect.serving import runs as serving_runs
from ufselect.serving.runs import Runs, sentence_of
from ufselect.serving.uploads import Refusal, Source

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
SLEEP = "import time; time.sleep(600)"
# Neither it nor its child listens to Ctrl-C.
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print('{"doing": "being stubborn", "seconds": 0}', file=sys.stderr, flush=True)
time.sleep(600)
"""


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Return a function that makes runs of a program instead of the command."""
    made = []

    def made_for(program, n_jobs=1, max_runs=3):
        command = [sys.executable, "-c", program, "--"]
        monkeypatch.setattr(serving_runs, "UFSELECT", command)
        made.append(Runs(tmp_path, n_jobs, max_runs))
        return made[-1]

    yield made_for
    for runs in made:
        runs.close()


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    return Source("given", "genes.csv", path, 8)


def wait_for(found, *states):
    deadline = time.monotonic() + 120
    while found.state not in states:
        assert time.monotonic() < deadline, found.state
        time.sleep(0.02)


def wait_for_progress(found):
    deadline = time.monotonic() + 120
    while not found.described()["progress"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_run_tells_progress_notes_and_results(make, source):
    program = """
import sys, pathlib
print('{"note": "a note"}', file=sys.stderr)
print('{"doing": "it", "seconds": 1}', file=sys.stderr)
pathlib.Path('ranking.csv').touch()
print('{}')
"""
    found = make(program).start(source, {})
    wait_for(found, "done")
    told = found.described()

    assert told["progress"] == {"doing": "it", "seconds": 1}
    assert told["notes"] == ["a note"]
    assert told["files"] == {"ranking.csv": "genes.ranking.csv"}
    assert (found.folder / "result.json").read_text() == "{}\n"


def test_a_failure_is_its_last_sentence_and_has_no_results(make, source):
    program = """
import sys, pathlib
pathlib.Path('ranking.csv').touch()
print('{"note": "a note"}', file=sys.stderr)
print('ufselect: it is bad; do good', file=sys.stderr)
sys.exit(1)
"""
    found = make(program).start(source, {})
    wait_for(found, "failed")

    assert found.problem == "it is bad; do good"
    assert found.results() == {}


def test_a_worker_that_the_system_ends_is_told_of(make, source):
    program = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    found = make(program).start(source, {})
    wait_for(found, "failed")

    assert "signal 9" in found.problem
    assert "memory" in found.problem


def test_runs_wait_for_their_turn_and_a_waiting_one_can_be_cancelled(make, source):
    runs = make(SLEEP)
    first, second, third = (runs.start(source, {}) for _ in range(3))
    wait_for(first, "running")
    ahead = [runs.ahead_of(each) for each in (first, second, third)]
    second.cancel()

    assert (second.state, third.state) == ("cancelled", "waiting")
    assert ahead == [0, 0, 1]
    assert runs.ahead_of(third) == 0
    first.cancel()
    wait_for(third, "running")


def test_who_does_not_follow_is_ended_by_force_with_its_children(
    make, source, monkeypatch
):
    psutil = pytest.importorskip("psutil")
    monkeypatch.setattr(serving_runs, "SECONDS_TO_END", 0.3)
    runs = make(STUBBORN)
    found = runs.start(source, {})
    wait_for_progress(found)
    worker = psutil.Process(found._process.pid)
    family = [worker, *worker.children(recursive=True)]
    found.cancel()
    runs.close()
    _, alive = psutil.wait_procs(family, timeout=60)

    assert len(family) == 2
    assert alive == []
    assert found.state == "cancelled"


def test_the_oldest_finished_run_makes_way_with_its_files(make, source):
    runs = make("pass", n_jobs=2, max_runs=2)
    first = runs.start(source, {})
    wait_for(first, "done")
    others = [runs.start(source, {}) for _ in range(2)]

    assert not first.folder.exists()
    assert all(runs.find(each.identity) is each for each in others)
    with pytest.raises(Refusal, match="no longer kept"):
        runs.find(first.identity)


def test_too_many_unfinished_runs_are_refused(make, source):
    runs = make(SLEEP, max_runs=2)
    for _ in range(2):
        runs.start(source, {})
    with pytest.raises(Refusal, match="2 runs are waiting; cancel one") as caught:
        runs.start(source, {})

    assert caught.value.status == 503


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("ufselect: no; do (see ufselect select --help)", "no; do"),
        ("ufselect select: error: argument -k/--features: 0 is", "argument -k/--fea"),
        ("RuntimeError: what", "RuntimeError: what"),
        ("", "the worker failed"),
    ],
)
def test_sentences_lose_what_belongs_to_a_terminal(said, expected):
    assert sentence_of(1, said).startswith(expected)

"""Runs with stand-ins for the command, which take their time or misbehave."""

import sys
import time

import pytest

from ufselect.serving import runs as serving_runs
from ufselect.serving.runs import Runs
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


def finished(runs, source):
    found = runs.start(source, "select", {})
    wait_for(found, "done", "failed")
    return found


def test_a_run_tells_progress_notes_and_results(make, source):
    program = """
import sys, pathlib
print('{"note": "a note"}', file=sys.stderr)
print('{"doing": "it", "seconds": 1}', file=sys.stderr)
pathlib.Path('ranking.csv').touch()
print('{}')
"""
    found = finished(make(program), source)
    told = found.described()

    assert (told["state"], told["notes"]) == ("done", ["a note"])
    assert told["progress"] == {"doing": "it", "seconds": 1}
    assert told["files"] == {"ranking.csv": "genes.ranking.csv"}
    assert (found.folder / "result.json").read_text() == "{}\n"


def test_a_failure_is_its_sentence_with_remedies_and_has_no_results(make, source):
    program = """
import sys, pathlib
pathlib.Path('ranking.csv').touch()
print('{"error": "it is bad; do good (--fill median)", "remedies": ['
      '{"label": "Fill", "options": ["--fill=median"]}]}', file=sys.stderr)
sys.exit('7')
"""
    found = finished(make(program), source)

    assert found.problem == "it is bad; do good"
    assert found.remedies == [{"label": "Fill", "choices": {"fill": "median"}}]
    assert found.results() == {}
    for program, words in (
        ("import os; os.kill(os.getpid(), 9)", "(signal 9): the memory was full"),
        ("raise SystemExit('ufselect: no; do')", "no; do"),
        ("raise SystemExit(3)", "the worker failed"),
    ):
        assert words in finished(make(program), source).problem


def test_runs_wait_for_their_turn_but_a_look_does_not_and_makes_way_first(make, source):
    runs = make(SLEEP, max_runs=4)
    first, second, third = (runs.start(source, "select", {}) for _ in range(3))
    look = runs.start(source, "look", {})
    for each in (first, look):
        wait_for(each, "running")
    ahead = [runs.ahead_of(each) for each in (first, second, third, look)]
    second.cancel()
    look.cancel()

    assert (second.state, third.state) == ("cancelled", "waiting")
    assert ahead == [0, 0, 1, 0]
    assert runs.ahead_of(third) == 0
    first.cancel()
    wait_for(third, "running")
    runs.start(source, "select", {})
    assert runs.find(second.identity) is second
    with pytest.raises(Refusal, match="no longer kept"):
        runs.find(look.identity)


def test_who_does_not_follow_is_ended_by_force_with_its_children(
    make, source, monkeypatch
):
    psutil = pytest.importorskip("psutil")
    monkeypatch.setattr(serving_runs, "SECONDS_TO_END", 0.3)
    runs = make(STUBBORN)
    found = runs.start(source, "select", {})
    deadline = time.monotonic() + 120
    while not found.described()["progress"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    worker = psutil.Process(found._process.pid)
    family = [worker, *worker.children(recursive=True)]
    found.cancel()
    runs.close()
    _, alive = psutil.wait_procs(family, timeout=60)

    assert (len(family), alive, found.state) == (2, [], "cancelled")


def test_the_oldest_finished_run_makes_way_and_too_many_are_refused(make, source):
    runs = make("pass", n_jobs=2, max_runs=2)
    first = finished(runs, source)
    others = [runs.start(source, "select", {}) for _ in range(2)]

    assert not first.folder.exists()
    assert all(runs.find(each.identity) is each for each in others)
    with pytest.raises(Refusal, match="no longer kept"):
        runs.find(first.identity)
    endless = make(SLEEP, max_runs=2)
    for _ in range(2):
        endless.start(source, "select", {})
    with pytest.raises(Refusal, match="2 runs are waiting; cancel one") as caught:
        endless.start(source, "select", {})
    assert caught.value.status_code == 503

"""How much the server keeps: uploads, looks and results; and how runs end."""

import asyncio
import json
import sys
import time

import numpy as np
import pytest
from page_server import MAX_BYTES, PageServer

from ufselect.serving import runs
from ufselect.serving.server import MAX_RUNS
from ufselect.serving.uploads import Source

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="has no such signals"),
]
# A fit of this method takes minutes.
LONG = {"method": "CPFS", "effort": "thorough"}
TABLE = b"a,b\n1,2\n2,4\n3,1\n"
# Neither it nor its child listens to Ctrl-C.
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print('{"doing": "being stubborn", "seconds": 0}', file=sys.stderr, flush=True)
time.sleep(600)
"""


def problem(answer):
    return json.loads(answer.body)["problem"]


@pytest.fixture(scope="module")
def one_job(tmp_path_factory):
    """Serve a table with one run at a time."""
    folder = tmp_path_factory.mktemp("one")
    np.save(folder / "a.npy", np.random.RandomState(0).standard_normal((240, 1000)))
    (folder / "server").mkdir()
    with PageServer(folder / "server", folder / "a.npy", "--jobs", 1) as server:
        yield server


@pytest.mark.parametrize(
    ("name", "headers", "status", "words"),
    [
        ("big.csv", {"Content-Length": "3000000"}, 413, "big.csv is larger than 2 MB;"),
        ("big.csv", {}, 413, "big.csv is larger than 2 MB;"),
        ("evil.exe", {}, 415, "evil.exe has an unknown file extension"),
    ],
    ids=["declared", "counted", "unknown"],
)
def test_what_is_too_large_or_unknown_is_refused_and_leaves_nothing(
    server, name, headers, status, words
):
    def stored():
        return [path for path in server.folder.glob("*/uploads/*/*") if path.is_file()]

    before = stored()
    if headers:
        answer = server.page("POST", f"api/files?name={name}", None, headers)
    else:
        answer = server.send(name, b"1" * (MAX_BYTES + 20_000))

    assert answer.status == status
    assert problem(answer).startswith(words)
    assert stored() == before


def test_uploads_on_their_way_count_and_the_oldest_make_way(server):
    large = TABLE + b"9,9\n" * 300_000
    old = server.upload("old.csv", large)
    (stored,) = server.folder.glob(f"*/uploads/{old}")
    # Uploads that stop short of their end.
    unfinished = [
        server.begun(f"files?name={number}.csv", 1_000_000, b"1" * 900_000)
        for number in range(2)
    ]
    deadline = time.monotonic() + 60
    while stored.exists():
        assert time.monotonic() < deadline
    answer = server.send("new.csv", large)
    for each in unfinished:
        each.close()
    while server.send("new.csv", large).status != 201:
        assert time.monotonic() < deadline

    assert "new.csv and the tables in use are larger than 2 MB" in problem(answer)
    assert "no longer kept" in problem(server.ask_for(old, "look"))


def test_waiting_looks_do_not_push_out_results_and_choices_have_a_limit(server):
    file = server.upload("a.csv", TABLE)
    result = server.start(file, method="MaxVariance", features="1")
    server.wait_for(result, "done")
    answers = [server.ask_for(file, "look") for _ in range(2 * MAX_RUNS)]
    refused = [problem(each) for each in answers if each.status == 503]

    assert refused
    assert set(refused) == {
        f"{MAX_RUNS} runs are waiting; cancel one, or try again when one is done"
    }
    assert server.api(f"runs/{result}")["state"] == "done"
    long = server.ask_for(file, drop=["x" * 900] * 200)
    assert long.status == 413
    assert "longer than 100 kB" in problem(long)
    assert sys.executable not in problem(long)
    waiting = [json.loads(each.body)["run"] for each in answers if each.status == 201]
    for run in waiting:
        server.page("DELETE", f"api/runs/{run}")


def test_runs_wait_for_their_turn_but_a_look_does_not(one_job):
    psutil = pytest.importorskip("psutil")
    first, second, third = (one_job.start("given", **LONG) for _ in range(3))
    one_job.wait_for(first, "running")
    look = one_job.start("given", "look")
    assert one_job.wait_for(look, "done", "failed")["state"] == "done"
    states = [one_job.api(f"runs/{run}") for run in (first, second, third)]
    assert [each["ahead"] for each in states] == [0, 0, 1]
    workers = psutil.Process(one_job.process.pid).children(recursive=True)
    one_job.page("DELETE", f"api/runs/{second}")
    one_job.page("DELETE", f"api/runs/{first}")
    _, alive = psutil.wait_procs(workers, timeout=60)

    assert len(workers) >= 1
    assert alive == []
    assert one_job.api(f"runs/{second}")["state"] == "cancelled"
    one_job.wait_for(third, "running")
    one_job.page("DELETE", f"api/runs/{third}")


def test_a_run_that_does_not_listen_is_ended_by_force(tmp_path, monkeypatch):
    psutil = pytest.importorskip("psutil")
    monkeypatch.setattr(runs, "UFSELECT", [sys.executable, "-c", STUBBORN, "--"])
    monkeypatch.setattr(runs, "SECONDS_TO_END", 0.3)
    source = Source("given", "a.csv", tmp_path / "a.csv", 8)

    async def attempt():
        others = psutil.Process().children(recursive=True)
        kept = runs.Runs(tmp_path, 1)
        run = kept.start(source, "select", {})
        while not run.described()["progress"]:
            await asyncio.sleep(0.02)
        children = psutil.Process().children(recursive=True)
        family = [each for each in children if each not in others]
        n_ended = await kept.close()
        return family, n_ended, run.state

    family, n_ended, state = asyncio.run(asyncio.wait_for(attempt(), 120))
    _, alive = psutil.wait_procs(family, timeout=60)

    assert (len(family), alive, n_ended, state) == (2, [], 1, "cancelled")


def test_a_worker_that_is_killed_is_named_with_the_likely_cause(one_job):
    psutil = pytest.importorskip("psutil")
    run = one_job.start("given", **LONG)
    one_job.wait_for(run, "running")
    (worker,) = psutil.Process(one_job.process.pid).children()
    worker.kill()

    said = one_job.wait_for(run, "done", "failed")["problem"]
    assert "(signal 9): the memory was full" in said

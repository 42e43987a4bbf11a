"""Uploads, runs and downloads, asked of a real server without a browser."""

import io
import json
from urllib.parse import quote

import pandas as pd
import pytest
from page_server import MOST_BYTES
from small_tables import CHOSEN, small_frame

from ufselect import all_selectors
from ufselect.report.page_script import content_security_policy

FAST = {"method": "MaxVariance", "features": "3"}
NAME = 'M\u00e4nner "und" Frauen;.csv'


@pytest.fixture(scope="module")
def csv():
    return small_frame().to_csv(index=False).encode()


@pytest.fixture(scope="module")
def done(server, csv):
    """Return what is known of a run that is done."""
    run = server.start(server.upload(NAME, csv), labels="kind", **FAST)
    return server.wait_for(run, "done", "failed")


def test_the_page_learns_what_there_is_to_choose(server):
    told = server.api("GET", "settings")

    assert list(told["methods"]) == list(all_selectors())
    assert all(told["methods"].values())
    assert told["max_upload"] == MOST_BYTES
    assert told["given"] is None


def test_the_selected_table_has_the_chosen_columns_and_a_proper_name(server, done):
    answer = server.page("GET", f"api/runs/{done['run']}/files/selected.csv")
    frame = pd.read_csv(io.BytesIO(answer.body))
    name = 'M\u00e4nner "und" Frauen;.selected.csv'

    assert done["state"] == "done"
    assert frame.columns.tolist() == ["id", *CHOSEN, "kind"]
    assert answer.getheader("Content-Disposition") == (
        f"attachment; filename*=utf-8''{quote(name)}"
    )
    assert answer.getheader("Content-Type") == "application/octet-stream"


def test_ranking_result_and_command_are_there(server, done):
    ranking = server.page("GET", f"api/runs/{done['run']}/files/ranking.csv")
    result = server.api("GET", f"runs/{done['run']}/result")

    assert len(pd.read_csv(io.BytesIO(ranking.body))) == 12
    assert sorted(each["feature"] for each in result["features"]) == CHOSEN
    assert result["command"].startswith("ufselect select 'M\u00e4nner")
    assert "/" not in result["command"]
    assert list(done["files"]) == ["selected.csv", "ranking.csv", "report.html"]


def test_a_report_may_not_speak_in_the_name_of_the_page(server, done):
    answer = server.page("GET", f"api/runs/{done['run']}/report")
    policy = answer.getheader("Content-Security-Policy")

    assert answer.body.startswith(b"<!DOCTYPE html>")
    assert str(server.folder).encode() not in answer.body
    assert policy.startswith(content_security_policy())
    assert "sandbox allow-scripts allow-downloads;" in policy
    assert answer.getheader("Content-Disposition") is None


@pytest.mark.parametrize(
    "name", ["result.json", "..%2f..%2ftable.csv", "none", "selected.csv%00"]
)
def test_only_results_are_sent(server, done, name):
    answer = server.page("GET", f"api/runs/{done['run']}/files/{name}")

    assert answer.status == 404


def test_the_same_table_is_used_again_in_another_format(server, done):
    run = server.start(done["file"], format=".tsv", transpose="no", **FAST)
    state = server.wait_for(run, "done", "failed")
    answer = server.page("GET", f"api/runs/{run}/files/selected.tsv")

    assert state["state"] == "done"
    assert answer.body.startswith(b"id\tg2\tg5\tg9")


def uploaded_files(server):
    return [path for path in server.folder.glob("*/uploads/*/*") if path.is_file()]


def test_a_declared_size_above_the_limit_is_refused_before_a_byte_comes(server):
    before = uploaded_files(server)
    length = {"Content-Length": str(MOST_BYTES + 1)}
    answer = server.page("POST", "api/files?name=big.csv", None, length)

    assert answer.status == 413
    assert json.loads(answer.body)["problem"].startswith("big.csv is larger than 2 MB;")
    assert uploaded_files(server) == before


def test_a_size_that_nobody_declared_is_limited_too(server):
    before = uploaded_files(server)
    size = MOST_BYTES + 1
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (size, b"1" * size)
    # A body of its own length would be declared, hence no help by the client.
    headers = {"Transfer-Encoding": "chunked", "Content-Length": None}
    answer = server.page("POST", "api/files?name=big.csv", chunks, headers)

    assert answer.status == 413
    assert uploaded_files(server) == before


def test_a_format_that_nobody_knows_is_refused(server):
    answer = server.page("POST", "api/files?name=evil.exe", b"x")

    assert answer.status == 415
    assert (
        "evil.exe has a name that promises no known"
        in json.loads(answer.body)["problem"]
    )


@pytest.mark.parametrize(
    ("content", "choices", "problem"),
    [
        (b"a,b\n1,NA\n2,3\n", {}, "genes.csv has missing or infinite values in column"),
        (b"a,b\n1,2\n2,3\n", {"method": "None"}, "there is no method 'None'; it could"),
        (
            b"a,b\n1,2\n2,3\n",
            {"features": "-1"},
            "-k/--features: -1 is neither a whole",
        ),
    ],
)
def test_bad_tables_and_choices_are_one_sentence_with_their_name(
    server, content, choices, problem
):
    run = server.start(server.upload("folder/genes.csv", content), **choices)
    state = server.wait_for(run, "done", "failed")

    assert state["state"] == "failed"
    assert state["problem"].startswith(problem)
    assert str(server.folder) not in state["problem"]
    assert state["files"] == {}


def test_a_run_that_is_cancelled_leaves_no_process_and_no_result(server, endless):
    psutil = pytest.importorskip("psutil")
    table, choices = endless
    run = server.start(server.upload("big.npy", table), **choices)
    server.wait_for(run, "running")
    workers = psutil.Process(server.process.pid).children(recursive=True)
    state = server.api("DELETE", f"runs/{run}")
    _, alive = psutil.wait_procs(workers, timeout=60)

    assert len(workers) >= 1
    assert alive == []
    assert (state["state"], state["files"]) == ("cancelled", {})
    assert server.page("GET", f"api/runs/{run}/result").status == 404

"""Uploads, runs and downloads, asked of a real server without a browser."""

import io
import re
from urllib.parse import quote

import pandas as pd
import pytest
from page_server import MAX_BYTES
from small_tables import CHOSEN, small_frame

from ufselect import all_selectors
from ufselect.report.rendering import content_security_policy

NAME = 'M\u00e4nner "und" Frauen;'


@pytest.fixture(scope="module")
def done(server):
    """Return what is known of a run that is done."""
    csv = small_frame().to_csv(index=False).encode()
    file = server.upload(f"{NAME}.csv", csv)
    choices = {"labels": "kind", "format": ".tsv", "method": "MaxVariance"}
    run = server.start(file, features="3", **choices)
    return server.wait_for(run, "done", "failed")


def test_the_page_says_what_there_is_to_choose(server):
    told = server.api("settings")
    page = server.page("GET", "").body.decode()
    methods = re.findall('name="method" value="(.+?)".*\n.*"hint">(.+?)</span>', page)

    assert methods[0][0] == "AutoSelect"
    assert sorted(name for name, _ in methods[1:]) == sorted(all_selectors())
    assert all(words.endswith(".") for _, words in methods)
    assert '<option value=".parquet">Parquet (.parquet)</option>' in page
    assert "up to 2 MB" in page
    assert (told["max_upload"], told["given"]) == (MAX_BYTES, None)


def test_table_and_ranking_are_there_under_proper_names(server, done):
    files = f"api/runs/{done['run']}/files"
    answer = server.page("GET", f"{files}/selected.tsv")
    table = pd.read_csv(io.BytesIO(answer.body), sep="\t")
    ranking = server.page("GET", f"{files}/ranking.csv")

    assert list(done["files"]) == (
        ["selected.tsv", "ranking.csv", "clusters.csv", "report.html"]
    )
    assert table.columns.tolist() == ["id", *CHOSEN, "kind"]
    assert answer.getheader("Content-Disposition") == (
        f"attachment; filename*=utf-8''{quote(NAME)}.selected.tsv"
    )
    assert answer.getheader("Content-Type") == "application/octet-stream"
    assert len(pd.read_csv(io.BytesIO(ranking.body))) == 12
    for name in ("result.json", "..%2f..%2ftable.csv", "none", "selected.tsv%00"):
        assert server.page("GET", f"{files}/{name}").status == 404


def test_result_and_report_have_no_path_of_the_server(server, done):
    result = server.api(f"runs/{done['run']}/result")
    report = server.page("GET", f"api/runs/{done['run']}/report")
    policy = report.getheader("Content-Security-Policy")

    assert sorted(each["feature"] for each in result["features"]) == CHOSEN
    assert result["command"].startswith("ufselect select 'M\u00e4nner")
    assert "/" not in result["command"]
    assert str(server.folder).encode() not in report.body
    assert policy.startswith(content_security_policy())
    assert "sandbox allow-scripts allow-downloads;" in policy


@pytest.mark.parametrize(
    ("content", "choices", "problem"),
    [
        (b"a,b\n1,NA\n2,3\n", {}, "genes.csv has missing or infinite values in column"),
        (b"a,b\n1,2\n2,3\n", {"method": "None"}, "there is no method 'None'; it could"),
        (b"a,b\n1,2\n2,3\n", {"features": "-1"}, "Number of features: -1 is neither"),
    ],
    ids=["gap", "method", "number"],
)
def test_what_fails_is_one_sentence_with_remedies(server, content, choices, problem):
    run = server.start(server.upload("folder/genes.csv", content), **choices)
    state = server.wait_for(run, "done", "failed")
    remedies = [each["choices"] for each in state["remedies"]]

    assert (state["state"], state["files"]) == ("failed", {})
    assert state["problem"].startswith(problem)
    assert str(server.folder) not in state["problem"]
    assert "--" not in state["problem"]
    assert ({"fill": "median"} in remedies) == (b"NA" in content)
    assert server.page("GET", f"api/runs/{run}/result").status == 404


def test_a_look_describes_columns_and_what_is_missing_until_it_is_filled(server):
    content = b"id,a,b,target\nx,1,NA,0\ny,2,3,1\nz,4,5,1\n"
    file = server.upload("genes.csv", content)
    looks = []
    for choices in ({}, {"fill": "median"}, {"drop": ["b"], "id": "id"}):
        run = server.start(file, "look", **choices)
        assert server.wait_for(run, "done", "failed")["state"] == "done"
        looks.append(server.api(f"runs/{run}/result"))
    first, filled, dropped = looks

    assert (first["n_samples"], first["n_rows"], first["n_columns"]) == (3, 3, 4)
    assert [each["role"] for each in first["columns"]] == (
        ["sample names", "feature", "feature", "label"]
    )
    assert [each["n_missing"] for each in first["columns"]] == [0, 0, 1, 0]
    assert first["problem"].startswith("genes.csv has missing or infinite values")
    assert {"drop": ["b"]} in [each["choices"] for each in first["remedies"]]
    assert (filled["problem"], filled["remedies"], dropped["problem"]) == ("", [], "")
    assert dropped["columns"][2]["role"] == "left out"

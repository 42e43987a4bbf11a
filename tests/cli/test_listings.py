"""``ufselect methods`` and ``datasets``: the lists, the downloads, their errors."""

import hashlib
import json
import re

import pytest
from data.local_server import content, running_server, status
from one_sentence import refused

import ufselect.data.catalogue
from ufselect import all_selectors
from ufselect.cli import main

BODY = b"some data" * 10_000


@pytest.fixture(autouse=True)
def folders(monkeypatch, tmp_path):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("UFSELECT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UFSELECT_DATA", str(tmp_path / "local"))
    (tmp_path / "local").mkdir()


def row(name, *addresses):
    return {
        "name": name,
        "domain": "words",
        "n_samples": 9,
        "n_features": 8,
        "n_classes": 7,
        "checksum": f"sha256:{hashlib.sha256(BODY).hexdigest()}",
        "size": len(BODY),
        "source": "https://example.invalid",
        "addresses": addresses,
    }


@pytest.fixture
def catalogue(monkeypatch):
    """Catalogue ``here``, which a server has, and ``gone``, which it has not."""
    with running_server() as server:
        rows = [
            row("here", server.address(content(BODY))),
            row("gone", server.address(status(404))),
            row("unpublished"),
        ]
        monkeypatch.setattr(ufselect.data.catalogue, "_rows", lambda: rows)
        yield


def test_methods_are_listed_with_one_line_each_and_as_json(capsys):
    assert main(["methods"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert main(["methods", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)

    assert [line.split()[0] for line in lines] == ["AutoSelect", *all_selectors()]
    assert [line.split(maxsplit=1)[1] for line in lines] == list(data.values())
    assert list(data) == ["AutoSelect", *all_selectors()]


def test_every_set_is_listed_with_its_shape_and_place(catalogue, tmp_path, capsys):
    (tmp_path / "local" / "mine.mat").touch()
    (tmp_path / "local" / "gone.mat").touch()
    code = main(["datasets"])
    header, _, *lines = capsys.readouterr().out.splitlines()
    main(["datasets", "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert main(["datasets", "gone"]) == 0
    (one,) = capsys.readouterr().out.splitlines()[2:]

    assert one.split() == lines[1].split()
    assert code == 0
    assert header.split() == [
        *("name", "samples", "features", "classes", "where", "what"),
    ]
    assert [re.split("  +", line) for line in lines] == [
        ["here", "9", "8", "7", "absent", "words"],
        ["gone", "9", "8", "7", "local", "words"],
        ["unpublished", "9", "8", "7", "no public address", "words"],
        ["mine", "-", "-", "-", "local", "not in the catalogue"],
    ]
    assert [row["name"] for row in rows] == ["here", "gone", "unpublished", "mine"]
    assert rows[0].keys() == {
        *("name", "n_samples", "n_features", "n_classes", "domain", "place", "path"),
        *("source", "addresses"),
    }


def test_fetched_set_is_cached_and_its_path_printed(catalogue, tmp_path, capsys):
    path = tmp_path / "cache" / "here.mat"
    assert main(["datasets", "--fetch", "here"]) == 0
    assert capsys.readouterr() == (f"{path}\n", "")
    assert path.read_bytes() == BODY
    main(["datasets", "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert [row["place"] for row in rows] == ["cached", "absent", "absent"]
    # A local copy is not downloaded.
    (tmp_path / "gone.mat").touch()
    assert main(["datasets", "--data", str(tmp_path), "--fetch", "gone"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'gone.mat'}\n"


def test_what_cannot_be_fetched_is_one_sentence_each(catalogue, tmp_path, capsys):
    for arguments, sentence in [
        (["--fetch", "here", "goone"], "no data set 'goone'; did you mean gone?\n"),
        (["--data", str(tmp_path / "nowhere")], "nowhere is not a folder"),
    ]:
        assert sentence in refused(capsys, "datasets", *arguments)
        assert not (tmp_path / "cache").exists()
    # Other sets are fetched all the same.
    assert main(["datasets", "--fetch", "gone", "unpublished", "here"]) == 1
    printed = capsys.readouterr()
    complaints = [line for line in printed.err.splitlines() if "ufselect: " in line]
    assert printed.out == f"{tmp_path / 'cache' / 'here.mat'}\n"
    assert len(complaints) == 2
    assert "HTTP 404" in complaints[0]
    assert "no public address" in complaints[1]

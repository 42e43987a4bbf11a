"""Where a set is looked for, what is downloaded from whom, and what is read."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from data.local_server import (
    content,
    cut_at,
    one_after_the_other,
    redirect_to,
    running_server,
    send,
    status,
)

import ufselect.data.catalogue
from ufselect.data import (
    CataloguedSet,
    DataUnavailableError,
    cache_folder,
    fetch,
    load_set,
)
from ufselect.data.download import download, location_of

BODY = np.random.default_rng(0).bytes(200_000)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr("ufselect.data.download.TIMEOUT", 0.5)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with running_server() as local:
        yield local


@pytest.fixture
def cache(monkeypatch, tmp_path):
    folder = tmp_path / "below" / "cache"
    monkeypatch.setenv("UFSELECT_CACHE", str(folder))
    monkeypatch.setenv("UFSELECT_DATA", str(tmp_path / "local"))
    (tmp_path / "local").mkdir()
    return folder


@pytest.fixture
def local(cache, tmp_path):
    return tmp_path / "local"


def file_of(folder, *, n_samples=6, scale=1.0):
    """Write a small set of two classes; return its content."""
    X = scale * np.arange(4.0 * n_samples).reshape(n_samples, 4)
    path = folder / "toy.mat"
    scipy.io.savemat(path, {"X": X, "Y": np.arange(n_samples) % 2})
    return path.read_bytes()


@pytest.fixture
def body(tmp_path):
    return file_of(tmp_path)


@pytest.fixture
def catalogue(monkeypatch, body):
    """Return a function that makes ``toy`` the only set of the catalogue."""

    def catalogue_toy(*addresses):
        row = {
            "name": "toy",
            "domain": "numbers",
            "n_samples": 6,
            "n_features": 4,
            "n_classes": 2,
            "checksum": f"sha256:{hashlib.sha256(body).hexdigest()}",
            "size": len(body),
            "source": "https://example.invalid/toys",
            "addresses": addresses,
        }
        monkeypatch.setattr(ufselect.data.catalogue, "_rows", lambda: [row])

    return catalogue_toy


def test_set_is_downloaded_once_unless_it_is_damaged(server, cache, catalogue, body):
    catalogue(server.address(content(body)))
    seen = []
    data = load_set("toy", progress=lambda *numbers: seen.append(numbers))
    first, second = fetch("toy"), fetch("toy")

    assert seen[-1] == (len(body), len(body))
    assert data.table.shape == (6, 4)
    assert data.classes.tolist() == [0, 1, 0, 1, 0, 1]
    assert first == second == cache / "toy.mat"
    assert first.read_bytes() == body
    assert len(server.requests) == 1
    first.write_bytes(b"damaged")
    assert location_of("toy").place == "absent"
    assert fetch("toy").read_bytes() == body


def test_a_given_folder_comes_first_then_the_local_one_then_the_cache(
    server, local, catalogue, body, tmp_path
):
    catalogue(server.address(content(body)))
    fetch("toy")
    file_of(local)

    assert fetch("toy") == local / "toy.mat"
    assert location_of("toy") == ("local", local / "toy.mat")
    assert fetch("toy", tmp_path) == tmp_path / "toy.mat"
    with pytest.raises(ValueError, match="absent is not a folder"):
        fetch("toy", tmp_path / "absent")


def test_truncated_download_is_one_sentence_and_no_file(server, cache, catalogue, body):
    address, absent = server.address(cut_at(body, 100)), server.address(status(404))
    catalogue(address, absent)
    with pytest.raises(DataUnavailableError) as caught:
        fetch("toy")
    message = str(caught.value)

    assert "\n" not in message
    assert f"{address} (IncompleteRead(100 bytes read" in message
    assert f"{absent} (HTTP 404 Not Found)" in message
    assert f"by hand to {cache / 'toy.mat'}" in message
    assert "UFSELECT_DATA" in message
    assert not (cache / "toy.mat").exists()


def test_no_address_and_no_place_for_a_cache_are_one_sentence(
    server, monkeypatch, cache, catalogue, body, tmp_path
):
    catalogue()
    with pytest.raises(DataUnavailableError, match="has no public address; make toy"):
        fetch("toy")
    catalogue(server.address(content(body)))
    monkeypatch.setenv("UFSELECT_CACHE", str(tmp_path / "toy.mat" / "cache"))
    with pytest.raises(DataUnavailableError, match="set UFSELECT_CACHE"):
        fetch("toy")


def test_cache_follows_the_standard_of_the_desktop(monkeypatch, tmp_path):
    monkeypatch.delenv("UFSELECT_CACHE", raising=False)
    home = Path.home() / ".cache"
    for value, folder in {str(tmp_path): tmp_path, "": home, "relative": home}.items():
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert cache_folder() == folder / "ufselect"


@pytest.mark.parametrize("name", ["tyo", "../toy", "toy.mat"])
def test_unknown_name_is_refused_with_a_near_one(local, catalogue, name):
    catalogue()
    file_of(local)

    with pytest.raises(ValueError, match="did you mean toy"):
        fetch(name)


def test_local_file_that_is_not_the_catalogued_one(local, catalogue, body):
    catalogue()
    (local / "toy.mat").write_bytes(body)
    assert load_set("toy").table.shape == (6, 4)
    file_of(local, scale=2.0)
    with pytest.warns(UserWarning, match="is not the catalogued file of toy") as seen:
        data = load_set("toy")
    assert data.table[0, 1] == 2.0
    assert seen[0].filename == __file__
    file_of(local, n_samples=8)
    with pytest.raises(ValueError, match="has 8 samples, 4 features and 2 classes"):
        load_set("toy")


def wanted(*addresses, size=200_000):
    checksum = f"sha256:{hashlib.sha256(BODY).hexdigest()}"
    return CataloguedSet("set", "", 1, 1, 1, checksum, "", addresses, size)


def fails_once(first):
    return one_after_the_other(first, content(BODY))


@pytest.mark.parametrize(
    ("answers", "requests"),
    [
        ([content(BODY)], 1),
        ([fails_once(status(503))], 2),
        ([fails_once(cut_at(BODY, 50_000))], 2),
        ([status(404), content(BODY)], 3),
        ([content(b"?" * 200_000), content(BODY)], 2),
    ],
    ids=["at once", "busy", "cut off", "not found", "another file"],
)
def test_an_address_is_tried_twice_and_then_the_next(
    server, tmp_path, answers, requests
):
    asked = wanted(*map(server.address, answers))

    assert download(asked, tmp_path / "set.mat") == []
    assert [path.name for path in tmp_path.iterdir()] == ["set.mat"]
    assert (tmp_path / "set.mat").read_bytes() == BODY
    assert len(server.requests) == requests


def test_a_redirect_is_followed(server, tmp_path):
    asked = wanted(server.address(redirect_to(server.address(content(BODY)))))

    assert download(asked, tmp_path / "set.mat") == []


def endless(handler):
    send(handler, 200, b"", Content_Length=None)
    while True:
        handler.wfile.write(b"?" * 100_000)


def silent(handler):
    handler.server.closing.wait(30)


def falls_silent(handler):
    send(handler, 200, BODY[:1000], Content_Length=len(BODY))
    silent(handler)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(status(404), "HTTP 404 Not Found", id="not found"),
        pytest.param(cut_at(BODY, 50_000), "IncompleteRead(50000 bytes", id="cut off"),
        pytest.param(content(b"?" * 200_000), "its checksum is not", id="another"),
        pytest.param(content(b"?"), "has 1 bytes instead of 200000", id="short"),
        pytest.param(endless, "sends more than 200000 bytes", id="endless"),
        pytest.param(silent, "no answer in time", id="silent"),
        pytest.param(falls_silent, "no answer in time", id="falls silent"),
        pytest.param(redirect_to("file:///etc/x"), "No connection", id="a file"),
        pytest.param(redirect_to("http://["), "Invalid", id="no address"),
    ],
)
def test_what_fails_is_one_reason_and_no_file(server, tmp_path, answer, reason):
    address = server.address(answer)
    (said,) = download(wanted(address), tmp_path / "set.mat")

    assert said.startswith(f"{address} (")
    assert reason in said
    assert "\n" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", ["https://nowhere.invalid/set.mat", None])
def test_no_host_and_no_certificate_are_reasons(server, tmp_path, address):
    secure = server.address(content(BODY)).replace("http:", "https:")
    (said,) = download(wanted(address or secure), tmp_path / "set.mat")

    assert ("[Errno" if address else "SSL") in said


def test_interrupted_download_leaves_nothing_and_a_closed_port_is_a_reason(tmp_path):
    def interrupt(received, total):
        raise KeyboardInterrupt

    with running_server() as closed:
        asked = wanted(closed.address(content(BODY)))
        with pytest.raises(KeyboardInterrupt):
            download(asked, tmp_path / "set.mat", progress=interrupt)
    assert "refused" in str(download(asked, tmp_path / "set.mat"))
    assert list(tmp_path.iterdir()) == []

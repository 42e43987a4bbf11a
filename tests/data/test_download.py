"""Where a set is looked for, what is downloaded, and what is read."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from data.local_server import content, cut_at, running_server, status

import ufselect.data.catalogue
from ufselect.data import DataUnavailableError, Patience, cache_folder, fetch, load_set
from ufselect.data.download import local_names, whereabouts

HASTE = Patience(timeout=5.0, attempts=2, delay=0.001)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
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


def test_set_is_downloaded_once(server, cache, catalogue, body):
    catalogue(server.address(content(body)))
    first, second = fetch("toy"), fetch("toy")

    assert first == second == cache / "toy.mat"
    assert first.read_bytes() == body
    assert len(server.requests) == 1


def test_local_folder_comes_before_the_cache(server, cache, local, catalogue, body):
    catalogue(server.address(content(body)))
    fetch("toy")
    file_of(local)

    assert fetch("toy") == local / "toy.mat"
    assert whereabouts("toy") == ("local", local / "toy.mat")


def test_folder_that_is_given_comes_before_the_variable(local, catalogue, tmp_path):
    catalogue()
    file_of(local)

    assert fetch("toy", tmp_path) == tmp_path / "toy.mat"


def test_folder_that_is_given_must_exist(tmp_path):
    with pytest.raises(ValueError, match="absent is not a folder"):
        fetch("toy", tmp_path / "absent")


def test_damaged_file_in_the_cache_is_replaced(server, cache, catalogue, body):
    catalogue(server.address(content(body)))
    fetch("toy").write_bytes(b"damaged")

    assert whereabouts("toy").place == "absent"
    assert fetch("toy").read_bytes() == body


def test_failed_download_keeps_what_the_cache_had(server, cache, catalogue):
    catalogue(server.address(status(404)))
    cache.mkdir(parents=True)
    (cache / "toy.mat").write_bytes(b"put there by hand")
    with pytest.raises(DataUnavailableError):
        fetch("toy", patience=HASTE)

    assert (cache / "toy.mat").read_bytes() == b"put there by hand"


def test_truncated_download_is_one_sentence_and_no_file(server, cache, catalogue, body):
    address, absent = server.address(cut_at(body, 100)), server.address(status(404))
    catalogue(address, absent)
    with pytest.raises(DataUnavailableError) as caught:
        fetch("toy", patience=HASTE)
    message = str(caught.value)

    assert "\n" not in message
    assert f"{address} (the connection ended at 100 of {len(body)} bytes)" in message
    assert f"{absent} (HTTP 404 Not Found)" in message
    assert f"by hand to {cache / 'toy.mat'}" in message
    assert "UFSELECT_DATA" in message
    assert not (cache / "toy.mat").exists()


def test_set_without_address_names_its_source(cache, catalogue):
    catalogue()

    with pytest.raises(DataUnavailableError, match="has no public address; make toy"):
        fetch("toy")


def test_cache_that_cannot_be_made_names_the_variable(
    server, monkeypatch, cache, catalogue, body, tmp_path
):
    catalogue(server.address(content(body)))
    monkeypatch.setenv("UFSELECT_CACHE", str(tmp_path / "toy.mat" / "cache"))

    with pytest.raises(DataUnavailableError, match="set UFSELECT_CACHE"):
        fetch("toy")


def test_cache_follows_the_standard_of_the_desktop(monkeypatch, tmp_path):
    monkeypatch.delenv("UFSELECT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    assert cache_folder() == tmp_path / "ufselect"


@pytest.mark.parametrize("value", ["", "relative"])
def test_cache_is_in_the_home_otherwise(monkeypatch, value):
    monkeypatch.delenv("UFSELECT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", value)

    assert cache_folder() == Path.home() / ".cache" / "ufselect"


@pytest.mark.parametrize("name", ["tyo", "../toy", "toy.mat"])
def test_unknown_name_is_refused_with_a_near_one(local, catalogue, name):
    catalogue()
    file_of(local)

    with pytest.raises(ValueError, match="did you mean toy"):
        fetch(name)


def test_local_file_loads_by_its_name(local):
    scipy.io.savemat(local / "mine.mat", {"X": np.eye(3), "Y": [1, 2, 3]})
    data = load_set("mine")

    assert local_names() == ["mine"]
    assert data.name == "mine"
    assert np.array_equal(data.table, np.eye(3))


def test_downloaded_set_is_read(server, cache, catalogue, body):
    catalogue(server.address(content(body)))
    data = load_set("toy")

    assert data.table.shape == (6, 4)
    assert data.classes.tolist() == [0, 1, 0, 1, 0, 1]


def test_progress_of_a_download_is_passed_on(server, cache, catalogue, body):
    catalogue(server.address(content(body)))
    seen = []
    load_set("toy", progress=lambda *numbers: seen.append(numbers))

    assert seen[-1] == (len(body), len(body))


def test_catalogued_local_file_loads_without_a_warning(local, catalogue, body):
    catalogue()
    (local / "toy.mat").write_bytes(body)

    assert load_set("toy").table.shape == (6, 4)


def test_local_file_of_the_same_shape_is_used_with_a_warning(local, catalogue):
    catalogue()
    file_of(local, scale=2.0)
    with pytest.warns(UserWarning, match="is not the catalogued file of toy") as seen:
        data = load_set("toy")

    assert data.table[0, 1] == 2.0
    assert seen[0].filename == __file__


def test_local_file_of_another_shape_is_refused(local, catalogue):
    catalogue()
    file_of(local, n_samples=8)

    with pytest.raises(ValueError, match="has 8 samples, 4 features and 2 classes"):
        load_set("toy")

"""Downloads from a real server that misbehaves in every way it can."""

import hashlib
import os
import threading
import time

import numpy as np
import pytest
from data.local_server import (
    content,
    cut_at,
    one_after_the_other,
    redirect_to,
    running_server,
    send,
    status,
    without_ranges,
)

from ufselect.data import CataloguedSet, Patience
from ufselect.data.transfer import transfer

BODY = np.random.default_rng(0).bytes(200_000)
HASTE = Patience(timeout=5.0, longest=20.0, attempts=3, delay=0.001)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with running_server() as local:
        yield local


def wanted(*addresses, size=200_000):
    checksum = f"sha256:{hashlib.sha256(BODY).hexdigest()}"
    return CataloguedSet("set", "", 1, 1, 1, checksum, "", addresses, size)


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_file_gets_its_name_and_nothing_else_is_left(server, tmp_path):
    reasons = transfer(wanted(server.address(content(BODY))), tmp_path / "set.mat")

    assert reasons == []
    assert files_in(tmp_path) == ["set.mat"]
    assert (tmp_path / "set.mat").read_bytes() == BODY


def test_file_of_unknown_size_is_known_by_its_git_blob_id(server, tmp_path):
    header = f"blob {len(BODY)}\0".encode()
    blob = hashlib.sha1(header + BODY).hexdigest()
    address = server.address(content(BODY))
    entry = wanted(address, size=None)._replace(checksum=f"git-blob:{blob}")

    assert transfer(entry, tmp_path / "set.mat") == []
    assert (tmp_path / "set.mat").read_bytes() == BODY


def test_progress_rises_to_the_whole(server, tmp_path):
    seen = []
    transfer(
        wanted(server.address(content(BODY))),
        tmp_path / "set.mat",
        progress=lambda received, total: seen.append((received, total)),
    )
    received = [pair[0] for pair in seen]

    assert received == sorted(set(received))
    assert seen[-1] == (len(BODY), len(BODY))
    assert len(seen) > 1


def test_part_of_an_earlier_download_is_resumed(server, tmp_path):
    (tmp_path / "set.mat.part").write_bytes(BODY[:120_000])
    reasons = transfer(wanted(server.address(content(BODY))), tmp_path / "set.mat")

    assert reasons == []
    assert server.ranges() == ["bytes=120000-"]
    assert (tmp_path / "set.mat").read_bytes() == BODY
    assert files_in(tmp_path) == ["set.mat"]


def test_broken_connection_is_resumed_within_one_download(server, tmp_path):
    answer = one_after_the_other(cut_at(BODY, 50_000), content(BODY))
    reasons = transfer(wanted(server.address(answer)), tmp_path / "set.mat", HASTE)

    assert reasons == []
    assert server.ranges() == [None, "bytes=50000-"]
    assert (tmp_path / "set.mat").read_bytes() == BODY


def test_server_without_ranges_is_read_from_the_start(server, tmp_path):
    (tmp_path / "set.mat.part").write_bytes(BODY[:120_000])
    address = server.address(without_ranges(BODY))

    assert transfer(wanted(address), tmp_path / "set.mat", HASTE) == []
    assert (tmp_path / "set.mat").read_bytes() == BODY


def test_complete_part_needs_no_request(server, tmp_path):
    (tmp_path / "set.mat.part").write_bytes(BODY)
    reasons = transfer(wanted(server.address(content(BODY))), tmp_path / "set.mat")

    assert reasons == []
    assert server.requests == []
    assert files_in(tmp_path) == ["set.mat"]


@pytest.mark.parametrize("left", [b"?" * 1000, b"?" * len(BODY), b"?" * 300_000])
def test_part_of_another_content_is_thrown_away(server, tmp_path, left):
    (tmp_path / "set.mat.part").write_bytes(left)
    address = server.address(content(BODY))

    assert transfer(wanted(address), tmp_path / "set.mat", HASTE) == []
    assert (tmp_path / "set.mat").read_bytes() == BODY
    assert files_in(tmp_path) == ["set.mat"]


def test_truncated_download_leaves_only_a_part(server, tmp_path):
    address = server.address(cut_at(BODY, 50_000))
    (reason,) = transfer(wanted(address), tmp_path / "set.mat", HASTE)

    assert reason == f"{address} (the connection ended at 50000 of 200000 bytes)"
    assert len(server.requests) == HASTE.attempts
    assert files_in(tmp_path) == ["set.mat.part"]
    assert (tmp_path / "set.mat.part").read_bytes() == BODY[:50_000]


@pytest.mark.parametrize("size", [None, len(BODY)])
def test_wrong_content_is_deleted_and_not_asked_for_again(server, tmp_path, size):
    wrong = BODY[:-1] + b"?"
    entry = wanted(server.address(content(wrong)), size=size)
    (reason,) = transfer(entry, tmp_path / "set.mat", HASTE)

    assert "another checksum" in reason
    assert len(server.requests) == 1
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("length", [10, 200_001])
def test_announced_size_is_compared_before_reading(server, tmp_path, length):
    entry = wanted(server.address(content(b"?" * length)))
    (reason,) = transfer(entry, tmp_path / "set.mat", HASTE)

    assert f"has {length} bytes instead of 200000" in reason
    assert files_in(tmp_path) == []


def test_no_more_bytes_are_read_than_the_catalogue_says(server, tmp_path):
    def endless(handler, start):
        send(handler, 200, b"", Content_Length=None)
        while not server.closing.is_set():
            handler.wfile.write(b"?" * 100_000)

    (reason,) = transfer(wanted(server.address(endless)), tmp_path / "set.mat", HASTE)

    assert "sends more than 200000 bytes" in reason
    assert files_in(tmp_path) == []


def test_address_without_the_file_is_asked_once_and_the_next_is_tried(server, tmp_path):
    absent = server.address(status(404))
    present = server.address(content(BODY))
    reasons = transfer(wanted(absent, present), tmp_path / "set.mat", HASTE)

    assert reasons == []
    assert len(server.requests) == 2


def test_part_from_one_address_is_completed_from_the_next(server, tmp_path):
    cut = server.address(cut_at(BODY, 50_000))
    whole = server.address(content(BODY))

    assert transfer(wanted(cut, whole), tmp_path / "set.mat", HASTE) == []
    assert server.ranges()[-1] == "bytes=50000-"
    assert (tmp_path / "set.mat").read_bytes() == BODY


@pytest.mark.parametrize("code", [429, 500, 503])
def test_passing_fault_is_tried_again(server, tmp_path, code):
    answer = one_after_the_other(status(code), content(BODY))

    assert transfer(wanted(server.address(answer)), tmp_path / "set.mat", HASTE) == []
    assert len(server.requests) == 2


def test_every_address_is_named_with_its_reason(server, tmp_path):
    first, second = server.address(status(404)), server.address(status(503))
    reasons = transfer(wanted(first, second), tmp_path / "set.mat", HASTE)

    assert reasons == [
        f"{first} (HTTP 404 Not Found)",
        f"{second} (HTTP 503 Service Unavailable)",
    ]


def test_port_without_server_is_a_reason(tmp_path):
    with running_server() as closed:
        address = closed.address(content(BODY))
    (reason,) = transfer(wanted(address), tmp_path / "set.mat", HASTE)

    assert reason.startswith(address)
    assert "refused" in reason


@pytest.fixture
def never_sleeping(monkeypatch):
    def complain(seconds):
        raise AssertionError("waited before another attempt")

    monkeypatch.setattr("ufselect.data.transfer.time.sleep", complain)


def test_being_offline_is_not_waited_out(tmp_path, never_sleeping):
    # A name that is reserved for never being found.
    address = "https://nowhere.invalid/set.mat"
    (reason,) = transfer(wanted(address), tmp_path / "set.mat", HASTE)

    assert reason.startswith(f"{address} ([Errno")


def test_answer_that_is_not_encrypted_is_refused(server, tmp_path, never_sleeping):
    address = server.address(content(BODY)).replace("http:", "https:")
    (reason,) = transfer(wanted(address), tmp_path / "set.mat", HASTE)

    assert "SSL" in reason
    assert server.requests == []


def test_silent_server_is_given_up(server, tmp_path):
    address = server.address(lambda handler, start: server.closing.wait(30))
    patience = Patience(timeout=0.05, attempts=2, delay=0.001)
    (reason,) = transfer(wanted(address), tmp_path / "set.mat", patience)

    assert "no answer within 0.05 seconds" in reason
    assert len(server.requests) == 2


def test_server_that_falls_silent_is_given_up_and_its_part_kept(server, tmp_path):
    def falls_silent(handler, start):
        send(handler, 200, BODY[:1000], Content_Length=len(BODY))
        server.closing.wait(30)

    address = server.address(falls_silent)
    patience = Patience(timeout=0.2, attempts=1)
    (reason,) = transfer(wanted(address), tmp_path / "set.mat", patience)

    assert "no answer within 0.2 seconds" in reason
    assert (tmp_path / "set.mat.part").read_bytes() == BODY[:1000]


def test_server_that_trickles_is_given_up(server, tmp_path):
    def trickle(handler, start):
        send(handler, 200, b"", Content_Length=len(BODY))
        for index in range(len(BODY)):
            handler.wfile.write(BODY[index : index + 1])
            if server.closing.wait(0.005):
                break

    patience = Patience(timeout=5.0, longest=0.1)
    entry = wanted(server.address(trickle))
    (reason,) = transfer(entry, tmp_path / "set.mat", patience)

    assert "was not done in 0.1 seconds" in reason
    assert len(server.requests) == 1


def test_redirect_within_the_machine_is_followed(server, tmp_path):
    address = server.address(redirect_to(server.address(content(BODY))))

    assert transfer(wanted(address), tmp_path / "set.mat", HASTE) == []


@pytest.mark.parametrize(
    ("goal", "complaint"),
    [
        ("http://example.invalid/set.mat", "which is not https"),
        ("http://127.0.0.1.example.invalid/set.mat", "which is not https"),
        ("ftp://127.0.0.1/set.mat", "which is not https"),
        ("file:///etc/hostname", "HTTP 302"),
        ("http://[", "malformed"),
    ],
)
def test_redirect_to_anything_but_https_is_refused(server, tmp_path, goal, complaint):
    entry = wanted(server.address(redirect_to(goal)))
    (reason,) = transfer(entry, tmp_path / "set.mat", HASTE)

    assert complaint in reason
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "address", ["http://example.invalid/a", "ftp://127.0.0.1/a", "file:///etc/hostname"]
)
def test_address_must_be_https(tmp_path, address):
    reasons = transfer(wanted(address), tmp_path / "set.mat", HASTE)

    assert reasons == [f"{address} (is not an https address)"]


def test_range_that_was_not_asked_for_is_refused(server, tmp_path):
    (tmp_path / "set.mat.part").write_bytes(BODY[:1000])
    address = server.address(
        lambda handler, start: send(
            handler, 206, BODY[7:], Content_Range="bytes 7-199999/200000"
        )
    )
    (reason,) = transfer(wanted(address), tmp_path / "set.mat", HASTE)

    assert "a range that was not asked for" in reason
    assert (tmp_path / "set.mat.part").read_bytes() == BODY[:1000]


def test_downloads_at_the_same_time_do_not_disturb_each_other(server, tmp_path):
    (tmp_path / "set.mat.part").write_bytes(BODY[:1000])
    entry = wanted(server.address(content(BODY)))
    together = threading.Barrier(4)
    outcomes = []

    def download():
        together.wait()
        outcomes.append(transfer(entry, tmp_path / "set.mat", HASTE))

    threads = [threading.Thread(target=download) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert outcomes == [[]] * 4
    assert server.ranges().count("bytes=1000-") == 1
    assert (tmp_path / "set.mat").read_bytes() == BODY
    assert files_in(tmp_path) == ["set.mat"]


def test_part_of_a_living_download_is_left_alone(server, tmp_path):
    (tmp_path / "set.mat.0123.part").write_bytes(BODY[:1000])
    transfer(wanted(server.address(content(BODY))), tmp_path / "set.mat")

    assert server.ranges() == [None]
    assert files_in(tmp_path) == ["set.mat", "set.mat.0123.part"]


def test_part_of_a_killed_download_is_resumed(server, tmp_path):
    orphan = tmp_path / "set.mat.0123.part"
    orphan.write_bytes(BODY[:1000])
    yesterday = time.time() - 86_400
    os.utime(orphan, (yesterday, yesterday))
    transfer(wanted(server.address(content(BODY))), tmp_path / "set.mat")

    assert server.ranges() == ["bytes=1000-"]
    assert files_in(tmp_path) == ["set.mat"]


def test_interrupted_download_keeps_its_part(server, tmp_path):
    def interrupt(received, total):
        raise KeyboardInterrupt

    entry = wanted(server.address(content(BODY)))
    with pytest.raises(KeyboardInterrupt):
        transfer(entry, tmp_path / "set.mat", progress=interrupt)

    assert files_in(tmp_path) == ["set.mat.part"]
    assert BODY.startswith((tmp_path / "set.mat.part").read_bytes())

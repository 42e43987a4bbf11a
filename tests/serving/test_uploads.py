import asyncio
import errno

import pytest

from ufselect.serving.refusal import Refusal
from ufselect.serving.uploads import GIVEN, Uploads


async def in_pieces(*pieces):
    for piece in pieces:
        yield piece


async def at_once(function, *arguments):
    return function(*arguments)


def receive(uploads, name, *pieces, write=at_once):
    return asyncio.run(uploads.receive(name, in_pieces(*pieces), write))


def everything_in(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_table_is_stored_under_a_name_of_ours(tmp_path):
    uploads = Uploads(tmp_path, 100)
    source = receive(uploads, "../../My genes.CSV", b"a,b\n", b"1,2\n")

    assert source.path.read_bytes() == b"a,b\n1,2\n"
    assert source.path.parents[1] == tmp_path
    assert (source.path.name, source.name, source.size) == (
        *("table.csv", "My genes.CSV"),
        8,
    )
    assert uploads.find(source.identity) is source


def test_the_limit_holds_while_bytes_come_and_nothing_stays(tmp_path):
    uploads = Uploads(tmp_path, 100)
    with pytest.raises(Refusal, match=r"a\.csv is larger than 100 bytes") as caught:
        receive(uploads, "a.csv", *[b"x" * 60] * 5)

    assert caught.value.status == 413
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_sentence_and_nothing_stays(tmp_path):
    async def full(function, *arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    uploads = Uploads(tmp_path, 100)
    with pytest.raises(Refusal, match=r"no room for a\.csv; make room") as caught:
        receive(uploads, "a.csv", b"a", write=full)

    assert caught.value.status == 507
    assert list(tmp_path.iterdir()) == []


def test_an_upload_that_breaks_off_leaves_nothing(tmp_path):
    async def pieces():
        yield b"a,b\n"
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(Uploads(tmp_path, 100).receive("a.csv", pieces(), at_once))

    assert list(tmp_path.iterdir()) == []


def test_the_oldest_tables_make_way_but_none_that_is_used(tmp_path):
    given = tmp_path / "given.csv"
    given.write_bytes(b"x" * 500)
    folder = tmp_path / "uploads"
    folder.mkdir()
    uploads = Uploads(folder, 100, given)
    used, old, new = (
        receive(uploads, f"{name}.csv", b"x" * 60) for name in ("used", "old", "new")
    )
    uploads.forget({used.identity})

    assert sorted(everything_in(folder)) == sorted([used.path, new.path])
    assert given.exists()
    assert uploads.find(GIVEN).path == given
    with pytest.raises(Refusal, match="no longer kept"):
        uploads.find(old.identity)


@pytest.mark.parametrize("identity", [None, 7, "", "../x", ["given"], "given"])
def test_other_names_find_nothing(tmp_path, identity):
    with pytest.raises(Refusal) as caught:
        Uploads(tmp_path, 100).find(identity)

    assert caught.value.status == 404

"""Tables that are sent: their names, their limit, and what stays of them."""

import asyncio
import errno

import pytest

from ufselect.data.tables.detection import EXTENSIONS
from ufselect.serving.uploads import (
    GIVEN,
    Refusal,
    Uploads,
    selected_name,
    shown_name,
    stored_name,
    suggested_name,
)

HOSTILE = ["../../etc/passwd.csv", "/etc/cron.d/x.csv", "C:\\Windows\\x.csv", "x\0.csv"]
HOSTILE += ["x\n\r\t.csv", "a.csv/../../b.csv", "-o.csv", "CON.csv", "~root/.csv"]


def test_of_a_name_only_its_end_is_kept_and_it_is_shown_in_one_line():
    for name in (*HOSTILE, "x" * 5000 + ".csv"):
        shown = shown_name(name)
        assert stored_name(name) == "table.csv"
        assert shown.isprintable()
        assert not set(shown) & set("/\\")
        assert 0 < len(shown) < 200
    for ending in EXTENSIONS:
        assert stored_name(f"My table{ending.upper()}") == f"table{ending}"
        assert stored_name(f"a.b{ending}.gz") == f"table{ending}.gz"
    for name in ("", "table", "table.exe", "csv", ".gz", "a.csv.rar"):
        with pytest.raises(Refusal, match=r"one of \.csv, \.tsv") as caught:
            stored_name(name)
        assert caught.value.status_code == 415
    assert suggested_name("dir/Männer & Frauen.TSV.gz", "selected.tsv.gz") == (
        "Männer & Frauen.selected.tsv.gz"
    )
    assert selected_name("macros.xlsm") == "selected.xlsx"
    assert selected_name("no ending") == "selected"


async def in_pieces(*pieces):
    for piece in pieces:
        yield piece


async def at_once(function, *arguments):
    return function(*arguments)


def receive(uploads, name, *pieces, write=at_once):
    return asyncio.run(uploads.receive(name, in_pieces(*pieces), write))


def test_what_is_too_large_full_or_broken_off_leaves_nothing(tmp_path):
    async def full(function, *arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    async def broken():
        yield b"a,b\n"
        raise asyncio.CancelledError

    uploads = Uploads(tmp_path, 100)
    with pytest.raises(Refusal, match=r"a\.csv is larger than 100 bytes") as large:
        receive(uploads, "a.csv", *[b"x" * 60] * 5)
    with pytest.raises(Refusal, match=r"no space left for a\.csv") as full_disk:
        receive(uploads, "a.csv", b"a", write=full)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(uploads.receive("a.csv", broken(), at_once))

    assert (large.value.status_code, full_disk.value.status_code) == (413, 507)
    assert list(tmp_path.iterdir()) == []


def test_tables_get_names_of_ours_and_the_oldest_make_way_but_none_in_use(tmp_path):
    given = tmp_path / "given.csv"
    given.write_bytes(b"x" * 500)
    folder = tmp_path / "uploads"
    folder.mkdir()
    uploads = Uploads(folder, 100, given)
    used, old, new = (
        receive(uploads, f"../../{name}.CSV", b"a,b\n", b"x" * 60)
        for name in ("used", "old", "new")
    )
    uploads.forget({used.identity})

    assert new.path.read_bytes() == b"a,b\n" + b"x" * 60
    assert new.path.parents[1] == folder
    assert (new.path.name, new.name, new.size) == ("table.csv", "new.CSV", 64)
    assert uploads.find(new.identity) is new
    kept = [path for path in folder.rglob("*") if path.is_file()]
    assert sorted(kept) == sorted([used.path, new.path])
    assert given.exists()
    assert uploads.find(GIVEN).path == given
    with pytest.raises(Refusal, match="no longer kept"):
        uploads.find(old.identity)
    for identity in (None, 7, "", "../x", ["given"]):
        with pytest.raises(Refusal) as caught:
            uploads.find(identity)
        assert caught.value.status_code == 404

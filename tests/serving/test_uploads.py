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

HOSTILE = [
    "../../etc/passwd.csv",
    "/etc/cron.d/x.csv",
    "C:\\Windows\\x.csv",
    "x\0.csv",
    "x\n\r\t.csv",
    "a.csv/../../b.csv",
    "-o.csv",
    "CON.csv",
    "~root/.csv",
    "x" * 5000 + ".csv",
]


def test_every_known_format_is_taken_in_upper_case_and_compressed():
    for ending in EXTENSIONS:
        assert stored_name(f"My table{ending.upper()}") == f"table{ending}"
        assert stored_name(f"a.b{ending}.gz") == f"table{ending}.gz"


def test_other_names_are_refused_with_those_that_are_known():
    for name in ("", "table", "table.exe", "csv", ".gz", "a.csv.zip"):
        with pytest.raises(Refusal, match=r"one of \.csv, \.tsv") as caught:
            stored_name(name)
        assert caught.value.status == 415


@pytest.mark.parametrize("name", HOSTILE)
def test_of_a_name_only_its_end_is_kept_and_it_is_shown_in_one_line(name):
    shown = shown_name(name)

    assert stored_name(name) == "table.csv"
    assert shown.isprintable()
    assert not set(shown) & set("/\\")
    assert 0 < len(shown) < 200


def test_results_are_called_after_their_table():
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


def test_other_names_find_nothing(tmp_path):
    for identity in (None, 7, "", "../x", ["given"], "given"):
        with pytest.raises(Refusal) as caught:
            Uploads(tmp_path, 100).find(identity)
        assert caught.value.status == 404

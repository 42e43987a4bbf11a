"""Rows are found page by page, however little is left of a file."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from ufselect.experiments.pages import Trust, rows_in

TABLES = """
CREATE TABLE long (key TEXT PRIMARY KEY, number INTEGER, content BLOB, ratio REAL);
CREATE TABLE short (key TEXT, name TEXT, place INTEGER, reason TEXT, ratio REAL,
    PRIMARY KEY (key, name)) WITHOUT ROWID;
"""
KEY = 32
LENGTHS = (0, 1, 50, 3000, 4060, 4061, 5000, 8192, 20_000)


def make(path, number=150):
    """Write rows of all lengths in two kinds of tables, and return them."""
    random = np.random.default_rng(0)
    keys = [random.bytes(16).hex() for _ in range(number)]
    numbers = [0, 1, -1, 200, -40_000, 2**23, -(2**31), 2**40, 2**62, None]
    long = [
        (key, numbers[i % 10], random.bytes(LENGTHS[i % 9]), random.normal())
        for i, key in enumerate(keys)
    ]
    short = [
        (key, "ä", i, "why" * (i % 7) * 100 or None, random.normal())
        for i, key in enumerate(keys)
    ]
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(TABLES)
    with connection:
        connection.executemany("INSERT INTO long VALUES (?, ?, ?, ?)", long)
        connection.executemany("INSERT INTO short VALUES (?, ?, ?, ?, ?)", short)
    return connection, set(long), set(short)


def found_in(content, journal=b""):
    """Return our own rows to which a page points, not those of indexes."""
    rows = [
        row.values for row in rows_in(content, journal) if row.trust == Trust.POINTED_TO
    ]
    return {row for row in rows if len(row) > 2 and len(str(row[0])) == KEY}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "file.sqlite"
    connection, long, short = make(path)
    connection.close()
    return path.read_bytes(), long, short


def test_all_rows_of_a_whole_file_are_found(file):
    content, long, short = file

    assert found_in(content) == long | short


def test_rows_that_are_in_the_journal_only_are_found(tmp_path):
    path = tmp_path / "file.sqlite"
    connection, long, short = make(path, 60)
    with closing(connection):
        content = path.read_bytes()
        journal = (tmp_path / "file.sqlite-wal").read_bytes()

    assert not found_in(content) & long
    assert found_in(content, journal) == long | short


def test_rows_are_numbered_in_the_order_in_which_they_came(file):
    content, long, _ = file
    rows = [
        row
        for row in rows_in(content)
        if row.trust == Trust.POINTED_TO and row.values in long
    ]

    assert sorted(row.number for row in rows) == list(range(1, len(long) + 1))


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.999])
def test_what_is_cut_off_takes_nothing_else_with_it(file, share):
    content, long, short = file
    left = content[: int(share * len(content))]
    # A blob that is on the page of its row stands for it.
    whole = {row for row in long if len(row[2]) in (50, 3000) and row[2] in left}

    assert whole <= found_in(left) <= long | short


def test_rows_are_found_on_a_page_that_has_lost_its_pointers(file):
    content, long, _ = file
    damaged = bytearray(content)
    for start in range(4096, len(content), 4096):
        if damaged[start] in (10, 13):
            damaged[start] = 99
    found = {
        row.values
        for row in rows_in(bytes(damaged))
        if row.trust == Trust.ON_A_DAMAGED_PAGE
    }

    assert not found_in(bytes(damaged)) & long
    assert long <= found


def test_noise_has_no_rows_and_no_end_of_it_is_waited_for():
    random = np.random.default_rng(0)
    noise = bytes(random.choice([2, 10, 13, 77, 129, 255], 40_960).astype(np.uint8))

    assert len(rows_in(noise)) < 100


def test_a_file_of_nothing_has_no_rows():
    assert rows_in(b"") == []

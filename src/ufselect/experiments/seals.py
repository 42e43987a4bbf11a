"""Seals of what a store holds: a value that changed by itself is noticed.

SQLite notices when the structure of a file is damaged, not when a number in it is.
Every ranking has a seal, a hash of its row, and so has every judgement, of its scores.
"""

import hashlib
import sqlite3
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from ufselect.experiments.cells import digest

Row = tuple[Any, ...]

RANKINGS = "SELECT * FROM rankings"
SCORES = "SELECT ranking, judge, features, metric, repetition, value FROM scores"
ORDERED = " ORDER BY ranking, judge, features, metric, repetition"
JUDGEMENTS = "SELECT ranking, judge, status, reason, seal FROM judgements"


def seal_of(*parts: Any) -> str:
    """Return a hash of values as SQLite returns them."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def seal_ranking(connection: sqlite3.Connection, key: str) -> None:
    """Seal a ranking as it is in the store."""
    row = connection.execute(f"{RANKINGS} WHERE key = ?", [key]).fetchone()
    change = "UPDATE rankings SET seal = ? WHERE key = ?"
    connection.execute(change, [seal_of(row[:-1]), key])


def seal_judgement(connection: sqlite3.Connection, key: str, judge: str) -> None:
    """Seal a judgement and its scores as they are in the store."""
    which = " WHERE ranking = ? AND judge = ?"
    scores = connection.execute(f"{SCORES}{which}{ORDERED}", [key, judge]).fetchall()
    row = connection.execute(f"{JUDGEMENTS}{which}", [key, judge]).fetchone()
    change = f"UPDATE judgements SET seal = ?{which}"
    connection.execute(change, [seal_of(row[:-1], scores), key, judge])


def seal_everything(connection: sqlite3.Connection) -> None:
    """Seal what an older version has written."""
    for (key,) in connection.execute("SELECT key FROM rankings").fetchall():
        seal_ranking(connection, key)
    query = "SELECT ranking, judge FROM judgements"
    for key, judge in connection.execute(query).fetchall():
        seal_judgement(connection, key, judge)


def broken_seals(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield a phrase for everything that is not as it was written."""
    for row in connection.execute(RANKINGS):
        if not is_intact(row):
            yield f"a ranking of {row[4]} on {row[1]} is not what was written"
    judged = {tuple(row[:2]): row for row in connection.execute(JUDGEMENTS)}
    by_judgement = groupby(connection.execute(SCORES + ORDERED), itemgetter(0, 1))
    for pair, rows in by_judgement:
        row = judged.pop(pair, None)
        if row is None or row[-1] != seal_of(row[:-1], list(rows)):
            yield "some scores are not what was written"
    # What is left has no scores: a judgement that failed, or one that lost them.
    for row in judged.values():
        if row[-1] != seal_of(row[:-1], []):
            yield "some scores are missing"
    for key, content in connection.execute("SELECT key, content FROM plans"):
        if key != digest([content]):
            yield "a plan is not what was written"


def in_one_line(text: object) -> str:
    """Return a text without line breaks, which damage may bring into any text."""
    return " ".join(str(text).split())


def is_intact(row: Row) -> bool:
    """Say whether a ranking, with all its columns, is what was written."""
    return bool(row[-1] == seal_of(row[:-1]))

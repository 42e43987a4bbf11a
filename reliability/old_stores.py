"""Stores as older versions of ufselect have made them."""

import sqlite3
from contextlib import closing
from pathlib import Path

VERSION_1 = """
CREATE TABLE rankings (
    key TEXT PRIMARY KEY,
    set_name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    preparation TEXT NOT NULL,
    selector TEXT NOT NULL,
    parameters TEXT NOT NULL,
    seed INTEGER NOT NULL,
    before TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    feature_order BLOB,
    objective REAL,
    history BLOB,
    seconds REAL,
    peak_memory INTEGER
);
CREATE TABLE scores (
    ranking TEXT NOT NULL REFERENCES rankings (key),
    judge TEXT NOT NULL,
    features INTEGER NOT NULL,
    metric TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (ranking, judge, features, metric, repetition)
) WITHOUT ROWID;
CREATE TABLE claims (cell TEXT PRIMARY KEY, owner TEXT NOT NULL);
PRAGMA application_id = 1969648485;
PRAGMA user_version = 1;
"""
PLANS = """
CREATE TABLE IF NOT EXISTS plans (
    key TEXT PRIMARY KEY,
    judge TEXT NOT NULL,
    content TEXT NOT NULL
);
INSERT INTO plans SELECT * FROM newer.plans ORDER BY rowid;
"""
CONTENT = """
INSERT INTO rankings SELECT key, set_name, fingerprint, preparation, selector,
    parameters, seed, before, status, reason, feature_order, objective, history,
    seconds, peak_memory FROM newer.rankings ORDER BY rowid;
INSERT INTO scores SELECT * FROM newer.scores;
"""


def make_version_1(path: Path, *, plans: bool = True) -> None:
    """Turn a store into what the first version would have made of the same cells.

    At first that version kept no plans.
    """
    older = path.with_name(f"{path.name}.older")
    with closing(sqlite3.connect(older)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("ATTACH ? AS newer", [str(path)])
        connection.executescript(VERSION_1 + CONTENT + (PLANS if plans else ""))
        connection.execute("DETACH newer")
    older.replace(path)

"""The tables of a store, and how those of older versions become these."""

import sqlite3

from ufselect.experiments.records import TABLE as PLANS
from ufselect.experiments.seals import broken_seals, in_one_line, seal_everything

# Tells our files from other people's SQLite files: "ufse" in ASCII.
APPLICATION = 0x75667365
SCHEMA_VERSION = 2
# Before it, nothing told whether a value is the one that was written.
SEALED_SINCE = 2
# What reading a damaged file raises: a message that quotes damaged text is no text.
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
JUDGEMENTS = """
CREATE TABLE judgements (
    ranking TEXT NOT NULL REFERENCES rankings (key),
    judge TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    seal TEXT,
    PRIMARY KEY (ranking, judge)
) WITHOUT ROWID
"""
SCHEMA = f"""
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
    peak_memory INTEGER,
    seal TEXT
);
{JUDGEMENTS};
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
{PLANS}
"""
FROM_VERSION_1 = f"""
ALTER TABLE rankings ADD COLUMN seal TEXT;
{JUDGEMENTS};
INSERT INTO judgements SELECT DISTINCT ranking, judge, 'done', NULL, NULL FROM scores;
{PLANS}
"""


def create(connection: sqlite3.Connection) -> None:
    """Make the tables, within the transaction of the caller."""
    _execute(connection, SCHEMA)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def migrate(connection: sqlite3.Connection) -> None:
    """Make an older store one of this version, within the caller's transaction."""
    if version_of(connection) == 1:
        _execute(connection, FROM_VERSION_1)
        seal_everything(connection)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of an open store."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def problem_with(connection: sqlite3.Connection) -> str | None:
    """Say why a database that has tables is none of our stores, or return None."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION:
        return "is a database of another program; choose another store"
    version = version_of(connection)
    if version > SCHEMA_VERSION:
        return (
            f"has version {version} of the store and this ufselect knows those up to "
            f"{SCHEMA_VERSION}; update ufselect, or choose another store"
        )
    return None


def damage_of(connection: sqlite3.Connection) -> str | None:
    """Say what is wrong with the content of one of our stores, or return None.

    Damage that SQLite notices on the way is an error of SQLite.
    """
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        return in_one_line(found.removeprefix("*** in database main ***"))
    if version_of(connection) < SEALED_SINCE:
        return None
    try:
        return next(broken_seals(connection), None)
    except sqlite3.OperationalError as error:
        # Of the module, not of SQLite, which does not look at texts.
        if "decode" in str(error):
            return "a text is not what was written"
        raise


def _execute(connection: sqlite3.Connection, statements: str) -> None:
    # Not executescript, which would end the transaction.
    for statement in statements.split(";"):
        connection.execute(statement)

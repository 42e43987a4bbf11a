"""Who is at work on a store: an owner lives exactly as long as its process.

An owner holds a lock on a file beside the store. The operating system takes the lock
away when the process ends, however it ends, so that a run that was killed leaves no
claims that somebody must wait for. SQLite is used for the lock because it locks files
in the same way on every system.

Between its creation and its lock a file looks like one of a dead owner: callers hold
the store for writing while they make an owner or ask for one.
"""

import glob
import sqlite3
import uuid
from pathlib import Path


class Owner:
    """A name that is alive until the process ends or ``close`` is called."""

    def __init__(self, store: Path) -> None:
        self.name = uuid.uuid4().hex
        self._path = lock_path(store, self.name)
        self._lock = _locked(self._path)

    def close(self) -> None:
        """End; the lock file goes too."""
        self._lock.close()
        self._path.unlink(missing_ok=True)


def is_alive(store: Path, name: str) -> bool:
    """Say whether the owner is at work; the lock file of a dead one is removed."""
    path = lock_path(store, name)
    if not path.exists():
        return False
    try:
        _locked(path).close()
    except sqlite3.OperationalError:
        return True
    path.unlink(missing_ok=True)
    return False


def living(store: Path) -> list[str]:
    """Return who is at work; what owners that were killed have left is removed."""
    paths = store.parent.glob(f"{glob.escape(store.name)}.*.lock")
    names = [path.name.split(".")[-2] for path in paths]
    return [name for name in names if is_alive(store, name)]


def lock_path(store: Path, name: str) -> Path:
    """Return where the lock of an owner is."""
    return store.with_name(f"{store.name}.{name}.lock")


def _locked(path: Path) -> sqlite3.Connection:
    # Runners call from the threads of joblib, one at a time.
    connection = sqlite3.connect(
        path, timeout=0, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        connection.close()
        raise
    return connection

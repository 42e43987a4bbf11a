"""What a server is told when it starts."""

from dataclasses import dataclass
from pathlib import Path

GIGABYTE = 10**9


@dataclass(frozen=True)
class Settings:
    """What a server offers, and how much it takes.

    Attributes
    ----------
    file : path, optional
        A table to offer at once. It is read where it is.
    port : int
        0 is any that is free.
    max_upload : int
        Bytes of the largest table that is taken, and of all that are kept for later.
    n_jobs : int
        Runs at once; others wait.
    max_runs : int
        Runs that are kept; the oldest makes way for a new one.

    Examples
    --------
    >>> Settings(max_upload=10**6).n_jobs
    2
    """

    file: Path | None = None
    port: int = 0
    max_upload: int = 2 * GIGABYTE
    n_jobs: int = 2
    max_runs: int = 20

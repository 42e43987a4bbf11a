"""One file from one of several addresses: resumed, limited, verified, then named."""

import glob
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.error import HTTPError, URLError

from ufselect.data.catalogue import CataloguedSet
from ufselect.data.checksums import has_checksum
from ufselect.data.https import RefusedError, first_byte, length_of, open_address

# Called with the bytes that are there and the bytes in all, if the latter is known.
Progress = Callable[[int, int | None], None]

CHUNK = 1 << 16
# For the sets whose size the catalogue does not know.
MOST_BYTES = 1 << 26
# A download that lives writes more often, so that a part this old has no owner.
ABANDONED_SECONDS = 3600


class Patience(NamedTuple):
    """How long a download is waited for, in seconds, and how often it is tried.

    ``timeout`` is for each sign of life, ``longest`` for all that one request brings.
    Before an address is tried again ``delay`` is waited, twice as long every time.
    """

    timeout: float = 20.0
    longest: float = 900.0
    attempts: int = 3
    delay: float = 1.0


USUAL_PATIENCE = Patience()


class _Job(NamedTuple):
    wanted: CataloguedSet
    part: Path
    patience: Patience
    progress: Progress | None


def transfer(
    wanted: CataloguedSet,
    target: Path,
    patience: Patience = USUAL_PATIENCE,
    progress: Progress | None = None,
) -> list[str]:
    """Download a set's file to a path, which it gets only when it is verified.

    Returns the reasons, one for each address, if none of them gave the file; an
    empty list means success. A part that was received is kept for the next time.
    """
    part = _claimed_part(target)
    job = _Job(wanted, part, patience, progress)
    reasons = []
    try:
        for address in wanted.addresses:
            reason = _failure(job, address)
            if reason is None:
                part.replace(target)
                return []
            reasons.append(f"{address} ({' '.join(reason.split())})")
    finally:
        _release(part, target)
    return reasons


def _claimed_part(target: Path) -> Path:
    """Return a path of our own, with what an earlier download left, if it left any.

    Renaming is atomic, so that of two processes only one gets what was left.
    """
    own = target.with_name(f"{target.name}.{secrets.token_hex(8)}.part")
    for left in target.parent.glob(f"{glob.escape(target.name)}*.part"):
        with suppress(OSError):
            age = time.time() - left.stat().st_mtime
            if left == _released(target) or age > ABANDONED_SECONDS:
                left.rename(own)
                os.utime(own)
                break
    return own


def _released(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def _release(part: Path, target: Path) -> None:
    """Leave a part for the next download; leave nothing if it is empty."""
    if _size(part):
        part.replace(_released(target))
    else:
        part.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _failure(job: _Job, address: str) -> str | None:
    """Complete the part from an address; return None, or else why that failed."""
    reason = ""
    for attempt in range(job.patience.attempts):
        if attempt:
            time.sleep(job.patience.delay * 2 ** (attempt - 1))
        begun = _size(job.part) > 0
        try:
            if not (begun and has_checksum(job.part, job.wanted.checksum)):
                _receive(job, address)
        except RefusedError as error:
            return str(error)
        except (OSError, HTTPException) as error:
            reason = _described(error, job.patience)
            continue
        if has_checksum(job.part, job.wanted.checksum):
            return None
        job.part.unlink()
        reason = "its content has another checksum than the catalogue says"
        # What was left from before may be at fault, and is gone now.
        if not begun:
            break
    return reason


def _described(error: Exception, patience: Patience) -> str:
    if isinstance(error, HTTPError):
        return f"HTTP {error.code} {error.reason}"
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, TimeoutError):
        return f"no answer within {patience.timeout:g} seconds"
    return str(cause) or type(cause).__name__


def _receive(job: _Job, address: str) -> None:
    """Read what an address has, or what the part lacks of it, into the part."""
    asked = _size(job.part)
    try:
        answer = open_address(address, asked, job.patience.timeout)
    except HTTPError as error:
        if error.code == 416:  # There is nothing after what is there, which is wrong.
            job.part.unlink()
        raise
    with answer:
        start, length = first_byte(answer, asked), length_of(answer)
        total = job.wanted.size if length is None else start + length
        if job.wanted.size not in (None, total):
            raise RefusedError(f"has {total} bytes instead of {job.wanted.size}")
        with job.part.open("ab" if start else "wb") as file:
            _copy(job, answer, file, start, total)


def _copy(
    job: _Job, answer: Any, file: BinaryIO, received: int, total: int | None
) -> None:
    most = job.wanted.size or MOST_BYTES
    give_up_at = time.monotonic() + job.patience.longest
    # read1 returns what has come, so that a server that trickles is noticed.
    while chunk := answer.read1(CHUNK):
        received += len(chunk)
        if received > most:
            file.truncate(0)
            raise RefusedError(f"sends more than {most} bytes")
        file.write(chunk)
        if job.progress is not None:
            job.progress(received, total)
        if time.monotonic() > give_up_at:
            raise RefusedError(f"was not done in {job.patience.longest:g} seconds")
    if total is not None and received < total:
        raise ConnectionError(f"the connection ended at {received} of {total} bytes")

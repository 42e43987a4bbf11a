"""Worker processes: started in a group of their own, so that all of it can be ended."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

# Alone (-P), Python would look for modules in the folder that it works in.
UFSELECT = [sys.executable, "-P", "-m", "ufselect"]


def start(
    arguments: Sequence[str], folder: Path, output: IO[bytes]
) -> subprocess.Popen[str]:
    """Start ``ufselect`` in a folder; standard output goes to a file."""
    # No signal of the terminal is to reach it but through us.
    apart: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return subprocess.Popen(  # nosec B603 # no shell; every option is checked
        [*UFSELECT, *arguments],
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        **apart,
    )


def interrupt(process: subprocess.Popen[str]) -> None:
    """Ask a process and its children to end, as Ctrl-C does."""
    if sys.platform == "win32":
        process.terminate()
    else:
        _signal(process, signal.SIGINT)


def kill(process: subprocess.Popen[str]) -> None:
    """End a process and its children."""
    if sys.platform == "win32":
        process.kill()
    else:
        _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[str], number: int) -> None:
    # It may have ended by itself.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _environment() -> dict[str, str]:
    """Return our environment, made fit for another folder and for pipes."""
    found = dict(os.environ, PYTHONIOENCODING="utf-8")
    if "PYTHONPATH" in found:
        places = [place for place in found["PYTHONPATH"].split(os.pathsep) if place]
        found["PYTHONPATH"] = os.pathsep.join(
            str(Path(place).absolute()) for place in places
        )
    return found

"""Run the real command in its own process, as a shell would."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import ufselect

COMMAND = [sys.executable, "-m", "ufselect"]


class Done(NamedTuple):
    """Exit code and output of a process."""

    code: int
    said: bytes
    complaint: str


def run(arguments, *, folder=None, stdin=b""):
    """Run the command in a new interpreter."""
    # The folder may be another, where a relative path would lead nowhere.
    source = str(Path(ufselect.__file__).parents[1])
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        cwd=folder,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": source},
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())

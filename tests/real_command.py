"""The real command in a process of its own, as a shell would start it."""

import multiprocessing
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import ufselect

COMMAND = [sys.executable, "-m", "ufselect"]
# What every command imports, and what takes most of its time.
SHARED = ["ufselect.cli", "ufselect.data", "ufselect.tuning", "sklearn.cluster"]


class Done(NamedTuple):
    """What a process has left behind."""

    code: int
    said: bytes
    complaint: str


def run(arguments, *, folder=None, stdin=b""):
    """Run the command in an interpreter that has just been started."""
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


def run_forked(arguments, folder):
    """Run the command in a process that starts with the imports of another.

    All else is its own: streams, exit code, and a crash if there is one. An interpreter
    that starts from nothing takes twenty times as long, most of it for imports.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(SHARED)
    said, complaint = folder / "stdout", folder / "stderr"
    arguments = [*map(str, arguments)]
    process = context.Process(target=_command, args=(arguments, said, complaint))
    process.start()
    process.join()
    return Done(process.exitcode, said.read_bytes(), complaint.read_text("utf-8"))


def _command(arguments, said, complaint):
    for path, number in ((said, 1), (complaint, 2)):
        with path.open("wb") as stream:
            os.dup2(stream.fileno(), number)
    sys.argv = ["ufselect", *arguments]
    runpy.run_module("ufselect", run_name="__main__", alter_sys=True)

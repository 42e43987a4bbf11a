"""Run the real command in its own process, as a shell would."""

import multiprocessing
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import ufselect

COMMAND = [sys.executable, "-m", "ufselect"]
# What the command imports, which takes most of its time; a fresh interpreter shows
# that it needs no help.
SHARED = [
    *("ufselect.cli.select", "ufselect.data", "ufselect.evaluation"),
    *("ufselect.experiments", "ufselect.report", "ufselect.tuning"),
    *("h5py", "openpyxl", "pandas", "pyarrow", "real_command", "sklearn.cluster"),
]


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


def run_forked(arguments, folder, *, stdin=b""):
    """Run the command in a process forked from one with all imports.

    Streams, exit code and crashes are its own. A new interpreter, which is used on
    Windows, takes twenty times as long, mostly for imports.
    """
    if sys.platform == "win32":
        return run(arguments, stdin=stdin)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(SHARED)
    streams = [folder / name for name in ("stdin", "stdout", "stderr")]
    streams[0].write_bytes(stdin)
    _, said, complaint = streams
    arguments = [*map(str, arguments)]
    process = context.Process(target=_command, args=(arguments, streams))
    process.start()
    process.join()
    return Done(process.exitcode, said.read_bytes(), complaint.read_text("utf-8"))


def _command(arguments, streams):
    for number, path in enumerate(streams):
        with path.open("wb" if number else "rb") as stream:
            os.dup2(stream.fileno(), number)
    sys.stdin = os.fdopen(0)  # what it was has been closed by multiprocessing
    sys.argv = ["ufselect", *arguments]
    runpy.run_module("ufselect", run_name="__main__", alter_sys=True)

"""Runs of the command in processes of their own: some at once, others in a queue."""

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

from ufselect.serving.choices import arguments_of, remedies_on_page, words_of_page
from ufselect.serving.uploads import Refusal, Source, suggested_name

# Alone (-P), Python would look for modules in the folder that it works in.
UFSELECT = [sys.executable, "-P", "-m", "ufselect"]
# After this time a run that was cancelled is ended by force.
SECONDS_TO_END = 3.0
RESULT = "result.json"
RESULTS = ("selected*", "ranking.csv", "clusters.csv", "report.html")


class Run:
    """A command on one table, which waits, runs, and is done, failed or cancelled.

    Parameters
    ----------
    source : Source
        The table.
    action : str
        The command: look, select or compare.
    choices : dict of str to str or list of str
        What was chosen on the page, checked.
    folder : path
        For all that is written; a folder is made in it.
    """

    def __init__(
        self, source: Source, action: str, choices: dict[str, Any], folder: Path
    ) -> None:
        command, *options = arguments_of(action, choices, source.path.name)
        self._arguments = [
            *(command, str(source.path), f"--name={source.name}"),
            *(*options, "--json", "--progress=json"),
        ]
        self.identity = secrets.token_urlsafe(9)
        self.source = source
        self.action = action
        self.choices = choices
        self.folder = folder / self.identity
        self.state = "waiting"
        self.problem = ""
        self.remedies: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self._progress: dict[str, Any] = {}
        self._heard = self._began = time.monotonic()
        self._ended: float | None = None
        self._process: subprocess.Popen[str] | None = None
        self._is_silent = False
        self._turn = threading.RLock()
        self.folder.mkdir()

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state not in ("waiting", "running")

    def work(self) -> None:
        """Run the command to its end, in a thread."""
        try:
            with (self.folder / RESULT).open("wb") as output:
                with self._turn:
                    if self.is_over:
                        return
                    process = start_process(self._arguments, self.folder, output)
                    self._process, self.state = process, "running"
                    self._began = time.monotonic()
                why = self._listen(process)
                code = process.wait()
                if code == 0:
                    self._end("done")
                else:
                    self._end("failed", sentence_of(code, why))
        except OSError as error:
            self._end("failed", f"the worker could not start ({error})")

    def cancel(self) -> None:
        """End the run, by force if it does not end in time."""
        with self._turn:
            if self.is_over:
                return
            process = self._process
            self._end("cancelled")
            if process is not None:
                end(process)
                force = threading.Timer(SECONDS_TO_END, self._end_by_force)
                force.daemon = True
                force.start()

    def results(self) -> dict[str, Path]:
        """Return the files that are complete, by their names."""
        if self.state != "done":
            return {}
        return {path.name: path for form in RESULTS for path in self.folder.glob(form)}

    def described(self) -> dict[str, Any]:
        """Return what the page shows of the run."""
        with self._turn:
            now, progress = time.monotonic(), dict(self._progress)
            if "seconds_left" in progress:
                left = progress["seconds_left"] - (now - self._heard)
                progress["seconds_left"] = max(0.0, left)
            return {
                "run": self.identity,
                "file": self.source.identity,
                "name": self.source.name,
                "size": self.source.size,
                "action": self.action,
                "choices": self.choices,
                "state": self.state,
                "problem": self.problem,
                "remedies": self.remedies,
                "notes": list(self.notes),
                "progress": progress,
                "seconds": round((self._ended or now) - self._began, 1),
                "files": {
                    name: suggested_name(self.source.name, name)
                    for name in self.results()
                },
            }

    def _listen(self, process: subprocess.Popen[str]) -> str:
        """Follow what the command says; return why it fails, if it does."""
        why = last = ""
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                try:
                    said = json.loads(line)
                except ValueError:
                    said = None
                with self._turn:
                    if not isinstance(said, dict):
                        last = line.strip() or last
                    elif "note" in said:
                        self.notes.append(words_of_page(str(said["note"])))
                    elif "error" in said:
                        why = str(said["error"])
                        self.remedies = remedies_on_page(said.get("remedies", ()))
                    else:
                        self._progress, self._heard = said, time.monotonic()
        with self._turn:
            self._is_silent = True
        return why or last

    def _end_by_force(self) -> None:
        """Kill the process and its children, if one still runs."""
        with self._turn:
            if self._process is not None and not self._is_silent:
                end(self._process, by_force=True)

    def _end(self, state: str, problem: str = "") -> None:
        with self._turn:
            if not self.is_over:
                self.state, self.problem = state, problem
                self._ended = time.monotonic()


class Runs:
    """Starts runs, finds them again, and ends them.

    Parameters
    ----------
    folder : path
        Every run gets a folder of its own in it.
    n_jobs : int
        Number of parallel jobs.
    max_runs : int
        Runs that are kept.
    """

    def __init__(self, folder: Path, n_jobs: int, max_runs: int) -> None:
        self.folder = folder
        self.max_runs = max_runs
        self._runs: dict[str, Run] = {}
        self._pool = ThreadPoolExecutor(n_jobs, thread_name_prefix="ufselect-run")
        # A look takes a second, and does not wait for runs that take hours.
        self._looks = ThreadPoolExecutor(1, thread_name_prefix="ufselect-look")

    def start(self, source: Source, action: str, choices: dict[str, Any]) -> Run:
        """Queue a run; it starts as soon as there is a place."""
        self._make_room()
        run = Run(source, action, choices, self.folder)
        self._runs[run.identity] = run
        pool = self._looks if action == "look" else self._pool
        pool.submit(run.work)
        return run

    def find(self, identity: str) -> Run:
        """Return the run of this name, if it is still kept."""
        if identity not in self._runs:
            raise Refusal(
                404, "this run is no longer kept; choose the file and start again"
            )
        return self._runs[identity]

    def ahead_of(self, run: Run) -> int:
        """Return how many others wait before this one."""
        waiting = [
            each
            for each in self._runs.values()
            if each.state == "waiting"
            and (each.action == "look") == (run.action == "look")
        ]
        return waiting.index(run) if run in waiting else 0

    def unfinished(self) -> list[Run]:
        """Return the runs that wait or go on."""
        return [run for run in self._runs.values() if not run.is_over]

    def close(self) -> None:
        """End all runs, and wait until they have ended."""
        for run in self.unfinished():
            run.cancel()
        for pool in (self._pool, self._looks):
            pool.shutdown(wait=True, cancel_futures=True)

    def _make_room(self) -> None:
        over = [run for run in self._runs.values() if run.is_over]
        over.sort(key=lambda run: run.action != "look")
        while len(self._runs) >= self.max_runs:
            if not over:
                raise Refusal(
                    503,
                    f"{self.max_runs} runs are waiting; cancel one, or try again when "
                    "one is done",
                )
            oldest = over.pop(0)
            del self._runs[oldest.identity]
            shutil.rmtree(oldest.folder, ignore_errors=True)


def sentence_of(code: int, why: str) -> str:
    """Return why a command failed, from its exit code and what it said.

    Examples
    --------
    >>> sentence_of(1, "ufselect: genes.csv is empty; export the table again")
    'genes.csv is empty; export the table again'
    """
    if code < 0:
        return (
            f"the system ended the worker (signal {-code}): the memory was full, or "
            "the file is damaged; try a smaller table, or export it again"
        )
    return words_of_page(why.removeprefix("ufselect: ")) or "the worker failed"


def start_process(
    arguments: Sequence[str], folder: Path, output: IO[bytes]
) -> subprocess.Popen[str]:
    """Start ``ufselect`` in a folder; standard output goes to a file."""
    # Signals of the terminal must not reach it directly.
    apart: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    # It works in another folder, and writes to pipes.
    environment = dict(os.environ, PYTHONIOENCODING="utf-8")
    if places := environment.get("PYTHONPATH", ""):
        absolute = (str(Path(place).absolute()) for place in places.split(os.pathsep))
        environment["PYTHONPATH"] = os.pathsep.join(absolute)
    return subprocess.Popen(  # nosec B603 # no shell; every option is checked
        [*UFSELECT, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        **apart,
    )


def end(process: subprocess.Popen[str], *, by_force: bool = False) -> None:
    """Ask a process and its children to end, as Ctrl-C does, or kill them."""
    if sys.platform == "win32":
        process.kill() if by_force else process.terminate()
        return
    # It may have ended by itself.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL if by_force else signal.SIGINT)

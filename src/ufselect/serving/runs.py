"""Runs of the command in processes of their own: some at once, others wait."""

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ufselect.serving.choices import arguments_of, remedies_on_page, words_of_page
from ufselect.serving.server import MAX_RUNS
from ufselect.serving.uploads import Refusal, Source, suggested_name

# Alone (-P), Python would look for modules in the folder that it works in.
UFSELECT = [sys.executable, "-P", "-m", "ufselect"]
# After this time a run that was cancelled is ended by force.
SECONDS_TO_END = 3.0
# Of one line that the command says.
MAX_LINE_BYTES = 1 << 22
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
    places : asyncio.Semaphore
        Lets as many run at once as there are places.
    """

    def __init__(
        self,
        source: Source,
        action: str,
        choices: dict[str, Any],
        folder: Path,
        places: asyncio.Semaphore,
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
        self.folder.mkdir()
        self.task = asyncio.create_task(self._work(places))

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state not in ("waiting", "running")

    def cancel(self) -> None:
        """End the run; the task of it ends when its process has ended."""
        self._end("cancelled")
        self.task.cancel()

    def results(self) -> dict[str, Path]:
        """Return the files that are complete, by their names."""
        if self.state != "done":
            return {}
        return {path.name: path for form in RESULTS for path in self.folder.glob(form)}

    def described(self) -> dict[str, Any]:
        """Return what the page shows of the run."""
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
            "notes": self.notes,
            "progress": progress,
            "seconds": round((self._ended or now) - self._began, 1),
            "files": {
                name: suggested_name(self.source.name, name) for name in self.results()
            },
        }

    async def _work(self, places: asyncio.Semaphore) -> None:
        """Run the command to its end as soon as there is a place."""
        try:
            async with places:
                with (self.folder / RESULT).open("wb") as output:
                    process = await asyncio.create_subprocess_exec(
                        *(*UFSELECT, *self._arguments),
                        cwd=self.folder,
                        env=dict(os.environ, PYTHONIOENCODING="utf-8"),
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.PIPE,
                        limit=MAX_LINE_BYTES,
                        **_apart(),
                    )
                self.state, self._began = "running", time.monotonic()
                try:
                    why = await self._listen(process)
                    code = await process.wait()
                finally:
                    await _ended(process)
            self._end("failed" if code else "done", sentence_of(code, why))
        except (OSError, ValueError) as error:
            # Not the whole error, which has paths of this machine.
            reason = getattr(error, "strerror", None) or "it said too much"
            self._end("failed", f"the worker could not do it ({reason})")

    async def _listen(self, process: asyncio.subprocess.Process) -> str:
        """Follow what the command says; return why it fails, if it does."""
        why = last = ""
        assert process.stderr is not None
        async for line in process.stderr:
            try:
                said = json.loads(line)
            except ValueError:
                said = None
            if not isinstance(said, dict):
                last = line.decode(errors="replace").strip() or last
            elif "note" in said:
                self.notes.append(words_of_page(str(said["note"])))
            elif "error" in said:
                why = str(said["error"])
                self.remedies = remedies_on_page(said.get("remedies", ()))
            else:
                self._progress, self._heard = said, time.monotonic()
        return why or last

    def _end(self, state: str, problem: str = "") -> None:
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
    """

    def __init__(self, folder: Path, n_jobs: int) -> None:
        self.folder = folder
        self._runs: dict[str, Run] = {}
        self._places = asyncio.Semaphore(n_jobs)
        # A look takes a second, and does not wait for runs that take hours.
        self._place_to_look = asyncio.Semaphore(1)

    def start(self, source: Source, action: str, choices: dict[str, Any]) -> Run:
        """Start a run, or let it wait for a place."""
        self._make_place(action)
        places = self._place_to_look if action == "look" else self._places
        run = Run(source, action, choices, self.folder, places)
        self._runs[run.identity] = run
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
        waiting = [each for each in self._like(run.action) if each.state == "waiting"]
        return waiting.index(run) if run in waiting else 0

    def sources_in_use(self) -> set[str]:
        """Return the identities of tables on which a run waits or goes on."""
        return {
            run.source.identity for run in self._runs.values() if not run.task.done()
        }

    async def close(self) -> int:
        """End all runs, wait until they have ended, and return how many did not."""
        unfinished = [run for run in self._runs.values() if not run.is_over]
        for run in unfinished:
            run.cancel()
        tasks = (run.task for run in self._runs.values())
        await asyncio.gather(*tasks, return_exceptions=True)
        return len(unfinished)

    def _like(self, action: str) -> list[Run]:
        """Return the looks, or the other runs, the oldest first."""
        is_look = action == "look"
        return [run for run in self._runs.values() if (run.action == "look") == is_look]

    def _make_place(self, action: str) -> None:
        """Forget the oldest look, or other run, if there are too many of them."""
        alike = self._like(action)
        if len(alike) < MAX_RUNS:
            return
        oldest = next((run for run in alike if run.task.done()), None)
        if oldest is None:
            raise Refusal(
                503,
                f"{MAX_RUNS} runs are waiting; cancel one, or try again when one "
                "is done",
            )
        del self._runs[oldest.identity]
        shutil.rmtree(oldest.folder, ignore_errors=True)


def sentence_of(code: int, why: str) -> str:
    """Return why a command failed, from its exit code and what it said.

    Examples
    --------
    >>> sentence_of(1, "ufselect: genes.csv is empty; export the table again")
    'genes.csv is empty; export the table again'
    """
    if code == 0:
        return ""
    if code < 0:
        return (
            f"the system ended the worker (signal {-code}): the memory was full, or "
            "the file is damaged; try a smaller table, or export it again"
        )
    return words_of_page(why.removeprefix("ufselect: ")) or "the worker failed"


def _apart() -> dict[str, Any]:
    """Return what keeps signals of the terminal away from a process."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


async def _ended(process: asyncio.subprocess.Process) -> None:
    """End a process that still runs, and its children: by Ctrl-C, then by force."""
    if process.returncode is not None:
        return
    try:
        with contextlib.suppress(TimeoutError):
            _signal(process, by_force=False)
            async with asyncio.timeout(SECONDS_TO_END):
                await process.wait()
    finally:
        _signal(process, by_force=True)
        await process.wait()


def _signal(process: asyncio.subprocess.Process, *, by_force: bool) -> None:
    # It may have ended by itself.
    with contextlib.suppress(ProcessLookupError):
        if sys.platform == "win32":
            process.kill() if by_force else process.terminate()
        else:
            os.killpg(process.pid, signal.SIGKILL if by_force else signal.SIGINT)

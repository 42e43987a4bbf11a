"""All runs of a server: some at once, others in a queue, the oldest forgotten."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ufselect.serving.refusal import Refusal
from ufselect.serving.run import Run
from ufselect.serving.uploads import Source


class Runs:
    """Starts runs, finds them again, and ends them.

    Parameters
    ----------
    folder : path
        Every run gets a folder of its own in it.
    n_jobs : int
        Runs at once.
    max_runs : int
        Runs that are kept.
    """

    def __init__(self, folder: Path, n_jobs: int, max_runs: int) -> None:
        self.folder = folder
        self.max_runs = max_runs
        self._runs: dict[str, Run] = {}
        self._pool = ThreadPoolExecutor(n_jobs, thread_name_prefix="ufselect-run")

    def start(self, source: Source, choices: dict[str, str]) -> Run:
        """Queue a run; it starts as soon as there is a place."""
        self._make_room()
        run = Run(source, choices, self.folder)
        self._runs[run.identity] = run
        self._pool.submit(run.work)
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
        waiting = [each for each in self._runs.values() if each.state == "waiting"]
        return waiting.index(run) if run in waiting else 0

    def unfinished(self) -> list[Run]:
        """Return the runs that wait or go on."""
        return [run for run in self._runs.values() if not run.is_over]

    def close(self) -> None:
        """End all runs, and wait until they have ended."""
        for run in self.unfinished():
            run.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _make_room(self) -> None:
        over = [run for run in self._runs.values() if run.is_over]
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

"""Progress for programs: one JSON object per line on standard error."""

import argparse
import json
import time
from typing import Any, Self, TextIO

from ufselect.cli.progress import Waiting

FORMS = ("text", "json")
# Small steps follow one another faster than anybody wants to know.
SECONDS_BETWEEN_OBJECTS = 0.2


class WaitingInJson(Waiting):
    """Says what is being done as soon as it begins, and how far it is.

    A line has either ``note``, a sentence, or ``doing``, what is being done, with the
    ``seconds`` it has taken; where they are known also ``done`` of ``total`` and the
    ``seconds_left``.

    Examples
    --------
    >>> import sys
    >>> waiting = WaitingInJson(stream=sys.stdout)
    >>> waiting.note("Text with commas.")
    {"note": "Text with commas."}
    >>> waiting.now("ranking")
    {"doing": "ranking", "seconds": 0.0}
    """

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        super().__init__(quiet=quiet, stream=stream)
        self._last = ("", float("-inf"))

    def note(self, *sentences: str) -> None:
        """Write sentences, each as an object of its own."""
        for sentence in sentences:
            self._write({"note": " ".join(sentence.split())})

    def now(self, what: str) -> None:
        """Begin something of which nobody knows how long it takes."""
        super().now(what)
        self._tell()

    def step(self, done: int, total: int, what: str) -> None:
        """Say how much of the present work is done; the first step begins it."""
        super().step(done, total, what)
        self._tell()

    def __enter__(self) -> Self:
        """Start; nothing is to be watched, for every step speaks for itself."""
        return self

    def _moved_on(self) -> None:
        self._tell()

    def _tell(self) -> None:
        what, done, total, since = self._task
        now = time.monotonic()
        last_said, last_time = self._last
        if what == last_said and now - last_time < SECONDS_BETWEEN_OBJECTS:
            return
        self._last = (what, now)
        gone = now - since
        state: dict[str, Any] = {
            "doing": what + self._detail,
            "seconds": round(gone, 1),
        }
        if total:
            state |= {"done": done, "total": total}
        if done:
            state["seconds_left"] = round(gone / done * (total - done), 1)
        self._write(state)

    def _write(self, content: dict[str, Any]) -> None:
        if not self.quiet:
            self.stream.write(f"{json.dumps(content)}\n")
            self.stream.flush()


def add_progress_option(parser: Any) -> None:
    """Add how progress is told."""
    parser.add_argument(
        "--progress",
        choices=FORMS,
        default="text",
        help="how progress and notes are told on standard error: text for people, or "
        "json, one object per line (default: text)",
    )


def waiting_for(options: argparse.Namespace) -> Waiting:
    """Return who tells the progress in the form that was asked for."""
    form = WaitingInJson if options.progress == "json" else Waiting
    return form(quiet=options.quiet)

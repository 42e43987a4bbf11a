"""Progress on standard error: a line that is rewritten, lines for a log, or JSON."""

import json
import sys
import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

from ufselect.cli.output import console, printable, say

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

# A line for a terminal may change often; in a log it would only be noise.
SECONDS_BETWEEN_LINES = 10.0
SECONDS_BETWEEN_REFRESHES = 0.25
# What is done sooner needs no comment.
SECONDS_OF_SILENCE = 2.0
# Small steps follow one another faster than anybody wants to know.
SECONDS_BETWEEN_OBJECTS = 0.2


class Progress:
    """Says what is being done, from two seconds on, until it is done.

    Used with ``with``. A thread of its own writes, so that what takes the time need not
    know of it: on a terminal one line is rewritten, in a log there is a line now and
    then.

    Parameters
    ----------
    quiet : bool
        Say nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.what, self.detail = "", ""
        self.done, self.total, self.since = 0, 0, time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._bars: Bars | None = None
        self._turn = threading.Lock()

    def note(self, *sentences: str) -> None:
        """Print sentences, each on a line of its own."""
        if self.quiet:
            return
        with self._turn:
            if self._bars is not None:
                # Above the line that is rewritten.
                self._bars.stop()
            for sentence in sentences:
                say(sentence)
            if self._bars is not None:
                self._bars.start()

    def now(self, what: str) -> None:
        """Begin something of which nobody knows how long it takes."""
        self.step(0, 0, what)

    def step(self, done: int, total: int, what: str) -> None:
        """Say how much of the present work is done; the first step begins it."""
        if done == 0:
            self.since = time.monotonic()
        self.what, self.detail, self.done, self.total = what, "", done, total
        self._moved()

    def iteration(self, method: str, number: int) -> None:
        """Say how far a fit is; how many iterations there will be is never known."""
        self.detail = f", {method} iteration {number}"
        self._moved()

    def seconds_left(self) -> float | None:
        """Return how long the rest takes if it goes on like this."""
        if not self.done:
            return None
        return (time.monotonic() - self.since) / self.done * (self.total - self.done)

    def text(self) -> str:
        """Return what is being done, for how long, and how long it will take."""
        left = self.seconds_left()
        times = duration(time.monotonic() - self.since)
        times += "" if left is None else f", {duration(left)} left"
        return f"{printable(self.what + self.detail)}, {times}"

    def _moved(self) -> None:
        """Do nothing: the thread looks when it is time."""

    def __enter__(self) -> Self:
        """Start to watch."""
        if not self.quiet:
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop, and leave no half line behind."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        if self._over.wait(SECONDS_OF_SILENCE):
            return
        if not sys.stderr.isatty():
            print(self.text(), file=sys.stderr, flush=True)
            while not self._over.wait(SECONDS_BETWEEN_LINES):
                print(self.text(), file=sys.stderr, flush=True)
            return
        display = bars()
        while True:
            with self._turn:
                show(display, self.text(), self.done, self.total)
                display.start()
                self._bars = display
            if self._over.wait(SECONDS_BETWEEN_REFRESHES):
                display.stop()
                return


class JsonProgress(Progress):
    """Writes one JSON object per line, for programs that show progress themselves.

    A line has either ``note``, a sentence, or ``doing``, what is being done, with the
    ``seconds`` it has taken; where they are known also ``done`` of ``total`` and the
    ``seconds_left``.
    """

    _last = ("", float("-inf"))

    def note(self, *sentences: str) -> None:
        """Write sentences, each as an object of its own."""
        for sentence in sentences:
            self._write({"note": " ".join(sentence.split())})

    def __enter__(self) -> Self:
        """Start; nothing is to be watched, for every step speaks for itself."""
        return self

    def _moved(self) -> None:
        now = time.monotonic()
        if self.what == self._last[0] and now - self._last[1] < SECONDS_BETWEEN_OBJECTS:
            return
        self._last = (self.what, now)
        state: dict[str, Any] = {
            "doing": self.what + self.detail,
            "seconds": round(now - self.since, 1),
        }
        if self.total:
            state |= {"done": self.done, "total": self.total}
        if (left := self.seconds_left()) is not None:
            state["seconds_left"] = round(left, 1)
        self._write(state)

    def _write(self, content: dict[str, Any]) -> None:
        if not self.quiet:
            print(json.dumps(content), file=sys.stderr, flush=True)


def progress_for(options: SimpleNamespace) -> Progress:
    """Return what tells the progress in the form that was asked for."""
    kind = JsonProgress if options.progress == "json" else Progress
    return kind(quiet=options.quiet)


class CountProgress:
    """Shows how many of known things are done, and how long the rest will take.

    Used with ``with``. In a log there is a line at the beginning, now and then, and at
    the end.
    """

    def __init__(self, unit: str, *, quiet: bool = False) -> None:
        self.unit = unit
        self.quiet = quiet
        self._bars = bars(transient=False) if sys.stderr.isatty() else None
        self._last = 0.0

    def __enter__(self) -> Self:
        """Begin; there is nothing to show yet."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the line, so that what follows starts on its own."""
        if self._bars is not None:
            self._bars.stop()

    def show(self, done: int, total: int, seconds_left: float | None = None) -> None:
        """Show the state; in a log only now and then, and at the end."""
        if self.quiet:
            return
        text = f"{done}/{total} {self.unit}"
        if seconds_left is not None and done < total:
            text += f", {duration(seconds_left)} left"
        now = time.monotonic()
        if self._bars is not None:
            self._bars.start()
            show(self._bars, text, done, total)
        elif now - self._last >= SECONDS_BETWEEN_LINES or done == total:
            self._last = now
            print(text, file=sys.stderr, flush=True)


def bars(*, transient: bool = True) -> "Bars":
    """Return rich's progress display, with one bar and one text."""
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    display = Bars(
        BarColumn(bar_width=20),
        TextColumn("{task.description}", markup=False),
        console=console(stderr=True),
        transient=transient,
    )
    display.add_task("", total=None)
    return display


def show(display: "Bars", text: str, done: int, total: int) -> None:
    """Show the state of the only bar; without a total it is known to move."""
    (line,) = display.tasks
    line.total = total or None
    display.update(line.id, description=text, completed=done)


def duration(seconds: float) -> str:
    """Return a time as people say it.

    Examples
    --------
    >>> duration(42), duration(200), duration(7300)
    ('42 s', '3 min', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"

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

# A line on a terminal may change often; a log gets fewer lines.
SECONDS_BETWEEN_LINES = 10.0
SECONDS_BETWEEN_REFRESHES = 0.25
# Work that ends sooner shows no progress.
SECONDS_OF_SILENCE = 2.0
# At most this often, however fast the steps are.
SECONDS_BETWEEN_OBJECTS = 0.2


class Progress:
    """Shows what is being done, from two seconds on, until it is done.

    A context manager. A thread writes, so that the work need not call it: a terminal
    shows one line that is rewritten, a log gets a line now and then.

    Parameters
    ----------
    quiet : bool
        Show nothing.
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
        """Print sentences, one per line."""
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
        """Begin work of unknown length."""
        self.step(0, 0, what)

    def step(self, done: int, total: int, what: str) -> None:
        """Report how much of the current work is done; the first step begins it."""
        if done == 0:
            self.since = time.monotonic()
        self.what, self.detail, self.done, self.total = what, "", done, total
        self._moved()

    def iteration(self, method: str, number: int) -> None:
        """Report the iteration of a fit; their total number is unknown."""
        self.detail = f", {method} iteration {number}"
        self._moved()

    def seconds_left(self) -> float | None:
        """Return an estimate of the seconds left."""
        if not self.done:
            return None
        return (time.monotonic() - self.since) / self.done * (self.total - self.done)

    def text(self) -> str:
        """Return what is being done, the time so far, and the time left."""
        left = self.seconds_left()
        times = duration(time.monotonic() - self.since)
        times += "" if left is None else f", {duration(left)} left"
        return f"{printable(self.what + self.detail)}, {times}"

    def _moved(self) -> None:
        """Do nothing: the thread reads the state when it writes."""

    def __enter__(self) -> Self:
        """Start the thread."""
        if not self.quiet:
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the thread, which ends its line."""
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
        """Write sentences, one object each."""
        for sentence in sentences:
            self._write({"note": " ".join(sentence.split())})

    def __enter__(self) -> Self:
        """Start no thread: every step writes."""
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
    """Return the progress display that the options ask for."""
    kind = JsonProgress if options.progress == "json" else Progress
    return kind(quiet=options.quiet)


class CountProgress:
    """Shows how many things of a known number are done, and the time left.

    A context manager. A log gets a line at the beginning, now and then, and at the end.
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
        """End the line."""
        if self._bars is not None:
            self._bars.stop()

    def show(self, done: int, total: int, seconds_left: float | None = None) -> None:
        """Show the state."""
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
    """Show the state of the only bar."""
    (line,) = display.tasks
    line.total = total or None
    display.update(line.id, description=text, completed=done)


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(42), duration(200), duration(7300)
    ('42 s', '3 min', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"

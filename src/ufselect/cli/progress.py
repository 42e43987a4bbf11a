"""Progress on standard error: a line that is rewritten, or plain lines for a log."""

import sys
import threading
import time
from typing import Self, TextIO

WIDTH = 30
# A line for a terminal may change often; in a log it would only be noise.
SECONDS_BETWEEN_LINES = 10.0
# What is done sooner needs no comment.
SECONDS_OF_SILENCE = 2.0


class ProgressLine:
    """Shows how much is done and how long the rest will take.

    Parameters
    ----------
    unit : str
        What is counted, such as "cells".
    quiet : bool
        Show nothing.
    stream : text stream, optional
        Standard error by default.
    """

    def __init__(
        self, unit: str, *, quiet: bool = False, stream: TextIO | None = None
    ) -> None:
        self.unit = unit
        self.stream = sys.stderr if stream is None else stream
        self.quiet = quiet
        self._live = self.stream.isatty()
        self._last = 0.0
        self._open = False

    def show(self, done: int, total: int, seconds_left: float | None = None) -> None:
        """Show the state; in a log only now and then, and at the end."""
        now = time.monotonic()
        due = self._live or now - self._last >= SECONDS_BETWEEN_LINES or done == total
        if self.quiet or not due:
            return
        self._last = now
        text = f"{done}/{total} {self.unit}"
        if seconds_left is not None and done < total:
            text += f", {duration(seconds_left)} left"
        if self._live:
            # The escape clears what a longer line left behind.
            self.stream.write(f"\r{bar(done, total)} {text}\x1b[K")
            self._open = True
        else:
            self.stream.write(f"{text}\n")
        self.stream.flush()

    def close(self) -> None:
        """End the line, so that what follows starts on its own."""
        if self._open:
            self.stream.write("\n")
            self.stream.flush()
            self._open = False


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


class Waiting:
    """Says what is being done, from two seconds on, until it is done.

    Used with ``with``. A thread of its own writes, so that what takes the time need not
    know of it: on a terminal one line is rewritten every second, in a log there is a
    line now and then.

    Parameters
    ----------
    quiet : bool
        Say nothing.
    stream : text stream, optional
        Standard error by default.
    """

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.quiet = quiet
        self._live = self.stream.isatty()
        self._task = ("", 0, 0, time.monotonic())
        self._detail = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._shown = False
        self._turn = threading.Lock()

    def note(self, *sentences: str) -> None:
        """Print sentences, each on a line of its own."""
        if self.quiet:
            return
        with self._turn:
            self._clear()
            for sentence in sentences:
                self.stream.write(f"ufselect: {' '.join(sentence.split())}\n")
            self.stream.flush()

    def now(self, what: str) -> None:
        """Begin something of which nobody knows how long it takes."""
        self._task = (what, 0, 0, time.monotonic())
        self._detail = ""

    def iteration(self, method: str, number: int) -> None:
        """Say how far a fit is; how many iterations there will be is never known."""
        self._detail = f", {method} iteration {number}"
        self._moved_on()

    def _moved_on(self) -> None:
        """Do nothing: whoever watches looks when it is time."""

    def step(self, done: int, total: int, what: str) -> None:
        """Say how much of the present work is done; the first step begins it."""
        since = time.monotonic() if done == 0 else self._task[3]
        self._task = (what, done, total, since)
        self._detail = ""

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
        self._clear()
        self.stream.flush()

    def _watch(self) -> None:
        pause = SECONDS_OF_SILENCE
        while not self._over.wait(pause):
            what, done, total, since = self._task
            what += self._detail
            text = waiting_text(what, done, total, since, time.monotonic())
            with self._turn:
                self.stream.write(f"\r{text}\x1b[K" if self._live else f"{text}\n")
                self.stream.flush()
                self._shown = self._live
            pause = 1.0 if self._live else SECONDS_BETWEEN_LINES

    def _clear(self) -> None:
        if self._shown:
            self.stream.write("\r\x1b[K")
            self._shown = False


def waiting_text(what: str, done: int, total: int, since: float, now: float) -> str:
    """Return what is being done, for how long, and how long it will take.

    Examples
    --------
    >>> waiting_text("ranking", 0, 0, 100.0, 107.0)
    'ranking, 7 s'
    >>> waiting_text("subsamples", 3, 12, 100.0, 110.0)
    '[#######-----------------------] subsamples, 10 s, 30 s left'
    """
    gone = now - since
    if not total:
        return f"{what}, {duration(gone)}"
    left = f", {duration(gone / done * (total - done))} left" if done else ""
    return f"{bar(done, total)} {what}, {duration(gone)}{left}"


def bar(done: int, total: int) -> str:
    """Return a bar, filled as far as the work is done."""
    filled = WIDTH * done // max(1, total)
    return f"[{'#' * filled}{'-' * (WIDTH - filled)}]"

"""Progress on standard error: a line that is rewritten, or plain lines for a log."""

import sys
import time
from typing import TextIO

WIDTH = 30
# A line for a terminal may change often; in a log it would only be noise.
SECONDS_BETWEEN_LINES = 10.0


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
            filled = WIDTH * done // max(1, total)
            bar = "#" * filled + "-" * (WIDTH - filled)
            # The escape clears what a longer line left behind.
            self.stream.write(f"\r[{bar}] {text}\x1b[K")
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

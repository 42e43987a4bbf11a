"""Progress on standard error: for a terminal, for a log, and for programs."""

import io
import json
import sys
import time

import numpy as np
import pytest
from sklearn.base import clone

from ufselect import SCFS, AutoSelect
from ufselect.cli import output
from ufselect.cli.output import JsonProgress, Progress
from ufselect.solvers.iterations import showing_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def stderr(monkeypatch):
    """Return what replaces standard error, within a test, by a terminal or a log."""
    monkeypatch.setattr(output, "SECONDS_OF_SILENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")

    def replaced(stream):
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return replaced


def wait_for(stream, text):
    """Wait until a thread has written something, at most for a minute."""
    for _ in range(6000):
        if text in stream.getvalue():
            return
        time.sleep(0.01)
    pytest.fail(f"{text!r} was never written, but {stream.getvalue()[-200:]!r}")


def test_a_terminal_gets_one_line_that_is_rewritten_and_removed(stderr):
    terminal = stderr(Terminal())
    shown = Progress()
    shown.now("ranking 9 features")
    shown.iteration("SCFS", 12)
    with shown:
        wait_for(terminal, "ranking 9 features, SCFS iteration 12, ")
        shown.note("two\nlines")
        shown.step(0, 4, "name with \x1b[31m and [bold]")
        wait_for(terminal, r"name with \x1b[31m and [bold], ")
    text = terminal.getvalue()

    assert "ufselect: two lines\n" in text
    assert "and [bold], SCFS" not in text
    # In the end the line is cleared.
    assert text.rstrip("\r\n").removesuffix("\x1b[?25h").endswith("\x1b[2K")


def test_a_log_gets_plain_lines_with_the_time_left(stderr, monkeypatch):
    log = stderr(io.StringIO())
    now = [0.0]
    monkeypatch.setattr(output.time, "monotonic", lambda: now[0])
    shown = Progress()
    shown.step(0, 3, "fits")
    now[0] = 100.0
    shown.step(1, 3, "fits")
    with shown:
        wait_for(log, "fits, 2 min, 3 min left\n")
        shown.note("a note")

    assert log.getvalue().endswith("ufselect: a note\n")
    assert not {"\r", "\x1b"} & set(log.getvalue())


@pytest.mark.parametrize("kind", [Progress, JsonProgress])
def test_quiet_says_nothing_and_what_is_done_soon_is_not_spoken_of(
    kind, stderr, monkeypatch
):
    terminal = stderr(Terminal())
    with kind(quiet=True) as shown:
        shown.now("reading")
        shown.note("a note")
    monkeypatch.setattr(output, "SECONDS_OF_SILENCE", 60.0)
    with Progress() as shown:
        shown.now("reading")

    assert terminal.getvalue() == ""


def objects(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_programs_get_an_object_for_every_step_and_note(stderr, monkeypatch):
    terminal = stderr(Terminal())
    monkeypatch.setattr(output, "SECONDS_BETWEEN_OBJECTS", 0.0)
    with JsonProgress() as shown:
        shown.now("reading")
        shown.note("two\nlines")
        shown.step(0, 4, "fits")
        time.sleep(0.1)
        shown.step(1, 4, "fits")
        shown.iteration("SCFS", 3)
    reading, note, first, second, third = objects(terminal)

    assert reading == {"doing": "reading", "seconds": 0.0}
    assert note == {"note": "two lines"}
    assert first == {"doing": "fits", "seconds": 0.0, "done": 0, "total": 4}
    assert (second["done"], second["total"]) == (1, 4)
    assert second["seconds_left"] >= 0.3
    assert third["doing"] == "fits, SCFS iteration 3"


def test_small_steps_are_not_all_told_to_programs(stderr, monkeypatch):
    terminal = stderr(Terminal())
    monkeypatch.setattr(output, "SECONDS_BETWEEN_OBJECTS", 1e9)
    with JsonProgress() as shown:
        for done in range(9):
            shown.step(done, 9, "many")
        shown.now("drawing")

    assert [each["doing"] for each in objects(terminal)] == ["many", "drawing"]


def test_a_fit_in_a_fit_tells_its_iterations():
    heard = []
    X = np.random.RandomState(0).standard_normal((20, 8))
    selector = AutoSelect(SCFS(), n_features_to_select=3, random_state=0)
    with showing_progress(lambda *told: heard.append(told)):
        fitted = clone(selector).fit(X)

    assert {name for name, _ in heard} == {"SCFS"}
    assert heard[-1][1] == fitted.selector_.n_iter_
    assert [number for _, number in heard] == list(range(1, len(heard) + 1))

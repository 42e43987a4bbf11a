"""Progress on standard error: for a terminal, for a log, and for programs."""

import io
import json
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from ufselect import SCFS, AutoSelect
from ufselect.cli import output as progress
from ufselect.cli.output import JsonProgress, Progress, progress_for
from ufselect.solvers.iterations import showing_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_OF_SILENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def stderr(monkeypatch):
    """Return what replaces standard error, within a test, by a terminal or a log."""

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
    # The last thing is to clear the line.
    assert text.rstrip("\r\n").endswith("\x1b[2K")
    # A process that is killed leaves a cursor.
    assert "\x1b[?25l" not in text


def test_a_log_gets_plain_lines(stderr):
    log = stderr(io.StringIO())
    shown = Progress()
    shown.step(0, 4, "fits")
    with shown:
        wait_for(log, "fits, 0 s\n")
        shown.note("a note")

    assert log.getvalue().endswith("ufselect: a note\n")
    assert not {"\r", "\x1b"} & set(log.getvalue())


def test_what_is_done_soon_is_not_spoken_of_and_quiet_says_nothing(stderr, monkeypatch):
    terminal = stderr(Terminal())
    with Progress(quiet=True) as shown:
        shown.now("reading")
        shown.note("a note")
    with JsonProgress(quiet=True) as shown:
        shown.now("reading")
        shown.note("a note")
    monkeypatch.setattr(progress, "SECONDS_OF_SILENCE", 60.0)
    with Progress() as shown:
        shown.now("reading")

    assert terminal.getvalue() == ""


def test_times_are_told_as_people_do(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    shown = Progress()
    shown.now("ranking")
    now[0] = 7.0
    assert shown.text() == "ranking, 7 s"
    shown.step(0, 3, "fits")
    now[0] = 107.0
    shown.step(1, 3, "fits")
    assert shown.text() == "fits, 2 min, 3 min left"


def objects(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_programs_get_an_object_for_every_step_and_note(stderr, monkeypatch):
    terminal = stderr(Terminal())
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_OBJECTS", 0.0)
    with progress_for(SimpleNamespace(progress="json", quiet=False)) as shown:
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
    # Small steps follow one another too fast to be told all.
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_OBJECTS", 1e9)
    with JsonProgress() as shown:
        for done in range(9):
            shown.step(done, 9, "many")
        shown.now("drawing")
    assert [each["doing"] for each in objects(terminal)[5:]] == ["many", "drawing"]


def test_a_fit_in_a_fit_tells_its_iterations():
    heard = []
    X = np.random.RandomState(0).standard_normal((20, 8))
    selector = AutoSelect(SCFS(), n_features_to_select=3, random_state=0)
    with showing_progress(lambda *told: heard.append(told)):
        fitted = clone(selector).fit(X)
    selector.fit(X)

    assert {name for name, _ in heard} == {"SCFS"}
    assert heard[-1][1] == fitted.selector_.n_iter_
    assert [number for _, number in heard] == list(range(1, len(heard) + 1))

import io
import json
import time

import numpy as np
import pytest
from sklearn.base import clone

from ufselect import SCFS, AutoSelect
from ufselect._sklearn_compat import listening
from ufselect.cli import progress, progress_json
from ufselect.cli.progress import ProgressLine, Waiting
from ufselect.cli.progress_json import WaitingInJson


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_one_line_that_is_rewritten():
    stream = Terminal()
    line = ProgressLine("cells", stream=stream)
    line.show(1, 4, seconds_left=90)
    line.show(4, 4)
    line.close()

    assert stream.getvalue() == (
        f"\r[{'#' * 7}{'-' * 23}] 1/4 cells, 2 min left\x1b[K"
        f"\r[{'#' * 30}] 4/4 cells\x1b[K\n"
    )


def test_a_log_gets_the_first_line_and_the_last():
    stream = io.StringIO()
    line = ProgressLine("cells", stream=stream)
    for done in range(1, 5):
        line.show(done, 4)
    line.close()

    assert stream.getvalue() == "1/4 cells\n4/4 cells\n"


def test_quiet_is_silent():
    stream = Terminal()
    line = ProgressLine("cells", quiet=True, stream=stream)
    line.show(1, 4)
    line.close()

    assert stream.getvalue() == ""


def wait_for(stream, text):
    """Wait until a thread has written something, at most for a minute."""
    for _ in range(6000):
        if text in stream.getvalue():
            return
        time.sleep(0.01)
    pytest.fail(f"{text!r} was never written")


def test_waiting_rewrites_a_line_of_a_terminal_and_removes_it(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_OF_SILENCE", 0.0)
    stream = Terminal()
    waiting = Waiting(stream=stream)
    waiting.now("reading")
    with waiting:
        wait_for(stream, "\rreading, ")
        waiting.note("two\nlines")

    assert "\r\x1b[Kufselect: two lines\n" in stream.getvalue()
    assert stream.getvalue().endswith(("lines\n", "\r\x1b[K"))


def test_waiting_writes_plain_lines_to_a_log(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_OF_SILENCE", 0.0)
    stream = io.StringIO()
    waiting = Waiting(stream=stream)
    waiting.step(0, 4, "fits")
    with waiting:
        wait_for(stream, "fits, ")

    assert stream.getvalue().endswith(" s\n")
    assert "\r" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_waiting_says_how_far_a_fit_is(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_OF_SILENCE", 0.0)
    stream = Terminal()
    waiting = Waiting(stream=stream)
    waiting.now("ranking 9 features")
    waiting.iteration("SCFS", 12)
    with waiting:
        wait_for(stream, "\rranking 9 features, SCFS iteration 12, ")
        waiting.step(0, 4, "subsamples")
        wait_for(stream, "] subsamples, ")

    assert "subsamples, SCFS" not in stream.getvalue()


def test_a_fit_in_a_fit_tells_its_iterations():
    heard = []
    X = np.random.RandomState(0).standard_normal((20, 8))
    selector = AutoSelect(SCFS(), n_features_to_select=3, random_state=0)
    with listening(lambda *told: heard.append(told)):
        fitted = clone(selector).fit(X)
    selector.fit(X)

    assert {name for name, _ in heard} == {"SCFS"}
    assert heard[-1][1] == fitted.selector_.n_iter_
    assert [number for _, number in heard] == list(range(1, len(heard) + 1))


def test_what_is_done_soon_is_not_spoken_of():
    stream = Terminal()
    with Waiting(stream=stream) as waiting:
        waiting.now("reading")

    assert stream.getvalue() == ""


def test_waiting_in_quiet_says_nothing(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_OF_SILENCE", 0.0)
    stream = Terminal()
    with Waiting(quiet=True, stream=stream) as waiting:
        waiting.now("reading")
        waiting.note("a note")

    assert stream.getvalue() == ""


def objects(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_programs_get_an_object_for_every_step_and_note(monkeypatch):
    monkeypatch.setattr(progress_json, "SECONDS_BETWEEN_OBJECTS", 0.0)
    stream = Terminal()
    with WaitingInJson(stream=stream) as waiting:
        waiting.now("reading")
        waiting.note("two\nlines")
        waiting.step(0, 4, "fits")
        time.sleep(0.1)
        waiting.step(1, 4, "fits")
    reading, note, first, second = objects(stream)

    assert reading == {"doing": "reading", "seconds": 0.0}
    assert note == {"note": "two lines"}
    assert first == {"doing": "fits", "seconds": 0.0, "done": 0, "total": 4}
    assert (second["done"], second["total"]) == (1, 4)
    assert second["seconds_left"] >= 0.3


def test_programs_are_not_told_of_every_small_step(monkeypatch):
    monkeypatch.setattr(progress_json, "SECONDS_BETWEEN_OBJECTS", 1e9)
    stream = io.StringIO()
    with WaitingInJson(stream=stream) as waiting:
        for done in range(9):
            waiting.step(done, 9, "fits")
        waiting.now("drawing")

    assert [each["doing"] for each in objects(stream)] == ["fits", "drawing"]


def test_programs_that_want_quiet_get_it():
    stream = io.StringIO()
    with WaitingInJson(quiet=True, stream=stream) as waiting:
        waiting.now("reading")
        waiting.note("a note")

    assert stream.getvalue() == ""

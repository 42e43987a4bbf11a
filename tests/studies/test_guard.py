"""The guard lets pass what is as fast as it was, and nothing much slower."""

import time

import pytest

from studies import runner
from studies.speed import guard
from studies.speed.guard import COMPARISONS, MARGIN, Pair, guarded, read_bounds


def busy(seconds):
    """Use the processor for so long."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def comparison(ours, theirs):
    """Return one comparison of functions that use the processor for so long."""
    pair = Pair(lambda _: busy(ours), "the other", lambda _: busy(theirs))
    return {"a fit": lambda folder: pair}


@pytest.mark.parametrize(("slower", "met"), [(1, True), (20, False)])
def test_only_what_became_much_slower_is_missed(slower, met):
    (row,) = guarded(comparison(slower * 0.002, 0.002), {"a fit": 1.0}, repeats=3)

    assert row.target == MARGIN
    assert row.judged_by == "processor"
    assert row.met is met


def test_waiting_for_a_busy_machine_is_not_held_against_us():
    def disturbed(_):
        time.sleep(0.05)
        busy(0.002)

    pair = Pair(disturbed, "the other", lambda _: busy(0.002))

    (row,) = guarded({"a fit": lambda folder: pair}, {"a fit": 1.0}, repeats=3)

    assert row.ratio.median > MARGIN
    assert row.met is True


def test_the_command_fails_when_something_is_made_slower(monkeypatch, capsys):
    name, judge = "judging a selection", guard.judge_by_k_means
    monkeypatch.setattr(guard, "COMPARISONS", {name: COMPARISONS[name]})
    monkeypatch.setattr(runner, "describe_machine", dict)
    monkeypatch.setattr(runner, "sentence", lambda machine: "a machine")
    arguments = ["guard", "--check", "--repeats", "1"]
    unharmed = runner.main(arguments)

    def slow(*data, **options):
        busy(0.5)
        return judge(*data, **options)

    monkeypatch.setattr(guard, "judge_by_k_means", slow)

    assert unharmed == 0
    assert runner.main(arguments) == 1
    assert capsys.readouterr().err.startswith("guard: judging a selection took")


def test_every_comparison_has_a_bound_and_every_bound_a_comparison():
    assert set(read_bounds()) == set(COMPARISONS)

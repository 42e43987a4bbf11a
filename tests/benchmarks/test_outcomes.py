"""Rows become JSON and Markdown."""

import json

import pytest
from measuring import Spread, Timing
from outcomes import Result, Row, compared, from_json, ratio_text, to_json, to_markdown

MACHINE = {
    "cores": 2,
    "system": "Linux x86_64",
    "blas": "openblas 0.3",
    "blas_threads": 2,
    "gigaflops": 40.0,
    "gigaflops_of_one_thread": 20.0,
    "load_before": 0.5,
    "versions": {"python": "3.11"},
}


def times(*clocks):
    return [Timing(clock, 2 * clock) for clock in clocks]


def result_of(*rows):
    return Result("speed", "Is it fast?", "--quick", MACHINE, rows)


def test_a_row_compares_by_the_clock_and_by_the_processor():
    ours, theirs = times(1.0, 2.0, 3.0), times(2.0, 4.0, 2.0)

    row = compared("fit", ours, "k-means", theirs, target=1.0)

    assert row.ours == Spread(2.0, 1.0, 3.0)
    assert row.ratio == Spread(1.0, 0.5, 1.5)
    assert row.processor_ratio == row.ratio
    assert row.met is True


@pytest.mark.parametrize(("judged_by", "met"), [("clock", False), ("processor", True)])
def test_a_target_is_held_against_the_ratio_that_is_named(judged_by, met):
    slow, quick = Spread(3.0, 3.0, 3.0), Spread(1.0, 1.0, 1.0)
    row = Row(
        *("fit", "k-means"),
        ratio=slow,
        processor_ratio=quick,
        target=2.0,
        judged_by=judged_by,
    )

    assert row.met is met


def test_without_a_target_or_a_ratio_nothing_is_met_or_missed():
    assert Row("fit", "k-means", ratio=Spread(1.0, 1.0, 1.0)).met is None
    assert Row("fit", "a peer", target=1.0, note="not installed").met is None


def test_processor_time_that_was_not_measured_gives_no_ratio():
    row = compared("fit", [Timing(1.0, 0.0)], "k-means", [Timing(1.0, 0.0)])

    assert row.processor_ratio is None


def test_a_result_comes_back_from_json_as_it_was():
    row = compared("fit", times(1.0), "k-means", times(2.0), target=0.1, limit=0.3)
    result = result_of(row, Row("fit", "a peer", note="not installed"))

    written = json.dumps(to_json(result))

    assert json.loads(written)["rows"][0]["met"] is False
    assert from_json(json.loads(written)) == result


def test_markdown_has_the_question_the_machine_and_only_columns_in_use():
    ours, theirs = times(1.0, 1.0, 3.0), times(2.0, 2.0, 2.0)
    row = compared("fit", ours, "k-means", theirs, target=2.0)

    text = to_markdown(result_of(row))

    assert text.startswith("## Is it fast?\n\n    python -m benchmarks speed --quick\n")
    assert "| fit | 1 s | k-means | 2 s | 0.50 (0.50 to 1.50) |" in text
    assert "| yes |" in text
    assert "40 GFlop/s" in text
    assert "limit" not in text


def test_small_ratios_are_read_as_fractions():
    assert ratio_text(Spread(0.04, 0.02, 0.05)) == "1/25 (1/50 to 1/20)"


def test_one_repetition_has_no_extremes():
    assert ratio_text(Spread(1.5, 1.5, 1.5)) == "1.50"

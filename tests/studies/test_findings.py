"""Rows and outcomes become JSON and pages; the pages of the documents are such."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from studies import findings
from studies.findings import (
    Outcome,
    Result,
    Row,
    compared,
    pages,
    problems,
    ratio_text,
    read_results,
    write_results,
)
from studies.measuring import Spread, Timing
from studies.runner import FOLDER, find_studies

RESULTS = sorted((FOLDER / "results").glob("*.json"))
DOCUMENTS = Path(__file__).parents[2] / "docs"
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
KEPT = Outcome("a kill", 1200, 1150, 50, 0, "20 moments")
LOST = Outcome("a flood", 3, 1, 0, 2)


def times(*clocks):
    return [Timing(clock, 2 * clock) for clock in clocks]


def result_of(*rows):
    return Result("storms", "Does it hold?", "--quick", MACHINE, rows, 12.3)


def test_a_row_compares_by_the_clock_and_by_the_processor():
    ours, theirs = times(1.0, 2.0, 3.0), times(2.0, 4.0, 2.0)

    row = compared("fit", ours, "k-means", theirs, target=1.0)

    assert row.ours == Spread(2.0, 1.0, 3.0)
    assert row.ratio == Spread(1.0, 0.5, 1.5)
    assert row.processor_ratio == row.ratio
    assert row.met is True


@pytest.mark.parametrize(("judged_by", "met"), [("clock", False), ("processor", True)])
def test_a_target_is_held_against_the_ratio_that_is_named(judged_by, met):
    row = Row(
        *("fit", "k-means"),
        ratio=Spread(3.0, 3.0, 3.0),
        processor_ratio=Spread(1.0, 1.0, 1.0),
        target=2.0,
        judged_by=judged_by,
    )

    assert row.met is met
    assert len(problems([result_of(row)])) == (not met)


def test_without_a_target_or_a_ratio_nothing_is_met_or_missed():
    assert Row("fit", "k-means", ratio=Spread(1.0, 1.0, 1.0)).met is None
    assert Row("fit", "a peer", target=1.0, note="not installed").met is None


def test_processor_time_that_was_not_measured_gives_no_ratio():
    row = compared("fit", [Timing(1.0, 0.0)], "k-means", [Timing(1.0, 0.0)])

    assert row.processor_ratio is None


def test_results_of_both_kinds_come_back_from_json_as_they_were(tmp_path):
    row = compared("fit", times(1.0), "k-means", times(2.0), target=0.1, limit=0.3)
    ratios = result_of(row, Row("fit", "a peer", note="not installed"))
    results = [ratios, result_of(KEPT, LOST)]

    write_results(tmp_path / "results.json", results)

    written = json.loads((tmp_path / "results.json").read_text())
    assert written[0]["rows"][0]["met"] is False
    assert written[1]["rows"][0]["answered"] == 1150
    assert read_results([tmp_path / "results.json"]) == results


def test_a_page_of_ratios_has_the_machine_and_only_columns_in_use():
    ours, theirs = times(1.0, 1.0, 3.0), times(2.0, 2.0, 2.0)
    row = compared("fit", ours, "k-means", theirs, target=2.0)

    text = pages([result_of(row)])["benchmarks.md"]

    assert "## Does it hold?\n\n    python -m studies storms --quick\n" in text
    assert "| fit | 1 s | k-means | 2 s | 0.50 (0.50 to 1.50) |" in text
    assert "| yes |" in text
    assert "40 GFlop/s" in text
    assert "| limit |" not in text


def test_a_page_of_outcomes_says_whether_anything_was_lost():
    calm, stormy = (
        pages([result_of(*rows)])["reliability.md"] for rows in ([KEPT], [KEPT, LOST])
    )

    assert "Of 1,200 trials, **none was lost**." in calm
    assert "| a kill | 1,200 | 1,150 | 50 | 0 | 20 moments |" in calm
    assert "    python -m studies storms --quick\n" in calm
    assert "Of 1,203 trials, **2 were lost**." in stormy
    assert "| **in all** | 1,203 | 1,151 | 50 | 2 |" in stormy


def test_a_trial_that_ended_in_no_way_is_a_loss():
    vanished = Outcome("a fog", 10, 8, 1, 0)

    assert problems([result_of(vanished)]) == ["storms: a fog: 1 of 10 lost."]


@pytest.mark.parametrize(("load", "warned"), [(7.4, True), (1.5, False), (None, False)])
def test_a_page_from_a_busy_machine_says_so(load, warned):
    row = result_of(Row("a fit", "k-means"))
    result = replace(row, machine=MACHINE | {"load_before": load})

    text = findings.page_of_ratios([result])

    assert ("was busy**: up to 7.4 processes" in text) is warned


def test_small_ratios_are_fractions_and_one_repetition_has_no_extremes():
    assert ratio_text(Spread(0.04, 0.02, 0.05)) == "1/25 (1/50 to 1/20)"
    assert ratio_text(Spread(1.5, 1.5, 1.5)) == "1.50"


def test_the_pages_of_the_documents_are_up_to_date():
    found = pages(read_results(RESULTS))

    assert set(found) == {"benchmarks.md", "reliability.md"}
    for name, text in found.items():
        assert (DOCUMENTS / name).read_text("utf-8") == text


def test_nothing_was_lost_and_every_study_of_reliability_was_run_at_length():
    tried = [
        each for each in read_results(RESULTS) if isinstance(each.rows[0], Outcome)
    ]
    known = find_studies().values()
    wanted = {s.name for s in known if s.kind == "reliability" and s.measured}

    assert problems(tried) == []
    assert {each.name for each in tried} == wanted
    assert all("--quick" not in each.options for each in tried)


def test_the_target_of_scfs_is_answered_on_all_six_sets():
    (result,) = (
        each for each in read_results(RESULTS) if each.name == "scfs_against_k_means"
    )

    assert len(result.rows) == 6
    assert all(row.met is not None and row.limit for row in result.rows)

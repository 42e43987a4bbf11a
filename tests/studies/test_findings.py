"""Rows and outcomes become JSON and pages; the pages of the documents are such."""

import json
from pathlib import Path

from studies import findings
from studies.findings import Outcome, Result, Row, compared, pages, problems
from studies.measuring import Spread, Timing
from studies.runner import FOLDER, find_studies

RESULTS = findings.read_results(sorted((FOLDER / "results").glob("*.json")))
DOCUMENTS = Path(__file__).parents[2] / "docs"
SPEEDS = {"gigaflops": 40.0, "gigaflops_of_one_thread": 20.0, "load_before": 0.5}
MACHINE = {"cores": 2, "system": "Linux", "blas": "openblas", "blas_threads": 2}
MACHINE |= SPEEDS | {"versions": {"python": "3.11"}}


def times(*clocks):
    return [Timing(clock, 2 * clock) for clock in clocks]


def result_of(*rows, name="security", **machine):
    return Result(name, "Does it hold?", "--quick", MACHINE | machine, rows, 12.3)


def test_a_row_compares_medians_and_holds_a_target_against_the_ratio_it_names():
    ours, theirs = times(1.0, 2.0, 3.0), times(2.0, 4.0, 2.0)
    ratios = {"ratio": Spread(3, 3, 3), "processor_ratio": Spread(1, 1, 1)}
    row = compared("fit", ours, "k-means", theirs, target=1.0)
    slow, quick = (
        Row("fit", "k-means", **ratios, target=2.0, judged_by=judge)
        for judge in ("clock", "processor")
    )

    assert (row.ours, row.ratio) == (Spread(2.0, 1.0, 3.0), Spread(1.0, 0.5, 1.5))
    assert row.processor_ratio == row.ratio
    assert [row.met, slow.met, quick.met] == [True, False, True]
    assert [len(problems([result_of(each)])) for each in (slow, quick)] == [1, 0]
    assert Row("fit", "k-means", ratio=Spread(1, 1, 1)).met is None
    assert Row("fit", "a peer", target=1.0, note="not installed").met is None
    unknown = compared("fit", [Timing(1.0, 0.0)], "k-means", [Timing(1.0, 0.0)])
    assert unknown.processor_ratio is None
    small = findings.ratio_text(Spread(0.04, 0.02, 0.05))
    assert small == "1/25 (1/50 to 1/20)"


def test_results_come_back_from_json_and_become_pages(tmp_path):
    row = compared("fit", times(1, 1, 3), "k-means", times(2, 2, 2), target=2.0)
    kept = Outcome("a kill", 1200, 1150, 50, 0, "20 moments")
    bad = Outcome("a flood", 6, answered=1, lost=2, crashed=1, hung=1)
    results = [result_of(row, load_before=7.4), result_of(kept, bad)]
    path = tmp_path / "results.json"
    findings.write_results(path, results)
    ratios, outcomes = pages(results).values()

    assert json.loads(path.read_text())[0]["rows"][0]["met"] is True
    assert findings.read_results([path]) == results
    assert "## Does it hold?\n\n    python -m studies security --quick\n" in ratios
    assert "| fit | 1 s | k-means | 2 s | 0.50 (0.50 to 1.50) |" in ratios
    assert "40 GFlop/s" in ratios
    assert "| limit |" not in ratios
    assert "was busy**: up to 7.4 processes" in ratios
    assert "Of 1,206 trials, **5 failed**." in outcomes
    assert "| `security` | 1,206 | 1,151 | 50 | 1 | 1 | 2 |" in outcomes
    # One of six ended in no way at all, which is a loss, too.
    assert problems(results) == ["security: a flood: 5 of 6 lost."]
    calm = pages([result_of(kept)])["reliability.md"]
    assert "Of 1,200 trials, **none crashed, hung or lost anything**." in calm


def test_the_pages_of_the_documents_are_up_to_date_and_short():
    found = pages(RESULTS)

    assert set(found) == {"benchmarks.md", "reliability.md"}
    for name, text in found.items():
        assert (DOCUMENTS / name).read_text("utf-8") == text
    assert len(found["reliability.md"].split()) <= 1500


def test_nothing_was_lost_and_every_study_of_reliability_was_run_at_length():
    tried = [each for each in RESULTS if isinstance(each.rows[0], Outcome)]
    known = find_studies().values()
    wanted = {s.name for s in known if s.kind == "reliability" and s.measured}

    assert problems(tried) == []
    assert {each.name for each in tried} == wanted == set(findings.PROMISES)
    assert all("--quick" not in each.options for each in tried)
    (scfs,) = (each for each in RESULTS if each.name == "scfs_against_k_means")
    assert len(scfs.rows) == 7  # six sets, and noise
    assert all(row.met is not None and row.limit for row in scfs.rows)

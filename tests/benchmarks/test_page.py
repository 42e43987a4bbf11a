"""The page of benchmarks is what the results give."""

from pathlib import Path

from finding import FOLDER
from running import page, read_results

RESULTS = sorted((FOLDER / "results").glob("*.json"))
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"


def test_the_page_of_benchmarks_is_up_to_date():
    assert PAGE.read_text("utf-8") == page(read_results(RESULTS))


def test_the_target_of_scfs_is_answered_on_all_six_sets():
    (result,) = (
        each for each in read_results(RESULTS) if each.name == "scfs_against_k_means"
    )

    assert len(result.rows) == 6
    assert all(row.met is not None and row.limit for row in result.rows)

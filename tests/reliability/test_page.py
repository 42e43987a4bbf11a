"""The page of reliability is what the results give, and nothing was lost."""

from pathlib import Path

from reliability.results import losses, page, read_results
from reliability.running import FOLDER, find_families

RESULTS = sorted((FOLDER / "results").glob("*.json"))
PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


def test_the_page_of_reliability_is_up_to_date():
    assert PAGE.read_text("utf-8") == page(read_results(RESULTS))


def test_nothing_was_lost():
    assert losses(read_results(RESULTS)) == []


def test_the_families_of_the_page_were_run_at_length():
    results = read_results(RESULTS)

    assert {each.name for each in results} == set(find_families())
    assert all("--quick" not in each.options for each in results)

"""The page of method cards."""

from pathlib import Path

from ufselect import all_selectors
from ufselect.report.method_cards import as_markdown, method_page
from ufselect.report.rendering import docstring_sections

PAGE = Path(__file__).resolve().parents[2] / "docs" / "methods.md"
CARD = ("Optimised", "Differs", "Confidence", "Needs c", "Cannot", "Cost")
BASELINES = {"MaxVariance", "RandomSelection"}


def test_page_in_the_docs_is_up_to_date():
    expected = method_page(all_selectors())

    assert PAGE.read_text(encoding="utf-8") == expected, (
        "run: ufselect methods --markdown > docs/methods.md"
    )


def test_every_method_has_a_complete_card():
    for name, selector in all_selectors().items():
        if name in BASELINES:
            continue
        sections = docstring_sections(selector)

        assert [lead for lead in CARD if f"**{lead}.**" not in sections["Notes"]] == []
        assert sections["References"]
        assert selector.PARAM_GRID


def test_published_grid_names_parameters_of_the_method():
    for name, selector in all_selectors().items():
        if name not in BASELINES:
            assert set(selector.PARAM_GRID) <= set(selector().get_params())


def test_literal_blocks_become_fences():
    text = "minimise::\n\n    a + b\n\n    c\n\nover ``a``."

    assert as_markdown(text) == "minimise:\n\n```text\na + b\n\nc\n```\n\nover `a`."

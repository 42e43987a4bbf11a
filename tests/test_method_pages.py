"""Every method has a page in docs/methods, and a docstring that leads to it."""

import inspect
import re

import pytest
from method_pages import FOLDER, page_of, sections_of

import ufselect
from ufselect import all_selectors
from ufselect.report.rendering import docstring_sections, yes_or_no

SECTIONS = [
    "What it optimises",
    "How it differs from the paper",
    "How sure we are",
    "What it needs",
    "What its ranking depends on",
    "What it cannot do",
    "Cost",
]
REQUIRED = {"What it optimises", "How sure we are", "What it cannot do", "Cost"}
BASELINES = {"MaxVariance", "RandomSelection"}
METHODS = sorted(set(all_selectors()) - BASELINES)
INDEX = FOLDER.with_suffix(".md")
NOT_OF_A_METHOD = {"relations.md"}

MAX_DOCSTRING_LINES = 75
# SCFS has the parameters of two solvers.
MAX_LINES = {"SCFS": 92}


@pytest.mark.parametrize("name", all_selectors())
def test_a_page_has_the_sections_of_a_page(name):
    sections = sections_of(name)
    titles = list(sections)[1:]

    assert sections[""] == f"# {name}"
    assert titles == [title for title in SECTIONS if title in titles]
    assert set(titles) >= REQUIRED
    assert all(sections.values())


def test_every_page_is_of_a_method_and_the_index_lists_each():
    index = INDEX.read_text("utf-8")
    pages = {page_of(name).name for name in all_selectors()}

    assert {path.name for path in FOLDER.glob("*.md")} - NOT_OF_A_METHOD == pages
    assert [page for page in sorted(pages) if f"](methods/{page})" not in index] == []


@pytest.mark.parametrize("name", all_selectors())
def test_the_index_has_the_parts_that_a_method_declares(name):
    parts = " | ".join(map(yes_or_no, all_selectors()[name].PROPERTIES))

    assert f"\n| {name} | {parts} |\n" in INDEX.read_text("utf-8")


@pytest.mark.parametrize("name", all_selectors())
def test_a_docstring_is_short_and_leads_to_the_page(name):
    docstring = inspect.getdoc(all_selectors()[name])

    assert f"docs/methods/{name.lower()}.md" in " ".join(docstring.split())
    assert len(docstring.splitlines()) <= MAX_LINES.get(name, MAX_DOCSTRING_LINES)


@pytest.mark.parametrize("name", ["AutoSelect", "Consensus", "StabilitySelection"])
def test_a_docstring_of_a_selector_around_others_is_short(name):
    docstring = inspect.getdoc(getattr(ufselect, name))

    assert len(docstring.splitlines()) <= MAX_DOCSTRING_LINES


@pytest.mark.parametrize("name", METHODS)
def test_a_method_has_a_reference_and_a_published_grid_of_its_parameters(name):
    method = all_selectors()[name]

    assert re.search(r"\d{4}", docstring_sections(method)["References"])
    assert method.PARAM_GRID
    assert set(method.PARAM_GRID) <= set(method().get_params())

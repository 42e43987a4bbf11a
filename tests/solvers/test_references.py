"""The code and docs/mathematics.md name each other's equations and functions."""

import importlib
import re
from pathlib import Path

import pytest

import ufselect.solvers

CODE = Path(ufselect.solvers.__file__).parent
MODULES = ("scfs", "soft_partition", "group_lasso", "ridge", "scfs_paper", "starts")
PAGE = Path(__file__).parents[2] / "docs" / "mathematics.md"


@pytest.fixture(scope="module")
def page():
    if not PAGE.is_file():
        pytest.skip("docs/mathematics.md belongs to the source checkout")
    return PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("module", MODULES[:3])
def test_what_the_code_refers_to_is_on_the_page(module, page):
    text = (CODE / f"{module}.py").read_text(encoding="utf-8")
    equations = set(re.findall(r"\bE\d+\b", text))
    theorems = set(re.findall(r"Theorem \d+", text))

    assert equations | theorems
    assert equations <= set(re.findall(r"\\text\{\((E\d+)\)\}", page))
    assert all(f"**{theorem}.**" in page for theorem in theorems)


def test_every_equation_of_the_page_is_in_the_code(page):
    text = "".join((CODE / f"{name}.py").read_text("utf-8") for name in MODULES)
    tags = re.findall(r"\\text\{\((E\d+)\)\}", page)

    assert tags == [f"E{number}" for number in range(1, len(tags) + 1)]
    assert set(tags) <= set(re.findall(r"\bE\d+\b", text))


def test_every_function_on_the_page_exists(page):
    names = re.findall(r"`((?:\w+)\.(?:[A-Za-z]\w*)(?:\._?[A-Za-z]\w*)?)`", page)
    named = [name for name in names if (CODE / f"{name.split('.')[0]}.py").is_file()]

    assert len(set(named)) >= 20
    for name in named:
        module, *attributes = name.split(".")
        found = importlib.import_module(f"ufselect.solvers.{module}")
        for attribute in attributes:
            found = getattr(found, attribute)

"""The page of method cards, made from the docstrings of the selectors."""

import inspect
import re
from collections.abc import Mapping

from ufselect.report.rendering import docstring_sections, render


def summary_line(selector: type) -> str:
    """Return the first line of the docstring of a selector."""
    return docstring_sections(selector)[""].split("\n", 1)[0]


def method_page(selectors: Mapping[str, type]) -> str:
    """Return the page of all method cards in Markdown."""
    return render("methods.md.j2", selectors=selectors, card_of=method_card)


def method_card(selector: type) -> str:
    """Return description, notes and references of one method in Markdown."""
    sections = docstring_sections(selector)
    parts = [sections[""]]
    parts += [sections["Notes"]] if "Notes" in sections else []
    if "References" in sections:
        parts.append("**Reference.** " + sections["References"])
    return "\n\n".join(map(as_markdown, parts))


def as_markdown(text: str) -> str:
    """Return text with literal blocks and literals in Markdown's notation."""
    return re.sub(
        r"::\n\n((?:(?: {4}.*)?\n)*(?: {4}.*))",
        lambda match: ":\n\n```text\n" + inspect.cleandoc(match[1]) + "\n```",
        text.replace("``", "`"),
    )

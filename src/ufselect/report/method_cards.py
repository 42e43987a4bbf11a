"""The page of method cards, made from the docstrings of the selectors."""

import inspect
import re
from collections.abc import Mapping

from ufselect.report.rendering import docstring_sections

HEADINGS = {
    "self_expression": "self-expression",
    "similarity": "similarity",
    "adaptive_graph": "adaptive graph",
    "joint_learning": "joint learning",
    "clustering": "clustering",
    "regression": "regression",
    "regularisation": "regularisation",
}

INTRODUCTION = """# Methods

`ufselect methods --markdown` makes this page from the docstrings of the classes.

How to read a card:

* **Optimised** says what the method computes, **Differs** how that differs from the
  paper.
* **Confidence** says how the formulas were confirmed. Only the text of the SCFS paper
  was at hand, so only its card has equation numbers; the others state the objective.
* **Needs c** says whether you give a number of clusters c.
* **Invariant to** and **Not invariant to** say which changes keep the ranking: another
  sign, offset or unit of features, order of samples, or seed. The tests check both. A
  method without `random_state` uses no random numbers.
* **Cannot** says what the method does not find.
* **Cost** counts operations and memory for n samples and p features.

The table has the columns of the comparison in the SCFS paper: whether samples or
features are expressed by each other, how the similarity of samples is computed, whether
the graph is learned, whether learning and selection are joint, and whether the method
uses clustering, regression and regularisation.
"""


def summary_line(selector: type) -> str:
    """Return the first line of the docstring of a selector."""
    return (inspect.getdoc(selector) or "").split("\n", 1)[0]


def method_page(selectors: Mapping[str, type]) -> str:
    """Return the page of all method cards in Markdown."""
    cards = [method_card(name, selector) for name, selector in selectors.items()]
    return "\n".join([INTRODUCTION, property_table(selectors), *cards])


def property_table(selectors: Mapping[str, type]) -> str:
    """Return the table of properties that the classes declare."""
    lines = [
        "| method | " + " | ".join(HEADINGS.values()) + " |",
        "|---" * (len(HEADINGS) + 1) + "|",
    ]
    for name, selector in selectors.items():
        values = selector.PROPERTIES._asdict()  # type: ignore[attr-defined]
        cells = [property_words(values[key]) for key in HEADINGS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def method_card(name: str, selector: type) -> str:
    """Return description, notes and references of one method in Markdown."""
    sections = docstring_sections(selector)
    parts = [f"## {name}", sections[""]]
    parts += [sections["Notes"]] if "Notes" in sections else []
    if "References" in sections:
        parts.append("**Reference.** " + sections["References"])
    return "\n\n".join(as_markdown(part) for part in parts) + "\n"


def as_markdown(text: str) -> str:
    """Return text with literal blocks and literals in Markdown's notation."""
    return re.sub(
        r"::\n\n((?:(?: {4}.*)?\n)*(?: {4}.*))",
        lambda match: ":\n\n```text\n" + inspect.cleandoc(match[1]) + "\n```",
        text.replace("``", "`"),
    )


def property_words(value: str | bool) -> str:
    """Return what a method declares of a property: its words, yes or no."""
    if isinstance(value, str):
        return value
    return "yes" if value else "no"

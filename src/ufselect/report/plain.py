"""Sections of a page as plain text and as Markdown; pictures are left to the page."""

from collections.abc import Iterator, Sequence

from ufselect.report.page import Block, Paragraph, Preformatted, Section, Table
from ufselect.report.tables import markdown_table, text_table


def plain_text(sections: Sequence[Section]) -> str:
    """Return sections as text for a terminal.

    Examples
    --------
    >>> from ufselect.report import Paragraph, Section
    >>> print(plain_text([Section("Data", [Paragraph("n < p")])]), end="")
    Data
    ====
    <BLANKLINE>
    n < p
    """
    parts = []
    for section in sections:
        parts.append(f"{section.heading}\n{'=' * len(section.heading)}")
        for block in section.blocks:
            parts += _text_of(block)
    return "\n\n".join(parts) + "\n"


def markdown(title: str, sections: Sequence[Section]) -> str:
    """Return sections as a Markdown document.

    Examples
    --------
    >>> from ufselect.report import Preformatted, Section
    >>> print(markdown("Report", [Section("Data", [Preformatted("n")])]), end="")
    # Report
    <BLANKLINE>
    ## Data
    <BLANKLINE>
        n
    """
    parts = [f"# {title}"]
    for section in sections:
        parts.append(f"## {section.heading}")
        for block in section.blocks:
            parts += _markdown_of(block)
    return "\n\n".join(parts) + "\n"


def _text_of(block: Block) -> Iterator[str]:
    match block:
        case Paragraph(text) | Preformatted(text):
            yield text
        case Table(header, rows, caption):
            if caption:
                yield caption
            yield text_table(header, rows)


def _markdown_of(block: Block) -> Iterator[str]:
    match block:
        case Paragraph(text):
            yield text
        case Preformatted(text):
            yield "\n".join(f"    {line}" for line in text.splitlines())
        case Table(header, rows, caption):
            if caption:
                yield caption
            yield markdown_table(header, rows)

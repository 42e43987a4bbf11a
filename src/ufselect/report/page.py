"""One HTML file with everything in it: no network, light and dark, fit to print."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from ufselect.report.downloads import Columns, distinct, download_html
from ufselect.report.page_script import SCRIPT, content_security_policy
from ufselect.report.page_style import STYLE
from ufselect.report.page_tables import ours, table_html

# A table of more rows gets a frame of its own, in which it scrolls.
MANY_ROWS = 25


class Paragraph(NamedTuple):
    """Running text."""

    text: str


class Preformatted(NamedTuple):
    """Text whose line breaks and spaces count."""

    text: str


class Table(NamedTuple):
    """A table of text; columns of numbers are set to the right.

    Attributes
    ----------
    header : sequence of str
    rows : sequence of sequence of str
        A cell that is a `Graphic` is shown as its drawing.
    caption : str
    interactive : bool
        Whether the reader can sort the rows by any column, filter them and save them.
    data : mapping of str to sequence, optional
        What is saved, if not the cells as they are shown.
    name : str
        Of the saved file, without its ending.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    interactive: bool = False
    data: Columns | None = None
    name: str = "table"


class Picture(NamedTuple):
    """A figure of ours, which goes into the page as it is, and its caption.

    With ``data``, columns by name, the reader can save what is behind the figure under
    the given ``name``.
    """

    svg: str
    caption: str = ""
    data: Columns | None = None
    name: str = "figure"


Block = Paragraph | Preformatted | Table | Picture


class Section(NamedTuple):
    """A heading and what stands under it."""

    heading: str
    blocks: Sequence[Block]


def html_page(title: str, sections: Sequence[Section]) -> str:
    """Return one self-contained HTML page.

    All text is escaped. Only the SVG of a picture is not, so it must be ours.

    Examples
    --------
    >>> from ufselect.report import Paragraph, Section, html_page
    >>> page = html_page("Report", [Section("Data", [Paragraph("n < p")])])
    >>> "<h2>Data</h2>" in page, "<p>n &lt; p</p>" in page
    (True, True)
    """
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta http-equiv="Content-Security-Policy" '
        f'content="{content_security_policy()}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        "</head>",
        "<body>",
        f"<h1>{escape(title)}</h1>",
        *(_section(section) for section in sections),
        *([f"<script>{SCRIPT}</script>"] if _needs_script(sections) else []),
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _needs_script(sections: Sequence[Section]) -> bool:
    return any(
        (isinstance(block, Table) and block.interactive)
        or (isinstance(block, Table | Picture) and block.data is not None)
        for section in sections
        for block in section.blocks
    )


def _section(section: Section) -> str:
    heading = f"<h2>{escape(section.heading)}</h2>"
    blocks = [_block(block) for block in section.blocks]
    return "\n".join(["<section>", heading, *blocks, "</section>"])


def _block(block: Block) -> str:
    match block:
        case Paragraph(text):
            return f"<p>{escape(text)}</p>"
        case Preformatted(text):
            return f"<pre>{escape(text)}</pre>"
        case Table():
            return _table(block)
        case Picture(svg, caption, data, name):
            saved = "" if data is None else download_html(data, name)
            return _figure(f'<div class="wide">{ours(svg)}</div>', caption, saved)


def _table(table: Table) -> str:
    data = table.data
    if data is None and table.interactive:
        data = _shown(table)
    saved = "" if data is None else download_html(data, table.name)
    content = table_html(table.header, table.rows)
    box = f'<div class="wide">{content}</div>'
    if table.interactive and len(table.rows) > MANY_ROWS:
        # Within reach of the keyboard, for it scrolls.
        label = escape(table.caption or table.name)
        box = (
            f'<div class="wide long" tabindex="0" role="region" aria-label="{label}">'
            f"{content}</div>"
        )
    return _figure(box, table.caption, saved, table.interactive)


def _shown(table: Table) -> Columns:
    """Return the cells as they are shown, by column; equal names are numbered."""
    return {
        name: [str(row[place]) for row in table.rows]
        for place, name in enumerate(distinct(table.header))
    }


def _figure(
    content: str, caption: str, saved: str = "", interactive: bool = False
) -> str:
    words = f"<figcaption>{escape(caption)}</figcaption>\n" if caption else ""
    tools = f'<div class="tools">{saved}</div>\n' if saved else ""
    mark = " data-interactive" if interactive else ""
    if interactive:
        return f"<figure{mark}>\n{words}{tools}{content}\n</figure>"
    return f"<figure>\n{words}{content}\n{tools}</figure>"

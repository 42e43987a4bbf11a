"""One HTML file with everything in it: no network, light and dark, fit to print."""

import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --line: #d0d4d9;
  --shade: #f4f5f7; --quiet: #59616b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --paper: #15181c;
  --line: #3b424b; --shade: #1f242a; --quiet: #a2abb6; } }
@media print { :root { --ink: #000; --paper: #fff; --line: #999; --shade: #fff;
  --quiet: #333; color-scheme: light; } }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 64rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; }
h2 { font-size: 1.25rem; margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
p { max-width: 44rem; }
h1, h2, p, figcaption { overflow-wrap: anywhere; }
figure { margin: 1.5rem 0; }
figcaption { color: var(--quiet); font-size: .92rem; margin-bottom: .4rem; }
.wide { overflow-x: auto; }
svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { padding: .3rem .7rem; text-align: left; border-bottom: 1px solid var(--line);
  white-space: nowrap; font-variant-numeric: tabular-nums; }
thead th { border-bottom: 2px solid var(--line); }
.number { text-align: right; }
pre { background: var(--shade); padding: .8rem 1rem; overflow-x: auto;
  font-size: .88rem; line-height: 1.4; }
@media print { body { max-width: none; padding: 0; } h2 { break-after: avoid; }
  figure, tr { break-inside: avoid; } .wide, pre { overflow: visible; }
  pre { white-space: pre-wrap; } table { font-size: 8pt; }
  th, td { white-space: normal; padding: .15rem .35rem; } }
"""

# A number, with what may stand around one: a sign, a spread, a unit.
NUMBER = re.compile(
    r"[-+\N{MINUS SIGN}]?\d[\d.,]*(e[-+]?\d+)?\s*%?"
    r"(\s*(±|\+-)\s*\d[\d.,]*\s*%?)?"
)
NUMBER_CLASS = ' class="number"'
NOTHING = {"", "-", "\N{EN DASH}", "none", "nan"}


class Paragraph(NamedTuple):
    """Running text."""

    text: str


class Preformatted(NamedTuple):
    """Text whose line breaks and spaces count."""

    text: str


class Table(NamedTuple):
    """A table of text; columns of numbers are set to the right."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


class Picture(NamedTuple):
    """A figure of ours, which goes into the page as it is, and its caption."""

    svg: str
    caption: str = ""


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
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        "</head>",
        "<body>",
        f"<h1>{escape(title)}</h1>",
        *(_section(section) for section in sections),
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


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
        case Table(header, rows, caption):
            return _figure(_table(header, rows), caption)
        case Picture(svg, caption):
            if not svg.startswith("<svg"):
                raise ValueError(
                    f"a picture must be an SVG element of ours, got {svg[:40]!r}"
                )
            return _figure(svg, caption)


def _figure(content: str, caption: str) -> str:
    words = f"<figcaption>{escape(caption)}</figcaption>\n" if caption else ""
    return f'<figure>\n{words}<div class="wide">{content}</div>\n</figure>'


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    numeric = [_is_numeric(column) for column in zip(header, *rows, strict=True)]
    lines = ["<table>", "<thead>", _row(header, numeric, "th"), "</thead>", "<tbody>"]
    lines += [_row(row, numeric, "td") for row in rows]
    return "\n".join([*lines, "</tbody>", "</table>"])


def _is_numeric(column: Sequence[str]) -> bool:
    """Say whether the cells under the heading are numbers, or nothing at all."""
    cells = [cell.strip() for cell in column[1:]]
    numbers = [cell for cell in cells if NUMBER.fullmatch(cell)]
    return bool(numbers) and all(
        cell in numbers or cell.lower() in NOTHING for cell in cells
    )


def _row(cells: Sequence[str], numeric: Sequence[bool], tag: str) -> str:
    scope = ' scope="col"' if tag == "th" else ""
    parts = [
        f"<{tag}{scope}{NUMBER_CLASS if right else ''}>{escape(cell)}</{tag}>"
        for cell, right in zip(cells, numeric, strict=True)
    ]
    return "<tr>" + "".join(parts) + "</tr>"

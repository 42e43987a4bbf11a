"""Tables of a page: text, numbers and small drawings in cells."""

import re
from collections.abc import Sequence
from html import escape
from typing import Self

# A number, with what may stand around one: a sign, a spread, a unit.
NUMBER = re.compile(
    r"[-+\N{MINUS SIGN}]?\d[\d.,]*(e[-+]?\d+)?\s*%?"
    r"(\s*(±|\+-)\s*\d[\d.,]*\s*%?)?"
)
NOTHING = {"", "-", "\N{EN DASH}", "none", "nan"}
# Longer cells are sentences or lists, which wrap.
LONG = 48


class Graphic(str):
    """The words of a cell, in whose place a page shows a small drawing of ours.

    Examples
    --------
    >>> Graphic('<svg width="9" height="9"></svg>', "a square")
    'a square'
    """

    svg: str

    def __new__(cls, svg: str, words: str) -> Self:
        """Attach a drawing to words."""
        cell = super().__new__(cls, words)
        cell.svg = svg
        return cell


GRAPHIC, NUMERIC, WORDS, PLAIN = "graphic", "number", "words", ""


def table_html(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as HTML; columns of numbers are set to the right.

    Examples
    --------
    >>> print(table_html(["n"], [["1"]]).splitlines()[2])
    <tr><th scope="col" class="number">n</th></tr>
    """
    kinds = [_kind(column) for column in zip(header, *rows, strict=True)]
    lines = ["<table>", "<thead>", _header(header, kinds), "</thead>", "<tbody>"]
    lines += [_row(row, kinds) for row in rows]
    return "\n".join([*lines, "</tbody>", "</table>"])


def ours(svg: str) -> str:
    """Return a drawing if it can be one of ours; anything else is refused."""
    if not svg.startswith("<svg"):
        raise ValueError(f"a picture must be an SVG element of ours, got {svg[:40]!r}")
    return svg


def _kind(column: Sequence[str]) -> str:
    cells = column[1:]
    if any(isinstance(cell, Graphic) for cell in cells):
        return GRAPHIC
    texts = [cell.strip() for cell in cells]
    if _is_numeric(texts):
        return NUMERIC
    return WORDS if max(map(len, texts), default=0) > LONG else PLAIN


def _is_numeric(cells: Sequence[str]) -> bool:
    """Say whether cells are numbers, or nothing at all."""
    found = [bool(NUMBER.fullmatch(cell)) for cell in cells]
    return any(found) and all(
        good or cell.lower() in NOTHING for good, cell in zip(found, cells, strict=True)
    )


def _header(header: Sequence[str], kinds: Sequence[str]) -> str:
    parts = []
    for name, kind in zip(header, kinds, strict=True):
        marks = _class(kind) if kind == NUMERIC else ""
        marks += ' data-sort="none"' if kind == GRAPHIC else ""
        parts.append(f'<th scope="col"{marks}>{escape(name)}</th>')
    return "<tr>" + "".join(parts) + "</tr>"


def _row(cells: Sequence[str], kinds: Sequence[str]) -> str:
    parts = [
        f"<td{_class(kind)}>{_content(cell)}</td>"
        for cell, kind in zip(cells, kinds, strict=True)
    ]
    return "<tr>" + "".join(parts) + "</tr>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _content(cell: str) -> str:
    return ours(cell.svg) if isinstance(cell, Graphic) else escape(cell)

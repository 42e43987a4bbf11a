"""From content to a document: HTML by Jinja2, plain text, Markdown, and CSV.

An HTML report is one file with everything in it: it needs no network, follows light
and dark screens, and prints. Templates whose name ends with .html.j2 escape all text.
Only drawings are not escaped, so they must be ours.
"""

import base64
import hashlib
import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ufselect import plotting
from ufselect.data.tables.layout import looks_like_formula

if TYPE_CHECKING:
    from ufselect.plotting.axes import Plot

# Rows of a table that a reader can save; Python has all of them.
MAX_ROWS = 20_000
# A table of more rows scrolls in a frame.
MAX_STATIC_ROWS = 12
# A number, with what may stand around one: a sign, a spread, a unit.
NUMBER = re.compile(
    r"[-+\N{MINUS SIGN}]?\d[\d.,]*(e[-+]?\d+)?\s*%?"
    r"(\s*(±|\+-)\s*\d[\d.,]*\s*%?)?"
)
EMPTY_CELLS = {"", "-", "\N{EN DASH}", "none", "nan"}
# Letters; longer cells are sentences or lists, which wrap.
MAX_LETTERS_UNWRAPPED = 48


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    kind: ClassVar[str] = "paragraph"
    text: str


@dataclass(frozen=True)
class Bullets:
    """Sentences in a list."""

    kind: ClassVar[str] = "bullets"
    items: Sequence[str]


@dataclass(frozen=True)
class Preformatted:
    """Text whose line breaks and spaces count, and the id of its element."""

    kind: ClassVar[str] = "preformatted"
    text: str
    name: str = ""


@dataclass(frozen=True)
class TextTable:
    """A table of text; columns of numbers are set to the right.

    Attributes
    ----------
    header : sequence of str
    rows : sequence of sequence of str
    caption : str
    interactive : bool
        Whether the reader can sort the rows by any column, filter them and save them.
    data : DataFrame or mapping of str to sequence, optional
        What is saved, if not the cells as they are shown.
    name : str
        Of the saved file, without its ending.
    every_row : str
        Name of a saved table in which the filter finds further rows. Its first columns
        are rank and feature, and the reader can choose a row to see the details.
    """

    kind: ClassVar[str] = "table"
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    interactive: bool = False
    data: Any = None
    name: str = "table"
    every_row: str = ""

    @property
    def saved(self) -> pd.DataFrame | None:
        """Return what the reader can save: by default the cells, or nothing."""
        if self.data is not None:
            return pd.DataFrame(self.data)
        rows = pd.DataFrame(self.rows, columns=list(self.header))
        return rows if self.interactive else None

    @property
    def kinds(self) -> list[str]:
        """Return what each column holds: numbers, long words, or words."""
        return [_kind(column) for column in zip(self.header, *self.rows, strict=True)]

    @property
    def scrolls(self) -> bool:
        """Return whether the table gets a frame in which it scrolls."""
        return self.interactive and len(self.rows) > MAX_STATIC_ROWS


@dataclass(frozen=True)
class Picture:
    """A figure, which goes into the report unescaped, and its caption.

    With ``data``, a table, the reader can save what is behind the figure under the
    given ``name``.
    """

    kind: ClassVar[str] = "picture"
    svg: str
    caption: str = ""
    data: Any = None
    name: str = "figure"

    @property
    def saved(self) -> pd.DataFrame | None:
        """Return what the reader can save, if anything."""
        return None if self.data is None else pd.DataFrame(self.data)


Block = Paragraph | Bullets | Preformatted | TextTable | Picture


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it.

    Attributes
    ----------
    heading : str
    blocks : sequence of Block
    name : str
        Id of the section.
    link : str
        Words of the link to it at the top of the report; without any there is no link.
    half : bool
        Whether a wide screen shows the section beside another one.
    """

    heading: str
    blocks: Sequence[Block]
    name: str = ""
    link: str = ""
    half: bool = False


@dataclass(frozen=True)
class Lead:
    """What a report says first: what to do, the reasons, and what was found."""

    level: Literal["use", "care", "stop"]
    headline: str
    reasons: Sequence[str]
    found: Sequence[str]


@dataclass(frozen=True)
class Part:
    """The numbers that answer one question, and what draws them.

    Attributes
    ----------
    data : DataFrame
        The numbers.
    draw : callable, optional
        Returns their figure.
    facts : mapping of str to object
        What the words, decisions and JSON need.
    """

    data: pd.DataFrame
    draw: "Callable[[], Plot] | None" = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def frame(self) -> pd.DataFrame:
        """Return the numbers."""
        return self.data

    def plot(self) -> "Plot":
        """Return their figure, which is drawn once."""
        return self._plot

    @cached_property
    def _plot(self) -> "Plot":
        if self.draw is None:
            raise ValueError("this part has no figure; frame() has its numbers")
        return self.draw()


def figure_of(name: str, *given: Any, **options: Any) -> "Callable[[], Plot]":
    """Return what draws a figure of `ufselect.plotting`, which is loaded only then."""
    return partial(_draw, name, *given, **options)


def _draw(name: str, *given: Any, **options: Any) -> Any:
    return getattr(plotting, name)(*given, **options)


def html_page(title: str, sections: Sequence[Section], lead: Lead | None = None) -> str:
    """Return one self-contained HTML document.

    All text is escaped. Only the SVG of a picture is not, so it must be ours.

    Examples
    --------
    >>> from ufselect.report import Paragraph, Section, html_page
    >>> page = html_page("Report", [Section("Data", [Paragraph("n < p")])])
    >>> "<h2>Data</h2>" in page, "<p>n &lt; p</p>" in page
    (True, True)
    """
    return render("page.html.j2", title=title, sections=sections, lead=lead)


def render(template: str, **content: Any) -> str:
    """Return a template of this package, filled with content."""
    return _environment().get_template(template).render(content)


def section(
    template: str,
    name: str,
    title: str,
    blocks: Sequence[Block],
    *,
    link: str = "",
    half: bool = False,
    **content: Any,
) -> Section:
    """Return a section with the words of one block of a template before its blocks.

    Parameters
    ----------
    template : str
    name : str
        Of the block of the template, if there is one, and id of the section.
    title : str
    blocks : sequence of Block
    link, half
        As in `Section`.
    **content
        The variables of the template.
    """
    words: list[Block] = []
    found = _environment().get_template(template)
    if name in found.blocks:
        text = "".join(found.blocks[name](found.new_context(content)))
        paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
        words = [Paragraph(words) for words in paragraphs if words]
    return Section(title, [*words, *blocks], name, link, half)


@cache
def package_file(name: str) -> str:
    """Return the text of a file beside the templates, such as a style sheet."""
    folder = resources.files("ufselect.report") / "templates"
    return (folder / name).read_text(encoding="utf-8")


def content_security_policy() -> str:
    """Return the policy of a report: no network, and no script but ours.

    If markup slips through, a browser neither runs nor fetches it.

    Examples
    --------
    >>> content_security_policy().split(";")[0]
    "default-src 'none'"
    """
    digest = hashlib.sha256(package_file("report.js").encode()).digest()
    return (
        f"default-src 'none'; script-src 'sha256-{base64.b64encode(digest).decode()}'; "
        "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("ufselect.report"),
        autoescape=select_autoescape(["html.j2"]),  # the others make plain text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"ours": ours, "csv": csv_text}
    environment.globals |= {
        "policy": content_security_policy(),
        "style": package_file("report.css"),
        "script": package_file("report.js"),
        "most_rows": MAX_ROWS,
        "text_table": text_table,
        "markdown_table": markdown_table,
    }
    return environment


def ours(svg: str) -> str:
    """Return a drawing that this package made; refuse anything else."""
    if not svg.startswith("<svg"):
        raise ValueError(f"a picture must be an SVG element, got {svg[:40]!r}")
    return svg


def yes_or_no(value: str | bool) -> str:
    """Return what a method declares of a property: its words, yes or no."""
    if isinstance(value, str):
        return value
    return "yes" if value else "no"


def docstring_sections(selector: type) -> dict[str, str]:
    """Return the sections of a numpydoc docstring; the description has no name."""
    pieces = re.split(r"^(.+)\n-{3,}\n", inspect.getdoc(selector) or "", flags=re.M)
    titles = ["", *pieces[1::2]]
    return dict(zip(titles, (text.strip() for text in pieces[::2]), strict=True))


def _kind(column: Sequence[str]) -> str:
    texts = [cell.strip() for cell in column[1:]]
    numbers = [text for text in texts if text.lower() not in EMPTY_CELLS]
    if numbers and all(map(NUMBER.fullmatch, numbers)):
        return "number"
    return "words" if max(map(len, texts), default=0) > MAX_LETTERS_UNWRAPPED else ""


def plain_text(sections: Sequence[Section]) -> str:
    """Return sections as text for a terminal; pictures are left to the HTML.

    Examples
    --------
    >>> from ufselect.report import Paragraph, Section
    >>> print(plain_text([Section("Data", [Paragraph("n < p")])]), end="")
    Data
    ====
    <BLANKLINE>
    n < p
    """
    return render("sections.txt.j2", sections=sections).rstrip() + "\n"


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
    text = render("sections.md.j2", title=title, sections=sections)
    return text.rstrip() + "\n"


def text_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    words: Collection[str] = (),
) -> str:
    """Return an aligned table: the first column and ``words`` to the left.

    Examples
    --------
    >>> print(text_table(["method", "ACC"], [["SCFS", "79.1"], ["all", "9.0"]]))
    method   ACC
    ------  ----
    SCFS    79.1
    all      9.0
    """
    columns = zip(header, *rows, strict=True)
    widths = [max(len(cell) for cell in column) for column in columns]
    lines = [header, ["-" * width for width in widths], *rows]
    left = {header[0], *words}
    return "\n".join(
        "  ".join(
            cell.ljust(width) if title in left else cell.rjust(width)
            for title, cell, width in zip(header, line, widths, strict=True)
        )
        for line in lines
    )


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Return a table in Markdown, aligned as in `text_table`.

    Examples
    --------
    >>> print(markdown_table(["method", "ACC"], [["SCFS", "79.1"], ["a|b", "9.0"]]))
    | method | ACC |
    |:--|--:|
    | SCFS | 79.1 |
    | a\|b | 9.0 |
    """
    rule = "|:--" + "|--:" * (len(header) - 1) + "|"
    columns = zip(header, *rows, strict=True)
    head, *body = zip(*columns, strict=True)
    return "\n".join([_markdown_row(head), rule, *map(_markdown_row, body)])


def _markdown_row(cells: Sequence[str]) -> str:
    # A line break would end the row.
    escaped = [" ".join(cell.replace("|", r"\|").splitlines()) for cell in cells]
    return "| " + " | ".join(escaped) + " |"


def csv_text(
    columns: pd.DataFrame | Mapping[str, Sequence[Any]],
    most_rows: int | None = MAX_ROWS,
    *,
    escape_formulas: bool = True,
) -> str:
    """Return a table as CSV that no spreadsheet takes for a program.

    Text that could be a formula gets an apostrophe before it, unless that is not
    wanted. Numbers keep all their digits; what is None or not a number is left empty.
    Of more rows than ``most_rows`` the first are written.

    Examples
    --------
    >>> print(csv_text({"name": ["a,b", "=1+1"], "score": [-0.5, float("nan")]}))
    name,score
    "a,b",-0.5
    '=1+1,
    <BLANKLINE>
    """
    frame = pd.DataFrame(columns).iloc[:most_rows]

    def cell(value: Any) -> Any:
        if isinstance(value, bool | np.bool_):
            return "yes" if value else "no"
        formula = isinstance(value, str) and looks_like_formula(value)
        return f"'{value}" if formula and escape_formulas else value

    def cells(column: "pd.Series[Any]") -> "pd.Series[Any]":
        number = is_numeric_dtype(column) and not is_bool_dtype(column)
        return column if number else column.astype(object).map(cell)

    header = [cell(str(name)) for name in frame]
    return str(
        frame.apply(cells).to_csv(index=False, header=header, lineterminator="\n")
    )

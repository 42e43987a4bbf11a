"""The HTML page: complete, escaped, alone."""

import re
from html.parser import HTMLParser

import pytest

from ufselect.report import (
    Paragraph,
    Picture,
    Preformatted,
    Section,
    Table,
    html_page,
    markdown_table,
)

HOSTILE = "</title></style></pre><script>alert('x')</script>&\"<img src=x onerror=y>"
VOID = {"meta"}


class Outline(HTMLParser):
    """Keeps the tags and the text, and complains of a tag that is not closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def every_block(text):
    return [
        Paragraph(text),
        Preformatted(text),
        Table([text, "n"], [[text, "1"]], caption=text),
        Picture("<svg></svg>", caption=text),
    ]


def test_tags_are_closed_in_order():
    outline = Outline(html_page("title", [Section("heading", every_block("text"))]))

    assert outline.open == []
    assert {"p", "pre", "table", "svg", "figcaption", "h2"} <= set(outline.tags)


def test_hostile_text_stays_text():
    outline = Outline(html_page(HOSTILE, [Section(HOSTILE, every_block(HOSTILE))]))

    assert not {"script", "img"} & set(outline.tags)
    assert outline.text.count(HOSTILE) == 9


def test_page_asks_nothing_of_the_network():
    page = html_page("title", [Section("heading", every_block("text"))])
    outline = Outline(page)

    assert not {"link", "script", "img", "iframe"} & set(outline.tags)
    assert not {"src", "href"} & {name for name, _ in outline.attributes}
    assert not re.search(r"@import|url\(", page)


def test_page_has_dark_and_printed_colours():
    page = html_page("title", [])

    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


@pytest.mark.parametrize(
    ("cells", "right"),
    [
        (["1", "-2.5", "1,000"], True),
        (["61.7 ± 0.7", "5 +- 1"], True),
        (["12%", "\N{MINUS SIGN}3"], True),
        (["1e-4", "0.5"], True),
        (["1.0", "", "none", "-"], True),
        (["within", "above"], False),
        (["1", "2 of 3"], False),
        (["", "none"], False),
        (["1st"], False),
    ],
)
def test_columns_of_numbers_are_set_to_the_right(cells, right):
    table = Table(["heading"], [[cell] for cell in cells])
    page = html_page("title", [Section("heading", [table])])

    assert page.count('class="number"') == (len(cells) + 1 if right else 0)


def test_row_of_another_length_is_refused():
    table = Table(["a", "b"], [["1", "2"], ["only one"]])

    with pytest.raises(ValueError, match="zip"):
        html_page("title", [Section("heading", [table])])


def test_table_without_rows_has_its_header():
    page = html_page("title", [Section("heading", [Table(["a", "b"], [])])])

    assert page.count('<th scope="col">') == 2


def test_picture_that_is_not_ours_is_refused():
    with pytest.raises(ValueError, match="got '<img src=x>'"):
        html_page("title", [Section("heading", [Picture("<img src=x>")])])


def test_markdown_cells_keep_their_bars_and_lines_inside():
    lines = markdown_table(["a|b", "n"], [["x\ny|", "1"]]).split("\n")

    assert lines == ["| a\\|b | n |", "|:--|--:|", "| x y\\| | 1 |"]


def test_markdown_table_without_rows_is_a_header():
    assert markdown_table(["a"], []) == "| a |\n|:--|"


def test_markdown_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="zip"):
        markdown_table(["a", "b"], [["only one"]])

"""The HTML page: complete, escaped, alone."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from ufselect.report import (
    Graphic,
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


def page_of(*blocks):
    return html_page("title", [Section("heading", blocks)])


def policy_of(page):
    return dict(
        part.split(" ", 1)
        for part in re.search('Policy" content="(.*?)"', page)[1].split("; ")
    )


def test_the_policy_forbids_the_network_and_every_script_but_ours():
    page = page_of(Table(["a"], [["1"]], interactive=True))
    script = re.search("<script>(.*?)</script>", page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = policy_of(page)

    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == f"'sha256-{digest}'"
    assert policy["img-src"] == "data:"
    assert set(policy) == {
        "default-src",
        "script-src",
        "style-src",
        "img-src",
        "base-uri",
        "form-action",
    }


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (Paragraph("text"), False),
        (Table(["a"], [["1"]]), False),
        (Picture("<svg></svg>"), False),
        (Table(["a"], [["1"]], interactive=True), True),
        (Table(["a"], [["1"]], data={"a": [1]}), True),
        (Picture("<svg></svg>", data={"a": [1]}), True),
    ],
)
def test_a_page_has_a_script_only_if_it_needs_one(block, expected):
    page = page_of(block)

    assert ("<script>" in page) == expected
    assert ("<template>" in page) == expected


def test_a_drawing_in_a_cell_is_shown_and_its_words_are_saved():
    cell = Graphic('<svg width="9"></svg>', "nine wide")
    page = page_of(Table(["name", "drawn"], [["a", cell]], interactive=True))

    assert '<td class="graphic"><svg width="9"></svg></td>' in page
    assert '<th scope="col" data-sort="none">drawn</th>' in page
    assert "<template>name,drawn\na,nine wide\n</template>" in page


def test_a_drawing_in_a_cell_that_is_not_ours_is_refused():
    with pytest.raises(ValueError, match="got '<img>'"):
        page_of(Table(["a"], [[Graphic("<img>", "words")]]))


def test_the_saved_data_may_be_more_than_is_shown():
    page = page_of(Table(["a"], [["1.2"]], "caption", True, {"exact": [1.23]}, "file"))

    assert "<template>exact\n1.23\n</template>" in page
    assert 'data-name="file.csv"' in page


def test_columns_of_one_name_are_saved_apart():
    page = page_of(Table(["a", "a"], [["1", "2"]], interactive=True))

    assert "<template>a,a 2\n1,2\n</template>" in page


def test_only_long_interactive_tables_scroll_in_a_frame():
    rows = [["1"]] * 30
    boxes = [
        page_of(Table(["a"], rows, interactive=True)),
        page_of(Table(["a"], rows)),
        page_of(Table(["a"], rows[:5], interactive=True)),
    ]

    assert ["tabindex" in page for page in boxes] == [True, False, False]


def test_long_cells_wrap():
    page = page_of(Table(["a", "b"], [["short", "word " * 20]]))

    assert page.count('<td class="words">') == 1

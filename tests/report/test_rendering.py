"""HTML, text, Markdown and CSV: complete, escaped, alone."""

import base64
import hashlib
import io
import math
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from ufselect.report import (
    Bullets,
    Paragraph,
    Picture,
    Preformatted,
    Section,
    TextTable,
    html_page,
    markdown_table,
    text_table,
)
from ufselect.report.rendering import MAX_ROWS, csv_text, markdown, plain_text

HOSTILE = "</title></style></pre><script>alert('x')</script>&\"<img src=x onerror=y>"
SECTIONS = [
    Section("Data", [Paragraph("Two sets."), Picture("<svg/>", "not shown")]),
    Section("Scores", [TextTable(["method", "ACC"], [["a|b", "79.1"]], "In percent.")]),
    Section("Again", [Preformatted("one\ntwo")]),
]


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
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def page_of(*blocks, title="title", heading="heading"):
    return html_page(title, [Section(heading, blocks)])


def every_block(text):
    return [
        Paragraph(text),
        Bullets([text]),
        Preformatted(text),
        TextTable([text, "n"], [[text, "1"]], text, True, {text: [text]}, text),
        Picture("<svg></svg>", text, {text: [text]}, text),
    ]


def test_hostile_text_stays_text():
    page = page_of(*every_block(HOSTILE), title=HOSTILE, heading=HOSTILE)
    outline = Outline(page)

    assert outline.open == []
    assert "img" not in outline.tags
    assert outline.tags.count("script") == 1
    assert {"p", "li", "pre", "table", "svg", "figcaption", "h2"} <= set(outline.tags)
    assert outline.text.count(HOSTILE) == 10
    assert page.count("<template>") == page.count("</template>") == 2


def test_a_page_asks_nothing_of_the_network_and_runs_no_script_but_ours():
    page = page_of(*every_block("text"))
    outline = Outline(page)
    script = re.search("<script>(.*?)</script>", page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = re.search('Policy" content="(.*?)"', page)[1].split("; ")

    assert not {"link", "img", "iframe"} & set(outline.tags)
    assert not {"src", "href"} & {name for name, _ in outline.attributes}
    assert not re.search(r"@import|url\(", page)
    assert policy == [
        "default-src 'none'",
        f"script-src 'sha256-{digest}'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_columns_of_numbers_are_set_to_the_right():
    numbers = [
        *(["1", "-2.5", "1,000"], ["61.7 ± 0.7", "5 +- 1"], ["12%", "\N{MINUS SIGN}3"]),
        *(["1e-4", "0.5"], ["1.0", "", "none", "-"]),
    ]
    words = [["within", "above"], ["1", "2 of 3"], ["", "none"], ["1st"]]

    for cells in [*numbers, *words]:
        page = page_of(TextTable(["heading"], [[cell] for cell in cells]))
        expected = len(cells) + 1 if cells in numbers else 0
        assert page.count('class="number"') == expected


def test_tables_with_no_rows_long_cells_and_many_rows():
    empty = page_of(TextTable(["a", "b"], []))
    wrapped = page_of(TextTable(["a", "b"], [["short", "word " * 20]]))
    many = [["1"]] * 30
    boxes = [
        page_of(TextTable(["a"], many, interactive=True)),
        page_of(TextTable(["a"], many)),
        page_of(TextTable(["a"], many[:5], interactive=True)),
    ]

    assert empty.count('<th scope="col">') == 2
    assert wrapped.count('<td class="words">') == 1
    assert ['class="wide long" tabindex' in page for page in boxes] == [
        *(True, False, False)
    ]


def test_a_reader_can_save_the_cells_or_the_exact_numbers():
    shown = page_of(TextTable(["name"], [["a"]], interactive=True))
    exact = page_of(
        TextTable(["a"], [["1.2"]], "caption", True, {"exact": [1.23]}, "file")
    )

    assert "<template>name\na\n</template>" in shown
    assert "<template>exact\n1.23\n</template>" in exact
    assert 'data-name="file.csv"' in exact
    assert "<template>" not in page_of(
        TextTable(["a"], [["1"]]), Picture("<svg></svg>")
    )


def test_a_drawing_that_is_not_ours_is_refused():
    with pytest.raises(ValueError, match="got '<img src=x>'"):
        page_of(Picture("<img src=x>"))


@pytest.mark.parametrize(
    "make",
    [
        lambda header, rows: page_of(TextTable(header, rows)),
        markdown_table,
        text_table,
    ],
)
def test_a_row_of_another_length_is_refused(make):
    with pytest.raises(ValueError, match="zip"):
        make(["a", "b"], [["1", "2"], ["only one"]])


def test_text_and_markdown_have_headings_tables_with_captions_and_no_pictures():
    assert plain_text(SECTIONS) == (
        "Data\n====\n\nTwo sets.\n\n"
        "Scores\n======\n\nIn percent.\n\nmethod   ACC\n------  ----\na|b     79.1\n\n"
        "Again\n=====\n\none\ntwo\n"
    )
    assert markdown("Title", SECTIONS) == (
        "# Title\n\n## Data\n\nTwo sets.\n\n"
        "## Scores\n\nIn percent.\n\n| method | ACC |\n|:--|--:|\n| a\\|b | 79.1 |\n\n"
        "## Again\n\n    one\n    two\n"
    )
    assert markdown_table(["a|b", "n"], [["x\ny|", "1"]]).split("\n") == [
        *("| a\\|b | n |", "|:--|--:|", "| x y\\| | 1 |")
    ]
    assert markdown_table(["a"], []) == "| a |\n|:--|"


def test_pandas_reads_back_what_was_written():
    columns = {
        'a "quoted", name': ["x,y", 'say "a"', "two\nlines"],
        "number": [0.1 + 0.2, -1e-300, 12345678901234567],
        "array": np.array([1.5, np.nan, -np.inf]),
    }
    found = pd.read_csv(io.StringIO(csv_text(columns)))

    assert list(found) == list(columns)
    assert found.iloc[:, 0].tolist() == columns['a "quoted", name']
    assert found["number"].tolist() == pytest.approx(columns["number"], rel=1e-15)
    assert found["array"].tolist() == pytest.approx(columns["array"], nan_ok=True)


def test_text_that_could_be_a_formula_is_made_text_and_numbers_stay():
    for text in (
        *("=1+1", "+1", "-1+cmd", "@SUM(A1)", " =1"),
        *("\t=1", "\rx", "\nx", "\uff1d1", "\uff0b1"),
    ):
        cell = csv_text({text: [text]})
        assert cell.lstrip('"').startswith("'")
        assert cell.count("'") == 2
        assert "'" not in csv_text({text: [text]}, escape_formulas=False)
    for value in (-0.5, np.float32(-2), -3, np.int64(-4)):
        assert csv_text({"a": [value]}) == f"a\n{value}\n"


def test_nothing_is_left_empty_truth_is_said_in_words_and_names_may_come_twice():
    frame = pd.DataFrame([[None, True, 1], [math.nan, np.False_, 2]])
    frame.columns = ["a", "b", "a"]

    assert csv_text(frame) == "a,b,a\n,yes,1\n,no,2\n"
    assert csv_text({}) == "\n"
    with pytest.raises(ValueError, match="same length"):
        csv_text({"a": [1], "b": [1, 2]})


def test_of_very_long_columns_the_first_rows_are_saved_and_the_button_says_so():
    page = page_of(Picture("<svg></svg>", data={"a": range(MAX_ROWS + 5)}))

    assert csv_text({"a": range(MAX_ROWS + 5)}).count("\n") == MAX_ROWS + 1
    assert f"Save as CSV (first {MAX_ROWS} of {MAX_ROWS + 5} rows)" in page

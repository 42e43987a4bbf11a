"""The page in a real browser: it sorts, filters and saves, and asks nobody."""

import pytest
from browser import saved_file

from ufselect.report import Graphic, Paragraph, Picture, Section, TextTable, html_page

HOSTILE = "<script>alert(1)</script>"
# A port on which nobody listens, should it be asked all the same.
INJECTED = '<img src="http://127.0.0.1:9/x.png" onerror="alert(2)"><b onclick=f()>x'
SVG = '<svg width="9" height="9" role="img"><rect width="9" height="9"/></svg>'
NAMES = ["gene10", "gene2", HOSTILE, "=cmd()", INJECTED]
SCORES = ["10.5", "\N{MINUS SIGN}2", "1,000", "", "9e-1"]


@pytest.fixture
def page(browser, tmp_path):
    rows = [
        [name, score, Graphic(SVG, "words")]
        for name, score in zip(NAMES, SCORES, strict=True)
    ]
    sections = [
        Section(HOSTILE, [Paragraph(INJECTED)]),
        Section("tables", [TextTable(["plain"], [["1"]])]),
        Section(
            "interactive",
            [TextTable(["name", "score", "drawn"], rows, INJECTED, True, name="genes")],
        ),
        Section("figure", [Picture(SVG, "caption", {"x": [1.5], INJECTED: [HOSTILE]})]),
    ]
    path = tmp_path / "page.html"
    path.write_text(html_page(HOSTILE, sections), encoding="utf-8")
    browser.open(path)
    return browser


def column(browser, place):
    return browser.ask(
        "Array.from(document.querySelector('[data-interactive] tbody').rows)"
        f".filter((row) => !row.hidden).map((row) => row.cells[{place}].textContent)"
    )


def sorted_as(browser):
    return browser.ask(
        "Array.from(document.querySelectorAll('[data-interactive] th'),"
        " (cell) => cell.getAttribute('aria-sort'))"
    )


def test_nothing_is_fetched_and_nothing_complains(page):
    assert page.requests() == []
    assert page.complaints() == []


def test_hostile_text_is_shown_as_text(page):
    shown = page.ask("document.body.innerText")

    assert shown.count(HOSTILE) == 3
    assert INJECTED in shown
    assert page.ask("document.querySelectorAll('script, img, b').length") == 1


def test_numbers_are_sorted_as_numbers_and_nothing_comes_last(page):
    page.click("[data-interactive] th:nth-child(2) button")
    rising = column(page, 1)
    marks = sorted_as(page)
    page.click("[data-interactive] th:nth-child(2) button")

    assert rising == ["\N{MINUS SIGN}2", "9e-1", "10.5", "1,000", ""]
    assert marks == [None, "ascending", None]
    assert column(page, 1) == ["1,000", "10.5", "9e-1", "\N{MINUS SIGN}2", ""]
    assert sorted_as(page) == [None, "descending", None]


def test_names_are_sorted_as_people_count(page):
    page.click("[data-interactive] th:nth-child(1) button")
    names = column(page, 0)

    assert names.index("gene2") < names.index("gene10")


def test_tables_are_sorted_by_keyboard(page):
    page.ask("document.querySelector('[data-interactive] input').focus()")
    for key in ("Tab", "Tab", "Enter"):
        page.press(key)
    first = sorted_as(page)
    for key in ("Tab", "Enter"):
        page.press(key)

    assert first == ["ascending", None, None]
    assert sorted_as(page) == [None, "ascending", None]


def test_drawings_and_plain_tables_are_not_sorted(page):
    headers = page.ask("document.querySelectorAll('th').length")

    assert headers == 4
    assert page.ask("document.querySelectorAll('th button').length") == 2


def test_a_table_is_filtered_and_the_rows_are_counted(page):
    page.click("[data-interactive] input")
    page.write("GENE")
    found = column(page, 0)
    count = page.ask("document.querySelector('output').value")
    page.ask("document.querySelector('[data-interactive] input').select()")
    page.write(" ")

    assert found == ["gene10", "gene2"]
    assert count == "2 of 5 rows"
    assert column(page, 0) == NAMES


@pytest.mark.parametrize(
    ("selector", "name", "expected"),
    [
        (
            "[data-interactive] .download",
            "genes.csv",
            "name,score,drawn\ngene10,10.5,words\ngene2,\N{MINUS SIGN}2,words\n"
            f'{HOSTILE},"1,000",words\n\'=cmd(),,words\n'
            '"<img src=""http://127.0.0.1:9/x.png"" onerror=""alert(2)"">'
            '<b onclick=f()>x",9e-1,words\n',
        ),
        (
            "figure:not([data-interactive]) .download",
            "figure.csv",
            'x,"<img src=""http://127.0.0.1:9/x.png"" onerror=""alert(2)"">'
            f'<b onclick=f()>x"\n1.5,{HOSTILE}\n',
        ),
    ],
)
def test_data_are_saved_as_csv(page, tmp_path, selector, name, expected):
    folder = tmp_path / "saved"
    folder.mkdir()
    page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    page.click(selector)
    saved = saved_file(folder)

    assert saved.name == name
    assert saved.read_text(encoding="utf-8-sig") == expected
    assert page.complaints() == []


def test_a_script_that_slipped_in_is_not_run_and_its_image_not_fetched(
    browser, tmp_path
):
    slipped = f'<svg width="9" height="9">{HOSTILE}</svg>{INJECTED}'
    path = tmp_path / "page.html"
    path.write_text(html_page("title", [Section("all", [Picture(slipped)])]))
    browser.open(path)
    failed = browser.happened("Network.loadingFailed")

    assert [failure.get("blockedReason") for failure in failed] == ["csp"]
    assert browser.happened("Page.javascriptDialogOpening") == []
    assert browser.ask("document.querySelectorAll('script, img').length") == 3


def test_the_browser_of_the_tests_notices_what_should_not_be(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(f"{HOSTILE}<script>console.error(1)</script>{INJECTED}")
    browser.open(path)

    assert browser.requests() == ["http://127.0.0.1:9/x.png"]
    assert browser.happened("Page.javascriptDialogOpening")
    assert browser.happened("Runtime.consoleAPICalled")

"""The report about a selection in a real browser."""

import csv

import numpy as np
import pytest

from ufselect import SCFS
from ufselect.data import read_labelled
from ufselect.report import Effort, selection_report

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def page(planted, tmp_path_factory):
    """Write a report in which the best feature has a hostile name."""
    data = planted(36, 40)
    selector = SCFS(30, n_clusters=3, random_state=0).fit(data.X)
    # As AutoSelect has them, so that the table has all its columns.
    selector.calls_, selector.explained_ = np.full(40, "confirmed"), np.ones(40)
    names = [f"gene number {place}" for place in range(40)]
    names[selector.order_[0]] = HOSTILE
    report = selection_report(
        data.X,
        selector,
        feature_names=names,
        labels=[HOSTILE if label else "other" for label in data.labels],
        image_shape=(4, 10),
        command=HOSTILE,
        title=HOSTILE,
        effort=Effort(3, 2, 20),
    )
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report.html(), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser, page):
    browser.open(page)
    return browser


def column(browser, place):
    return browser.ask(
        "Array.from(document.querySelector('[data-interactive] tbody').rows,"
        f" (row) => row.cells[{place}].textContent)"
    )


def test_the_report_asks_nobody_and_shows_hostile_names_as_text(opened):
    shown = opened.ask("document.querySelector('[data-interactive]').innerText")
    drawn = opened.ask(
        "Array.from(document.querySelectorAll('svg text'), (text) => text.textContent)"
    )

    assert opened.requests() == []
    assert opened.complaints() == []
    assert HOSTILE in shown
    assert HOSTILE in drawn
    assert opened.ask("document.title") == HOSTILE
    assert opened.ask("document.scripts.length") == 1


def test_features_sort_by_score_and_filter_by_name(opened):
    ranks = column(opened, 0)
    opened.click("[data-interactive] th:nth-child(4) button")
    opened.click("[data-interactive] input")
    opened.write("script")
    found = opened.ask(
        "Array.from(document.querySelectorAll('[data-interactive] tbody tr'))"
        ".filter((row) => row.checkVisibility()).length"
    )

    assert ranks == [str(rank) for rank in range(1, 31)]
    assert column(opened, 0) == ranks[::-1]
    assert found == 1


def test_the_heat_map_names_the_cell_under_the_pointer(opened):
    saved = opened.ask(
        "document.querySelector('#clusters template').content.textContent"
    )
    header, first, *rest = csv.reader(saved.splitlines())
    left, top, width, height = opened.ask(
        "((svg) => { svg.scrollIntoView(); const box = svg.getBoundingClientRect();"
        " const scale = box.width / svg.viewBox.baseVal.width;"
        " const [x, y, w, h] = svg.dataset.cells.split(' ').map(Number);"
        " return [box.left + x * scale, box.top + y * scale, w * scale, h * scale]; })"
        "(document.querySelector('#clusters svg'))"
    )
    size = (width / (len(header) - 2), height / (1 + len(rest)))
    opened.call(
        "Input.dispatchMouseEvent",
        type="mouseMoved",
        x=left + 2.5 * size[0],
        y=top + 0.5 * size[1],
    )
    tip = opened.ask("document.querySelector('.tip').textContent")
    opened.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)

    assert tip == f"{first[0]}, {header[4]}: {first[4]}\nmarks cluster {first[1]}"
    assert opened.ask("document.querySelector('.tip').hidden")


@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_fits_any_screen_and_follows_its_colours(opened, width, scheme):
    opened.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=800,
        deviceScaleFactor=1,
        mobile=width < 500,
    )
    wanted = {"name": "prefers-color-scheme", "value": scheme}
    opened.call("Emulation.setEmulatedMedia", features=[wanted])
    opened.ask("new Promise((done) => setTimeout(done, 100))")
    overflow = opened.ask("document.documentElement.scrollWidth - innerWidth")
    paper = opened.ask("getComputedStyle(document.body).backgroundColor")
    ink = opened.ask("getComputedStyle(document.querySelector('svg')).color")
    sizes = opened.ask(
        "Array.from(document.querySelectorAll('.wide > svg'), (svg) =>"
        " [svg.getBoundingClientRect().width, svg.getBoundingClientRect().height])"
    )
    labels = opened.ask(
        "Array.from(document.querySelectorAll('svg'), (svg) =>"
        " svg.getAttribute('aria-label'))"
    )
    hidden = opened.ask(
        "Array.from(document.querySelectorAll('.wide'))"
        ".filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.tabIndex)"
    )
    opened.call("Emulation.clearDeviceMetricsOverride")
    opened.call("Emulation.setEmulatedMedia", features=[])

    assert overflow <= 0
    assert (sum(brightness(paper)) > sum(brightness(ink))) == (scheme == "light")
    assert len(sizes) == 9
    assert all(width > 200 and height > 100 for width, height in sizes)
    assert len(labels) == 9 + 30
    assert all(labels)
    # On a telephone tables and figures scroll, by keyboard too.
    assert bool(hidden) == (width == 390)
    assert set(hidden) <= {0}


def brightness(colour):
    return [int(part) for part in colour[4:-1].split(",")]


def test_in_print_all_rows_are_there_and_no_buttons(opened):
    opened.call("Emulation.setEmulatedMedia", media="print")
    box = opened.ask(
        "((box) => [box.clientHeight, box.scrollHeight])"
        "(document.querySelector('[data-interactive] .wide'))"
    )
    buttons = opened.ask(
        "Array.from(document.querySelectorAll('.download, input'))"
        ".filter((tool) => tool.checkVisibility()).length"
    )
    opened.call("Emulation.setEmulatedMedia", media="")

    assert box[0] == box[1]
    assert buttons == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shape"), [("lung_small", None), ("ORL", (32, 32)), ("bbcsport", None)]
)
def test_reports_of_research_data_are_complete(
    browser, tmp_path, data_folder, name, shape
):
    path = data_folder / f"{name}.mat"
    if not path.exists():
        pytest.skip(f"{data_folder} has no {name}.mat")
    data = read_labelled(path)
    selector = SCFS(30, random_state=0).fit(data.table)
    report = selection_report(
        data.table,
        selector,
        labels=data.classes,
        image_shape=shape,
        image_order="columns",
        effort=Effort(2, 2, 20, 2),
    )
    page = tmp_path / "page.html"
    page.write_text(report.html(), encoding="utf-8")
    browser.open(page)

    assert report.left_out == {}
    assert browser.requests() == []
    assert browser.complaints() == []
    assert browser.ask("document.querySelectorAll('.wide > svg').length") >= 9

"""The page in a real browser, from the choice of a file to the saved table."""

import json
from typing import NamedTuple

import pandas as pd
import pytest
from browser import saved_file
from small_tables import CHOSEN, small_frame, write_frame

HOSTILE = "<script>alert(1)</script>"
FAST = {"method": "MaxVariance", "features": "3", "labels": "kind"}
OVER = (
    "['done', 'problem'].some((id) => !document.getElementById(id).hidden)"
    " && document.getElementById('work').hidden"
)
REPORT = "document.querySelector('[data-interactive] th button')"
# The chosen columns of a table, the second of which has a hostile name.
RENAMED = {"g5": HOSTILE}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Write a table whose name and columns would be markup if they were not text."""
    folder = tmp_path_factory.mktemp("tables")
    frame = small_frame().rename(columns=RENAMED)
    return write_frame(folder / "<b>genes & co.csv", frame)


def opened(browser, server):
    browser.open(server.address)
    browser.wait_for("!document.getElementById('form').hidden")


def begin(browser, table, choices):
    """Choose a table, fill in fields as a person would, and start."""
    browser.choose_file("#file", table)
    browser.ask("document.getElementById('more').open = true")
    for name, value in choices.items():
        field = f"document.forms[0].elements[{json.dumps(name)}]"
        browser.ask(f"{field}.value = {json.dumps(value)}")
    browser.click("form .primary")


def text(browser, selector):
    return browser.ask(f"document.querySelector({json.dumps(selector)}).textContent")


def features_on_the_page(browser):
    return browser.ask(
        "Array.from(document.querySelectorAll('#features tbody tr'),"
        " (row) => row.cells[1].textContent)"
    )


def first_column_of_the_report(browser):
    return browser.ask(
        "Array.from(document.querySelector('[data-interactive] tbody').rows,"
        " (row) => row.cells[0].textContent)"
    )


class Finished(NamedTuple):
    """A run that was made by hand: its address, and what was seen on the way."""

    address: str
    told: list
    complaints: list
    requests: list


@pytest.fixture(scope="module")
def finished(browser, server, hostile):
    opened(browser, server)
    browser.ask(
        "window.told = new Set(); new MutationObserver(() => told.add("
        "document.getElementById('doing').textContent)).observe("
        "document.getElementById('work'), { subtree: true, childList: true })"
    )
    begin(browser, hostile, FAST)
    browser.wait_for(OVER)
    with browser.frame():
        browser.wait_for(REPORT)
    return Finished(
        browser.ask("location.href"),
        browser.ask("Array.from(told)"),
        browser.complaints(),
        browser.requests(),
    )


@pytest.fixture
def done(browser, finished):
    """Return a browser that shows what came of a hostile table, in a new page."""
    browser.open("about:blank")
    browser.open(finished.address)
    browser.wait_for(OVER)
    with browser.frame():
        browser.wait_for(REPORT)
    return browser


def test_nothing_complains_and_nobody_else_is_asked(finished, server):
    assert finished.complaints == []
    assert any(url.endswith("/report") for url in finished.requests)
    assert all(url.startswith(server.address) for url in finished.requests)


def test_progress_is_seen_and_the_summary_says_what_was_done(done, finished):
    summary = text(done, "#summary")

    # A small table is ranked in no time, so that this may not be seen.
    seen = ("Ranking 12 features", "For the report: ", "Drawing")
    assert any(each.startswith(seen) for each in finished.told)
    assert "MaxVariance chose 3 of 12 features of 24 samples" in summary
    assert text(done, "#verdict strong").startswith("Use this selection")
    assert done.ask("getComputedStyle(document.querySelector('#verdict')).display")
    assert text(done, "#command").startswith("ufselect select '<b>genes & co.csv'")


def test_hostile_names_are_text_on_the_page_and_in_the_report(done):
    wanted = sorted(RENAMED.get(name, name) for name in CHOSEN)
    with done.frame():
        shown = done.ask("document.body.innerText")
        scripts = done.ask("document.scripts.length")

    assert sorted(features_on_the_page(done)) == wanted
    assert text(done, "#run-heading") == "3 features of <b>genes & co.csv"
    assert done.ask("document.querySelectorAll('script, b').length") == 1
    assert HOSTILE in shown
    assert scripts == 1


def test_the_report_in_its_frame_sorts_and_has_its_figures(done):
    with done.frame():
        before = first_column_of_the_report(done)
        done.ask("document.querySelector('[data-interactive] th button').click()")
        done.ask("document.querySelector('[data-interactive] th button').click()")
        after = first_column_of_the_report(done)
        sizes = done.ask(
            "Array.from(document.querySelectorAll('.wide > svg'), (svg) =>"
            " svg.getBoundingClientRect().width)"
        )

    assert before == ["1", "2", "3"]
    assert after == ["3", "2", "1"]
    assert len(sizes) >= 4
    assert min(sizes) > 200


def test_the_report_in_its_frame_cannot_reach_the_server(done, server):
    with done.frame():
        origin = done.ask("self.origin")
        reached = done.ask(
            f"fetch({json.dumps(server.address)} + 'api/settings')"
            ".then(() => true, () => false)"
        )

    assert (origin, reached) == ("null", False)
    assert "Content Security Policy" in str(done.complaints())


def saved(browser, folder, click):
    folder.mkdir()
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    click()
    return saved_file(folder)


def test_the_selected_table_is_saved(done, tmp_path):
    file = saved(done, tmp_path / "saved", lambda: done.click("#downloads a"))
    columns = pd.read_csv(file).columns.tolist()

    # Chromium replaces what some systems do not allow in names.
    assert file.name.endswith("genes & co.selected.csv")
    assert columns == ["id", *(RENAMED.get(name, name) for name in CHOSEN), "kind"]


def test_data_of_a_figure_are_saved_from_within_the_frame(done, tmp_path):
    def click():
        with done.frame():
            done.call(
                "Runtime.evaluate",
                expression="document.querySelector('.download').click()",
                userGesture=True,
            )

    file = saved(done, tmp_path / "saved", click)

    assert HOSTILE in file.read_text(encoding="utf-8-sig")


def test_in_a_new_page_the_run_is_still_there_and_another_can_be_made(done):
    again = features_on_the_page(done)
    done.click("#again")
    done.wait_for("!document.getElementById('form').hidden")
    kept = done.ask(
        "Object.fromEntries(Array.from(new FormData(document.forms[0]))"
        ".filter(([name, value]) => value))"
    )

    assert sorted(again) == sorted(RENAMED.get(name, name) for name in CHOSEN)
    assert kept == FAST
    assert text(done, "#file-name") == "<b>genes & co.csv"
    assert done.complaints() == []


def test_two_tabs_do_not_disturb_each_other(browser, server, tmp_path):
    plain = write_frame(tmp_path / "first.csv", small_frame())
    other = small_frame().rename(columns=lambda name: name.replace("g", "h"))
    other = write_frame(tmp_path / "second.csv", other)
    opened(browser, server)
    begin(browser, plain, FAST)
    with browser.tab():
        opened(browser, server)
        begin(browser, other, FAST | {"features": "2"})
        browser.wait_for(OVER)
        second = features_on_the_page(browser)
        heading = text(browser, "#run-heading")
    browser.wait_for(OVER)
    first = features_on_the_page(browser)

    assert sorted(first) == CHOSEN
    assert text(browser, "#run-heading") == "3 features of first.csv"
    assert len(second) == 2
    assert set(second) < {name.replace("g", "h") for name in CHOSEN}
    assert heading == "2 features of second.csv"
    assert browser.complaints() == []
    assert all(url.startswith(server.address) for url in browser.requests())


def test_a_run_is_cancelled_and_its_process_ends(browser, server, endless, tmp_path):
    psutil = pytest.importorskip("psutil")
    table, choices = endless
    (tmp_path / "big.npy").write_bytes(table)
    opened(browser, server)
    begin(browser, tmp_path / "big.npy", choices)
    browser.wait_for("document.getElementById('doing').textContent.startsWith('Rank')")
    workers = psutil.Process(server.process.pid).children(recursive=True)
    browser.click("#cancel")
    browser.wait_for("document.getElementById('work').hidden")
    _, alive = psutil.wait_procs(workers, timeout=60)

    assert len(workers) >= 1
    assert alive == []
    assert text(browser, "#run-heading") == "Cancelled: big.npy"
    assert browser.ask("document.getElementById('problem').hidden")
    assert browser.complaints() == []


def test_a_bad_table_is_one_sentence(browser, server, tmp_path):
    (tmp_path / "bad.csv").write_text("a,b\n1,NA\n2,3\n")
    opened(browser, server)
    begin(browser, tmp_path / "bad.csv", {})
    browser.wait_for(OVER)

    assert text(browser, "#problem").startswith(
        "bad.csv has missing or infinite values in column 'b'; fill them in"
    )
    assert browser.complaints() == []


@pytest.mark.parametrize(
    ("name", "size", "problem"),
    [
        ("letter.doc", 10, "letter.doc has a name that promises no known format"),
        ("big.csv", 2_000_001, "big.csv is larger than 2 MB; give it on the command"),
    ],
)
def test_what_the_server_would_refuse_is_not_sent(
    browser, server, tmp_path, name, size, problem
):
    (tmp_path / name).write_bytes(b"1" * size)
    opened(browser, server)
    browser.choose_file("#file", tmp_path / name)
    browser.wait_for("!document.getElementById('problem').hidden")

    assert text(browser, "#problem").startswith(problem)
    assert not [url for url in browser.requests() if "api/files" in url]


def test_a_file_can_be_dropped_anywhere(browser, server, hostile):
    opened(browser, server)
    dragged = {"items": [], "files": [str(hostile)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        browser.call("Input.dispatchDragEvent", type=kind, x=50, y=50, data=dragged)
    browser.wait_for("document.querySelector('.drop.filled')")

    assert text(browser, "#file-name") == hostile.name
    assert browser.ask("location.href") == server.address


def test_every_field_has_a_label_and_progress_is_announced(browser, server):
    opened(browser, server)
    browser.ask("document.getElementById('more').open = true")
    unlabelled = browser.ask(
        "Array.from(document.querySelectorAll('input, select, textarea'))"
        ".filter((field) => !field.labels.length).length"
    )
    roles = browser.ask(
        "['problem', 'status'].map((id) => document.getElementById(id).role)"
    )
    browser.ask("document.getElementById('file').focus()")
    browser.press("Tab")

    assert unlabelled == 0
    assert roles == ["alert", "status"]
    assert browser.ask("document.activeElement.id") == "method"


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_page_fits_any_screen_and_follows_its_colours(
    browser, server, width, scheme
):
    opened(browser, server)
    browser.ask("document.getElementById('more').open = true")
    size = {"width": width, "height": 800, "deviceScaleFactor": 1}
    browser.call("Emulation.setDeviceMetricsOverride", mobile=width < 500, **size)
    wanted = {"name": "prefers-color-scheme", "value": scheme}
    browser.call("Emulation.setEmulatedMedia", features=[wanted])
    overflow = browser.ask("document.documentElement.scrollWidth - innerWidth")
    paper = browser.ask("getComputedStyle(document.body).backgroundColor")
    browser.call("Emulation.clearDeviceMetricsOverride")
    browser.call("Emulation.setEmulatedMedia", features=[])
    brightness = sum(int(part) for part in paper[4:-1].split(","))

    assert overflow <= 0
    assert (brightness > 3 * 128) == (scheme == "light")

"""The web page in a real browser, from the choice of a file to the saved table."""

import re

import numpy as np
import pandas as pd
import pytest
from accessibility import serious_violations
from small_tables import CHOSEN, small_frame, write_frame

HOSTILE = "<script>alert(1)</script>"
# The chosen columns of a table, the second of which has a hostile name.
RENAMED = sorted([HOSTILE, *(name for name in CHOSEN if name != "g5")])
SLOW = 60_000
expect = pytest.importorskip("playwright.sync_api").expect
expect.set_options(timeout=SLOW)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Write a table with a gap, whose name and columns would be markup if not text."""
    folder = tmp_path_factory.mktemp("tables")
    frame = small_frame().rename(columns={"g5": HOSTILE})
    frame.loc[3, "g4"] = np.nan
    frame["patient"] = [f"p{place // 2}" for place in range(len(frame))]
    return write_frame(folder / "<b>genes & co.csv", frame)


@pytest.fixture(scope="module")
def finished(server, hostile):
    """Return the addresses of a look, a selection and a comparison that are done."""
    file = server.upload(hostile.name, hostile.read_bytes())
    runs = [
        server.start(file, "look"),
        server.start(file, fill="median", method="MaxVariance", features="3"),
        server.start(file, "compare", fill="median", methods=["MaxVariance", "SPEC"]),
    ]
    states = [server.wait_for(run, "done", "failed")["state"] for run in runs]
    assert states == ["done"] * 3
    return [f"{server.address}#run={run}" for run in runs]


def opened(page, server):
    page.set_default_timeout(SLOW)
    page.goto(server.address)
    expect(page.locator("#form")).to_be_visible()


def chosen(page, server, path):
    """Choose a file, and wait until it is described."""
    opened(page, server)
    page.set_input_files("#file", path)
    expect(page.locator("#choices")).to_be_visible(timeout=SLOW)


def accessible(page):
    """Assert that axe-core finds nothing serious, and that nothing is outside."""
    assert serious_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def facts(page, words):
    # A form that is hidden holds the facts of an earlier look.
    expect(page.locator("#facts")).to_be_visible()
    expect(page.locator("#facts")).to_contain_text(words)


def select(page, method):
    """Select three features with a method, as a person would."""
    page.get_by_text("Other methods").click()
    page.get_by_role("radio", name=method).check()
    page.get_by_label("Number of features").fill("3")
    accessible(page)
    page.get_by_role("button", name="Select features").click()


def result(page):
    """Wait for a result; return the report in its frame."""
    expect(page.locator("#result")).to_be_visible(timeout=SLOW)
    frame = page.frame_locator("#frame")
    expect(frame.locator("h1")).to_be_visible()
    return frame


def saved(page, click, path):
    with page.expect_download() as download:
        click()
    download.value.save_as(path)
    return download.value.suggested_filename


def test_from_upload_through_roles_and_remedies_to_downloads(
    page, server, hostile, tmp_path
):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    opened(page, server)
    accessible(page)
    page.set_input_files("#file", hostile)

    # The table is described, and what is wrong with it has buttons.
    facts(page, "1 missing value in 1 column")
    problem = page.locator("#problem")
    expect(problem).to_contain_text("<b>genes & co.csv has missing or infinite values")
    expect(problem).not_to_contain_text("--")
    expect(page.locator("#preview-heading")).to_have_text("24 samples, 12 features")
    facts(page, "24 rows and 15 columns")
    facts(page, "Sample names: id")
    accessible(page)

    # Roles change by click, and the table is read again.
    page.get_by_label("role of kind").select_option("label")
    facts(page, "Label: kind")
    page.get_by_label("role of patient").select_option("group")
    facts(page, "Group: patient")
    page.get_by_label("role of g0").select_option("left out")
    expect(page.locator("#preview-heading")).to_have_text("24 samples, 11 features")

    # A run fails, and the button does the remedy.
    select(page, "MaxVariance")
    expect(page.locator("#run-heading")).to_contain_text("Not done")
    accessible(page)
    page.get_by_role("button", name="with the median").click()
    frame = result(page)
    accessible(page)

    # Names are text, on the page and in the report, which has the window to itself.
    expect(page.locator("#result-heading")).to_have_text(
        f"{hostile.name}: selected features"
    )
    expect(frame.locator("body")).to_contain_text(HOSTILE)
    assert page.locator("script, b").count() == 1
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0

    # What was made can be saved, also from within the report.
    page.get_by_text("Save", exact=True).click()
    accessible(page)
    table = tmp_path / "table.csv"
    link = page.get_by_role("link", name="Selected table")
    name = saved(page, link.click, table)
    columns = pd.read_csv(table).columns
    # Chromium replaces what some systems do not allow in names.
    assert name.endswith("genes & co.selected.csv")
    assert sorted(set(columns) - {"id", "kind", "patient"}) == RENAMED
    for title in ("Ranking of all features", "Cluster of each sample", "Report"):
        assert page.get_by_role("link", name=title).count() == 1
    saved(page, frame.locator(".download").first.click, tmp_path / "figure.csv")

    # The comparison is a second action, with the same roles.
    page.get_by_role("button", name="Compare methods").click()
    expect(page.locator("#result-heading")).to_contain_text("compared")
    expect(result(page).locator("body")).to_contain_text("LaplacianScore")
    accessible(page)

    # Choices are kept, also in a new tab.
    page.get_by_role("button", name="Change choices").click()
    facts(page, "Group: patient")
    page.reload()
    facts(page, "Label: kind")
    expect(page.get_by_label("role of g0")).to_have_value("left out")
    expect(page.locator("[name=fill]")).to_have_value("median")
    expect(page.get_by_role("checkbox", name="MaxVariance")).to_be_checked()
    expect(page.get_by_role("button", name="Compare methods")).to_be_visible()
    assert all(url.startswith((server.address, "data:", "blob:")) for url in asked)


def tab_to(page, element):
    """Press Tab until an element has the focus, as one without a mouse does."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if element.evaluate("each => each === document.activeElement"):
            return
    raise AssertionError(f"{element} cannot be reached")


def test_all_is_done_with_the_keyboard_alone(page, server, tmp_path):
    chosen(page, server, write_frame(tmp_path / "genes.csv", small_frame()))
    expect(page.locator("#preview-heading")).to_be_focused()
    tab_to(page, page.get_by_label("role of kind"))
    page.keyboard.type("lab")
    facts(page, "Label: kind")
    expect(page.get_by_label("role of kind")).to_be_focused()
    tab_to(page, page.get_by_text("Other methods"))
    page.keyboard.press("Enter")
    for key in ("Shift+Tab", "ArrowUp", "ArrowUp"):  # the last method but one
        page.keyboard.press(key)
    expect(page.get_by_role("radio", name="MaxVariance")).to_be_checked()
    tab_to(page, page.get_by_label("Number of features"))
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    result(page)
    expect(page.locator("#result-heading")).to_be_focused()
    tab_to(page, page.locator("#save summary"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("link", name="Ranking"))
    saved(page, lambda: page.keyboard.press("Enter"), tmp_path / "ranking.csv")

    assert len(pd.read_csv(tmp_path / "ranking.csv")) == 12


@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_state_fits_any_screen_and_follows_its_colours(
    page, finished, width, scheme
):
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=scheme)
    for place, address in enumerate(finished):
        page.goto("about:blank")
        page.goto(address)
        part = page.locator("#result" if place else "#preview")
        expect(part).to_be_visible()
        accessible(page)
        if place:
            frame = page.locator("#frame").bounding_box()
            bar = page.locator(".top").bounding_box()
            assert (frame["x"], frame["width"]) == (0, width)
            assert frame["y"] + frame["height"] == pytest.approx(844)
            assert frame["y"] == pytest.approx(bar["y"] + bar["height"])
            assert bar["height"] < 130
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in re.findall(r"\d+", paper))
    assert (brightness > 3 * 128) == (scheme == "light")


def test_a_report_cannot_reach_the_server(chromium, finished, server):
    # Not the fixture, to which what the browser refuses is an error.
    with chromium.new_context() as context:
        page = context.new_page()
        refused = []
        page.on("console", lambda said: refused.append(said.text))
        page.goto(finished[1])
        result(page)
        (frame,) = page.frames[1:]
        reach = "address => fetch(address).then(() => true, () => false)"

        assert frame.evaluate("self.origin") == "null"
        assert not frame.evaluate(reach, f"{server.address}api/settings")
        assert frame.evaluate("document.scripts.length") == 1
        assert "Content Security Policy" in str(refused)


def test_a_wide_table_lists_what_is_no_plain_feature_and_finds_the_rest(
    page, server, tmp_path
):
    random = np.random.RandomState(0)
    frame = pd.DataFrame(random.randint(0, 9, (4, 20_000))).add_prefix("gene")
    frame["target"] = [0, 1, 0, 1]
    frame.to_csv(tmp_path / "wide.csv", index=False)
    chosen(page, server, tmp_path / "wide.csv")
    rows = page.locator("#columns tbody tr")
    expect(page.locator("#preview-heading")).to_have_text("4 samples, 20,000 features")
    expect(rows).to_have_count(1)
    expect(page.get_by_label("role of target")).to_have_value("label")
    page.get_by_label("Find a column").fill("gene19999")
    page.get_by_label("role of gene19999").select_option("left out")
    expect(page.locator("#preview-heading")).to_have_text("4 samples, 19,999 features")
    page.get_by_label("role of gene19999").select_option("feature")
    expect(page.locator("#preview-heading")).to_have_text("4 samples, 20,000 features")
    page.get_by_label("Find a column").fill("gene1")
    assert rows.count() == 200
    expect(page.locator("#problem")).to_be_hidden()


def test_two_tabs_do_not_disturb_each_other(page, server, tmp_path):
    other = page.context.new_page()
    for number, tab in enumerate((page, other)):
        frame = small_frame().rename(columns={"g2": f"h{number}"})
        chosen(tab, server, write_frame(tmp_path / f"{number}.csv", frame))
    for tab in (page, other):
        select(tab, "MaxVariance")
    for number, tab in enumerate((page, other)):
        expect(result(tab).locator("body")).to_contain_text(f"h{number}")
        expect(tab.locator("#result-heading")).to_contain_text(f"{number}.csv")


def test_a_run_is_cancelled_and_its_process_ends(page, server, tmp_path):
    psutil = pytest.importorskip("psutil")
    # CPFS would take half a minute.
    np.save(tmp_path / "big.npy", np.random.RandomState(0).randn(240, 1000))
    chosen(page, server, tmp_path / "big.npy")
    select(page, "CPFS")
    expect(page.locator("#doing")).to_contain_text("Ranking")
    accessible(page)
    workers = psutil.Process(server.process.pid).children(recursive=True)
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#run-heading")).to_have_text("Cancelled: big.npy")
    _, alive = psutil.wait_procs(workers, timeout=60)

    assert len(workers) >= 1
    assert alive == []
    expect(page.locator("#problem")).to_be_hidden()
    page.get_by_role("button", name="Change choices").click()
    expect(page.get_by_role("radio", name="CPFS")).to_be_checked()


def test_what_cannot_be_read_is_one_sentence_with_remedies(
    page, server, hostile, tmp_path
):
    (tmp_path / "letter.doc").write_text("Dear all")
    (tmp_path / "big.csv").write_bytes(b"1" * 2_000_001)
    (tmp_path / "bad.csv").write_text("Dear all,\n")
    with pd.ExcelWriter(tmp_path / "study.xlsx") as book:
        pd.DataFrame({"Info": ["ours", 2026]}).to_excel(
            book, sheet_name="Info", index=False
        )
        small_frame().to_excel(book, sheet_name="Data", index=False)
    sent = []
    page.on("request", lambda request: sent.append("api/files" in request.url))
    opened(page, server)
    problem = page.locator("#problem")
    for name, words in (
        ("letter.doc", "letter.doc has an unknown file extension"),
        ("big.csv", "big.csv is larger than 2 MB; give it on the command"),
    ):
        page.set_input_files("#file", tmp_path / name)
        expect(problem).to_contain_text(words)
    assert not any(sent)
    page.set_input_files("#file", tmp_path / "bad.csv")
    expect(problem).to_contain_text("bad.csv")
    expect(page.get_by_label("Lines above the table")).to_be_visible()
    accessible(page)
    # A role for a column of one sheet is none for another sheet.
    page.set_input_files("#file", tmp_path / "study.xlsx")
    problem.get_by_role("button", name="Leave column 'Info' out").click()
    expect(problem).to_contain_text("no numeric column")
    problem.get_by_role("button", name="Read sheet 'Data'").click()
    facts(page, "24 rows and 14 columns")
    expect(problem).to_be_hidden()
    # A file can be dropped anywhere.
    page.evaluate(
        """([name, text]) => {
            const dataTransfer = new DataTransfer();
            const settings = { dataTransfer, bubbles: true, cancelable: true };
            dataTransfer.items.add(new File([text], name));
            document.body.dispatchEvent(new DragEvent("drop", settings));
        }""",
        [hostile.name, hostile.read_text()],
    )
    facts(page, "1 missing value")
    expect(page.locator("#file-name")).to_have_text(hostile.name)

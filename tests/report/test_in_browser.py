"""Reports in a real browser: they sort, find, save, fit, print, and are safe."""

import io
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from accessibility import serious_violations

from ufselect import SCFS, AutoSelect
from ufselect.cli import main
from ufselect.data import planted as planted_table
from ufselect.data import read_labelled
from ufselect.report import (
    Effort,
    Paragraph,
    Picture,
    Section,
    TextTable,
    html_page,
    selection_report,
)

HOSTILE = "<script>alert(1)</script>"
# A port on which nobody listens, should it be asked all the same.
INJECTED = '<img src="http://127.0.0.1:9/x.png" onerror="alert(2)"><b onclick=f()>x'
SVG = '<svg width="9" height="9" role="img"><rect width="9" height="9"/></svg>'
NAMES = ["gene10", "gene2", HOSTILE, "=cmd()", INJECTED]
SCORES = ["10.5", "\N{MINUS SIGN}2", "1,000", "", "9e-1"]
# Of A4 without the margins of the report, in pixels of CSS.
PAPER = {"width": 695, "height": 1024}

# What overlaps, or stands outside of the window and of its own scrolling box.
FAULTS = """() => {
  const start = (e) => e.outerHTML.slice(0, 80);
  const seen = (e) => e.checkVisibility() && e.getBoundingClientRect().width > 0;
  const blocks = [...document.querySelectorAll(
    "h1, h2, .verdict, main p, main ul, figcaption, .tools, .wide, .details, pre")]
    .filter((e) => seen(e) && !e.parentElement.closest(".verdict, .wide, .details"));
  const faults = [];
  for (const [place, one] of blocks.entries()) {
    const a = one.getBoundingClientRect();
    if (a.left < -1 || a.right > innerWidth + 1) faults.push(["outside", start(one)]);
    for (const other of blocks.slice(place + 1)) {
      const b = other.getBoundingClientRect();
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 1 && !one.contains(other))
        faults.push(["overlap", start(one), start(other)]);
    }
  }
  for (const svg of document.querySelectorAll("figure svg")) {
    if (!svg.getAttribute("aria-label")) faults.push(["no text", start(svg)]);
    const frame = svg.getBoundingClientRect();
    for (const text of seen(svg) ? svg.querySelectorAll("text") : []) {
      const box = text.getBoundingClientRect();
      if (box.left < frame.left - 2 || box.right > frame.right + 2
          || box.top < frame.top - 2 || box.bottom > frame.bottom + 2)
        faults.push(["outside of its figure", text.textContent]);
    }
  }
  return faults;
}"""


@pytest.fixture(scope="module")
def written(planted, tmp_path_factory):
    """Write a report with every part in which the best feature has a hostile name."""
    data = planted(48, 40)
    X = np.c_[data.X, 0.9 * data.X + 0.05 * np.roll(data.X, 1, axis=0)]
    selector = AutoSelect(SCFS(), n_features_to_select=30, random_state=0).fit(X)
    names = [f"gene number {place}" for place in range(80)]
    names[selector.order_[0]] = HOSTILE
    report = selection_report(
        X,
        selector,
        feature_names=names,
        labels=[HOSTILE if label else "other" for label in data.labels],
        image_shape=(8, 10),
        command=HOSTILE,
        title=HOSTILE,
        effort=Effort(3, 2, 20, 1),
    )
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report.html(), encoding="utf-8")
    return path, report


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Write the report of the command line about 2,000 features, 41 of them useful."""
    data = planted_table("blobs", n_samples=200, n_useful=40, n_noise=1960)
    names = [f"gene{place:04d}" for place in range(2000)]
    frame = pd.DataFrame(data.table.round(4), columns=names)
    frame["gene2000"] = (
        frame.loc[:, data.informative].iloc[:, 0] + 0.01 * frame.iloc[:, -1]
    )
    folder = tmp_path_factory.mktemp("wide")
    frame.to_csv(folder / "wide.csv", index=False)
    files = ["--report", folder / "wide.html", "--scores", folder / "scores.csv"]
    assert main(["select", *map(str, [folder / "wide.csv", *files, "--quiet"])]) == 0
    ranking = pd.read_csv(
        folder / "scores.csv", true_values=["yes"], false_values=["no"]
    )
    return folder / "wide.html", ranking


@pytest.fixture
def asked(page):
    """Return the addresses that a page asks for beside its own file."""
    addresses = []
    page.on("request", lambda request: addresses.append(request.url))
    yield addresses
    assert [url for url in addresses if not url.startswith(("file:", "blob:"))] == []


def cells(page, place):
    rows = page.locator("[data-interactive] tbody tr:visible")
    return [
        row.strip() for row in rows.locator(f"td:nth-child({place})").all_inner_texts()
    ]


def middle_of(page, part, across=0.5, down=0.5):
    """Return where a place inside a part of a figure is on the screen."""
    return page.evaluate(
        """([part, across, down]) => {
          const svg = document.querySelector(part + " .wide > svg");
          svg.scrollIntoView({block: "center"});
          const box = svg.getBoundingClientRect();
          const scale = box.width / svg.viewBox.baseVal.width;
          const [x, y, w, h] = JSON.parse(svg.dataset.hover)[0].box;
          const [right, under] = [x + across * w, y + down * h];
          return [box.left + right * scale, box.top + under * scale];
        }""",
        [part, across, down],
    )


def test_a_table_sorts_filters_and_saves_and_hostile_text_stays(page, asked, tmp_path):
    rows = list(zip(NAMES, SCORES, strict=True))
    table = TextTable(["name", "score"], rows, INJECTED, True, name="genes")
    sections = [
        Section(HOSTILE, [Paragraph(INJECTED), TextTable(["plain"], [["1"]])]),
        Section("interactive", [table]),
        Section("figure", [Picture(SVG, "caption", {"x": [1.5], INJECTED: [HOSTILE]})]),
    ]
    path = tmp_path / "page.html"
    path.write_text(html_page(HOSTILE, sections), encoding="utf-8")
    page.goto(path.as_uri())
    head = page.locator("[data-interactive] th")
    sorted_as = "cells => cells.map((cell) => cell.ariaSort)"

    shown = page.locator("body").inner_text()
    assert shown.count(HOSTILE) == 3
    assert INJECTED in shown
    assert page.locator("script, img, b").count() == 1
    # A plain table is not sorted.
    assert (page.locator("th").count(), page.locator("th button").count()) == (3, 2)

    head.nth(1).get_by_role("button").click()
    assert cells(page, 2) == ["\N{MINUS SIGN}2", "9e-1", "10.5", "1,000", ""]
    assert head.evaluate_all(sorted_as) == [None, "ascending"]
    head.nth(1).get_by_role("button").click()
    assert cells(page, 2) == ["1,000", "10.5", "9e-1", "\N{MINUS SIGN}2", ""]
    assert head.evaluate_all(sorted_as) == [None, "descending"]
    # By keyboard, as people count.
    page.locator("[data-interactive] input").focus()
    for key in ("Tab", "Tab", "Enter"):
        page.keyboard.press(key)
    assert head.evaluate_all(sorted_as) == ["ascending", None]
    assert cells(page, 1).index("gene2") < cells(page, 1).index("gene10")

    page.locator("[data-interactive] input").fill("GENE")
    assert cells(page, 1) == ["gene2", "gene10"]
    assert page.locator("output").inner_text() == "2 of 5 rows"
    page.locator("[data-interactive] input").fill(" ")
    assert len(cells(page, 1)) == 5

    expected = {
        "genes.csv": f"name,score\ngene10,10.5\ngene2,\N{MINUS SIGN}2\n"
        f'{HOSTILE},"1,000"\n\'=cmd(),\n'
        '"<img src=""http://127.0.0.1:9/x.png"" onerror=""alert(2)"">'
        '<b onclick=f()>x",9e-1\n',
        "figure.csv": 'x,"<img src=""http://127.0.0.1:9/x.png"" onerror=""alert(2)"">'
        f'<b onclick=f()>x"\n1.5,{HOSTILE}\n',
    }
    for button in page.locator(".download").all():
        with page.expect_download() as saved:
            button.click()
        name = saved.value.suggested_filename
        text = saved.value.path().read_text(encoding="utf-8-sig")
        assert text == expected.pop(name)
    assert expected == {}


def test_a_script_that_slipped_in_is_not_run_and_its_image_not_fetched(
    chromium, tmp_path
):
    slipped = f'<svg width="9" height="9">{HOSTILE}</svg>{INJECTED}'
    pages = {
        "ours": html_page("title", [Section("all", [Picture(slipped)])]),
        # The browser of the tests notices what should not be.
        "unsafe": f"{HOSTILE}{INJECTED}",
    }
    happened = {}
    for name, text in pages.items():
        (tmp_path / f"{name}.html").write_text(text)
        page = chromium.new_page()
        found = happened[name] = []
        page.on(
            "dialog", lambda each, found=found: (found.append("dialog"), each.accept())
        )
        page.on("request", lambda each, found=found: found.append(each.url))
        page.on("requestfailed", lambda each, found=found: found.append(each.failure))
        page.goto((tmp_path / f"{name}.html").as_uri())
        page.wait_for_timeout(300)
        assert page.locator("script, img").count() == 2 + (name == "ours")
        page.close()

    assert "dialog" not in happened["ours"]
    assert {"csp"} >= set(happened["ours"][2:])
    assert "dialog" in happened["unsafe"]
    assert "http://127.0.0.1:9/x.png" in happened["unsafe"]


def test_figures_name_what_is_under_the_pointer(page, asked, written):
    path, report = written
    page.goto(path.as_uri())
    tip = page.locator(".tip")
    heat, ranking = report.heatmap.frame(), report.curve.frame()

    assert page.title() == HOSTILE
    assert page.locator("script").count() == 1
    drawn = page.locator("#heatmap svg text").all_text_contents()
    assert f"{HOSTILE[:17]}\N{HORIZONTAL ELLIPSIS}" in drawn
    # A cell of the heat map, a feature of the ranking, a sample, and a pixel.
    columns = len(heat.columns) - 2
    page.mouse.move(*middle_of(page, "#heatmap", 2.5 / columns, 0.5 / len(heat)))
    name, mark, value = heat.iloc[0, 0], heat.iloc[0, 1], heat.iloc[0, 4]
    said = f"{name}, {heat.columns[4]}: {value}\nmarks cluster {mark}"
    assert tip.text_content() == said
    page.mouse.move(*middle_of(page, "#curve"))
    told = dict(line.split(": ", 1) for line in tip.text_content().splitlines())
    assert 30 <= int(told["rank"]) <= 50
    assert told["feature"] == ranking["feature"][int(told["rank"]) - 1]
    page.locator("#planes use:has(title)").first.hover(force=True)
    assert re.fullmatch(r"\d+ \(\d\): \S+, \S+", tip.text_content())
    page.mouse.move(*middle_of(page, "#pixels", 0.25, 0.1875))
    assert tip.text_content().startswith("row: 1\ncolumn: 2\nmean: ")
    page.mouse.move(1, 1)
    assert tip.is_hidden()
    for template in page.locator(".download + template").all():
        text = template.evaluate("t => t.content.textContent")
        assert len(pd.read_csv(io.StringIO(text))) > 0


def test_a_feature_tells_its_group_and_why_it_is_not_chosen(page, asked, wide):
    path, ranking = wide
    ranking = ranking.set_index("feature")
    chosen = ranking.index[ranking["selected"]]
    page.goto(path.as_uri())
    details, rows = page.locator(".details"), page.locator("#features tbody tr:visible")
    find = page.get_by_label("Filter")

    def pick(name):
        find.fill(name)
        page.get_by_role("button", name=name, exact=True).first.click()
        return details.inner_text()

    assert cells(page, 2) == chosen.tolist()
    assert details.locator("h3").inner_text() == chosen[0]
    # Of two copies the best is chosen, and represents the other.
    told = pick("gene2000")
    (other,) = re.findall("(gene\\d+) correlation 1\n", f"{told}\n")
    told, owner = pick(other), "gene2000"
    assert f"Not chosen: redundant with {owner} (correlation 1.00)" in told
    assert f"{owner} the representative" in told
    details.get_by_role("button", name=owner).click()
    told = details.inner_text()
    assert "Chosen. Rank " in told
    assert "Chosen again on" in told
    assert "It correlates most with these chosen features: gene" in told
    assert f"{other} correlation 1" in told
    unrelated = ranking.index[-1]
    told = pick(unrelated)
    assert "Not chosen: not related to the structure" in told
    assert "No chosen feature represents it." in told
    assert rows.count() == 1
    assert (
        f"0 of {len(chosen)} rows, and 1 not chosen"
        in page.locator("output").inner_text()
    )
    find.fill("gene1")
    assert page.locator("tr.other").count() == 50
    find.fill("")
    assert page.locator("tr.other").count() == 0


def test_names_are_copied_and_saved(page, wide):
    path, ranking = wide
    chosen = ranking.loc[ranking["selected"], "feature"].tolist()
    page.goto(path.as_uri())
    page.get_by_role("button", name=f"Copy {len(chosen)} names").click()
    # Pasted where nothing else is, as a user would.
    page.get_by_label("Filter").evaluate(
        "e => e.replaceWith(document.createElement('textarea'))"
    )
    page.locator("textarea").focus()
    page.keyboard.press("Control+V")
    with page.expect_download() as saved:
        page.locator("#features .download").first.click()
    table = pd.read_csv(saved.value.path())

    assert page.locator("textarea").input_value().split("\n") == chosen
    assert table["feature"].tolist() == chosen


def test_the_first_screen_has_headline_features_and_heat_map(page, wide):
    path, ranking = wide
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(path.as_uri())
    shown = page.locator("#heatmap svg").bounding_box()

    assert page.locator(".verdict").inner_text().startswith("Use this selection.")
    said = f"chose {ranking['selected'].sum()} of 2001 features of 200 samples"
    assert said in page.locator(".found").first.inner_text()
    assert shown["y"] + shown["height"] <= 800
    assert page.evaluate("document.documentElement.scrollHeight") <= 5000
    assert path.stat().st_size <= 1.2e6


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_the_report_fits_any_screen_and_is_for_all(page, written, width):
    page.set_viewport_size({"width": width, "height": 800})
    path, _ = written
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(path.as_uri())
        colours = page.evaluate(
            "[getComputedStyle(document.body).backgroundColor,"
            " getComputedStyle(document.querySelector('svg')).color]"
        )
        paper, ink = (sum(map(int, re.findall(r"\d+", each)[:3])) for each in colours)
        hidden = page.locator(".wide").evaluate_all(
            "boxes => boxes.filter((box) => box.scrollWidth > box.clientWidth)"
            ".map((box) => box.tabIndex)"
        )

        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(FAULTS) == []
        assert (paper > ink) == (scheme == "light")
        # On a telephone tables and figures scroll, by keyboard too.
        assert bool(hidden) == (width == 390)
        assert set(hidden) <= {0}
        assert serious_violations(page) == []


def test_on_paper_nothing_is_cut_off(page, written):
    path, _ = written
    page.goto(path.as_uri())
    page.set_viewport_size(PAPER)
    page.emulate_media(media="print")
    box = page.locator("#features .wide")

    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER["width"]
    assert page.evaluate(FAULTS) == []
    assert box.evaluate("e => e.scrollHeight - e.clientHeight") == 0
    unprinted = ".download:visible, input:visible, nav:visible, .details:visible"
    assert page.locator(unprinted).count() == 0
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_the_printed_command_gives_the_same_features(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = planted_table("blobs", n_samples=60, n_noise=50)
    names = [f"gene {place}" for place in range(table.table.shape[1])]
    frame = pd.DataFrame(table.table, columns=names)
    frame.assign(kind=table.classes).to_csv("my genes.csv", index=False)
    options = ["--labels", "kind", "--seed", "3", "-k", "7", "--report", "one.html"]
    assert main(["select", "my genes.csv", "-o", "one.csv", "--quiet", *options]) == 0
    page.goto((tmp_path / "one.html").as_uri())
    program, *command = shlex.split(page.locator("#command").inner_text())
    chosen = pd.read_csv("one.csv").columns
    for name in ("one.csv", "one.html"):
        (tmp_path / name).unlink()

    assert program == "ufselect"
    assert main(command) == 0
    assert pd.read_csv("one.csv").columns.tolist() == chosen.tolist()
    scope = {"X": frame.to_numpy()}
    exec(page.locator("#code").inner_text(), scope)
    selected = [
        names[place] for place in np.flatnonzero(scope["selector"].get_support())
    ]
    assert set(selected) == set(chosen) & set(names)
    assert len(selected) == 7
    listed = page.locator("#features tbody td:nth-child(2)").all_inner_texts()
    assert {name.strip() for name in listed} == set(selected)
    words = page.locator("#table").inner_text()
    assert "60 samples, 60 features" in words
    assert "Labels of 3 classes" in words
    assert "my genes.csv" in page.title()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shape"), [("lung_small", None), ("ORL", (32, 32)), ("bbcsport", None)]
)
def test_reports_of_research_data_are_complete(
    page, tmp_path, data_folder, name, shape
):
    path = data_folder / f"{name}.mat"
    if not path.exists():
        pytest.skip(f"{data_folder} has no {name}.mat")
    data = read_labelled(path)
    report = selection_report(
        data.table,
        SCFS(30, random_state=0).fit(data.table),
        labels=data.classes,
        image_shape=shape,
        image_order="columns",
        effort=Effort(2, 2, 20, 2),
    )
    (tmp_path / "page.html").write_text(report.html(), encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())

    assert report.left_out == {}
    assert page.locator(".wide > svg").count() >= 9
    assert page.evaluate(FAULTS) == []


def test_a_wide_table_has_a_report_below_three_megabytes():
    X = planted_table("blobs", n_samples=60, n_useful=200, n_noise=19800).table
    selector = AutoSelect(random_state=0).fit(X)
    names = [f"ENSG{place:011d}" for place in range(20_000)]
    report = selection_report(X, selector, feature_names=names, effort="quick")

    assert len(report.html().encode()) < 3e6
    assert len(report._repr_html_()) < 4.5e6
    assert len(repr(report)) < 200

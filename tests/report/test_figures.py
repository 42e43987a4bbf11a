"""The figures: well-formed, complete, the same every time, safe to put in a page."""

import io
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from functools import cache

import numpy as np
import pytest
from svg_reading import SVG, words_of

from ufselect.report import (
    Picture,
    Section,
    bar_chart,
    convergence,
    curves,
    html_page,
    range_chart,
    rank_diagram,
    surface,
)
from ufselect.report.drawing import COLOURS, GREYS, as_svg, drawing, panels

# Names that would break markup, formulas, legends, XML or fonts.
HOSTILE = [
    "<script>alert(1)</script>",
    'a & b "c" #010203',
    "$\\frac{1}$",
    "_hidden",
    "tab\tand\x00null",
    "遺伝子",
    "",
]

# Of texts and marks in SVG.
PLACES = re.compile(r' [xy]="[^"]*"')


def draw_bars(names=("SCFS", "random")):
    groups = {
        "ORL": {name: 50.0 + i for i, name in enumerate(names)},
        "Isolet": {name: 60.0 - i for i, name in enumerate(names)},
    }
    return bar_chart(
        groups, errors=groups, label="accuracy (%)", baselines=names[1:]
    ).svg


def draw_maps(names=("ORL", "Isolet")):
    values = {name: np.arange(6.0).reshape(2, 3) + i for i, name in enumerate(names)}
    return surface([0.01, 1], [1, 100, 0.5], values, label="accuracy (%)").svg


def draw_curves(names=("ORL", "Isolet")):
    return curves(
        {name: [4.0, 2, 1.5] for name in names}, {names[0]: [90, 60, 50, 50]}
    ).svg


def draw_ranks(names=("SCFS", "random")):
    return rank_diagram({name: 1.5 + i for i, name in enumerate(names)}, 1.2).svg


def draw_ranges(names=("SCFS", "random")):
    return range_chart({"seconds": {name: [0.01, 2.0, 300.0] for name in names}}).svg


def draw_convergence(names=("ORL", "Isolet")):
    return convergence({name: {"SCFS": [4.0, 2, 1.5]} for name in names}).svg


DRAWERS = [
    draw_bars,
    draw_maps,
    draw_curves,
    draw_ranks,
    draw_ranges,
    draw_convergence,
]


@cache
def plain(draw):
    return draw()


@cache
def hostile(draw):
    return draw(HOSTILE)


@pytest.fixture(autouse=True)
def _matplotlib(request):
    if "absent" not in request.node.name:
        pytest.importorskip("matplotlib")


@pytest.mark.parametrize("draw", DRAWERS)
def test_same_input_gives_the_same_bytes(draw):
    assert draw() == plain(draw)


@pytest.mark.parametrize("draw", DRAWERS)
def test_settings_of_the_user_neither_matter_nor_change(draw):
    import matplotlib

    expected = plain(draw)
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path"}):
        drawn = draw()
        kept = matplotlib.rcParams["font.size"]

    assert drawn == expected
    assert kept == 30


def modules_loaded_by(code):
    command = [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_room_loads_no_matplotlib():
    loaded = modules_loaded_by("import ufselect.report")

    assert "ufselect.report.bars" in loaded
    assert "matplotlib" not in loaded


def test_drawing_uses_no_global_figures():
    loaded = modules_loaded_by(
        "from ufselect.report import curves\ncurves({'ORL': [2, 1]})"
    )

    assert "matplotlib.figure" in loaded
    assert "matplotlib.pyplot" not in loaded


@pytest.mark.parametrize("draw", DRAWERS)
def test_colour_of_text_is_left_to_the_page(draw):
    svg = plain(draw)

    assert "currentColor" in svg
    assert "#010203" not in svg
    assert "<style" not in svg


@pytest.mark.parametrize("draw", DRAWERS)
def test_hostile_names_are_shown_as_they_are(draw):
    words = words_of(hostile(draw))
    expected = [
        name.replace("\t", "\ufffd").replace("\x00", "\ufffd") for name in HOSTILE
    ]

    assert {name for name in expected if name} <= set(words)


@pytest.mark.parametrize("draw", DRAWERS)
def test_no_name_becomes_an_element(draw):
    elements = {element.tag for element in ElementTree.fromstring(hostile(draw)).iter()}

    assert SVG + "script" not in elements
    assert all(tag.startswith(SVG) for tag in elements)


def test_ids_are_unique_on_a_page_and_all_references_resolve():
    svgs = [plain(draw) for draw in DRAWERS] + [draw_bars(list("abcdefghijk"))]
    page = html_page("page", [Section("all", [Picture(svg) for svg in svgs])])
    ids = re.findall(r'\bid="([^"]+)"', page)
    references = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', page)

    assert len(ids) == len(set(ids))
    assert {a or b for a, b in references} <= set(ids)
    assert references


def test_bars_are_as_high_as_the_values():
    svg = bar_chart({"a": {"x": 10.0, "y": 20.0, "z": 5.0}}, label="score").svg
    heights = {}
    for path in ElementTree.fromstring(svg).iter(SVG + "path"):
        colour = re.search(r"fill: (#\w+)", path.get("style", ""))
        ys = [float(y) for y in re.findall(r"[ML] \S+ (\S+)", path.get("d", ""))]
        if colour and colour[1] in COLOURS and "clip-path" in path.attrib:
            heights[colour[1]] = max(ys) - min(ys)
    x, y, z = (heights[colour] for colour in COLOURS[:3])

    assert y / x == pytest.approx(2, rel=1e-4)
    assert z / x == pytest.approx(0.5, rel=1e-4)


def test_baselines_are_grey_and_come_last():
    svg = bar_chart(
        {"a": {"random": 1.0, "SCFS": 2.0}}, label="score", baselines=["random"]
    ).svg
    words = words_of(svg)

    assert words.index("SCFS") < words.index("random")
    assert GREYS[0] in svg
    assert COLOURS[0] in svg
    assert COLOURS[1] not in svg


@pytest.mark.parametrize("value", [np.nan, np.inf, None])
def test_missing_bar_is_named(value):
    second = {} if value is None else {"SCFS": value}
    svg = bar_chart({"ORL": {"SCFS": 1.0}, "Lung": second}, label="score").svg

    assert [word.strip() for word in words_of(svg)].count("none") == 1


def test_a_legend_of_long_names_fits_into_its_figure():
    # With columns of a fixed width it was cut off on both sides.
    methods = ["SCFS", "LaplacianScore", "NeighbourhoodScore", "RandomSelection"]
    figure = bar_chart({"a": dict.fromkeys(methods, 1.0)}, label="score").figure

    with drawing():
        extent = figure.legends[0].get_window_extent()

    assert 0 <= extent.x0 < extent.x1 <= figure.bbox.width


def test_more_methods_than_colours_differ_by_hatch():
    methods = [f"method {place}" for place in range(14)]
    svg = bar_chart({"a": dict.fromkeys(methods, 1.0)}, label="score").svg

    assert set(methods) <= set(words_of(svg))
    assert svg.count("<pattern") == 14 - len(COLOURS)
    assert len(svg) < 100_000


def test_map_shows_every_value_and_names_the_missing_one():
    svg = surface(
        [1e-4, 1e4], [1, 0.5], {"ORL": [[50.04, np.nan], [61, 72]]}, label="s"
    ).svg
    words = words_of(svg)

    assert {"50.0", "61.0", "72.0", "10⁻⁴", "10⁴", "1", "0.5", "ORL"} <= set(words)
    assert words.count("none") == 1
    assert svg.count("<pattern") == 1


def fills_of(svg, panel):
    """Return the colours of the cells of a panel, in the order of drawing."""
    groups = ElementTree.fromstring(svg).iter(SVG + "g")
    (axes,) = [g for g in groups if g.get("id", "").endswith(f"-axes_{panel}")]
    paths = [path for path in axes.iter(SVG + "path") if "clip-path" in path.attrib]
    return [re.search(r"fill: (#\w+)", path.get("style"))[1] for path in paths]


def test_panels_share_one_scale_of_colours():
    svg = surface([1], [1, 10], {"a": [[0, 1]], "b": [[1, 2]]}, label="score").svg
    low, middle = fills_of(svg, 1)
    same, high = fills_of(svg, 2)

    assert middle == same
    assert len({low, middle, high}) == 3


@pytest.mark.parametrize("table", [[[np.nan, np.nan]], [[3.0, 3.0]]])
def test_map_without_contrast_is_drawn(table):
    assert words_of(surface([1], [1, 10], {"ORL": table}, label="score").svg)


def test_map_of_another_shape_is_refused_with_its_name():
    with pytest.raises(ValueError, match=r"map of ORL has shape \(1, 2\)"):
        surface([1, 2], [1, 2], {"ORL": [[1, 2]]}, label="score")


def test_curves_in_other_units_fall_on_each_other():
    falling = np.array([8.0, 4, 2, 2])
    svg = curves({"ORL": falling}, {"ORL": 1e6 * falling}).svg
    lines = [
        path.get("d")
        for path in ElementTree.fromstring(svg).iter(SVG + "path")
        if any(f"stroke: {c}" in path.get("style", "") for c in COLOURS[:2])
        and "clip-path" in path.attrib
    ]

    assert len(lines) == 2
    assert lines[0] == lines[1]


def test_axis_says_that_curves_are_relative():
    assert "objective / its first value" in words_of(plain(draw_curves))


def test_set_without_a_curve_of_ours_says_so():
    words = words_of(curves({"ORL": [2, 1]}, {"Lung": [2, 1], "ORL": [2, 1]}).svg)

    assert words.count("ours: none") == 1
    assert words.count("published: none") == 0


@pytest.mark.parametrize("curve", [[], [0.0, 1], [-1.0, 2], [np.nan], 3.0])
def test_curve_that_cannot_be_scaled_is_refused_with_its_name(curve):
    with pytest.raises(ValueError, match="curve of ORL must be"):
        curves({"ORL": curve})


@pytest.mark.parametrize(
    "draw",
    [
        lambda: bar_chart({}, label="score"),
        lambda: bar_chart({"ORL": {}}, label="score"),
        lambda: surface([1], [1], {}, label="score"),
        lambda: curves({}),
        lambda: rank_diagram({"SCFS": 1.0}, 1.0),
        lambda: range_chart({"seconds": {}}),
        lambda: convergence({"ORL": {}}),
        lambda: convergence({"ORL": {"SCFS": [2.0, 2.0]}}),
    ],
)
def test_nothing_to_draw_is_refused(draw):
    with pytest.raises(ValueError, match=r"at least (one|two)"):
        draw()


@pytest.mark.parametrize("draw", DRAWERS)
def test_absent_matplotlib_is_named_with_the_remedy(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(ImportError, match=r"pip install 'ufselect\[report\]'"):
        draw()


def test_marks_of_logarithmic_axes_are_text_not_formulas():
    for svg in (plain(draw_ranges), plain(draw_convergence)):
        assert not [word for word in words_of(svg) if "$" in word or "math" in word]


def test_maps_have_ticks_for_names_too():
    svg = surface(["heat", True], [5, 10], {"ORL": [[1, 2], [3, 4]]}, label="score").svg

    assert {"heat", "True", "5", "10"} <= set(words_of(svg))


def test_a_figure_drawn_once_is_as_savefig_draws_it():
    pytest.importorskip("matplotlib")

    def draw():
        figure, every_axes = panels(2, height=2.0)
        for axes in every_axes:
            axes.plot([1.0, 1000.0], [0.1, 12345.0])
            axes.set(title="a title", xlabel="a label")
        return figure

    stream = io.BytesIO()
    with drawing():
        draw().savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
        once = as_svg(draw(), "two lines")
    places = re.findall(PLACES, stream.getvalue().decode())

    assert places
    assert re.findall(PLACES, once) == places

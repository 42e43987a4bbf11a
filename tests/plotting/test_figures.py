"""The figures: they show the numbers they were given, the same every time, safely."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from functools import cache
from html import unescape
from itertools import pairwise

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from scipy.spatial.distance import pdist
from svg_reading import SVG, lines_of, place_of, words_of

from ufselect.plotting.axes import (
    COLOURS,
    GREYS,
    drawing,
    markers,
    palette,
)
from ufselect.report import (
    Picture,
    Section,
    agreement_maps,
    bar_chart,
    cluster_map,
    convergence,
    curves,
    false_share_curve,
    html_page,
    objective_curve,
    pixel_map,
    random_bands,
    range_chart,
    rank_diagram,
    redundancy_map,
    sample_scatter,
    score_curve,
    selection_frequencies,
    surface,
)

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


POINTS = np.arange(24.0).reshape(-1, 2)
NAMED = {
    "bars": lambda names: bar_chart(
        {
            "ORL": {name: 50.0 + i for i, name in enumerate(names)},
            "Isolet": {name: 60.0 - i for i, name in enumerate(names)},
        },
        label="accuracy (%)",
        baselines=names[1:],
    ),
    "surfaces": lambda names: surface(
        [0.01, 1],
        [1, 100, 0.5],
        {name: np.arange(6.0).reshape(2, 3) + i for i, name in enumerate(names)},
        label="accuracy (%)",
    ),
    "curves": lambda names: curves(
        {name: [4.0, 2, 1.5] for name in names}, {names[0]: [90, 60, 50, 50]}
    ),
    "ranks": lambda names: rank_diagram(
        {name: 1.5 + i for i, name in enumerate(names)}, 1.2
    ),
    "ranges": lambda names: range_chart(
        {"seconds": {name: [0.01, 2.0, 300.0] for name in names}}
    ),
    "convergence": lambda names: convergence(
        {name: {"SCFS": [4.0, 2, 1.5]} for name in names}
    ),
    "bands": lambda names: random_bands(
        dict.fromkeys(names, 3.0), {name: [0.0, 1.0, 2.0] for name in names}
    ),
    "scatter": lambda names: sample_scatter(
        {"chosen": POINTS[: len(names)], "all": POINTS[: len(names)]},
        names,
        names=names,
    ),
    "agreement": lambda names: agreement_maps(
        names, {"map": np.eye(len(names))}, label="number"
    ),
    "redundancy": lambda names: redundancy_map(names, np.eye(len(names))),
    "clusters": lambda names: cluster_map(
        np.eye(len(names), 6),
        names,
        list("aaabbb"),
        labels=names[:2] * 3,
        marks=["a", "b", *["a"] * (len(names) - 2)],
    ),
}
FIGURES = NAMED | {
    "scores": lambda _: score_curve(np.linspace(9, 0, 100) ** 2, 7),
    "objective": lambda _: objective_curve([5.0, -1.0, -2.0]),
    "false shares": lambda _: false_share_curve([0.1] * 9, [0.0] * 9, [0.2] * 9, 8),
    "frequencies": lambda _: selection_frequencies(
        [1, 0.5], chance=0.1, stability=(0.5, 0.4, 0.6)
    ),
}


@cache
def plain(name):
    return FIGURES[name](("SCFS", "random"))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_described_and_the_same_whatever_the_settings(name):
    svg = plain(name).svg
    root = ElementTree.fromstring(svg)
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path"}):
        again = FIGURES[name](("SCFS", "random")).svg
        kept = matplotlib.rcParams["font.size"]

    assert again == svg
    assert kept == 30
    assert root.get("role") == "img"
    assert len(root.get("aria-label")) > 10
    # The colour of the text is left to the page.
    assert "currentColor" in svg
    assert "#010203" not in svg
    assert "<style" not in svg


@pytest.mark.parametrize("figure", NAMED)
def test_hostile_names_are_shown_as_text(figure):
    names = [name[:17] for name in HOSTILE] if figure == "redundancy" else HOSTILE
    svg = NAMED[figure](names).svg
    shown = "\n".join(words_of(svg))
    tags = {element.tag for element in ElementTree.fromstring(svg).iter()}

    for name in names:
        printed = name.replace("\t", r"\t").replace("\x00", r"\x00")
        assert printed[:16] in shown
    assert SVG + "script" not in tags
    assert all(tag.startswith(SVG) for tag in tags)


def test_ids_are_unique_on_a_page_and_all_references_resolve():
    plots = [*map(plain, FIGURES), NAMED["bars"](list("abcdefghijk"))]
    page = html_page("page", [Section("all", [Picture(plot.svg) for plot in plots])])
    ids = re.findall(r'\bid="([^"]+)"', page)
    references = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', page)

    assert len(ids) == len(set(ids))
    assert {a or b for a, b in references} <= set(ids)
    assert references


def test_drawing_loads_matplotlib_when_it_draws_and_no_global_figures():
    code = (
        "import sys, ufselect.report as r\nprint('matplotlib' in sys.modules)\n"
        "r.curves({'ORL': [2, 1]})\n"
        "print('matplotlib.figure' in sys.modules, 'matplotlib.pyplot' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "True", "False"]


def test_a_plot_is_shown_by_notebooks_and_saved(tmp_path):
    plot = plain("objective")
    for name in ("a.svg", "a.png", "a.pdf"):
        plot.save(tmp_path / name)

    assert plot._repr_svg_() == (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def axes_of(plot, place=0):
    return plot.figure.axes[place]


def test_bars_are_as_high_as_the_values_and_baselines_are_grey():
    groups = {"a": {"random": 5.0, "x": 10.0, "y": 20.0}, "b": {"x": np.inf}}
    plot = bar_chart(groups, label="score", baselines=["random"])
    words = [word.strip() for word in words_of(plot.svg)]
    heights = [bar.get_height() for bar in axes_of(plot).patches]

    assert heights == [10.0, 0.0, 20.0, 0.0, 5.0, 0.0]
    assert words.count("none") == 3
    assert words.index("y") < words.index("random")
    assert GREYS[0] in plot.svg
    assert COLOURS[2] not in plot.svg


def test_more_methods_than_colours_differ_by_hatch_and_fit_into_the_figure():
    # With columns of a fixed width the legend was cut off on both sides.
    methods = [f"NeighbourhoodScore {place}" for place in range(14)]
    plot = bar_chart({"a": dict.fromkeys(methods, 1.0)}, label="score")
    with drawing():
        extent = plot.figure.legends[0].get_window_extent()

    assert set(methods) <= set(words_of(plot.svg))
    assert plot.svg.count("<pattern") == 14 - len(COLOURS)
    assert len(plot.svg) < 100_000
    assert 0 <= extent.x0 < extent.x1 <= plot.figure.bbox.width


def test_a_surface_shows_every_value_and_names_the_missing_one():
    values = {"ORL": [[50.04, np.nan], [61, 72]]}
    svg = surface([1e-4, "heat"], [1, 0.5], values, label="s").svg
    words = words_of(svg)

    assert {"50.0", "61.0", "72.0", "10⁻⁴", "heat", "1", "0.5", "ORL"} <= set(words)
    assert words.count("none") == 1
    assert svg.count("<pattern") == 1
    for table in ([[np.nan, np.nan]], [[3.0, 3.0]]):
        assert words_of(surface([1], [1, 10], {"ORL": table}, label="score").svg)


def test_surfaces_share_one_scale_of_colours():
    values = {"a": [[0, 1]], "b": [[1, 2]]}
    plot = surface([1], [1, 10], values, label="score")
    cells = [
        [cell.get_facecolor() for cell in axes_of(plot, i).patches] for i in (0, 1)
    ]

    assert cells[0][1] == cells[1][0]
    assert len({*cells[0], *cells[1]}) == 3


def test_curves_in_other_units_fall_on_each_other_and_a_missing_one_is_said():
    falling = np.array([8.0, 4, 2, 2])
    plot = curves({"ORL": falling}, {"ORL": 1e6 * falling, "Lung": [2, 1]})
    published, ours = (line.get_ydata() for line in axes_of(plot).lines)

    assert published.tolist() == pytest.approx(ours.tolist())
    assert words_of(plot.svg).count("ours: none") == 1
    assert "objective / its first value" in words_of(plot.svg)


def test_convergence_does_not_depend_on_unit_or_sign():
    falling = np.array([8.0, 4, 2, 1.5])
    plot = convergence({"ORL": {"min": falling, "max": 7 - 1e6 * falling}})
    first, second = (line.get_ydata() for line in axes_of(plot).lines)
    long = convergence({"ORL": {"SCFS": 1 / np.arange(1.0, 10_000)}})

    assert first.tolist() == pytest.approx(second.tolist())
    assert len(axes_of(long).lines[0].get_xdata()) <= 60
    assert not [word for word in words_of(long.svg) if "$" in word or "math" in word]


@pytest.mark.parametrize("curve", [[1.0], [2.0, 2.0], [np.nan, 1.0], []])
def test_a_curve_that_does_not_change_is_left_out(curve):
    histories = {"ORL": {"SCFS": [2.0, 1.0], "flat": curve}, "Yale": {"a": curve}}

    assert not {"flat", "Yale"} & set(words_of(convergence(histories).svg))


def test_ranges_go_from_least_to_largest():
    wide = range_chart({"seconds": {"SCFS": [0.1, 10.0, 1.0], "SPEC": []}})
    narrow = range_chart({"MB": {"SCFS": [200.0], "SPEC": [300.0]}})
    line, dot = axes_of(wide).lines

    assert line.get_xdata().tolist() == [0.1, 10.0]
    assert dot.get_xdata().tolist() == [1.0]
    assert axes_of(wide).get_xscale() == "log"
    assert words_of(wide.svg).count("none") == 1
    assert axes_of(narrow).get_xlim()[0] == 0
    # Over the range of random sets a panel holds what is below zero, too.
    beside = range_chart({"R2": {"SCFS": [-0.2], "none": []}}, {"R2": [0.1, -0.3]})
    (band,) = axes_of(beside).patches
    # Before Matplotlib 3.9 it is a polygon.
    places = band.get_patch_transform().transform(band.get_path().vertices)[:, 0]
    assert (places.min(), places.max()) == pytest.approx((-0.3, 0.1))
    assert axes_of(beside).get_xlim()[0] < -0.3


def test_a_bar_joins_the_ranks_that_are_not_told_apart():
    ranks = {"d": 4.0, "a": 1.0, "b": 1.5, "c": 3.0}
    svg = rank_diagram(pd.Series(ranks), 1.2, baselines=["d"]).svg
    bars = [sorted(x for x, _ in line) for line in lines_of(svg, COLOURS[0])]
    ticks = {word: place_of(svg, word)[0] for word in "1234"}
    unit = ticks["2"] - ticks["1"]
    lengths = [
        line[-1][0] - line[0][0]
        for line in lines_of(svg, "currentColor")
        if line[0][1] == line[-1][1] and len(line) == 2
    ]

    # a and b, then c and d; b and c are further apart than the critical difference.
    assert bars == [
        pytest.approx([ticks["1"], ticks["1"] + 0.5 * unit], abs=0.01),
        pytest.approx([ticks["3"], ticks["4"]], abs=0.01),
    ]
    assert pytest.approx(1.2 * unit, rel=1e-4) in lengths
    assert {"1.50", "critical difference 1.20"} <= set(words_of(svg))
    assert svg.count("stroke-dasharray") == 1
    assert lines_of(rank_diagram({"a": 1.0, "b": 3.0}, 1.5).svg, COLOURS[0]) == []


def test_labels_of_sixteen_methods_do_not_touch():
    names = [f"method number {place}" for place in range(16)]
    svg = rank_diagram({name: 1 + 0.9 * i for i, name in enumerate(names)}, 5.4).svg
    places = [place_of(svg, name) for name in names]

    for side in (places[:8], places[8:]):
        assert len({x for x, _ in side}) == 1
        assert min(np.diff(sorted(y for _, y in side))) > 1.2 * 11  # size of letters


def test_scores_are_cut_where_they_were_cut():
    plot = score_curve(np.arange(100.0)[::-1], 7)
    chosen, others, cut = axes_of(plot).lines
    small = axes_of(score_curve(np.arange(10.0)[::-1], 5))

    assert np.flatnonzero(np.isfinite(chosen.get_ydata())).tolist() == list(range(7))
    assert np.isfinite(others.get_ydata()).sum() == 93
    assert set(cut.get_xdata()) == {7.5}
    assert "cut after 7" in words_of(plot.svg)
    assert (axes_of(plot).get_xscale(), small.get_xscale()) == ("log", "linear")


def test_calls_differ_by_colour_and_permuted_copies_lie_behind():
    calls = ["confirmed"] * 3 + ["tentative"] * 2 + ["rejected"] * 5
    values = np.arange(10.0)[::-1]
    plot = score_curve(
        values, 3, calls=calls, explained=values / 9, permuted=[0.1] * 10
    )
    left, right = plot.figure.axes
    drawn = [np.isfinite(line.get_ydata()).sum() for line in left.lines[:3]]
    (legend,) = plot.figure.legends

    assert drawn == [3, 2, 5]
    assert set(right.lines[0].get_ydata()) == {0.1}
    assert right.lines[1].get_ydata()[0] == 1.0
    assert [text.get_text() for text in legend.get_texts()] == [
        *("permuted copies", *dict.fromkeys(calls))
    ]
    assert [part["x"] for part in hover_of(plot)] == [
        pytest.approx(axes.get_xlim()) for axes in (left, right)
    ]


def hover_of(plot):
    return json.loads(unescape(re.search('data-hover="(.*?)"', plot.svg)[1]))


def test_a_long_line_keeps_its_start_and_its_end():
    scores = np.sort(np.random.RandomState(0).uniform(size=100_000))[::-1]
    plot = score_curve(scores, 5)
    ranks, values = axes_of(plot).lines[1].get_data()

    assert len(ranks) <= 600
    assert [*ranks[:5], ranks[-1]] == [1, 2, 3, 4, 5, 100_000]
    assert (values[5:] == scores[ranks[5:] - 1]).all()
    assert len(plot.svg) < 200_000


def test_each_value_lies_in_its_distribution():
    random_values = {"a": np.linspace(0, 1, 101), "b": [2.0, 2.0]}
    plot = random_bands({"a": 0.5, "b": 3.0}, random_values, {"a": "note"})
    bars = [axes.patches for axes in plot.figure.axes]
    band = bars[0][0].get_extents().transformed(axes_of(plot).transData.inverted())

    assert [axes.lines[0].get_xdata()[0] for axes in plot.figure.axes] == [0.5, 3.0]
    assert (band.x0, band.x1) == pytest.approx((0.05, 0.95))
    assert [sum(bar.get_height() for bar in each[1:]) for each in bars] == [101, 2]
    assert [axes.get_title() for axes in plot.figure.axes] == ["a\nnote", "b"]


def test_shares_frequencies_and_stability_are_drawn():
    share = np.linspace(0, 1, 200)
    shares = false_share_curve(share, share / 2, (1 + share) / 2, 20)
    stable = selection_frequencies([1.0, 0.25], chance=0.1, stability=(0.5, 0.4, 0.7))
    (left,) = stable.figure.axes

    assert axes_of(shares).lines[0].get_ydata().tolist() == share[:60].tolist()
    assert "cut after 20" in words_of(shares.svg)
    assert left.lines[0].get_ydata().tolist() == [1.0, 0.25]
    assert set(left.lines[1].get_ydata()) == {0.1}
    assert left.get_title() == "stability 0.50 (95 %: 0.40 to 0.70)"


def test_points_are_drawn_by_group_in_order_and_named():
    points = np.arange(24.0).reshape(12, 2)
    groups = [10, 9, 1, 2, 3, 4, 5, 6, 7, 8, 11, 10]
    plot = sample_scatter({"plane": points}, groups, names=[f"s{i}" for i in range(12)])
    (legend,) = plot.figure.legends
    titles = re.findall("<title>(.*?)</title>", plot.svg)

    names = [text.get_text() for text in legend.get_texts()]
    assert names == [str(number) for number in range(1, 12)]
    assert axes_of(plot).lines[9].get_xdata().tolist() == [0.0, 22.0]
    assert sorted(titles) == sorted(
        f"s{i} ({group}): {2 * i}, {2 * i + 1}" for i, group in enumerate(groups)
    )


# What a red-blind, a green-blind and a blue-blind eye see of linear RGB (Machado 2009).
BLINDNESS = {
    "red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "blue": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


@pytest.mark.parametrize("kind", BLINDNESS)
@pytest.mark.parametrize("from_end", [False, True])
def test_colours_differ_for_all_kinds_of_colour_vision(kind, from_end):
    for count in (3, 5, 8, 20):
        colours = np.array([to_rgb(c) for c in palette(count, from_end=from_end)])
        linear = np.where(
            colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4
        )
        seen = np.clip(linear @ np.array(BLINDNESS[kind]).T, 0, 1)
        light = np.cbrt(seen @ [0.2126, 0.7152, 0.0722])
        distance = pdist(np.c_[np.cbrt(seen), 2 * light])

        assert len(set(map(tuple, colours))) == count
        if count <= 8:
            assert distance.min() > 0.05
        else:
            # From dark to light: neighbours differ, and by shape.
            assert (np.diff(light) > 0).all()


def test_groups_differ_by_colour_and_neighbours_by_shape():
    shapes = markers(30)
    many = sample_scatter({"plane": np.arange(60.0).reshape(30, 2)}, list(range(30)))
    none = sample_scatter({"plane": np.arange(60.0).reshape(30, 2)})
    long = sample_scatter({"plane": [[0, 1], [1, 0]]}, ["a" * 500, "b" * 500])

    assert all(a != b for a, b in pairwise(shapes))
    assert len({line.get_color() for line in axes_of(many).lines}) == 30
    assert (len(axes_of(many).lines), len(many.figure.legends)) == (30, 0)
    assert (len(axes_of(none).lines), len(none.figure.legends)) == (1, 0)
    assert axes_of(long).get_position().width > 0.5


def test_maps_hold_the_values_and_cut_long_names():
    table = [[1.0, -0.25], [-0.25, 1.0]]
    plot = redundancy_map(["a" * 50, "b"], table)
    (image,) = axes_of(plot).images
    agreement = words_of(agreement_maps(["2", "4"], {"x": table, "y": np.eye(2)}).svg)

    assert np.asarray(image.get_array()).ravel().tolist() == [1.0, 0.25, 0.25, 1.0]
    assert "a" * 17 + "\N{HORIZONTAL ELLIPSIS}" in words_of(plot.svg)
    assert agreement.count("-0.25") == 2
    assert {"x", "y", "2", "4"} <= set(agreement)
    assert "-0.00" not in words_of(agreement_maps(["2"], {"x": [[-0.001]]}).svg)


@pytest.mark.parametrize("factor", [1.0, 1e300, 1e-300])
def test_a_heat_map_standardizes_each_feature_and_says_where_its_cells_are(factor):
    values = factor * np.array([[0.0, 0, 2, 2], [5, 5, 5, 5], [-3, -1, -3, -1]])
    plot = cluster_map(values, ["a", "b", "c"], [0, 0, 1, 1], marks=[0, 1, 1])
    drawn = np.asarray(axes_of(plot).images[0].get_array())
    (part,) = hover_of(plot)
    left, top, width, height = part["box"]
    size = 72 * plot.figure.get_size_inches()

    assert drawn.tolist() == [
        pytest.approx([-1, -1, 1, 1]),
        [0, 0, 0, 0],
        pytest.approx([-1, 1, -1, 1]),
    ]
    assert 0 < left < left + width < size[0]
    assert 0 < top < top + height < size[1]


def test_pixels_that_were_kept_are_outlined():
    mean, kept = np.array([[0.0, 2.0], [-1.0, 0.5]]), np.eye(2, dtype=bool)
    plot = pixel_map(mean, kept)

    assert axes_of(plot).images[0].get_array().tolist() == mean.tolist()
    assert axes_of(plot).lines[0].get_xydata().tolist() == [[0, 0], [1, 1]]
    assert "2 of 4 pixels" in words_of(plot.svg)


@pytest.mark.parametrize(
    ("draw", "complaint"),
    [
        (lambda: bar_chart({"ORL": {}}, label="score"), "at least one"),
        (lambda: surface([1], [1, 2], {"ORL": [[1]]}, label="s"), "map of ORL has"),
        (lambda: curves({}), "at least one"),
        (lambda: curves({"ORL": [0.0, 1]}), "curve of ORL must be"),
        (lambda: curves({"ORL": [np.nan]}), "curve of ORL must be"),
        (lambda: rank_diagram({"SCFS": 1.0}, 1.0), "at least two"),
        (lambda: rank_diagram({"a": 1.0, "b": np.nan}, 1.0), "must be finite"),
        (lambda: rank_diagram({"a": 1.0, "b": 2.0}, 0.0), "must be finite"),
        (lambda: range_chart({"seconds": {}}), "at least one"),
        (lambda: convergence({"ORL": {"SCFS": [2.0, 2.0]}}), "at least one"),
        (lambda: score_curve([1.0, 2.0], 3), "n_selected=3 must"),
        (lambda: score_curve([1.0, 2.0], -1), "n_selected=-1 must"),
        (lambda: objective_curve([]), "must be a sequence"),
        (lambda: false_share_curve([0.1], [], [0.1], 1), "n_selected=1 needs share"),
        (lambda: redundancy_map(["a"], np.eye(2)), "does not fit 1 names"),
        (lambda: cluster_map([], []), "needs features and samples"),
        (lambda: sample_scatter({"x": [1.0, 2.0]}), "points have two coordinates"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, complaint):
    with pytest.raises(ValueError, match=complaint):
        draw()

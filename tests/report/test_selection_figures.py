"""Figures of a selection: they show the numbers they were given."""

import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import pytest

from ufselect.report import (
    Picture,
    Plot,
    Section,
    agreement_maps,
    false_share_curve,
    html_page,
    objective_curve,
    random_bands,
    redundancy_map,
    sample_scatter,
    score_curve,
    selection_frequencies,
    sparkline,
)
from ufselect.report.drawing import COLOURS, MARKERS, colour_and_marker

matplotlib = pytest.importorskip("matplotlib")

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<b>&$x_1$\x00"
SHOWN = "<b>&$x_1$\ufffd"


def bands():
    return random_bands({HOSTILE: 3.0}, {HOSTILE: [0.0, 1.0, 2.0]}, {HOSTILE: "p = 1"})


def scatter():
    points = {HOSTILE: [[0, 0], [1, 2]], "all": [[1, 1], [0, 2]]}
    return sample_scatter(points, groups=[HOSTILE, "_b"])


DRAWERS = [
    lambda: score_curve(np.linspace(9, 0, 100) ** 2, 7),
    lambda: objective_curve([5.0, -1.0, -2.0]),
    bands,
    lambda: false_share_curve([0.1] * 9, [0.0] * 9, [0.2] * 9, 8),
    lambda: selection_frequencies([1, 0.5], chance=0.1, stability=(0.5, 0.4, 0.6)),
    lambda: agreement_maps([HOSTILE, "2"], {"map": np.eye(2)}, label="number"),
    lambda: redundancy_map([HOSTILE, "b", "c"], np.eye(3)),
    scatter,
]


def words_of(plot):
    texts = ElementTree.fromstring(plot.svg).iter(SVG + "text")
    return ["".join(text.itertext()) for text in texts]


@pytest.mark.parametrize("draw", DRAWERS)
def test_a_figure_is_the_same_every_time_and_described(draw):
    plot = draw()
    root = ElementTree.fromstring(plot.svg)

    assert draw().svg == plot.svg
    assert root.get("role") == "img"
    assert len(root.get("aria-label")) > 10
    assert "currentColor" in plot.svg


@pytest.mark.parametrize("draw", [bands, scatter, DRAWERS[5], DRAWERS[6]])
def test_hostile_names_are_shown_as_text(draw):
    plot = draw()
    tags = {element.tag for element in ElementTree.fromstring(plot.svg).iter()}

    assert SHOWN in words_of(plot)
    assert SVG + "b" not in tags


def test_all_figures_share_a_page_without_sharing_ids():
    pictures = [Picture(draw().svg) for draw in DRAWERS]
    page = html_page("page", [Section("all", pictures)])
    ids = re.findall(r'\bid="([^"]+)"', page)

    assert len(ids) == len(set(ids))


def test_a_plot_is_shown_by_notebooks_and_saved(tmp_path):
    plot = objective_curve([3.0, 2.0])
    for name in ("a.svg", "a.png", "a.pdf"):
        plot.save(tmp_path / name)

    assert plot._repr_svg_() == (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def test_a_plot_of_plain_svg_is_saved_as_such_only(tmp_path):
    with pytest.raises(ValueError, match=r"a.png cannot be written.*ends with .svg"):
        Plot("<svg/>").save(tmp_path / "a.png")


def axes_of(plot, place=0):
    return plot.figure.axes[place]


def test_scores_are_cut_where_they_were_cut():
    plot = score_curve(np.arange(100.0)[::-1], 7)
    titles = [axes.get_title() for axes in plot.figure.axes]
    chosen = axes_of(plot).lines[1].get_xdata()
    cut = axes_of(plot).lines[2].get_xdata()

    assert titles == ["all 100 features", "the first 21"]
    assert chosen.tolist() == list(range(1, 8))
    assert set(cut) == {7.5}
    assert words_of(plot).count("cut after 7") == 2


def test_the_surroundings_of_a_late_cut_have_no_panel():
    assert len(score_curve(np.arange(10.0)[::-1], 5).figure.axes) == 1


def test_a_long_line_keeps_its_start_and_its_end():
    scores = np.sort(np.random.RandomState(0).uniform(size=100_000))[::-1]
    plot = score_curve(scores, 5)
    ranks, values = axes_of(plot).lines[0].get_data()

    assert len(ranks) <= 1500
    assert ranks[:5].tolist() == [1, 2, 3, 4, 5]
    assert ranks[-1] == 100_000
    assert (values == scores[ranks - 1]).all()
    assert len(plot.svg) < 200_000


def test_each_value_lies_in_its_distribution():
    random_values = {"a": np.linspace(0, 1, 101), "b": [2.0, 2.0]}
    plot = random_bands({"a": 0.5, "b": 3.0}, random_values, {"a": "note"})
    bars = [axes.patches for axes in plot.figure.axes]
    lines = [axes.lines[0].get_xdata()[0] for axes in plot.figure.axes]
    band = bars[0][0].get_extents().transformed(axes_of(plot).transData.inverted())

    assert lines == [0.5, 3.0]
    assert (band.x0, band.x1) == pytest.approx((0.05, 0.95))
    assert sum(bar.get_height() for bar in bars[0][1:]) == 101
    assert sum(bar.get_height() for bar in bars[1][1:]) == 2
    assert [axes.get_title() for axes in plot.figure.axes] == ["a\nnote", "b"]


def test_the_share_by_chance_is_drawn_around_the_cut():
    share = np.linspace(0, 1, 200)
    plot = false_share_curve(share, share / 2, (1 + share) / 2, 20)
    ranks, values = axes_of(plot).lines[0].get_data()

    assert ranks.tolist() == list(range(1, 61))
    assert values.tolist() == share[:60].tolist()
    assert "cut after 20" in words_of(plot)


def test_frequencies_and_stability_are_drawn():
    plot = selection_frequencies([1.0, 0.25], chance=0.1, stability=(0.5, 0.4, 0.7))
    left, right = plot.figure.axes
    (interval,) = right.collections[0].get_segments()

    assert left.lines[0].get_ydata().tolist() == [1.0, 0.25]
    assert set(left.lines[1].get_ydata()) == {0.1}
    assert interval[:, 1].tolist() == [0.4, 0.7]
    assert "0.50" in words_of(plot)
    assert len(selection_frequencies([1.0], chance=0.1).figure.axes) == 1


def test_points_are_drawn_by_group_and_numbers_in_order():
    points = np.arange(24.0).reshape(12, 2)
    groups = [10, 9, 1, 2, 3, 4, 5, 6, 7, 8, 11, 10]
    plot = sample_scatter({"plane": points}, groups)
    lines = axes_of(plot).lines
    (legend,) = plot.figure.legends

    names = [text.get_text() for text in legend.get_texts()]

    assert names == [str(number) for number in range(1, 12)]
    assert lines[9].get_xdata().tolist() == [0.0, 22.0]
    assert sum(len(line.get_xdata()) for line in lines) == 12


def test_groups_differ_by_colour_or_shape_and_neighbours_by_both():
    looks = [colour_and_marker(place) for place in range(len(COLOURS) * len(MARKERS))]

    assert len(set(looks)) == len(looks)
    assert all(
        one[0] != other[0] and one[1] != other[1] for one, other in pairwise(looks[:6])
    )


def test_many_groups_leave_out_the_legend_and_none_is_one_colour():
    points = np.arange(60.0).reshape(30, 2)
    many = sample_scatter({"plane": points}, list(range(30)))
    none = sample_scatter({"plane": points})

    assert not many.figure.legends
    assert len(axes_of(many).lines) == 30
    assert len(axes_of(none).lines) == 1
    assert not none.figure.legends


def test_maps_hold_the_values():
    table = [[1.0, -0.25], [-0.25, 1.0]]
    plot = redundancy_map(["a", "b"], table)
    (mesh,) = axes_of(plot).collections
    agreement = agreement_maps(["2", "4"], {"x": table, "y": np.eye(2)})

    assert np.asarray(mesh.get_array()).ravel().tolist() == [1.0, 0.25, 0.25, 1.0]
    assert words_of(agreement).count("-0.25") == 2
    assert "-0.00" not in words_of(agreement_maps(["2"], {"x": [[-0.001]]}))
    assert {"x", "y", "2", "4"} <= set(words_of(agreement))


def test_long_names_of_groups_leave_room_for_the_points():
    plot = sample_scatter({"plane": [[0, 1], [1, 0]]}, ["a" * 500, "b" * 500])
    words = words_of(plot)

    assert "a" * 29 + "\N{HORIZONTAL ELLIPSIS}" in words
    assert axes_of(plot).get_position().width > 0.5


def test_long_names_are_cut_short():
    words = words_of(redundancy_map(["a" * 50, "b"], np.eye(2)))

    assert "a" * 17 + "\N{HORIZONTAL ELLIPSIS}" in words


@pytest.mark.parametrize(
    ("draw", "complaint"),
    [
        (lambda: score_curve([1.0, 2.0], 3), "n_selected=3 needs"),
        (lambda: score_curve([1.0, 2.0], 0), "n_selected=0 needs"),
        (lambda: objective_curve([]), "needs its values"),
        (lambda: false_share_curve([0.1], [0.1], [0.1], 2), "do not tell about"),
        (lambda: false_share_curve([0.1], [], [0.1], 1), "do not tell about"),
        (lambda: random_bands({}, {}), "at least one"),
        (lambda: selection_frequencies([], chance=0.1), "at least one"),
        (lambda: agreement_maps([], {}), "at least one"),
        (lambda: redundancy_map([], np.zeros((0, 0))), "at least one"),
        (lambda: redundancy_map(["a"], np.eye(2)), "does not fit 1 names"),
        (lambda: sample_scatter({}), "at least one"),
        (lambda: sample_scatter({"x": [1.0, 2.0]}), "points have two parts"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, complaint):
    with pytest.raises(ValueError, match=complaint):
        draw()


def heights_of(cell):
    return [int(height) for height in re.findall(r"M\d+ 20v-(\d+)", cell.svg)]


def test_a_sparkline_has_bars_as_high_as_the_counts():
    cell = sparkline([0.0] * 19 + [1.0])

    assert cell == "from 0 to 1, median 0"
    assert heights_of(cell) == [19, 1]
    assert ElementTree.fromstring(cell.svg).get("aria-label") == str(cell)


@pytest.mark.parametrize(
    "values",
    [[], [3.0, 3.0], [1e150], [1e308, -1.7e308], [1e16, 1e16 + 2]],
)
def test_a_sparkline_of_odd_values_is_drawn(values):
    cell = sparkline(values)

    assert len(heights_of(cell)) == len(set(values))


def test_a_sparkline_counts_as_numpy_does():
    values = np.random.RandomState(0).normal(size=500)
    counts, _ = np.histogram(values, bins=16)
    expected = np.ceil(counts / counts.max() * 19).astype(int)

    assert heights_of(sparkline(values)) == expected[expected > 0].tolist()


def test_sparklines_are_small():
    cells = [sparkline(row) for row in np.random.RandomState(0).normal(size=(50, 200))]

    assert max(len(cell.svg) for cell in cells) < 700

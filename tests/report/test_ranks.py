import numpy as np
import pytest
from svg_reading import lines_of, place_of, words_of

from ufselect.report import rank_diagram
from ufselect.report.drawing import COLOURS

pytest.importorskip("matplotlib")


def test_a_bar_joins_the_ranks_that_are_not_told_apart():
    ranks = {"d": 4.0, "a": 1.0, "b": 1.5, "c": 3.0}
    svg = rank_diagram(ranks, 1.2).svg
    bars = [sorted(x for x, _ in line) for line in lines_of(svg, COLOURS[0])]
    ticks = {word: place_of(svg, word)[0] for word in "1234"}
    unit = ticks["2"] - ticks["1"]

    # a and b, then c and d; b and c are further apart than the critical difference.
    assert bars == [
        pytest.approx([ticks["1"], ticks["1"] + 0.5 * unit], abs=0.01),
        pytest.approx([ticks["3"], ticks["4"]], abs=0.01),
    ]


def test_the_ruler_is_as_long_as_the_critical_difference():
    svg = rank_diagram({"a": 1.0, "b": 3.0, "c": 5.0}, 1.5).svg
    unit = place_of(svg, "2")[0] - place_of(svg, "1")[0]
    horizontal = [
        line for line in lines_of(svg, "currentColor") if line[0][1] == line[-1][1]
    ]
    lengths = [line[-1][0] - line[0][0] for line in horizontal if len(line) == 2]

    assert pytest.approx(1.5 * unit, rel=1e-4) in lengths


def test_methods_with_ranks_far_from_each_other_have_no_bar():
    assert lines_of(rank_diagram({"a": 1.0, "b": 3.0}, 1.5).svg, COLOURS[0]) == []


def test_labels_of_sixteen_methods_do_not_touch():
    names = [f"method number {place}" for place in range(16)]
    svg = rank_diagram({name: 1 + 0.9 * i for i, name in enumerate(names)}, 5.4).svg
    places = [place_of(svg, name) for name in names]
    left, right = places[:8], places[8:]

    for side in (left, right):
        assert len({x for x, _ in side}) == 1
        heights = sorted(y for _, y in side)
        assert min(np.diff(heights)) > 1.2 * 11  # the size of the letters
    # From the best to the worst, down one side and up the other.
    assert [y for _, y in left] == sorted(y for _, y in left)
    assert [y for _, y in right] == sorted((y for _, y in right), reverse=True)


def test_ranks_are_written_and_baselines_are_dashed():
    svg = rank_diagram({"SCFS": 1.25, "random": 1.75}, 1.0, baselines=["random"]).svg

    assert {"1.25", "1.75", "critical difference 1.00"} <= set(words_of(svg))
    assert svg.count("stroke-dasharray") == 1


def test_ranks_may_be_a_series():
    pandas = pytest.importorskip("pandas")
    ranks = {"SCFS": 1.2, "random": 1.8}

    assert rank_diagram(pandas.Series(ranks), 1.0).svg == rank_diagram(ranks, 1.0).svg


@pytest.mark.parametrize(
    ("ranks", "difference"),
    [({"a": 1.0, "b": np.nan}, 1.0), ({"a": 1.0, "b": 2.0}, 0.0)],
)
def test_ranks_that_make_no_sense_are_refused(ranks, difference):
    with pytest.raises(ValueError, match="must be finite, and the latter positive"):
        rank_diagram(ranks, difference)

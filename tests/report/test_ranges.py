import pytest
from svg_reading import lines_of, place_of, words_of

from ufselect.report import range_chart
from ufselect.report.drawing import COLOURS

pytest.importorskip("matplotlib")


def test_ranges_go_from_least_to_largest_on_a_logarithmic_axis():
    svg = range_chart({"seconds": {"SCFS": [0.1, 10.0, 1.0], "SPEC": [0.01]}}).svg
    unit = place_of(svg, "1")[0] - place_of(svg, "0.1")[0]
    low, high = (x for x, _ in lines_of(svg, COLOURS[0])[0])

    assert (high - low) / unit == pytest.approx(2, rel=1e-3)


def test_a_narrow_range_has_an_axis_from_zero():
    words = words_of(range_chart({"MB": {"SCFS": [200.0], "SPEC": [300.0]}}).svg)

    assert "0" in words


def test_a_method_without_a_value_is_said_to_have_none():
    measures = {"seconds": {"SCFS": [1.0], "SPEC": []}, "MB": {"SCFS": [2.0]}}
    svg = range_chart(measures).svg

    assert words_of(svg).count("none") == 2
    assert words_of(svg).count("SPEC") == 1

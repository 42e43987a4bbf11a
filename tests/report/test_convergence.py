import numpy as np
import pytest
from svg_reading import lines_of, words_of

from ufselect.report import convergence
from ufselect.report.drawing import COLOURS

pytest.importorskip("matplotlib")


def test_convergence_does_not_depend_on_unit_or_sign():
    falling = np.array([8.0, 4, 2, 1.5])
    svg = convergence({"ORL": {"min": falling, "max": 7 - 1e6 * falling}}).svg
    (first,), (second,) = (
        [line for line in lines_of(svg, colour) if len(line) == 4]
        for colour in COLOURS[:2]
    )

    assert np.allclose(first, second, atol=1e-3)


def test_a_long_curve_is_drawn_with_few_points():
    svg = convergence({"ORL": {"SCFS": 1 / np.arange(1.0, 10_000)}}).svg

    assert max(map(len, lines_of(svg, COLOURS[0]))) <= 60


@pytest.mark.parametrize("curve", [[1.0], [2.0, 2.0], [np.nan, 1.0], []])
def test_a_curve_without_a_way_is_left_out(curve):
    svg = convergence(
        {"ORL": {"SCFS": [2.0, 1.0], "flat": curve}, "Yale": {"a": curve}}
    ).svg

    assert "flat" not in words_of(svg)
    assert "Yale" not in words_of(svg)

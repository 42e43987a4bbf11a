"""Tables and pictures from plain values."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from ufselect.report import PixelPanel, pixel_image, text_table


def test_columns_are_aligned():
    lines = text_table(["name", "n"], [["long name", "1"], ["x", "1000"]]).split("\n")

    assert len({len(line) for line in lines}) == 1


def test_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="zip"):
        text_table(["a", "b"], [["only one"]])


def test_picture_is_well_formed_and_outlines_each_kept_pixel():
    kept = np.array([[True, False], [True, True]])
    panels = [
        PixelPanel("a < b & c", "caption", np.array([[0.0, 2.0], [-1.0, 0.5]]), kept),
        PixelPanel("other", "caption", np.zeros((2, 2)), ~kept),
    ]
    root = ElementTree.fromstring(pixel_image(panels))
    outlines = [shape for shape in root if shape.get("stroke") == "#d1495b"]
    titles = [shape.text for shape in root if shape.get("font-weight") == "bold"]

    assert len(outlines) == 4
    assert titles == ["a < b & c", "other"]

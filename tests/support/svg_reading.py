"""Read an SVG figure: its texts, their positions, and its lines."""

import re
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def words_of(svg):
    return [
        element.text or "" for element in ElementTree.fromstring(svg).iter(SVG + "text")
    ]


def lines_of(svg, colour):
    """Return the points of every line of a colour, in the order of drawing."""
    paths = ElementTree.fromstring(svg).iter(SVG + "path")
    drawn = [p.get("d") for p in paths if f"stroke: {colour}" in p.get("style", "")]
    points = [re.findall(r"[ML] (\S+) (\S+)", path) for path in drawn]
    return [[(float(x), float(y)) for x, y in line] for line in points]


def place_of(svg, word):
    """Return the position of a text."""
    for element in ElementTree.fromstring(svg).iter(SVG + "text"):
        if element.text == word:
            return float(element.get("x")), float(element.get("y"))
    raise AssertionError(f"{word} is not in the figure")

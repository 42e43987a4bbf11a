"""The pages of the methods, docs/methods/NAME.md, and their sections."""

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "methods"


def page_of(name):
    """Return the path of the page of a method."""
    return FOLDER / f"{name.lower()}.md"


def sections_of(name):
    """Return the sections of a page by title, each on one line; "" has the top."""
    pieces = re.split(r"^## (.+)\n", page_of(name).read_text("utf-8"), flags=re.M)
    texts = (" ".join(text.split()) for text in pieces[::2])
    return dict(zip(["", *pieces[1::2]], texts, strict=True))

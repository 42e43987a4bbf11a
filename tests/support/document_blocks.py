"""The code blocks and commands of the README and the documentation."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "methods").glob("*.md")),
]
FENCE = re.compile(r"^```([\w{}]*)[^\n]*\n(.*?)^```", re.S | re.M)
INDENTED = re.compile(r"^ {4}(\S.*)$", re.M)


def fenced(page, wanted):
    """Return the fenced blocks of one language on a page."""
    text = page.read_text("utf-8")
    return [block for kind, block in FENCE.findall(text) if kind == wanted]


def commands(page):
    """Return the commands of a page, indented or fenced as "sh", split into words."""
    text = page.read_text("utf-8")
    lines = INDENTED.findall(FENCE.sub("", text).replace("\\\n", " "))
    for block in fenced(page, "sh"):
        lines += block.replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines]


CODE = {page.name: fenced(page, "python") for page in PAGES}
COMMANDS = {page.name: found for page in PAGES if (found := commands(page))}

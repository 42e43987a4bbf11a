"""The picture of the site is up to date, its links and its evidence are there."""

import re
from pathlib import Path

import pytest
from scripts_as_modules import module_at

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *ROOT.glob("*.md"),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "methods").glob("*.md")),
]
LINK = re.compile(r"\]\(([^()\s]+)\)")


def script(name):
    """Return a module of the folder docs, which is no package."""
    return module_at(ROOT / "docs" / f"{name}.py")


def prose_of(page):
    """Return a page without its code."""
    return re.sub(
        r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.S
    )


def headings_of(page):
    """Return the names of the places on a page, as the site and GitHub make them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles
    }


# The picture of the rooms


def test_the_picture_of_the_rooms_is_up_to_date_and_every_arrow_leads_up():
    rooms = script("rooms")
    imports = rooms.room_imports()
    order = rooms.in_order(imports)
    picture = rooms.PICTURE.read_text(encoding="utf-8")

    assert picture == rooms.drawn(imports, rooms.rooms()), "run: python docs/rooms.py"
    assert sorted(order) == sorted(rooms.rooms())
    assert all(
        order.index(other) < order.index(room)
        for room in order
        for other in imports[room]
    )


def test_names_from_the_root_count_as_those_of_their_room():
    public = script("rooms").public_names(ROOT / "src" / "ufselect")

    assert public["ufselect.SCFS"].startswith("ufselect.selectors.")
    assert public["ufselect.AutoSelect"].startswith("ufselect.tuning.")


# Links in the repository


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_somewhere(page):
    wrong = []
    for link in LINK.findall(prose_of(page)):
        path, _, place = link.partition("#")
        if re.match(r"https://[\w.-]+\.\w+(/|$)", link):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (place and place not in headings_of(target)):
            wrong.append(link)

    assert wrong == []


def test_every_page_is_in_the_table_of_contents():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = {
        line.split("<")[-1].rstrip(">")
        for block in re.findall(r"```{toctree}\n(.*?)```", index, re.S)
        for line in block.splitlines()
    }
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}

    assert pages <= listed


def test_the_tests_that_are_named_as_evidence_exist():
    named = {
        (path, name)
        for page in PAGES
        for path, name in re.findall(
            r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page.read_text(encoding="utf-8")
        )
    }
    missing = [
        (path, name)
        for path, name in sorted(named)
        if not (ROOT / path).is_file()
        or (name and f"def {name}(" not in (ROOT / path).read_text(encoding="utf-8"))
    ]

    assert len(named) > 10
    assert missing == []


# Links of the built site


def test_the_checker_of_links_notices(tmp_path):
    check = script("check_links")
    (tmp_path / "other.html").write_text('<a name="here" href="index.html">back</a>')
    for link, problem in {
        "other.html": None,
        "other.html#here": None,
        "#top": None,
        "https://example.org/a": None,
        "mailto:a@example.org": None,
        "absent.html": "leads to no file",
        "other.html#there": "leads to no place",
        "#bottom": "leads to no place",
        "http://example.org": "is no address",
        "https://localhost/": "is no address",
    }.items():
        (tmp_path / "index.html").write_text(f'<p id="top"><a href="{link}">x</a></p>')
        found = check.broken_links(tmp_path)

        assert len(found) == (problem is not None), link
        assert all(problem in sentence for sentence in found), link

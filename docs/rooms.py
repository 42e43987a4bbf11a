"""Draw the packages of ufselect and their imports: `python docs/rooms.py`.

Writes docs/images/rooms.svg from the code. Packages and single modules are in an order
in which every import leads upwards; beside each is the first line of its docstring.
"""

import ast
from graphlib import TopologicalSorter
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "ufselect"
PICTURE = ROOT / "docs" / "images" / "rooms.svg"

# `selector.plot()` imports what draws when it is called: all others lead up.
WHEN_CALLED = {("selectors", "plotting")}

ROW, WIDTH, HEIGHT, LEFT, TOP = 58, 540, 44, 12, 12
STYLE = """
text { font: 13px sans-serif; fill: #222 }
.name { font-weight: bold; font-size: 14px }
rect { fill: #eef3f8; stroke: #5b7fa6 }
path { fill: none; stroke: #5b7fa6; stroke-opacity: .75; stroke-width: 1.4 }
marker path { fill: #5b7fa6; stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #eee } rect { fill: #1d2a38; stroke: #86a9d0 } path { stroke: #86a9d0 }
  marker path { fill: #86a9d0 }
}
"""


def rooms(package=PACKAGE):
    """Return the first line of the docstring of every package and module, by name."""
    folders = {path.parent.name: path for path in package.glob("*/__init__.py")}
    modules = {path.stem: path for path in package.glob("[!_]*.py")}
    return {
        name: ast.get_docstring(parsed(path)).split("\n")[0]
        for name, path in sorted((folders | modules).items())
    }


def parsed(path):
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_names(tree):
    """Yield the dotted name of everything that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_imports(package=PACKAGE):
    """Return, for every package and module, the others that it imports from."""
    found = {}
    known, public = rooms(package), public_names(package)
    for room in known:
        paths = [package / f"{room}.py", *sorted((package / room).rglob("*.py"))]
        parts = [
            public.get(name, name).split(".")
            for path in paths
            if path.exists()
            for name in imported_names(parsed(path))
        ]
        others = {part[1] for part in parts if part[0] == "ufselect" and part[1:]}
        called = {other for first, other in WHEN_CALLED if first == room}
        found[room] = (others & known.keys()) - {room} - called
    return found


def public_names(package):
    """Return where names that can be imported from the root come from."""
    modules = [package / "__init__.py", package / "selectors" / "__init__.py"]
    return {
        f"ufselect.{alias.name}": f"{node.module}.{alias.name}"
        for module in modules
        for node in ast.walk(parsed(module))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("ufselect.")
        for alias in node.names
    }


def in_order(imports):
    """Return the packages, each after those it imports; ties by name."""
    sorter, order = TopologicalSorter(imports), []
    sorter.prepare()
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=lambda room: (len(imports[room]), room))
        order += ready
        sorter.done(*ready)
    return order


def drawn(imports, sentences):
    """Return the picture: packages below each other, imports as arcs on the right."""
    order = in_order(imports)
    place = {room: TOP + index * ROW for index, room in enumerate(order)}
    longest = max(
        (place[room] - place[other] for room in order for other in imports[room]),
        default=0,
    )
    width, height = LEFT + WIDTH + 30 + longest // 3, TOP + len(order) * ROW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" '
        'aria-label="The packages of ufselect and their imports">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>',
    ]
    for room in order:
        top = place[room]
        lines += [
            f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
            f'<text class="name" x="{LEFT + 10}" y="{top + 18}">{room}</text>',
            f'<text x="{LEFT + 10}" y="{top + 36}">{escape(sentences[room])}</text>',
        ]
    for room in order:
        lines += [arc(place[room], place[other]) for other in sorted(imports[room])]
    return "\n".join([*lines, "</svg>", ""])


def arc(start, end):
    """Return the arrow from a package to one above it that it imports."""
    right, bow = LEFT + WIDTH, 20 + (start - end) / 2.2
    first, last = start + 16, end + 28
    return (
        f'<path marker-end="url(#tip)" d="M{right} {first}C{right + bow:.0f} {first} '
        f'{right + bow:.0f} {last} {right + 2} {last}"/>'
    )


if __name__ == "__main__":
    PICTURE.write_text(drawn(room_imports(), rooms()), encoding="utf-8")

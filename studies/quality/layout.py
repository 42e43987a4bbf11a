"""How much code is there, in how many files, and how much of it does a command load?

Prints the numbers of files and code lines (without docstrings, comments and blank
lines) of each folder of src/ufselect, the modules of less than 60 code lines with one
importer, the project files that ``ufselect select`` loads for a small table, and the
size of the tests.

    python -m studies layout [--list]
"""

import ast
import io
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import ufselect
from ufselect.report import text_table

SOURCE = Path(ufselect.__file__).parent
TESTS = Path(__file__).parents[2] / "tests"
DURATION = "10 seconds"
SMALL_MODULE = 60
NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
# Runs the command in this process, and prints the modules of ufselect after it.
LOADED = """
import sys
from ufselect.__main__ import program
sys.argv = ["ufselect", "select", "tiny.csv", "--quiet"]
program()
print()
print(*(name for name, module in sys.modules.items()
        if name.split(".")[0] == "ufselect" and getattr(module, "__file__", None)))
"""


def code_lines(path: Path) -> int:
    """Return the lines of a file that are neither blank, comments nor docstrings."""
    text = path.read_text("utf-8")
    strings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            strings.update(range(first.lineno, (first.end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - strings)


def module_name(path: Path) -> str:
    """Return the dotted name of a file of the package."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def small_modules(sizes: dict[Path, int]) -> list[str]:
    """Return the small modules that only one other module imports."""
    importers = defaultdict(set)
    for path in sizes:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    importers[node.module].add(path)
                    importers[f"{node.module}.{alias.name}"].add(path)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    importers[alias.name].add(path)
    return [
        module_name(path)
        for path, size in sizes.items()
        if size < SMALL_MODULE
        and path.name != "__init__.py"
        and len(importers[module_name(path)] - {path}) == 1
    ]


def loaded_modules() -> list[str]:
    """Return the modules of ufselect that ``ufselect select tiny.csv`` loads."""
    X = np.random.default_rng(0).normal(size=(30, 6))
    X[:15, :3] += 3
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(
            Path(folder, "tiny.csv"),
            X,
            delimiter=",",
            header="a,b,c,d,e,f",
            comments="",
        )
        command = [sys.executable, "-W", "ignore", "-c", LOADED]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True
        )
    return sorted(done.stdout.splitlines()[-1].split())


def main(arguments: Sequence[str]) -> None:
    """Print the tables."""
    sizes = {path: code_lines(path) for path in sorted(SOURCE.rglob("*.py"))}
    files, lines = Counter[str](), Counter[str]()
    for path, size in sizes.items():
        folder = path.relative_to(SOURCE).parts[0]
        folder = folder if not folder.endswith(".py") else "(top)"
        files[folder] += 1
        lines[folder] += size
    rows = [[name, str(files[name]), str(n)] for name, n in lines.most_common()]
    rows.append(["all", str(len(sizes)), str(sum(sizes.values()))])
    print(text_table(["folder", "files", "code lines"], rows))
    tests = [path.read_text("utf-8") for path in TESTS.rglob("*.py")]
    n_functions = sum(
        isinstance(node, ast.FunctionDef) and node.name.startswith("test")
        for text in tests
        for node in ast.walk(ast.parse(text))
    )
    small, loaded = small_modules(sizes), loaded_modules()
    counts = {
        "modules of under 60 code lines with one importer": len(small),
        "project files loaded by ufselect select tiny.csv": len(loaded),
        "lines of tests": sum(text.count("\n") for text in tests),
        "test functions": n_functions,
    }
    print()
    print(text_table(["count", ""], [[name, str(n)] for name, n in counts.items()]))
    if "--list" in arguments:
        print("\nSmall:", *small, "\nLoaded:", *loaded, sep="\n  ")

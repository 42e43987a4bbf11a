"""How many random faults in the solvers and selectors do the tests detect?

Each mutant is one small change of a file of ``src/ufselect/solvers`` or ``selectors``:
an operator is replaced, a comparison or a condition negated, a constant or a sign
changed, or a statement removed. It is written to a copy of the package. On this copy,
those tests run that import the module or a method that uses it, and for a selector the
contract tests. The same seed gives the same mutants of the same source. ``--like``
reads the output of an earlier run and tries its mutants again, as far as they still
exist. Some mutants do not change any result, so 100 % cannot be reached.

    python -m studies mutants [MODULE ...] [--count 80] [--seed 0] [--like FILE]
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess  # nosec B404 - runs pytest
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

DURATION = "30 minutes"
ROOT = Path.cwd()
PACKAGE = ROOT / "src" / "ufselect"
FOLDERS = ("solvers", "selectors")

# A mutant that makes the tests run longer than this, in seconds, is caught.
TIME_LIMIT = 180

# Tests of all methods at once.
COMMON_TESTS = (
    *("tests/selectors/test_planted.py", "tests/selectors/test_invariances.py"),
    *("tests/selectors/test_memory.py", "tests/test_contract.py"),
    "tests/test_bad_input.py",
)

# Modules of classes that methods derive from, and methods that show what they do.
ABSTRACT = ("selectors/base",)
EXAMPLES = ["MaxVariance", "UDFS", "SPUFS"]

# What is printed of a mutant.
CAUGHT, SURVIVED, TIMED_OUT = "caught", "SURVIVED", "timed_out"

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


class Mutant(NamedTuple):
    """A change of one module: a node of its syntax tree, and what it becomes.

    ``label`` names it by function and change, which outlives edits elsewhere.
    """

    module: str
    place: int
    label: str


def can_change(node: ast.AST) -> bool:
    """Tell whether a node can be changed."""
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return type(node.op) in SWAPS
    if isinstance(node, ast.Compare):
        return type(node.ops[0]) in SWAPS
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    return isinstance(node, ast.BoolOp | ast.If | ast.IfExp | ast.While)


def change(node: ast.AST) -> None:
    """Change a node in place."""
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()  # type: ignore[assignment]
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.UnaryOp):
        node.op = ast.UAdd()
    elif isinstance(node, ast.Expr):
        node.value = ast.Constant(None)
    elif isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            node.value = not value
        else:
            whole = isinstance(value, int) or value == 0
            node.value = value + 1 if whole else 2 * value  # type: ignore[operator]


def tree_of(module: str) -> ast.Module:
    """Return the syntax tree of a module, such as "solvers/scfs"."""
    return ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))


def mutants_of(module: str) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    tree, seen = tree_of(module), Counter[str]()
    owners: dict[int, str] = {}
    for place, node in enumerate(ast.walk(tree)):
        owner = owners.get(id(node), "")
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            owner = f"{owner}.{node.name}".lstrip(".")
        owners.update((id(child), owner) for child in ast.iter_child_nodes(node))
        if can_change(node):
            text = ast.unparse(node).splitlines()[0]
            label = f"{module} {owner}: {type(node).__name__} {text}"
            seen[label] += 1
            yield Mutant(module, place, f"{label} #{seen[label]}")


def source_of(mutant: Mutant) -> str:
    """Return the source of a module with the change made."""
    tree = tree_of(mutant.module)
    change(next(n for place, n in enumerate(ast.walk(tree)) if place == mutant.place))
    return ast.unparse(ast.fix_missing_locations(tree))


def names(text: str, module: str) -> bool:
    """Tell whether a file imports a module."""
    folder, name = module.split("/")
    pattern = (
        rf"ufselect\.{folder}\.{name}\b|from ufselect\.{folder} import .*\b{name}\b"
    )
    return re.search(pattern, text) is not None


def classes_of(module: str) -> list[str]:
    """Return the names of the classes that a selector module defines."""
    if not module.startswith("selectors"):
        return []
    return [
        node.name for node in tree_of(module).body if isinstance(node, ast.ClassDef)
    ]


def tests_of(module: str) -> list[Path]:
    """Return the tests that name a module or its classes, or a method built on it.

    A module with no such test is tested through those that import it.
    """
    tests = sorted((ROOT / "tests").glob("selectors/test_*.py"))
    tests += sorted((ROOT / "tests" / "solvers").glob("test_*.py"))
    common = [ROOT / path for path in COMMON_TESTS]
    tests = [path for path in tests if path not in common]
    texts = {path: path.read_text(encoding="utf-8") for path in tests}
    classes = [re.compile(rf"\b{name}\b") for name in classes_of(module)]
    found = [
        path
        for path, text in texts.items()
        if names(text, module) or any(name.search(text) for name in classes)
    ]
    users = [
        f"{path.parent.name}/{path.stem}"
        for folder in FOLDERS
        for path in sorted((PACKAGE / folder).glob("*.py"))
        if names(path.read_text(encoding="utf-8"), module)
    ]
    for user in users:
        if user.startswith("selectors"):
            name = f"test_{user.split('/')[1]}.py"
            found += [path for path in tests if path.name == name]
    if not found:
        found = [path for user in users for path in tests_of(user)]
    return list(dict.fromkeys(found))


def outcome_of(mutant: Mutant, copied: Path) -> str:
    """Run the tests on the package with a mutant in it, and return what is printed."""
    target = copied / "ufselect" / f"{mutant.module}.py"
    original = target.read_text(encoding="utf-8")
    target.write_text(source_of(mutant), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow"]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0"]
    command += [str(path) for path in tests_of(mutant.module)]
    if methods := classes_of(mutant.module):
        # Of what is tested of all methods, only these.
        command += COMMON_TESTS
        others = " and ".join(f"not {Path(path).stem}" for path in COMMON_TESTS)
        if mutant.module in ABSTRACT:
            methods = EXAMPLES
        command += ["-k", f"({others}) or {' or '.join(methods)}"]
    environment = os.environ | {
        "PYTHONPATH": str(copied),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    try:
        ended = subprocess.run(  # nosec B603 - our own command
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            timeout=TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    finally:
        target.write_text(original, encoding="utf-8")
    return CAUGHT if ended.returncode else SURVIVED


def main(arguments: Sequence[str]) -> None:
    """Make mutants, run the tests on each, and print how many are caught."""
    parser = argparse.ArgumentParser(
        prog="python -m studies mutants", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "modules", nargs="*", help='such as "solvers/scfs"; all of them by default'
    )
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--like", type=Path, help="what an earlier run printed")
    options = parser.parse_args(arguments)
    every = sorted(
        f"{folder}/{path.stem}"
        for folder in FOLDERS
        for path in (PACKAGE / folder).glob("[!_]*.py")
    )
    possible = [
        mutant for name in options.modules or every for mutant in mutants_of(name)
    ]
    random.Random(options.seed).shuffle(possible)  # nosec B311
    if options.like is not None:
        lines = options.like.read_text(encoding="utf-8").splitlines()
        labels = {line.split(None, 1)[1] for line in lines if " #" in line}
        possible = [mutant for mutant in possible if mutant.label in labels]
        print(f"{len(possible)} of {len(labels)} mutants are still there")
    caught: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    started, timed_out = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder)
        shutil.copytree(PACKAGE, copied / "ufselect")
        for mutant in possible[: options.count]:
            outcome = outcome_of(mutant, copied)
            tried[mutant.module] += 1
            caught[mutant.module] += outcome != SURVIVED
            timed_out += outcome == TIMED_OUT
            print(f"{outcome} {mutant.label}", flush=True)
    seconds = time.monotonic() - started
    for name in sorted(tried):
        print(f"{name:32} {caught[name]:3} of {tried[name]:3}")
    print(
        f"caught {caught.total()} of {tried.total()} mutants in {seconds:.0f} s, "
        f"{timed_out} of them by the time limit"
    )

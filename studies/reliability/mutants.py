"""How many of random faults in the solvers do the tests catch?

Each mutant is one small change of a file of ``src/ufselect/solvers``: an operator
swapped, a comparison or a condition turned round, a constant or a sign changed, a
statement dropped. It is written into a copy of the package, on which the tests run that
name the module, or a method built on it. The same seed makes the same mutants of the
same source, so that two sets of tests can be compared. Some mutants change nothing that
a test could see; a share of 100 % is not to be had.

    python -m studies mutants [MODULE ...] [--count 80] [--seed 0]
"""

import argparse
import ast
import copy
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
SOLVERS = PACKAGE / "solvers"

# A mutant that makes the tests run longer than this, in seconds, is caught.
TIME_LIMIT = 180

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
    """A change of one module: which node of its syntax tree, and what is done to it."""

    module: str
    place: int
    line: int
    kind: str


def kind_of(node: ast.AST) -> str | None:
    """Return how a node can be changed, if it can."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in SWAPS:
        return "operator"
    if isinstance(node, ast.BoolOp):
        return "operator"
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        return "comparison"
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        return "condition"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return "sign"
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return "constant"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return "statement"
    return None


def mutated(node: ast.AST, kind: str) -> None:
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
            node.value = value + 1 if whole else 2 * value


def mutants_of(module: str) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    tree = ast.parse((SOLVERS / f"{module}.py").read_text(encoding="utf-8"))
    for place, node in enumerate(ast.walk(tree)):
        kind = kind_of(node)
        if kind is not None:
            yield Mutant(module, place, getattr(node, "lineno", 0), kind)


def source_of(mutant: Mutant) -> str:
    """Return the source of a module with the change made."""
    tree = ast.parse((SOLVERS / f"{mutant.module}.py").read_text(encoding="utf-8"))
    tree = copy.deepcopy(tree)
    node = next(n for place, n in enumerate(ast.walk(tree)) if place == mutant.place)
    mutated(node, mutant.kind)
    return ast.unparse(ast.fix_missing_locations(tree))


def names(text: str, module: str) -> bool:
    """Tell whether a file imports a solver."""
    pattern = rf"ufselect\.solvers\.{module}\b|from ufselect\.solvers import {module}\b"
    return re.search(pattern, text) is not None


def tests_of(module: str) -> list[Path]:
    """Return the tests that name a module, or a method built on it.

    A solver with no such test is tested through the solvers that import it.
    """
    tests = sorted((ROOT / "tests").glob("selectors/test_*.py"))
    tests += sorted((ROOT / "tests" / "solvers").glob("test_*.py"))
    texts = {path: path.read_text(encoding="utf-8") for path in tests}
    found = [path for path in tests if names(texts[path], module)]
    for method in sorted((PACKAGE / "selectors").glob("*.py")):
        if names(method.read_text(encoding="utf-8"), module):
            found += [path for path in tests if path.name == f"test_{method.name}"]
    if not found:
        for solver in sorted(SOLVERS.glob("*.py")):
            if names(solver.read_text(encoding="utf-8"), module):
                found += tests_of(solver.stem)
    return list(dict.fromkeys(found))


def is_caught(mutant: Mutant, copied: Path) -> bool:
    """Run the tests on the package with a mutant in it."""
    target = copied / "ufselect" / "solvers" / f"{mutant.module}.py"
    original = target.read_text(encoding="utf-8")
    target.write_text(source_of(mutant), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow"]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0"]
    command += [str(path) for path in tests_of(mutant.module)]
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
        return True
    finally:
        target.write_text(original, encoding="utf-8")
    return ended.returncode != 0


def main(arguments: Sequence[str]) -> None:
    """Make mutants, run the tests on each, and print how many are caught."""
    parser = argparse.ArgumentParser(
        prog="python -m studies mutants", description=__doc__.splitlines()[0]
    )
    parser.add_argument("modules", nargs="*", help="of solvers; all of them by default")
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    every = sorted(path.stem for path in SOLVERS.glob("*.py") if path.stem[0] != "_")
    possible = [
        mutant for name in options.modules or every for mutant in mutants_of(name)
    ]
    random.Random(options.seed).shuffle(possible)  # nosec B311
    caught: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder)
        shutil.copytree(PACKAGE, copied / "ufselect")
        for mutant in possible[: options.count]:
            found = is_caught(mutant, copied)
            tried[mutant.module] += 1
            caught[mutant.module] += found
            end = "caught" if found else "SURVIVED"
            print(f"{mutant.module}:{mutant.line} {mutant.kind}: {end}", flush=True)
    seconds = time.monotonic() - started
    for name in sorted(tried):
        print(f"{name:24} {caught[name]:3} of {tried[name]:3}")
    print(f"caught {caught.total()} of {tried.total()} mutants in {seconds:.0f} s")

"""The benchmarks of this folder, found without a list of them.

A benchmark is a file that begins with its question. With a function
``measure(settings)`` that yields rows, the runner measures it; without, it is a script
that prints its own tables, and takes ``--quick``. ``DURATION`` says roughly how long it
takes on two quiet cores.
`reliability` finds its files in the same way, and has the same options.
"""

import argparse
import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Benchmark:
    """A file that asks a question."""

    path: Path
    question: str
    duration: str
    measured: bool

    @property
    def name(self) -> str:
        """What to call it by."""
        return self.path.stem


def find_benchmarks(
    folder: Path = FOLDER, function: str = "measure"
) -> dict[str, Benchmark]:
    """Return the files that begin with a question, without importing them."""
    found = (read_benchmark(path, function) for path in sorted(folder.glob("*.py")))
    return {each.name: each for each in found if each.question.endswith("?")}


def read_benchmark(path: Path, function: str = "measure") -> Benchmark:
    """Return what a file says of itself; the function is what a runner would call."""
    tree = ast.parse(path.read_text("utf-8"))
    # A question may take two lines; a blank one ends it.
    question = " ".join((ast.get_docstring(tree) or "").split("\n\n")[0].split())
    duration, measured = "", False
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            measured |= node.name == function
        elif isinstance(node, ast.Assign) and "DURATION" in map(
            ast.unparse, node.targets
        ):
            duration = ast.literal_eval(node.value)
    return Benchmark(path, question, duration, measured)


def listing(benchmarks: Sequence[Benchmark]) -> str:
    """Return names, questions and durations."""
    rows = [[each.name, each.duration, each.question] for each in benchmarks]
    widths = [max(len(row[place]) for row in rows) for place in (0, 1)]
    return "\n".join(
        f"{name.ljust(widths[0])}  {duration.ljust(widths[1])}  {question}".rstrip()
        for name, duration, question in rows
    )


def minutes_of(duration: str) -> float:
    """Return the minutes of a duration in words, such as ``3 minutes``."""
    number = duration.split(" ")[0]
    return float(number) if number.isdecimal() else 0.5


def plan(benchmarks: Sequence[Benchmark]) -> str:
    """Return what will be run, and for how long."""
    total = sum(minutes_of(each.duration) for each in benchmarks)
    return (
        f"{listing(benchmarks)}\n\n{len(benchmarks)} benchmarks, about {total:.0f} "
        "minutes on two quiet cores (less with --quick); Ctrl-C ends the run and keeps "
        "what is measured."
    )


def chosen(names: Sequence[str], known: dict[str, Benchmark]) -> list[Benchmark]:
    """Return the benchmarks of these names, or all that can be measured."""
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"nothing here is called {unknown[0]!r}; use one of {', '.join(known)}."
        )
    return [known[name] for name in names] or [
        each for each in known.values() if each.measured
    ]


def parser_of_questions(
    program: str, description: str, *, check: str, read: str
) -> argparse.ArgumentParser:
    """Return a parser with the options of every command that runs such files.

    ``check`` and ``read`` say what these two options do.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m {program}", description=description
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="names and questions")
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--check", action="store_true", help=check)
    for option in ("--json", "--markdown"):
        parser.add_argument(option, type=Path, metavar="FILE")
    parser.add_argument("--read", type=Path, nargs="+", metavar="FILE", help=read)
    return parser

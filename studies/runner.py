"""Find and run studies, print their results and write them to files.

    python -m studies [NAME ...] [--list] [--quick] [--check] [--repeats N]
        [--sets a,b] [--seed N] [--peers PYTHON] [--json FILE] [--markdown PATH]
    python -m studies --read FILE ... --markdown PATH [--check]

A study is a file whose docstring begins with its question; studies are in one folder
for each kind, whose name stands for all measured studies in it. A measured study has a
function ``measure(settings)`` that yields rows or outcomes. Other studies have a
function ``main(arguments)`` with their own options and print their own tables.
``DURATION`` is the approximate time on two idle cores.

Without a name, all measured studies run one after the other; their names and durations
are printed first. Ctrl-C ends the run and keeps the results so far.
"""

import argparse
import ast
import importlib
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

from studies.findings import (
    Outcome,
    Result,
    Row,
    broken_down,
    cells,
    line,
    pages,
    problems,
    read_results,
    write_results,
)
from studies.measuring import describe_machine, sentence
from studies.settings import Settings
from ufselect.report import text_table

FOLDER = Path(__file__).parent

# What a study may fail of, said in one sentence.
ERRORS = (ValueError, OSError, subprocess.CalledProcessError)


@dataclass(frozen=True)
class Study:
    """A file that asks a question."""

    path: Path
    question: str
    duration: str
    measured: bool

    @property
    def name(self) -> str:
        """What to call it by."""
        return self.path.stem

    @property
    def kind(self) -> str:
        """The folder that it is in."""
        return self.path.parent.name


def find_studies(folder: Path = FOLDER) -> dict[str, Study]:
    """Return the files that begin with a question, without importing them."""
    found = map(read_study, sorted(folder.glob("*/*.py")))
    return {each.name: each for each in found if each.question.endswith("?")}


def read_study(path: Path) -> Study:
    """Return what a file says of itself."""
    tree = ast.parse(path.read_text("utf-8"))
    # A question may take two lines; a blank one ends it.
    question = " ".join((ast.get_docstring(tree) or "").split("\n\n")[0].split())
    duration, measured = "", False
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            measured |= node.name == "measure"
        elif isinstance(node, ast.Assign) and "DURATION" in map(
            ast.unparse, node.targets
        ):
            duration = ast.literal_eval(node.value)
    return Study(path, question, duration, measured)


def listing(studies: Sequence[Study]) -> str:
    """Return names, questions and durations."""
    rows = [[each.name, each.duration, each.question] for each in studies]
    widths = [max(len(row[place]) for row in rows) for place in (0, 1)]
    return "\n".join(
        f"{name.ljust(widths[0])}  {duration.ljust(widths[1])}  {question}".rstrip()
        for name, duration, question in rows
    )


def minutes_of(duration: str) -> float:
    """Return the minutes of a duration in words, such as ``3 minutes``."""
    number = duration.split(" ")[0]
    return float(number) if number.isdecimal() else 0.5


def plan(studies: Sequence[Study]) -> str:
    """Return what will be run, and for how long."""
    total = sum(minutes_of(each.duration) for each in studies)
    return (
        f"{listing(studies)}\n\n{len(studies)} studies, about {total:.0f} minutes on "
        "two quiet cores (less with --quick); Ctrl-C ends the run and keeps what is "
        "found."
    )


def chosen(names: Sequence[str], known: dict[str, Study]) -> list[Study]:
    """Return the studies of these names or kinds, or all that can be measured."""
    every = [study for study in known.values() if study.measured]
    kinds = {
        study.kind: [each for each in every if each.kind == study.kind]
        for study in every
    }
    unknown = [name for name in names if name not in known and name not in kinds]
    if unknown:
        raise ValueError(
            f"nothing here is called {unknown[0]!r}; use one of "
            f"{', '.join({**kinds, **known})}."
        )
    found = [
        study
        for name in names
        for study in ([known[name]] if name in known else kinds[name])
    ]
    return found or every


def load(study: Study) -> object:
    """Return the module of a study."""
    return importlib.import_module(f"studies.{study.kind}.{study.name}")


def measured(
    study: Study, settings: Settings, results: list[Result], path: Path | None
) -> None:
    """Measure, print rows as they come, and add them to results, if stopped too.

    Results are written after every row: a run of hours that is cut, whatever cuts it,
    has then lost one row.
    """
    print(f"\n{study.question}\n", flush=True)
    start = time.monotonic()
    machine = describe_machine()
    result = Result(study.name, study.question, settings.options(), machine, ())
    earlier = list(results)
    try:
        if path is not None:
            write_results(path, [*earlier, result])
        for row in rows_of(study, settings):
            print(f"  {line(row)}", flush=True)
            seconds = round(time.monotonic() - start, 1)
            result = replace(result, rows=(*result.rows, row), seconds=seconds)
            results[:] = [*earlier, result]
            if path is not None:
                write_results(path, results)
    finally:
        rows = [row for row in result.rows if isinstance(row, Row)]
        if rows:
            print(f"\n{plain(rows)}\n\n{sentence(machine)}", flush=True)


def rows_of(study: Study, settings: Settings) -> Iterator[Row | Outcome]:
    """Yield what a study finds; in one of reliability, an exception is a loss."""
    try:
        yield from load(study).measure(settings)
    except Exception as error:
        if study.kind != "reliability":
            raise
        traceback.print_exc()
        yield broken_down(error)


def plain(rows: Sequence[Row]) -> str:
    """Return the shortest useful table of ratios."""
    shown = [[row.what, row.against, *cells(row)[4:8]] for row in rows]
    header = ["", "against", "ratio", "by processor time", "at most", "met"]
    return text_table(header, shown)


def run(
    studies: Sequence[Study],
    settings: Settings,
    results: list[Result],
    path: Path | None = None,
) -> int:
    """Fill in the results of what is measured here; others print theirs.

    Returns the exit code. One that fails says why, and does not stop the others.
    """
    code = 0
    for number, study in enumerate(studies, start=1):
        if len(studies) > 1:
            print(f"\n[{number} of {len(studies)}: {study.name}]", flush=True)
        try:
            if study.measured:
                measured(study, settings, results, path)
            else:
                load(study).main(["--quick"] if settings.quick else [])
        except ERRORS as error:
            print(f"studies: {error}", file=sys.stderr)
            code = 2
        except KeyboardInterrupt:
            print("studies: stopped; what was found is kept.", file=sys.stderr)
            return 130
    return code


def write_pages(path: Path, results: Sequence[Result]) -> None:
    """Write a page for each kind of results into a folder, or all into one file."""
    found = pages(results)
    if path.is_dir():
        for name, text in found.items():
            (path / name).write_text(text, "utf-8")
    else:
        path.write_text("\n".join(found.values()), "utf-8")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m studies",
        description="Measure what ufselect costs, and try to break it.",
        epilog="Studies that print their own tables have options of their own: "
        "python -m studies NAME --help.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="names and questions")
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument(
        "--check",
        action="store_true",
        help="fail if a target is missed or anything was lost",
    )
    parser.add_argument("--repeats", type=int, metavar="N", help="of what is timed")
    parser.add_argument("--sets", help="data sets, with commas between them")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of what is tried"
    )
    parser.add_argument(
        "--peers",
        metavar="PYTHON",
        help="the interpreter of an environment with other packages",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write results")
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="PATH",
        help="write pages into a folder, or into one file",
    )
    parser.add_argument(
        "--read", type=Path, nargs="+", metavar="FILE", help="run nothing"
    )
    return parser.parse_args(arguments)


def perform(arguments: Sequence[str]) -> int:
    """Do what the command line says, and return the exit code."""
    known = find_studies()
    first = known.get(arguments[0]) if arguments else None
    if first and not first.measured and not set(arguments[1:2]) & set(known):
        return load(first).main(arguments[1:]) or 0
    options = parse(arguments)
    if options.list:
        print(listing(list(known.values())))
        return 0
    results, code = [], 0
    if options.read:
        results = read_results(options.read)
    else:
        studies = chosen(options.names, known)
        if not options.names:
            print(plan(studies), flush=True)
        sets = tuple(options.sets.split(",")) if options.sets else None
        settings = Settings(
            options.quick, options.repeats, sets, options.seed, options.peers
        )
        code = run(studies, settings, results, options.json)
    if options.json is not None:
        write_results(options.json, results)
    if options.markdown is not None:
        write_pages(options.markdown, results)
    found = problems(results) if options.check else []
    for message in found:
        print(message, file=sys.stderr)
    return code or int(bool(found))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; what is wrong is said in one sentence."""
    # What a shell starts in the background ignores Ctrl-C, and so would all runs that
    # are started from here, however often they are sent the signal.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return perform(sys.argv[1:] if arguments is None else list(arguments))
    except ERRORS as error:
        print(f"studies: {error}", file=sys.stderr)
        return 2

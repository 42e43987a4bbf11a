"""One way to run every benchmark: find it, measure, print, write.

    python -m benchmarks [NAME ...] [--list] [--quick] [--repeats N] [--sets a,b]
        [--peers PYTHON] [--check] [--json FILE] [--markdown FILE]
    python -m benchmarks --read FILE ... --markdown FILE

Without a name, all are measured that can be measured here, one after the other; what
will be run, and for how long, is said first. Ctrl-C ends the run: what was measured by
then is printed and written.
"""

import argparse
import importlib
import json
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from finding import (
    Benchmark,
    chosen,
    find_benchmarks,
    listing,
    parser_of_questions,
    plan,
)
from machine import describe_machine, sentence
from outcomes import Result, Row, cells, from_json, to_json, to_markdown
from settings import Settings
from sklearn.exceptions import ConvergenceWarning

from ufselect.report import text_table

OPENING = """# Benchmarks

Every figure is a ratio of two things measured in turns in one run: ours over the other,
so that below 1 ours takes less, and 1/20 is twenty times less. In brackets are the
extremes over the repetitions. Processor time, summed over threads, is less disturbed by
a busy machine, unless threads wait for each other. The limit is the time of the
unavoidable matrix products at the speed of BLAS that was measured. Seconds are those of
the machine named under each table.

This page is made by

    python -m benchmarks --read benchmarks/results/*.json --markdown docs/benchmarks.md
"""


# What a benchmark may fail of, said in one sentence.
ERRORS = (ValueError, OSError, subprocess.CalledProcessError)


def measured(benchmark: Benchmark, settings: Settings, results: list[Result]) -> None:
    """Measure, print rows as they come, and add them to results, if stopped too."""
    print(f"\n{benchmark.question}\n", flush=True)
    machine = describe_machine()
    rows: list[Row] = []
    try:
        for row in importlib.import_module(benchmark.name).measure(settings):
            print("  " + ", ".join(cell for cell in cells(row) if cell), flush=True)
            rows.append(row)
    finally:
        if rows:
            print(f"\n{plain(rows)}\n\n{sentence(machine)}", flush=True)
            results.append(
                Result(
                    *(benchmark.name, benchmark.question, settings.options()),
                    *(machine, tuple(rows)),
                )
            )


def plain(rows: Sequence[Row]) -> str:
    """Return the shortest useful table of rows."""
    shown = [[row.what, row.against, *cells(row)[4:8]] for row in rows]
    header = ["", "against", "ratio", "by processor time", "at most", "met"]
    return text_table(header, shown)


def misses(results: Sequence[Result]) -> list[str]:
    """Return a sentence for every target that was not reached."""
    return [
        f"{result.name}: {row.what} took {row.judged.median:.3g} times as long as "
        f"{row.against} by {row.judged_by} time; at most {row.target:.3g} is allowed."
        for result in results
        for row in result.rows
        if row.met is False and row.judged is not None
    ]


def page(results: Sequence[Result]) -> str:
    """Return a document of all results."""
    return "\n".join([OPENING, *busy(results), *map(to_markdown, results)])


def busy(results: Sequence[Result]) -> list[str]:
    """Return a warning if more processes wanted to run than there were cores."""
    machines = [each.machine for each in results if each.machine.get("load_before")]
    most = max(machines, key=lambda each: each["load_before"], default=None)
    if most is None or most["load_before"] <= most["cores"]:
        return []
    return [
        f"**The machine was busy**: up to {most['load_before']:g} processes wanted to "
        f"run on\n{most['cores']} cores. Ratios by processor time are to be believed "
        "rather than those by the clock.\n"
    ]


def read_results(paths: Sequence[Path]) -> list[Result]:
    """Return what ``--json`` has written."""
    return [
        from_json(content)
        for path in paths
        for content in json.loads(path.read_text("utf-8"))
    ]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = parser_of_questions(
        "benchmarks",
        "Measure what ufselect costs.",
        check="fail if a target is missed",
        read="measure nothing",
    )
    parser.add_argument("--repeats", type=int, metavar="N")
    parser.add_argument("--sets", help="data sets, with commas between them")
    parser.add_argument(
        "--peers",
        metavar="PYTHON",
        help="the interpreter of an environment with other packages",
    )
    return parser.parse_args(arguments)


def run(
    benchmarks: Sequence[Benchmark], settings: Settings, results: list[Result]
) -> int:
    """Fill in the results of those measured here; others print theirs.

    Returns the exit code. One that fails says why, and does not stop the others.
    """
    code = 0
    for number, benchmark in enumerate(benchmarks, start=1):
        if len(benchmarks) > 1:
            print(f"\n[{number} of {len(benchmarks)}: {benchmark.name}]", flush=True)
        try:
            if benchmark.measured:
                measured(benchmark, settings, results)
            else:
                run_script(benchmark, settings)
        except ERRORS as error:
            print(f"benchmarks: {error}", file=sys.stderr)
            code = 2
        except KeyboardInterrupt:
            print("benchmarks: stopped; what was measured is kept.", file=sys.stderr)
            return 130
    return code


def run_script(benchmark: Benchmark, settings: Settings) -> None:
    """Run one that prints its own tables."""
    command = [sys.executable, str(benchmark.path)]
    subprocess.run([*command, *(["--quick"] if settings.quick else [])], check=True)


def write(options: argparse.Namespace, results: Sequence[Result]) -> None:
    """Write the files that were asked for."""
    if options.json is not None:
        content: list[dict[str, Any]] = [to_json(result) for result in results]
        options.json.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    if options.markdown is not None:
        options.markdown.write_text(page(results), "utf-8")


def perform(options: argparse.Namespace) -> int:
    """Do what the options say, and return the exit code."""
    known = find_benchmarks()
    benchmarks = chosen(options.names, known)
    if options.list:
        print(listing(list(known.values())))
        return 0
    results, code = [], 0
    if options.read:
        results = read_results(options.read)
    else:
        if not options.names:
            print(plan(benchmarks), flush=True)
        sets = tuple(options.sets.split(",")) if options.sets else None
        settings = Settings(options.quick, options.repeats, sets, options.peers)
        code = run(benchmarks, settings, results)
    write(options, results)
    missed = misses(results) if options.check else []
    for message in missed:
        print(message, file=sys.stderr)
    return code or int(bool(missed))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; what is wrong is said in one sentence."""
    options = parse(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return perform(options)
    except ERRORS as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2


def run_alone(file: str) -> None:
    """Run one benchmark as a script, with the options of all."""
    raise SystemExit(main([Path(file).stem, *sys.argv[1:]]))

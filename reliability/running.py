"""One way to try everything: find the files, run them, print, write.

    python -m reliability [NAME ...] [--list] [--quick] [--seed N] [--check]
        [--json FILE] [--markdown FILE]
    python -m reliability --read FILE ... --markdown FILE [--check]

A family of abuse is a file that begins with its question and has a function
``outcomes(settings)`` that yields what became of each kind of input or fault.
"""

import argparse
import importlib
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.finding import (
    Benchmark,
    chosen,
    find_benchmarks,
    listing,
    parser_of_questions,
)
from reliability.outcomes import Outcome, broken_down
from reliability.results import Result, losses, page, read_results, write_results
from reliability.settings import Settings
from ufselect.experiments.cells import versions_here

FOLDER = Path(__file__).parent


def find_families() -> dict[str, Benchmark]:
    """Return the files of this folder that ask a question."""
    return find_benchmarks(FOLDER, "outcomes")


def tried(family: Benchmark, settings: Settings) -> Iterator[Result]:
    """Try everything of a family, print outcomes, and yield the result so far."""
    print(f"\n{family.question}\n", flush=True)
    start = time.monotonic()
    result = Result(
        family.name, family.question, options_of(settings), 0.0, versions_here(), ()
    )
    yield result
    for outcome in outcomes_of(family, settings):
        print(line(outcome), flush=True)
        result = replace(
            result,
            seconds=round(time.monotonic() - start, 1),
            outcomes=(*result.outcomes, outcome),
        )
        yield result


def all_tried(
    families: Iterable[Benchmark], settings: Settings, path: Path | None
) -> list[Result]:
    """Try families one after the other, and write after every outcome.

    A run of hours that is cut, whatever cuts it, has then lost one outcome.
    """
    results: list[Result] = []
    for family in families:
        for result in tried(family, settings):
            if path is not None:
                write_results(path, [*results, result])
        results.append(result)
    return results


def outcomes_of(family: Benchmark, settings: Settings) -> Iterator[Outcome]:
    """Yield the outcomes; an exception that gets here is a loss and ends the family.

    Ctrl-C ends the family too; what was found so far is kept.
    """
    try:
        module = importlib.import_module(f"reliability.{family.name}")
        yield from module.outcomes(settings)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a loss
        traceback.print_exc()
        yield broken_down(error)


def line(outcome: Outcome) -> str:
    """Return an outcome for the terminal."""
    numbers = (
        f"{outcome.tried:,} tried, {outcome.answered:,} answered, "
        f"{outcome.refused:,} refused, {outcome.lost:,} lost"
    )
    return f"  {outcome.what}: {numbers}{f'; {outcome.note}' if outcome.note else ''}"


def options_of(settings: Settings) -> str:
    """Return what else was said on the command line."""
    parts = ["--quick"] if settings.quick else []
    parts += [f"--seed {settings.seed}"] if settings.seed else []
    return " ".join(parts)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = parser_of_questions(
        "reliability",
        "Try to break ufselect.",
        check="fail if anything was lost",
        read="try nothing",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    return parser.parse_args(arguments)


def perform(options: argparse.Namespace) -> int:
    """Do what the options say, and return the exit code."""
    known = find_families()
    if options.list:
        print(listing(list(known.values())))
        return 0
    if options.read:
        results = read_results(options.read)
    else:
        settings = Settings(options.quick, options.seed)
        results = all_tried(chosen(options.names, known), settings, options.json)
    if options.markdown is not None:
        options.markdown.write_text(page(results), "utf-8")
    lost = losses(results) if options.check else []
    for sentence in lost:
        print(sentence, file=sys.stderr)
    return 1 if lost else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; what is wrong is said in one sentence."""
    _listen_to_ctrl_c()
    try:
        return perform(parse(arguments))
    except (ValueError, OSError) as error:
        print(f"reliability: {error}", file=sys.stderr)
        return 2


def _listen_to_ctrl_c() -> None:
    # What a shell starts in the background ignores it, and so would all runs started
    # from here, however often they are sent the signal.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

"""What was tried, as JSON and as the page ``docs/reliability.md``."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reliability.outcomes import Outcome
from ufselect.report import markdown_table

HEADER = ["what", "tried", "answered", "refused", "lost", "note"]
OPENING = """# Reliability

What was fed to ufselect, what was done to it, and how that ended. **Answered**: with
the right result, nothing lost. **Refused**: with one sentence that names the problem
and the remedy. **Lost**: anything else, be it a traceback, a wrong or non-finite
answer, a finished result that is gone, or a process that stayed behind.

{total}

{table}

Every part can be run by itself; `--quick` tries less of everything, `--check` fails if
anything is lost, and `--seed` chooses other inputs and moments:

    python -m reliability --list
    python -m reliability --quick --check

This page is made from what was run:

    python -m reliability --read reliability/results/*.json \\
        --markdown docs/reliability.md
"""


@dataclass(frozen=True)
class Result:
    """All outcomes of a family of abuse."""

    name: str
    question: str
    # What the runner was told, but for the name.
    options: str
    seconds: float
    versions: dict[str, str]
    outcomes: tuple[Outcome, ...]


def total(outcomes: Iterable[Outcome], what: str) -> Outcome:
    """Return the sums of outcomes."""
    listed = list(outcomes)
    names = ("tried", "answered", "refused", "lost")
    sums = [sum(getattr(each, name) for each in listed) for name in names]
    return Outcome(what, *sums)


def unaccounted(outcome: Outcome) -> int:
    """Return how many trials have ended in none of the three ways, or in two."""
    ended = outcome.answered + outcome.refused + outcome.lost
    return abs(outcome.tried - ended)


def losses(results: Iterable[Result]) -> list[str]:
    """Return a sentence for everything that was lost or is not accounted for."""
    return [
        f"{result.name}: {each.what}: {each.lost + unaccounted(each)} of {each.tried} "
        f"lost{f' ({each.note})' if each.note else ''}."
        for result in results
        for each in result.outcomes
        if each.lost or unaccounted(each)
    ]


def page(results: Sequence[Result]) -> str:
    """Return the document of all results."""
    sums = [total(each.outcomes, each.question) for each in results]
    everything = total(sums, "**in all**")
    rows = [cells(each)[:-1] for each in (*sums, everything)]
    table = markdown_table(HEADER[:-1], rows)
    opening = OPENING.format(total=verdict(everything), table=table)
    return "\n".join([opening, *map(section, results)])


def verdict(everything: Outcome) -> str:
    """Return in a sentence whether anything was lost."""
    lost = everything.lost + unaccounted(everything)
    how = "**none was lost**" if lost == 0 else f"**{lost:,} were lost**"
    return f"Of {everything.tried:,} trials, {how}."


def section(result: Result) -> str:
    """Return the question, the command, the table, and what it was run with."""
    rows = [cells(each) for each in result.outcomes]
    command = f"    python -m reliability {result.name} {result.options}".rstrip()
    versions = ", ".join(f"{name} {it}" for name, it in result.versions.items())
    return (
        f"## {result.question}\n\n{command}\n\n{markdown_table(HEADER, rows)}\n\n"
        f"{result.seconds:.0f} seconds; {versions}.\n"
    )


def cells(outcome: Outcome) -> list[str]:
    """Return the columns of ``HEADER`` as text."""
    numbers = (outcome.tried, outcome.answered, outcome.refused, outcome.lost)
    return [outcome.what, *(f"{number:,}" for number in numbers), outcome.note]


def write_results(path: Path, results: Iterable[Result]) -> None:
    """Write results as JSON."""
    content = [asdict(result) for result in results]
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def read_results(paths: Iterable[Path]) -> list[Result]:
    """Return what `write_results` has written."""
    return [
        _result_from(content)
        for path in paths
        for content in json.loads(path.read_text("utf-8"))
    ]


def _result_from(content: dict[str, Any]) -> Result:
    outcomes = tuple(Outcome(**each) for each in content["outcomes"])
    return Result(**content | {"outcomes": outcomes})

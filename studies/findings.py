"""What studies find: ratios of costs and counts of outcomes, as JSON and as pages.

A study of speed yields a `Row` for everything that it compares, a study of reliability
an `Outcome` for every kind of input or fault.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from studies.measuring import Spread, Timing, ratio, sentence, spread
from ufselect.report import markdown_table

ROW_HEADER = [
    *("what", "ours", "against", "", "ratio", "by processor time"),
    *("at most", "met", "limit", "note"),
]
OUTCOME_HEADER = ["what", "tried", "answered", "refused", "lost", "note"]

BENCHMARKS = """# Benchmarks

Every figure is a ratio of two things measured in turns in one run: ours over the other,
so that below 1 ours takes less, and 1/20 is twenty times less. In brackets are the
extremes over the repetitions. Processor time, summed over threads, is less disturbed by
a busy machine, unless threads wait for each other. The limit is the time of the
unavoidable matrix products at the speed of BLAS that was measured. Seconds are those of
the machine named under each table.

This page and [reliability](reliability.md) are made by

    python -m studies --read studies/results/*.json --markdown docs
"""

RELIABILITY = """# Reliability

What was fed to ufselect, what was done to it, and how that ended. **Answered**: with
the right result, nothing lost. **Refused**: with one sentence that names the problem
and the remedy. **Lost**: anything else, be it a traceback, a wrong or non-finite
answer, a finished result that is gone, or a process that stayed behind.

{verdict}

{table}

Every part can be run by itself; `--quick` tries less of everything, `--check` fails if
anything is lost, and `--seed` chooses other inputs and moments:

    python -m studies --list
    python -m studies reliability --quick --check

This page and [benchmarks](benchmarks.md) are made from what was run:

    python -m studies --read studies/results/*.json --markdown docs
"""


@dataclass(frozen=True)
class Row:
    """Ours next to something else; a ratio below one means that ours takes less."""

    what: str
    against: str
    ours: Spread | None = None
    theirs: Spread | None = None
    # Of the two above; of their processor times, where these were measured.
    ratio: Spread | None = None
    processor_ratio: Spread | None = None
    target: float | None = None
    judged_by: Literal["clock", "processor"] = "clock"
    # Seconds that the unavoidable matrix products would take.
    limit: float | None = None
    unit: Literal["s", "MB"] = "s"
    note: str = ""

    @property
    def judged(self) -> Spread | None:
        """The ratio that is held against the target."""
        return self.ratio if self.judged_by == "clock" else self.processor_ratio

    @property
    def met(self) -> bool | None:
        """Whether the target was reached, or None where there is none."""
        if self.target is None or self.judged is None:
            return None
        return self.judged.median <= self.target


def compared(
    what: str,
    ours: Sequence[Timing],
    against: str,
    theirs: Sequence[Timing],
    **more: Any,
) -> Row:
    """Return the row of two functions that took turns; ``more`` are fields of it."""
    clocks = [[each.clock for each in timings] for timings in (ours, theirs)]
    used = [[each.processor for each in timings] for timings in (ours, theirs)]
    known = all(value > 0 for value in used[1])
    return Row(
        what,
        against,
        ours=spread(clocks[0]),
        theirs=spread(clocks[1]),
        ratio=ratio(*clocks),
        processor_ratio=ratio(*used) if known else None,
        **more,
    )


@dataclass(frozen=True)
class Outcome:
    """One kind of input or fault, tried so often, and how it ended."""

    what: str  # the input or the fault, as a reader would say it
    tried: int  # how many times
    answered: int  # ended with the right answer; nothing lost
    refused: int  # ended with the documented one-sentence error
    lost: int  # anything else; must be 0
    note: str = ""  # such as the peak of memory, or the limit

    @property
    def all_lost(self) -> int:
        """What was lost, or ended in none of the three ways, or in two."""
        ended = self.answered + self.refused + self.lost
        return self.lost + abs(self.tried - ended)


def broken_down(error: Exception) -> Outcome:
    """Return the loss that an exception is which nobody has expected."""
    said = f"{type(error).__name__}: {error}"
    return Outcome("the trial itself", 1, 0, 0, 1, said)


class Count:
    """How trials of one kind have ended so far.

    Parameters
    ----------
    what : str
        The input or the fault, as a reader would say it.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.answered = self.refused = 0
        self.losses: list[str] = []

    @property
    def tried(self) -> int:
        """Return how many trials there were."""
        return self.answered + self.refused + len(self.losses)

    def answer(self, *problems: str | bool) -> None:
        """Count an answer, or a loss if there is any problem with it."""
        self._count("answered", problems)

    def refuse(self, *problems: str | bool) -> None:
        """Count a refusal, or a loss if there is any problem with it."""
        self._count("refused", problems)

    def _count(self, how: str, problems: tuple[str | bool, ...]) -> None:
        found = [str(problem) for problem in problems if problem]
        if found:
            self.losses.append("; ".join(found))
        else:
            setattr(self, how, getattr(self, how) + 1)

    def outcome(self, note: str = "") -> Outcome:
        """Return the sums; a loss speaks for itself in the note."""
        lost = len(self.losses)
        said = f"lost: {self.losses[0]}"[:200] if lost else note
        return Outcome(self.what, self.tried, self.answered, self.refused, lost, said)


@dataclass(frozen=True)
class Result:
    """All that a study has found."""

    name: str
    question: str
    # What the runner was told, but for the name.
    options: str
    machine: dict[str, Any]
    rows: tuple[Row, ...] | tuple[Outcome, ...]
    seconds: float | None = None


def problems(results: Iterable[Result]) -> list[str]:
    """Return a sentence for every target that was missed and all that was lost."""
    found = []
    for result in results:
        for row in result.rows:
            if isinstance(row, Outcome):
                if row.all_lost:
                    note = f" ({row.note})" if row.note else ""
                    lost = f"{row.all_lost} of {row.tried} lost{note}."
                    found.append(f"{result.name}: {row.what}: {lost}")
            elif row.met is False and row.judged is not None:
                found.append(
                    f"{result.name}: {row.what} took {row.judged.median:.3g} times as "
                    f"long as {row.against} by {row.judged_by} time; at most "
                    f"{row.target:.3g} is allowed."
                )
    return found


def write_results(path: Path, results: Iterable[Result]) -> None:
    """Write results as JSON, with whether targets were met."""
    content = []
    for result in results:
        written = asdict(result)
        for row, fields in zip(result.rows, written["rows"], strict=True):
            if isinstance(row, Row):
                fields |= {
                    name: value._asdict()
                    for name, value in fields.items()
                    if isinstance(value, Spread)
                }
                fields["met"] = row.met
        content.append(written)
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def read_results(paths: Iterable[Path]) -> list[Result]:
    """Return what `write_results` has written."""
    return [
        Result(**content | {"rows": tuple(map(_row_from, content["rows"]))})
        for path in paths
        for content in json.loads(path.read_text("utf-8"))
    ]


def _row_from(written: dict[str, Any]) -> Row | Outcome:
    if "tried" in written:
        return Outcome(**written)
    fields: dict[str, Any] = {
        name: Spread(**value) if isinstance(value, dict) else value
        for name, value in written.items()
        if name != "met"
    }
    return Row(**fields)


def pages(results: Iterable[Result]) -> dict[str, str]:
    """Return a page for each kind of results, by the name of its file."""
    kinds: dict[type, list[Result]] = {Row: [], Outcome: []}
    for result in results:
        if result.rows:
            kinds[type(result.rows[0])].append(result)
    names = {Row: "benchmarks.md", Outcome: "reliability.md"}
    makers = {Row: page_of_ratios, Outcome: page_of_outcomes}
    return {names[kind]: makers[kind](some) for kind, some in kinds.items() if some}


def page_of_ratios(results: Sequence[Result]) -> str:
    """Return the document of what was compared."""
    sections = []
    for result in results:
        rows = [cells(row) for row in result.rows if isinstance(row, Row)]
        used = [any(row[place] for row in rows) for place in range(len(ROW_HEADER))]
        kept = [place for place, any_in in enumerate(used) if any_in or place == 0]
        table = markdown_table(
            [ROW_HEADER[place] for place in kept],
            [[row[place] for place in kept] for row in rows],
        )
        sections.append(section(result, table, sentence(result.machine)))
    return "\n".join([BENCHMARKS, *busy(results), *sections])


def page_of_outcomes(results: Sequence[Result]) -> str:
    """Return the document of what was tried, with the sums first."""
    sums = [total(result.rows, result.question) for result in results]
    everything = total(sums, "**in all**")
    lost = everything.all_lost
    how = "**none was lost**" if lost == 0 else f"**{lost:,} were lost**"
    opening = RELIABILITY.format(
        verdict=f"Of {everything.tried:,} trials, {how}.",
        table=markdown_table(
            OUTCOME_HEADER[:-1], [counts(each)[:-1] for each in (*sums, everything)]
        ),
    )
    sections = []
    for result in results:
        table = markdown_table(OUTCOME_HEADER, list(map(counts, result.rows)))
        versions = result.machine.get("versions", {}).items()
        words = ", ".join(f"{name} {version}" for name, version in versions)
        sections.append(
            section(result, table, f"{result.seconds:.0f} seconds; {words}")
        )
    return "\n".join([opening, *sections])


def section(result: Result, table: str, end: str) -> str:
    """Return the question, the command, the table, and where it was run."""
    command = f"    python -m studies {result.name} {result.options}".rstrip()
    return f"## {result.question}\n\n{command}\n\n{table}\n\n{end}.\n"


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


def total(outcomes: Iterable[Outcome], what: str) -> Outcome:
    """Return the sums of outcomes."""
    listed = list(outcomes)
    names = ("tried", "answered", "refused", "lost")
    sums = [sum(getattr(each, name) for each in listed) for name in names]
    return Outcome(what, *sums)


def counts(outcome: Outcome) -> list[str]:
    """Return the columns of ``OUTCOME_HEADER`` as text."""
    numbers = (outcome.tried, outcome.answered, outcome.refused, outcome.lost)
    return [outcome.what, *(f"{number:,}" for number in numbers), outcome.note]


def line(row: Row | Outcome) -> str:
    """Return a row for the terminal."""
    if isinstance(row, Row):
        return ", ".join(cell for cell in cells(row) if cell)
    what, *numbers, note = counts(row)
    words = zip(numbers, OUTCOME_HEADER[1:-1], strict=True)
    found = ", ".join(f"{number} {how}" for number, how in words)
    return f"{what}: {found}{f'; {note}' if note else ''}"


def cells(row: Row) -> list[str]:
    """Return the columns of ``ROW_HEADER`` as text."""
    return [
        row.what,
        amount(row.ours, row.unit),
        row.against,
        amount(row.theirs, row.unit),
        ratio_text(row.ratio),
        ratio_text(row.processor_ratio),
        "" if row.target is None else f"{row.target:.3g}",
        {None: "", True: "yes", False: "no"}[row.met],
        "" if row.limit is None else quantity(row.limit, "s"),
        row.note,
    ]


def quantity(value: float, unit: str) -> str:
    """Return seconds or megabytes with three digits."""
    if unit == "s" and value < 1:
        return f"{1e3 * value:.3g} ms"
    return f"{value:.3g} {unit}" if value < 100 else f"{value:.0f} {unit}"


def amount(of: Spread | None, unit: str) -> str:
    """Return the median of what was measured."""
    return "" if of is None else quantity(of.median, unit)


def ratio_text(of: Spread | None) -> str:
    """Return a ratio with its extremes, if they differ; below a tenth as 1/x."""
    if of is None:
        return ""
    if of.median < 0.1:
        middle, least, most = (f"1/{1 / value:.0f}" for value in of)
    else:
        middle, least, most = (f"{value:.2f}" for value in of)
    return middle if of.least == of.most else f"{middle} ({least} to {most})"

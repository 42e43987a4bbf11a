"""Results of studies, ratios of costs and counts of outcomes, as JSON and as pages.

A study of speed yields a `Row` for each comparison, and a study of reliability an
`Outcome` for each kind of input or fault.
"""

import json
from collections import Counter
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
# How a trial may end, and what readers call that.
ENDS = {
    "answered": "right result",
    "refused": "one sentence",
    "crashed": "crashed",
    "hung": "hung",
    "lost": "lost",
}

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

What ufselect promises, how each promise is tried, how often, and how that ended.

* **Right result**: the answer keeps its contract, and nothing is lost.
* **One sentence**: an error of one line says what is wrong, where, and what to do. A
  command then ends with a non-zero exit code.
* **Crashed**: the process ended. **Hung**: it did not end in good time.
* **Lost**: anything else, such as a traceback, a wrong or non-finite answer, a finished
  result that is gone, or a process that stays behind.

{verdict}

{table}

## Try it yourself

Every row is a study. `--quick` tries less of everything, `--check` fails if anything
crashed, hung or was lost, and `--seed` chooses other inputs and moments:

    python -m studies --list
    python -m studies odd_inputs --quick --check
    python -m studies reliability --quick --check

Fuzzing needs atheris, which is not among the packages for development:

    pip install atheris
    python -m studies fuzz
    python -m studies.reliability.fuzz matlab --seconds 60 --keep lost

A file that found a fault stays in `studies/reliability/seeds`, and the tests read it in
every run. All counts, kind by kind, are in `studies/results`. This page and
[benchmarks](benchmarks.md) are made from them:

    python -m studies --read studies/results/*.json --markdown docs

## What is not promised

* **Pickles.** A selector that is unpickled, with `pickle` or `joblib`, runs what its
  file says. Use `save_selector` and `load_selector`, whose files hold numbers and text.
  No reader of ufselect unpickles anything.
* **Subprocesses outside Linux.** Libraries that read Parquet, Feather, MATLAB, Matrix
  Market, NumPy and HDF5 can crash on damaged files. On Linux the commands read such
  files in a subprocess; elsewhere a crash of the library ends the command.
* **A large `.npy` file that shrinks** while a selection runs on it. Its numbers stay on
  disk and are mapped into memory, and the system ends a process that reads beyond the
  end of a file.
* **Objects that lie to compiled code.** An object whose `__array_interface__` points to
  memory that is not its own ends any program that uses NumPy.
* **Memory beyond `max_memory`.** Methods that say how much memory they need are refused
  before they start. Other fits may end in a `MemoryError`.

`SECURITY.md` says how to report what you find.
"""
# What each study tries to break, and how.
PROMISES = {
    "odd_inputs": (
        "`fit` ranks X or refuses it in one sentence, whatever X is.",
        "Every class of selectors gets every odd input: no table at all, odd types, "
        "missing values in any form, masks, dates, damaged sparse matrices, Dask "
        "chunks that lie; 25 s and 2 GB each. A table in another container must get "
        "the same scores.",
    ),
    "fuzzed_matrices": (
        "Any small table of numbers gets finite scores that keep the contract.",
        "Tables drawn at random, from 1e-300 to 1e300, for all selectors, metrics and "
        "criteria, each asked twice.",
    ),
    "conditioning": (
        "Units, offsets and dependent columns do not change a ranking where theory "
        "says so.",
        "Scores of a table and of its well-conditioned equivalent.",
    ),
    "many_digits": (
        "Double precision loses no digit that matters.",
        "The same formulas in fifty digits.",
    ),
    "repeatability": (
        "The same seed gives the same answer, bit for bit.",
        "Second fits, clones, pickles, threads, rows in another order.",
    ),
    "hostile_files": (
        "A damaged or hostile file costs one sentence. It runs nothing, reads no other "
        "file and takes no memory beyond a limit.",
        "Files of every kind, damaged at random; bombs, false sizes, pickles, links "
        "and pipes made by hand.",
    ),
    "fuzz": (
        "So does a file that nobody has thought of.",
        "Coverage-guided fuzzing of the readers and of the model file.",
    ),
    "circumstances": (
        "A command survives its surroundings, and its output is whole or not there.",
        "Full and read-only disks, closed streams, small limits, files that change "
        "while they are read, kills, a cluster without its client, a server after 100 "
        "runs.",
    ),
    "experiments_under_faults": (
        "An experiment keeps every finished result.",
        "Kills at any moment, methods that hang, crash or eat memory, full disks, "
        "clocks that jump, damaged stores.",
    ),
    "long_runs": (
        "Nothing grows in runs that last a weekend.",
        "Memory, files, threads and processes after a fifth of the work and after all.",
    ),
    "security": (
        "Downloads, reports and the web page serve only their user.",
        "False addresses and contents, names that would be programs, requests of "
        "others.",
    ),
}


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
    answered: int = 0  # ended with the right answer; nothing lost
    refused: int = 0  # ended with the documented one-sentence error
    lost: int = 0  # anything else; must be 0
    note: str = ""  # such as the peak of memory, or the limit
    crashed: int = 0  # ended the process; must be 0
    hung: int = 0  # came to no end in good time; must be 0

    @property
    def all_lost(self) -> int:
        """What was lost, or ended in none of the three ways, or in two."""
        lost = self.lost + self.crashed + self.hung
        return lost + abs(self.tried - self.answered - self.refused - lost)


def broken_down(error: Exception) -> Outcome:
    """Return the loss that an exception is which nobody has expected."""
    said = f"{type(error).__name__}: {error}"
    return Outcome("the trial itself", 1, 0, 0, 1, said)


class Count:
    """How trials of one kind, said as a reader would, have ended so far."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.ends: Counter[str] = Counter()
        self.losses: list[str] = []

    @property
    def tried(self) -> int:
        """Return how many trials there were."""
        return self.ends.total()

    def answer(self, *problems: str | bool) -> None:
        """Count an answer, or a loss if there is any problem with it."""
        self._count("answered", "lost", problems)

    def refuse(self, *problems: str | bool) -> None:
        """Count a refusal, or a loss if there is any problem with it."""
        self._count("refused", "lost", problems)

    def crash(self, problem: str) -> None:
        """Count what ended with its process."""
        self._count("crashed", "crashed", (problem,))

    def hang(self, problem: str) -> None:
        """Count what came to no end."""
        self._count("hung", "hung", (problem,))

    def _count(self, how: str, else_: str, problems: tuple[str | bool, ...]) -> None:
        found = [str(problem) for problem in problems if problem]
        self.ends[else_ if found else how] += 1
        self.losses += ["; ".join(found)] if found else []

    def outcome(self, note: str = "") -> Outcome:
        """Return the sums; a loss speaks for itself in the note."""
        said = f"lost: {self.losses[0]}"[:300] if self.losses else note
        return Outcome(self.what, self.tried, **self.ends, note=said)


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
    """Return the document of promises, with how each of them ended."""
    order = list(PROMISES)
    known = sorted(results, key=lambda each: order.index(each.name))
    sums = [total(result.rows, result.name) for result in known]
    everything = total(sums, "in all")
    bad = everything.all_lost
    how = (
        "**none crashed, hung or lost anything**" if bad == 0 else f"**{bad:,} failed**"
    )
    header = ["promise", "how it is tried", "study", "tried", *ENDS.values()]
    rows = [[*PROMISES[each.what], f"`{each.what}`", *counts(each)] for each in sums]
    rows.append(["**in all**", "", "", *counts(everything)])
    return RELIABILITY.format(
        verdict=f"Of {everything.tried:,} trials, {how}.",
        table=markdown_table(header, rows),
    )


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
    sums = {n: sum(getattr(each, n) for each in listed) for n in ("tried", *ENDS)}
    return Outcome(what, **sums)


def counts(outcome: Outcome) -> list[str]:
    """Return how often it was tried, and how often it ended in which way."""
    return [f"{getattr(outcome, name):,}" for name in ("tried", *ENDS)]


def line(row: Row | Outcome) -> str:
    """Return a row for the terminal."""
    if isinstance(row, Row):
        return ", ".join(cell for cell in cells(row) if cell)
    words = zip(counts(row), ("tried", *ENDS.values()), strict=True)
    found = ", ".join(f"{number} {how}" for number, how in words)
    return f"{row.what}: {found}{f'; {row.note}' if row.note else ''}"


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
    if of.least > 0 and of.median < 0.1:
        middle, least, most = (f"1/{1 / value:.0f}" for value in of)
    else:
        middle, least, most = (f"{value:.2f}" for value in of)
    return middle if of.least == of.most else f"{middle} ({least} to {most})"

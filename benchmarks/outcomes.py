"""What a benchmark found, as JSON and as Markdown.

Every row compares ours with something else; a ratio below one means that ours takes
less.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from machine import sentence
from measuring import Spread, Timing, ratio, spread

from ufselect.report import markdown_table

HEADER = [
    *("what", "ours", "against", "", "ratio", "by processor time"),
    *("at most", "met", "limit", "note"),
]


@dataclass(frozen=True)
class Row:
    """Ours next to something else."""

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


@dataclass(frozen=True)
class Result:
    """All rows of a benchmark."""

    name: str
    question: str
    # What the runner was told, but for the name.
    options: str
    machine: dict[str, Any]
    rows: tuple[Row, ...]


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


def to_json(result: Result) -> dict[str, Any]:
    """Return a result as what JSON knows, with whether targets were met."""
    content = asdict(result)
    for row, written in zip(result.rows, content["rows"], strict=True):
        for name, value in written.items():
            if isinstance(value, Spread):
                written[name] = value._asdict()
        written["met"] = row.met
    return content


def from_json(content: dict[str, Any]) -> Result:
    """Return the result that was written."""
    rows = []
    for written in content["rows"]:
        fields: dict[str, Any] = {
            name: Spread(**value) if isinstance(value, dict) else value
            for name, value in written.items()
            if name != "met"
        }
        rows.append(Row(**fields))
    return Result(**content | {"rows": tuple(rows)})


def to_markdown(result: Result) -> str:
    """Return a section: the question, the machine, the table."""
    rows = [cells(row) for row in result.rows]
    kept = [0, *(place for place in range(1, len(HEADER)) if any_in(rows, place))]
    table = markdown_table(
        [HEADER[place] for place in kept],
        [[row[place] for place in kept] for row in rows],
    )
    command = f"    python -m benchmarks {result.name} {result.options}".rstrip()
    machine = sentence(result.machine)
    return f"## {result.question}\n\n{command}\n\n{table}\n\n{machine}.\n"


def any_in(rows: list[list[str]], place: int) -> bool:
    """Return whether a column has anything in it."""
    return any(row[place] for row in rows)


def cells(row: Row) -> list[str]:
    """Return the columns of ``HEADER`` as text."""
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

"""Make numbers of the columns of a file, or say in one sentence why not."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.columns import (
    Columns,
    ReadColumns,
    columns_of,
    table_of_columns,
)
from ufselect.data.tables.conventions import (
    PATTERNS,
    Cell,
    Convention,
    Evidence,
    decided,
    examine,
    missing_words,
    numbers_of,
)
from ufselect.data.tables.layout import Layout
from ufselect.data.tables.table import (
    EMPTY,
    TEXT,
    File,
    Remedy,
    Request,
    Table,
    TableError,
    cell_text,
    left_out,
    listed,
    named_option,
)

MAX_STRAY_CELLS = 3
MAX_SHOWN_LENGTH = 60
SIGN_NAMES = {",": "commas", ".": "points"}


class Found(NamedTuple):
    """What a source holds: numbers in ``values``, and ``cells`` of other columns.

    ``late`` columns have cells that are no plain numbers. ``rows`` are named rows of
    text in a transposed table; ``n_empty`` rows had no value.
    """

    values: NDArray[Any]
    cells: Mapping[int, Sequence[Cell]]
    late: Sequence[int] = ()
    rows: Mapping[str, Sequence[str]] = {}
    n_empty: int = 0


class CellSource(Protocol):
    """The rows of a file, and the decimal sign of its plain numbers."""

    decimal: str

    def read(
        self, numeric: Sequence[int], textual: Sequence[int], columns: Columns
    ) -> Found:
        """Read some columns as plain numbers, others as they are."""

    def line(self, row: int, columns: Columns) -> int:
        """Return the line of a row, counted from 1."""


def table_of_cells(
    layout: Layout,
    source: CellSource,
    file: File,
    request: Request,
    notes: list[str],
    details: dict[str, Any],
    why: tuple[str, str] = TEXT,
) -> Table:
    """Return the table of a source; columns of text are left out for the reason why."""
    while True:
        said: list[str] = []
        columns = columns_of(layout, request, file.name, said)
        read = _Numbers(source, columns, layout, file.name, request).read(said, why)
        # What turns out to be text may name the rows.
        late = frozenset(read.others) - layout.text_columns
        if (layout.index_place or 0) in late:
            layout = layout._replace(text_columns=layout.text_columns | late)
            continue
        notes += said
        return table_of_columns(columns, read, file, request, notes, details)


@dataclass
class _Numbers:
    """The numbers of a table, in the convention of each column."""

    source: CellSource
    columns: Columns
    layout: Layout
    name: str
    request: Request
    cells: dict[int, Sequence[Cell]] = field(default_factory=dict)
    evidence: dict[int, Evidence] = field(default_factory=dict)

    def read(self, notes: list[str], why: tuple[str, str]) -> ReadColumns:
        """Read all columns, with notes on what was changed or left out."""
        uneven = self.layout.uneven | self.layout.text_columns
        numeric = [j for j in self.columns.free if j not in uneven]
        textual = [j for j in self.columns.free if j in uneven]
        found = self.source.read(
            numeric, [*self.columns.roles.named, *textual], self.columns
        )
        self._examine(found.cells, textual)
        self._read_again(found.late)
        self._read_again(self._doubtful(numeric))
        chosen = self._conventions(numeric, notes)
        values, places = self._joined(found.values, numeric, chosen)
        if found.n_empty:
            notes.append(f"Rows without any value were left out: {found.n_empty}.")
        names = self.columns.names
        empty = np.isnan(values).all(axis=0)
        if empty.any():
            unseen = [names[j] for j, none in zip(places, empty, strict=True) if none]
            notes.append(f"{left_out(unseen, EMPTY)}.")
            values = values[:, ~empty]
        self._note_signs(chosen, notes)
        return ReadColumns(
            values,
            [j for j, none in zip(places, empty, strict=True) if not none],
            [j for j in self.columns.free if j in self.evidence and j not in chosen],
            why,
            self._text,
            found.rows,
        )

    def _text(self, place: int) -> list[str]:
        return list(map(cell_text, self.cells[place]))

    def _examine(
        self, cells: Mapping[int, Sequence[Cell]], places: Sequence[int]
    ) -> None:
        missing = missing_words(self.request.na_values)
        self.cells |= cells
        self.evidence |= {j: examine(cells[j], missing) for j in places}

    def _read_again(self, places: Sequence[int]) -> None:
        """Read columns of plain numbers as they are written."""
        if places:
            again = self.source.read([], places, self.columns)
            self._examine(again.cells, places)

    def _proofs(self, numeric: Sequence[int]) -> dict[str, list[int]]:
        """Return the decimal signs that some columns prove, and these columns."""
        found: dict[str, list[int]] = {}
        for place, each in self.evidence.items():
            if each.proof:
                found.setdefault(each.proof, []).append(place)
        plain = self.layout.proven.intersection(numeric).difference(self.evidence)
        if plain:
            found.setdefault(self.source.decimal, []).extend(plain)
        return found

    def _doubtful(self, numeric: Sequence[int]) -> list[int]:
        """Return the columns of plain numbers that could mean something else.

        They could if another column proves the other decimal sign, and their cells may
        have to prove the sign if a column depends on it.
        """
        if self.request.decimal_sign() is not None:
            return []
        proofs = self._proofs(numeric).keys()
        depends = self.source.decimal == "," or any(
            each.is_ambiguous for each in self.evidence.values()
        )
        if proofs - {self.source.decimal} or (depends and not proofs):
            known = self.layout.proven | self.evidence.keys()
            return [j for j in numeric if j not in known]
        return []

    def _conventions(
        self, numeric: Sequence[int], notes: list[str]
    ) -> dict[int, Convention]:
        """Return the conventions of columns of numbers that are not plain."""
        numbers = {j: each for j, each in self.evidence.items() if not each.is_text}
        for place, each in numbers.items():
            self._check(place, each)
        proofs = self._proofs(numeric)
        chosen, undecided = decided(numbers, {*proofs}, self.request.decimal_sign())
        if undecided:
            raise self._undecided(undecided)
        if len(proofs) == 2:
            shown = " and ".join(
                f"{SIGN_NAMES[sign]} in {listed(self.columns.names[j] for j in places)}"
                for sign, places in sorted(proofs.items(), reverse=True)
            )
            notes.append(f"Columns have different decimal signs: {shown}.")
        return chosen

    def _joined(
        self,
        values: NDArray[Any],
        numeric: Sequence[int],
        chosen: Mapping[int, Convention],
    ) -> tuple[NDArray[Any], list[int]]:
        """Return the numbers of all columns in their order."""
        plain = [j for j in numeric if j not in self.evidence]
        places = sorted([*plain, *chosen])
        if places != list(numeric) or chosen:
            result = np.empty((len(values), len(places)), dtype=self.request.dtype)
            sources = dict(zip(numeric, values.T, strict=True))
            for target, place in enumerate(places):
                result[:, target] = (
                    numbers_of(self.cells[place], self.evidence[place], chosen[place])
                    if place in chosen
                    else sources[place]
                )
            values = result
        for word in self.request.na_values:  # -99 is also written -99.0
            with contextlib.suppress(ValueError):
                values[values == float(word.replace(",", "."))] = np.nan
        return values, places

    def _note_signs(self, chosen: Mapping[int, Convention], notes: list[str]) -> None:
        """Note the columns whose cells had more than a decimal sign."""
        examples: dict[int, tuple[str, float]] = {}
        for place, convention in chosen.items():
            evidence, group = self.evidence[place], convention.thousands
            signed = any(evidence.signs)
            for cell, digits in evidence.digits.items():
                if signed or (group and group in digits):
                    examples[place] = cell.strip(), convention.value(digits)
                    break
        if examples:
            cell, value = next(iter(examples.values()))
            notes.append(
                "Thousands separators, percent and currency signs were removed in "
                f"{listed(self.columns.names[j] for j in examples)} ({cell!r} was read "
                f"as {cell_text(value)})."
            )

    # What is wrong with a column.

    def _check(self, place: int, evidence: Evidence) -> None:
        """Refuse a column of numbers with cells that no convention reads."""
        title = self.columns.names[place]
        drop = named_option("--drop", title)
        remedy = Remedy(f"Leave column {title!r} out", (f"--drop={title}",))
        if evidence.texts:
            raise self._stray_text(place, evidence)
        if len(evidence.signs) > 1:
            signed = [self._at(place, cell) for cell in evidence.signs.values()]
            raise TableError(
                f"{self.name}: column {title!r} has {' and '.join(signed[:2])}; give "
                "all its cells the same percent or currency sign or none, or leave the "
                f"column out ({drop})",
                [remedy],
            )
        if not evidence.conventions and evidence.digits:
            cell, second = _contradiction(evidence)
            other = f" and {self._at(place, second)}" if second else ""
            both = "which no decimal and thousands sign reads alike"
            raise TableError(
                f"{self.name}: column {title!r} has {self._at(place, cell)}{other}, "
                f"{both if second else 'which is not a number as ufselect reads them'};"
                f" correct the column or leave it out ({drop})",
                [remedy],
            )

    def _at(self, place: int, cell: Cell) -> str:
        """Return a cell as messages show it, with its line."""
        row = list(self.cells[place]).index(cell)
        shown = cell.strip()[:MAX_SHOWN_LENGTH] if isinstance(cell, str) else cell
        return f"{shown!r} in line {self.source.line(row, self.columns)}"

    def _undecided(self, places: Sequence[int]) -> TableError:
        """Return the error that asks for the decimal sign of ambiguous columns."""
        place, others = places[0], len(places) - 1
        evidence = self.evidence[place]
        cell = evidence.separated()
        digits = evidence.digits[cell]
        sign, other = (",", ".") if "," in digits else (".", ",")
        readings = {
            each: cell_text(evidence.in_decimal(each).value(digits))
            for each in (sign, other)
        }
        more = f" (and so have {others} more columns)" if others else ""
        return TableError(
            f"{self.name}: column {self.columns.names[place]!r} has "
            f"{self._at(place, cell)}{more}, which is {readings[sign]} with decimal "
            f"{SIGN_NAMES[sign]} and {readings[other]} with {SIGN_NAMES[sign]} for "
            "thousands, and no other number tells; say which it is "
            f"(--decimal {sign} or --thousands {sign})",
            [
                Remedy(f"Read {cell.strip()!r} as {reading}", (f"--decimal={each}",))
                for each, reading in readings.items()
            ],
        )

    def _stray_text(self, place: int, evidence: Evidence) -> TableError:
        """Return the error for a column of numbers with some text."""
        texts, title = evidence.texts, self.columns.names[place]
        row, value = next(
            (row, str(cell))
            for row, cell in enumerate(self.cells[place])
            if isinstance(cell, str) and cell.strip() in texts
        )
        line, shown = self.source.line(row, self.columns), value[:MAX_SHOWN_LENGTH]
        others = texts.total() - 1
        more = f" and {others} more such cell{'s' * (others > 1)}" if others else ""
        common = [text for text, _ in texts.most_common(MAX_STRAY_CELLS)]
        missing = " ".join(f"--na {text!r}" for text in common)
        skip = skip_remedies(line, self.layout)
        return TableError(
            f"{self.name}: column {title!r} is numeric except for "
            f"{shown!r} in line {line}{more}; correct it, read it as missing "
            f"({missing}), {skip_hint(skip)}or leave the column out (--drop {title!r})",
            [
                # A sign such as ? does not belong to a header.
                *(skip if value.strip()[:1].isalnum() else ()),
                Remedy(
                    f"Read {' and '.join(map(repr, common))} as missing",
                    tuple(f"--na={text}" for text in common),
                ),
                Remedy(f"Leave column {title!r} out", (f"--drop={title}",)),
            ],
        )


def _contradiction(evidence: Evidence) -> tuple[str, str | None]:
    """Return two cells that no convention reads both, or one that none reads."""
    examples = {
        frozenset(c for c, pattern in PATTERNS.items() if pattern.fullmatch(text)): cell
        for cell, text in evidence.digits.items()
    }
    if frozenset() in examples:
        return examples[frozenset()], None
    pairs = list(combinations(examples, 2))
    first, second = next(
        (pair for pair in pairs if pair[0].isdisjoint(pair[1])), pairs[-1]
    )
    return examples[first], examples[second]


def pulled_names(columns: Columns, request: Request) -> set[str]:
    """Return names of rows with labels or groups, or to be dropped.

    Only a transposed table has such rows.
    """
    wanted = {*request.drop, request.labels or "", request.groups or ""} - {""}
    return wanted if columns.transposed else set()


def skip_remedies(line: int, layout: Layout) -> list[Remedy]:
    """Return how to skip a possible title, if the first line of data is bad."""
    if line != layout.skipped + 1:
        return []
    n_lines = line if layout.names is None else layout.skipped
    lines = f"the first {n_lines} lines" if n_lines > 1 else "the first line"
    return [Remedy(f"Skip {lines}", (f"--skip-rows={n_lines}",))]


def skip_hint(remedies: Sequence[Remedy]) -> str:
    """Return the part of a sentence that names how to skip lines."""
    options = (each.options[0].replace("=", " ") for each in remedies)
    return "".join(f"skip the lines above the table ({each}), " for each in options)

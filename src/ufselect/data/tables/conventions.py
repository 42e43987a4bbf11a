"""How numbers are written: one decimal and one thousands sign for each column.

A cell such as ``1,5`` or ``1,234,567`` proves what its commas are; ``1,853`` proves
nothing. A column is read in a convention in which each of its cells is a number. If
there are two such conventions, the columns beside it decide, or the caller.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# In lower case: how pandas, R, MATLAB, Excel and SQL write a missing value.
MISSING = frozenset(
    ["", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "#value!", "nil"]
)
TRUTH = {"true": 1.0, "false": 0.0}
# Spaces, apostrophes and minus signs of typesetters mean the same as those of keys.
TYPESET = str.maketrans("\u00a0\u202f\u2009\u2019\u2212", "   '-")
DECORATED = re.compile(r"([+-]?)([$€£¥]?)\s*([+-]?)([^%$€£¥]*?)\s*([%$€£¥]?)")
# In brackets, with the minus sign at the end, or in groups of two as in India.
UNREAD = re.compile(r"\([\d.,' ]*\d[\d.,' ]*\)|[\d.,' ]*\d-|[+-]?\d\d?(,\d\d)+,\d{3}.*")
# A cell of a workbook is a number, if it is not text.
Cell = str | float


class Convention(NamedTuple):
    """A decimal sign, and a thousands sign or none."""

    decimal: str
    thousands: str

    def pattern(self) -> re.Pattern[str]:
        """Return what a number looks like; no group of thousands begins with 0."""
        point, group = re.escape(self.decimal), re.escape(self.thousands)
        plain = rf"(?:\d+(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?"
        grouped = rf"|[1-9]\d{{0,2}}(?:{group}\d{{3}})+(?:{point}\d*)?" if group else ""
        return re.compile(rf"[+-]?(?:{plain}{grouped}|inf(?:inity)?)", re.IGNORECASE)

    def value(self, digits: str) -> float:
        """Return the value of a number without signs."""
        if self.thousands:
            digits = digits.replace(self.thousands, "")
        return float(digits.replace(self.decimal, "."))


POINT, COMMA = Convention(".", ""), Convention(",", "")
PATTERNS = {
    convention: convention.pattern()
    for convention in (
        *(POINT, *(POINT._replace(thousands=sign) for sign in ",' ")),
        *(COMMA, *(COMMA._replace(thousands=sign) for sign in ".' ")),
    )
}


def undecorated(cell: str) -> tuple[str, str]:
    """Return the percent or currency sign of a cell, and what is left without it.

    Examples
    --------
    >>> undecorated("13.2 %"), undecorated("-$127"), undecorated("TP53")
    (('%', '13.2'), ('$', '-127'), ('', 'TP53'))
    """
    text = cell.strip().translate(TYPESET)
    found = DECORATED.fullmatch(text)
    if found is None or (found[2] and found[5]) or (found[1] and found[3]):
        return "", text
    return found[2] or found[5], found[1] + found[3] + found[4]


def conventions_of(cells: Iterable[str]) -> list[Convention]:
    """Return the conventions in which all cells are numbers.

    Examples
    --------
    >>> [*map(tuple, conventions_of(["1.234,5"]))], len(conventions_of(["1,853"]))
    ([(',', '.')], 4)
    """
    known = set(cells)
    return [c for c, pattern in PATTERNS.items() if all(map(pattern.fullmatch, known))]


def decimal_signs(cells: Sequence[str]) -> set[str]:
    """Return the decimal signs with which all cells are numbers."""
    return {
        sign
        for sign in ".,"
        if any(
            all(map(pattern.fullmatch, cells))
            for convention, pattern in PATTERNS.items()
            if convention.decimal == sign
        )
    }


def number(cell: str, missing: Collection[str] = MISSING) -> float | None:
    """Return a plain cell as a number: NaN if it is missing, None if it is text.

    Examples
    --------
    >>> number("1e3"), number("NA"), number("high"), number("1_000"), number("FALSE")
    (1000.0, nan, None, None, 0.0)
    """
    lower = cell.strip().lower()
    if lower in missing:
        return math.nan
    try:
        # Python reads 1_000 as a thousand; in a table it is more likely a name.
        return float(cell) if "_" not in cell else None
    except ValueError:
        return TRUTH.get(lower)


def is_number_like(digits: str) -> bool:
    """Tell whether text without signs is a number, if only one that is not read."""
    if not any(map(str.isdigit, digits)):
        return PATTERNS[POINT].fullmatch(digits) is not None  # infinity
    read = any(pattern.fullmatch(digits) for pattern in PATTERNS.values())
    return read or UNREAD.fullmatch(digits) is not None


def is_text(cell: str, missing: Collection[str] = MISSING) -> bool:
    """Tell whether a cell is neither missing nor like a number.

    Examples
    --------
    >>> is_text("high"), is_text("1.065,5"), is_text("$127"), is_text("NA")
    (True, False, False, False)
    """
    if number(cell, missing) is not None:  # the usual case, which is fast
        return False
    return not is_number_like(undecorated(cell)[1])


def missing_words(na_values: Sequence[str]) -> Collection[str]:
    """Return the words for a missing value, in lower case."""
    return MISSING | {each.strip().lower() for each in na_values}


@dataclass
class Evidence:
    """What the cells of a column say.

    ``digits`` are the different numbers without percent and currency ``signs``, which
    have an example each, and ``texts`` the cells that are neither numbers nor missing.
    """

    digits: dict[str, str] = field(default_factory=dict)
    signs: dict[str, Cell] = field(default_factory=dict)
    texts: Counter[str] = field(default_factory=Counter)
    n_numbers: int = 0
    conventions: list[Convention] = field(default_factory=list)

    @property
    def is_text(self) -> bool:
        """Whether most cells are text."""
        return self.texts.total() > self.n_numbers

    @property
    def separated(self) -> list[str]:
        """Cells with a point or a comma."""
        return [cell for cell, text in self.digits.items() if re.search("[.,]", text)]

    @property
    def proof(self) -> str:
        """The decimal sign, if no other is possible."""
        found = {each.decimal for each in self.conventions if self.separated}
        return found.pop() if len(found) == 1 else ""

    @property
    def is_ambiguous(self) -> bool:
        """Whether the cells are different numbers in two conventions."""
        found = {each.decimal for each in self.conventions if self.separated}
        return len(found) == 2

    def in_decimal(self, sign: str) -> Convention:
        """Return the convention with this decimal sign, else the only one."""
        found = {convention.decimal: convention for convention in self.conventions}
        return found.get(sign) or self.conventions[0]


def examine(cells: Iterable[Cell], missing: Collection[str]) -> Evidence:
    """Return what the cells of a column say."""
    found = Evidence()
    for cell, count in Counter(cells).items():
        if isinstance(cell, float):
            known = cell == cell  # NaN differs from itself
            found.n_numbers += count * known
            if known:
                found.signs.setdefault("", cell)
            continue
        lower = cell.strip().lower()
        if lower in missing:
            continue
        sign, digits = undecorated(cell)
        if lower in TRUTH:
            digits = str(int(TRUTH[lower]))
        elif not is_number_like(digits):
            found.texts[cell.strip()] += count
            continue
        found.n_numbers += count
        found.signs.setdefault(sign, cell)
        found.digits[cell] = digits
    if not found.is_text:
        found.conventions = conventions_of(found.digits.values())
    return found


def decided(
    columns: Mapping[int, Evidence], proofs: set[str], asked: str | None
) -> tuple[dict[int, Convention], list[int]]:
    """Return the convention of each column, and the columns that nothing decides.

    An ambiguous column takes the decimal sign that was ``asked`` for, or else the one
    that is proven elsewhere in the table. Without any proof, points alone are decimal.
    """
    chosen, undecided = {}, []
    for place, each in columns.items():
        points = not any("," in each.digits[cell] for cell in each.separated)
        if asked or not each.is_ambiguous:
            sign = asked or each.proof or "."
        elif len(proofs) == 1:
            (sign,) = proofs
        elif not proofs and points:
            sign = "."
        else:
            undecided.append(place)
            continue
        chosen[place] = each.in_decimal(sign)
    return chosen, undecided


def numbers_of(
    cells: Sequence[Cell], evidence: Evidence, convention: Convention
) -> NDArray[np.float64]:
    """Return cells as numbers; missing ones are NaN."""
    known = {cell: convention.value(text) for cell, text in evidence.digits.items()}
    return np.array(
        [cell if isinstance(cell, float) else known.get(cell, np.nan) for cell in cells]
    )

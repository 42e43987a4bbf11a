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
CURRENCY = "[$€£¥]|CHF|EUR|GBP|USD"
DECORATED = re.compile(rf"([+-]?)({CURRENCY}|)\s*([+-]?)([^%$€£¥]*?)\s*(%|{CURRENCY}|)")
# In brackets, with the minus sign at the end, or in groups of two as in India.
UNREAD = r"\([\d.,' ]*\d[\d.,' ]*\)|[\d.,' ]*\d-|[+-]?\d\d?(,\d\d)+,\d{3}[\d.,]*"
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
NUMBER_LIKE = re.compile(
    "|".join([*(each.pattern for each in PATTERNS.values()), UNREAD]), re.IGNORECASE
)
# The same for columns, with a cell in each line: a call for each cell takes longer.
COLUMNS = {
    convention: re.compile(rf"(?:{pattern.pattern}\n)*+", re.IGNORECASE)
    for convention, pattern in PATTERNS.items()
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
    return NUMBER_LIKE.fullmatch(digits) is not None


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
    ``decimals`` are the signs with which cells that have a point or comma are numbers.
    """

    digits: dict[str, str] = field(default_factory=dict)
    signs: dict[str, Cell] = field(default_factory=dict)
    texts: Counter[str] = field(default_factory=Counter)
    n_numbers: int = 0
    conventions: list[Convention] = field(default_factory=list)
    decimals: set[str] = field(default_factory=set)
    has_commas: bool = False

    @property
    def is_text(self) -> bool:
        """Whether most cells are text."""
        return self.texts.total() > self.n_numbers

    @property
    def proof(self) -> str:
        """The decimal sign, if no other is possible."""
        known = len(self.decimals) == 1 and not self.texts
        return min(self.decimals) if known else ""

    @property
    def is_ambiguous(self) -> bool:
        """Whether the cells are different numbers in two conventions."""
        return len(self.decimals) == 2

    def separated(self) -> str:
        """Return the first cell with a point or a comma."""
        return next(c for c, text in self.digits.items() if "." in text or "," in text)

    def in_decimal(self, sign: str) -> Convention:
        """Return the convention with this decimal sign, else the only one."""
        found = {convention.decimal: convention for convention in self.conventions}
        return found.get(sign) or self.conventions[0]


def examine(cells: Iterable[Cell], missing: Collection[str]) -> Evidence:
    """Return what the cells of a column say."""
    found, counts = Evidence(), Counter(cells)
    typed = {cell for cell in counts if isinstance(cell, float) and cell == cell}
    texts = [
        cell
        for cell in counts
        if isinstance(cell, str) and cell.strip().lower() not in missing
    ]
    column = "\n".join([*texts, ""]).translate(TYPESET)
    found.conventions = [c for c in COLUMNS if COLUMNS[c].fullmatch(column)]
    if found.conventions and column.count("\n") == len(texts):
        plain = not any(each in column for each in " '-")
        rows = texts if plain else column.split("\n")[:-1]
        found.digits = dict(zip(texts, rows, strict=True))
        found.signs = dict.fromkeys([""] * bool(texts), texts[0] if texts else "")
    else:
        for cell in texts:
            sign, digits = undecorated(cell)
            if (lower := cell.strip().lower()) in TRUTH:
                digits = str(int(TRUTH[lower]))
            elif not is_number_like(digits):
                found.texts[cell.strip()] += counts[cell]
                continue
            found.signs.setdefault(sign, cell)
            found.digits[cell] = digits
        known = set(found.digits.values())
        found.conventions = [
            convention
            for convention, pattern in PATTERNS.items()
            if all(map(pattern.fullmatch, known))
        ]
    numbers: list[Cell] = [*typed, *found.digits]
    found.n_numbers = sum(counts[cell] for cell in numbers)
    found.has_commas = any("," in text for text in found.digits.values())
    if found.has_commas or any("." in text for text in found.digits.values()):
        found.decimals = {convention.decimal for convention in found.conventions}
    if typed:
        found.signs.setdefault("", typed.pop())
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
        if asked or not each.is_ambiguous:
            sign = asked or each.proof or "."
        elif len(proofs) == 1:
            (sign,) = proofs
        elif not proofs and not each.has_commas:
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

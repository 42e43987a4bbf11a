"""Random tables, written as people write numbers, from numbers that are known."""

import csv
import io
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random

import numpy as np

DELIMITERS = [",", ";", "\t", "|", " "]
ENCODINGS = ["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"]
# In cp1252 there is no narrow space.
THOUSANDS = {
    ".": ["", "", ",", ",", " ", "\u00a0", "\u202f", "'", "\u2019"],
    ",": ["", "", ".", ".", " ", "\u00a0", "\u202f", "'"],
}
KNOWN_MISSING = ["", "", "NA", "NaN", "null", "#N/A"]
OTHER_MISSING = ["?", "-", "n.a.", "missing"]
WORDS = ["low", "high", "x1", "ä", "see note", "2020-01-02", "n/d", "3rd", "a-b"]
QUOTING = [csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]
KINDS = ["counts", "large", "fixed", "fixed", "mixed", "late", "scientific", "share"]
KINDS += ["price", "three", "text", "empty"]


@dataclass
class WrittenTable:
    """A table as bytes, the numbers in it by column, and how they are written."""

    content: bytes
    columns: dict[int, list[float]]
    options: dict[str, object]
    empty_rows: list[int]
    description: dict[str, object] = field(default_factory=dict)


def random_table(random: Random) -> WrittenTable:
    """Return a table in one convention, which some of its cells may prove."""
    decimal = random.choice(".,")
    thousands = random.choice(THOUSANDS[decimal])
    delimiter = random.choice(DELIMITERS)
    encoding = random.choice(ENCODINGS)
    if encoding == "cp1252":
        thousands = {"\u202f": "\u00a0"}.get(thousands, thousands)
    missing = random.choice(OTHER_MISSING if random.random() < 0.02 else KNOWN_MISSING)
    if delimiter == " ":
        missing = missing or "NA"
    n_rows = random.choice([2000] if random.random() < 0.01 else range(4, 40))
    kinds = [random.choice(KINDS) for _ in range(random.randint(1, 6))]
    # What proves the convention: points for thousands alone are decimal points.
    kinds += ["fixed"] if decimal == "," and thousands == "." else ["counts"]
    random.shuffle(kinds)
    titles, cells, known = [], [], {}
    if random.random() < 0.5:
        titles.append(random.choice(["id", "sample", ""]))
        cells.append([f"s{row}" for row in range(n_rows)])
    for kind in kinds:
        place = len(cells)
        titles.append(f"{kind} {place}" if random.random() < 0.8 else f"c{place}")
        if kind == "text":
            some = random.sample(WORDS, 3)
            cells.append([random.choice(some) for _ in range(n_rows)])
            continue
        if kind == "empty":
            cells.append([missing] * n_rows)
            continue
        numbers, texts = random_column(random, kind, n_rows, decimal, thousands)
        share = random.choice([0, 0, 0, 0.1])
        for row in range(n_rows):
            # Most cells of a column are known, and the first one is.
            if row and random.random() < share:
                numbers[row], texts[row] = np.nan, missing
        cells.append(texts)
        known[place] = numbers
    header = random.random() < 0.85 or "" in titles
    stream = io.StringIO()
    quoting = random.choice(QUOTING)
    writer = csv.writer(
        stream,
        delimiter=delimiter,
        quoting=quoting,
        lineterminator=random.choice(["\n", "\r\n", "\r"]),
    )
    if header:
        writer.writerow(titles)
    writer.writerows(zip(*cells, strict=True))
    # Rows without any value are left out.
    rows = enumerate(zip(*cells, strict=True))
    gaps = [row for row, texts in rows if not any(texts)]
    marker = [missing] if missing in OTHER_MISSING else []
    return WrittenTable(
        stream.getvalue().encode(encoding),
        known,
        {
            "decimal": decimal,
            "thousands": {"\u00a0": " ", "\u202f": " ", "\u2019": "'"}.get(
                thousands, thousands
            )
            or None,
            "delimiter": {"\t": "tab", " ": "space"}.get(delimiter, delimiter),
            "na_values": marker,
        },
        gaps,
        {"kinds": kinds, "header": header, "quoting": quoting, "encoding": encoding},
    )


def random_column(
    random: Random, kind: str, n_rows: int, decimal: str, thousands: str
) -> tuple[list[float], list[str]]:
    """Return numbers, and how they are written."""
    places = random.randint(1, 6)
    large = random.choice([10, 1000, 100_000, 10_000_000])
    before, after = "", ""
    if kind == "share":
        after = random.choice(["%", " %"])
    elif kind == "price":
        sign = random.choice("$€£¥")
        before, after = random.choice([(sign, ""), ("", sign), ("", f" {sign}")])
    only = random.randrange(n_rows)  # the only row with decimals
    numbers, texts = [], []
    for row in range(n_rows):
        size = random.choice([10, large])
        digits = {
            **dict.fromkeys(["counts", "large"], 0),
            "mixed": random.choice([0, places]),
            "late": 2 * (row == only),
            "three": 3,
            "price": 2,
            "share": 1,
        }.get(kind, places)
        whole = random.randrange(500 if kind == "counts" else size * 10**digits)
        value = Decimal(whole).scaleb(-digits)
        if random.random() < 0.3 and kind != "price":
            value = -value
        if kind == "scientific":
            text = f"{value:.{places}e}".replace(".", decimal)
            value = Decimal(text.replace(",", "."))
        else:
            text = written(value, digits, decimal, thousands)
        numbers.append(float(value))
        texts.append(f"{before}{text}{after}")
    return numbers, texts


def written(value: Decimal, digits: int, decimal: str, thousands: str) -> str:
    """Return a number with thousands and decimal signs."""
    text = f"{value:,.{digits}f}"
    return text.replace(",", "T").replace(".", decimal).replace("T", thousands)

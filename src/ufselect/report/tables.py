"""Tables as aligned text."""

from collections.abc import Sequence


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an aligned table: first column to the left, the others to the right.

    Examples
    --------
    >>> print(text_table(["method", "ACC"], [["SCFS", "79.1"], ["all", "9.0"]]))
    method   ACC
    ------  ----
    SCFS    79.1
    all      9.0
    """
    columns = zip(header, *rows, strict=True)
    widths = [max(len(cell) for cell in column) for column in columns]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )

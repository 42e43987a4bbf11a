"""Tables as aligned text and in Markdown."""

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


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Return a table in Markdown, aligned as in `text_table`.

    Examples
    --------
    >>> print(markdown_table(["method", "ACC"], [["SCFS", "79.1"], ["a|b", "9.0"]]))
    | method | ACC |
    |:--|--:|
    | SCFS | 79.1 |
    | a\|b | 9.0 |
    """
    rule = "|:--" + "|--:" * (len(header) - 1) + "|"
    columns = zip(header, *rows, strict=True)
    head, *body = zip(*columns, strict=True)
    return "\n".join([_markdown_row(head), rule, *map(_markdown_row, body)])


def _markdown_row(cells: Sequence[str]) -> str:
    # A line break would end the row.
    escaped = [" ".join(cell.replace("|", r"\|").splitlines()) for cell in cells]
    return "| " + " | ".join(escaped) + " |"

"""Text that a spreadsheet would run: with an apostrophe before it, it does not."""

import re

from ufselect.data.tables.cells import number

# What spreadsheets take for the start of a formula, also where it is full width.
FORMULA = re.compile(
    r"\s*[=+\-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
    r"\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}]|[\t\r\n]"
)


def looks_like_formula(text: str) -> bool:
    """Tell whether text could be a formula, also after apostrophes.

    What has an apostrophe already gets another one, so that taking one off gives back
    what there was.
    """
    return FORMULA.match(text.lstrip("'")) is not None


def without_formula(text: str) -> str:
    """Return text that a spreadsheet does not run; numbers stay numbers.

    Examples
    --------
    >>> without_formula("=cmd()"), without_formula("-1.5"), without_formula("TP53")
    ("'=cmd()", '-1.5', 'TP53')
    """
    if looks_like_formula(text) and number(text) is None:
        return f"'{text}"
    return text


def with_formula(text: str) -> str:
    """Return text as it was before it got an apostrophe.

    Examples
    --------
    >>> with_formula("'=cmd()"), with_formula("''=x"), with_formula("'tis")
    ('=cmd()', "'=x", "'tis")
    """
    return text[1:] if text[:1] == "'" and looks_like_formula(text) else text

"""What people choose on the page becomes options of the command line.

Whether a value makes sense is said by the command itself, as it would be in a terminal.
"""

from typing import Any

from ufselect.serving.uploads import Refusal, selected_name

# Fields of the page that are options with a value.
OPTIONS = {
    "method": "--method",
    "features": "--features",
    "clusters": "--clusters",
    "labels": "--labels",
    "id": "--id",
    "variable": "--variable",
    "sheet": "--sheet",
    "fill": "--fill",
    "seed": "--seed",
    "effort": "--effort",
}
TURNED = {"": [], "yes": ["--transpose"], "no": ["--no-transpose"]}
# Formats that any table can be written in, with what people call them.
FORMATS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".xlsx": "Excel",
    ".parquet": "Parquet",
    ".feather": "Feather",
    ".npy": "NumPy",
    ".mat": "MATLAB",
}
FIELDS = [*OPTIONS, "drop", "transpose", "format"]
LONGEST_VALUE = 1000


def checked_choices(given: Any) -> dict[str, str]:
    """Return what was chosen, in fields that we know; others are refused.

    Examples
    --------
    >>> checked_choices({"method": " SCFS ", "features": "", "labels": "kind"})
    {'method': 'SCFS', 'labels': 'kind'}
    """
    if not isinstance(given, dict):
        raise Refusal(400, "the choices are no object; reload the page")
    for name, value in given.items():
        if name not in FIELDS or not _is_plain(value):
            raise Refusal(400, f"the choice of {name[:40]!r} is not understood")
    return {name: value.strip() for name, value in given.items() if value.strip()}


def _is_plain(value: Any) -> bool:
    """Tell whether a value can be an argument of a command."""
    if not isinstance(value, str) or len(value) > LONGEST_VALUE or "\0" in value:
        return False
    # Half of a character, which JSON can hold and a command cannot.
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def arguments_of(choices: dict[str, str], source: str) -> list[str]:
    r"""Return the options of ``ufselect select`` for choices that were checked.

    Each value is one word with its option, so that none is taken for another option.

    Examples
    --------
    >>> arguments_of({"features": "5", "drop": "a\nb"}, "genes.csv")[:3]
    ['--features=5', '--drop=a', '--drop=b']
    """
    turned, wanted = choices.get("transpose", ""), choices.get("format", "")
    if turned not in TURNED or wanted not in ("", *FORMATS):
        raise Refusal(400, "this form or direction of the table is not known")
    dropped = (line.strip() for line in choices.get("drop", "").splitlines())
    return [
        *(f"{OPTIONS[name]}={choices[name]}" for name in OPTIONS if name in choices),
        *(f"--drop={column}" for column in dropped if column),
        *TURNED[turned],
        *("-o", selected_name(source, wanted)),
        *("--scores", "ranking.csv", "--report", "report.html"),
    ]

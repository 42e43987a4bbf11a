"""Choices on the page become options of the command line, and back.

The command itself checks whether a value makes sense.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ufselect.serving.uploads import Refusal, selected_name

# Fields of the page that are options: how the table is read, what is done with it.
READING = (
    *("labels", "id", "groups", "drop", "use", "na", "skip_rows", "variable", "sheet"),
    *("transpose", "header", "allow_large", "fill"),
    *("delimiter", "decimal"),
)
SELECTING = ("features", "clusters", "seed")
ACTIONS = {
    "look": READING,
    "select": (
        *(*READING, *SELECTING),
        *("method", "effort", "only_features", "write_filled"),
    ),
    "compare": (*READING, *SELECTING, "methods"),
}
# Fields that hold several values, and options that have no value of their own.
SEVERAL = {"drop", "use", "na", "methods"}
FLAGS = {
    ("transpose", "yes"): "--transpose",
    ("transpose", "no"): "--no-transpose",
    ("header", "yes"): "--header",
    ("header", "no"): "--no-header",
    ("allow_large", "yes"): "--allow-large",
    ("fill", "rows"): "--drop-incomplete=rows",
    ("only_features", "yes"): "--only-features",
    ("write_filled", "yes"): "--write-filled",
}
ONLY_FLAGS = {field for field, _ in FLAGS} - {"fill"}
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
FIELDS = {*(field for fields in ACTIONS.values() for field in fields), "format"}
# Names that the page has for options.
WORDS = {
    "-k/--features": "Number of features",
    "-k": "Number of features",
    "--features": "Number of features",
    "--clusters": "Number of clusters",
    "--seed": "Seed",
    "--labels": "the role label",
    "--id": "the role sample names",
    "--groups": "the role group",
    "--drop": "the role left out",
    "--use-column": "the role feature",
    "--sheet": '"Sheet"',
    "--variable": '"Variable"',
    "--delimiter": '"Between cells"',
    "--decimal": '"Decimal sign"',
    "--thousands": '"Decimal sign"',
    "--skip-rows": '"Lines above the table"',
    "--na": '"Signs of missing values"',
    "--fill": '"Missing values"',
    "--transpose": '"Samples are in: columns"',
    "--no-transpose": '"Samples are in: rows"',
}
OPTION = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, WORDS))})(?![\w-])")
# An option between brackets says in a terminal what a button does on the page.
BRACKETS = re.compile(
    r"""\s\((?:'[^']*'|"[^"]*"|[^()'"])*--(?:'[^']*'|"[^"]*"|[^()'"])*\)"""
)
MAX_VALUE_LENGTH = 1000
MAX_VALUES = 20_000


def checked_choices(given: Any) -> dict[str, Any]:
    """Return what was chosen, in fields that we know; others are refused.

    Examples
    --------
    >>> checked_choices({"method": "SCFS", "features": " ", "drop": ["kind"]})
    {'method': 'SCFS', 'drop': ['kind']}
    """
    if not isinstance(given, dict):
        raise Refusal(400, "the choices cannot be read; reload the page")
    for name, value in given.items():
        several = value if name in SEVERAL and isinstance(value, list) else [value]
        if (
            name not in FIELDS
            or isinstance(value, list) != (name in SEVERAL)
            or len(several) > MAX_VALUES
            or not all(map(_is_plain, several))
        ):
            raise Refusal(
                400, f"the choice of {name[:40]!r} is not valid; reload the page"
            )
    return {name: value for name, value in given.items() if any(map(str.strip, value))}


def _is_plain(value: Any) -> bool:
    """Tell whether a value can be an argument of a command."""
    if not isinstance(value, str) or len(value) > MAX_VALUE_LENGTH or "\0" in value:
        return False
    # Half of a character, which JSON can hold and a command cannot.
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def _option_of(field: str) -> str:
    return "--use-column" if field == "use" else f"--{field.replace('_', '-')}"


def arguments_of(action: str, choices: Mapping[str, Any], source: str) -> list[str]:
    """Return a command and its options for choices that were checked.

    Each value is one word with its option, so that none is taken for another option.

    Examples
    --------
    >>> choices = {"features": "5", "drop": ["a", "b"], "format": ".tsv"}
    >>> arguments_of("look", choices, "genes.csv")
    ['look', '--drop=a', '--drop=b']
    >>> arguments_of("select", choices, "genes.csv")[1:6]
    ['--features=5', '--drop=a', '--drop=b', '-o', 'selected.tsv']
    """
    if action not in ACTIONS:
        raise Refusal(400, "this action is unknown; reload the page")
    arguments = [action]
    for field, value in choices.items():
        option = _option_of(field)
        if field not in ACTIONS[action]:
            continue
        if field == "methods":
            arguments.append(f"{option}={','.join(value)}")
        elif field in SEVERAL:
            arguments += [f"{option}={each}" for each in value]
        elif (field, value) in FLAGS:
            arguments.append(FLAGS[field, value])
        elif field in ONLY_FLAGS:
            raise Refusal(400, f"the choice of {field!r} is not valid; reload the page")
        elif (field, value) != ("method", "AutoSelect"):
            arguments.append(f"{option}={value}")
    if action == "select":
        wanted = choices.get("format", "")
        if wanted not in ("", *FORMATS):
            raise Refusal(400, "this format is unknown; reload the page")
        arguments += ["-o", selected_name(source, wanted), "--scores", "ranking.csv"]
        arguments += ["--save-clusters", "clusters.csv"]
    return arguments + ["--report", "report.html"] * (action != "look")


def remedies_on_page(remedies: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return remedies as choices; those that the page has no field for are left out.

    Examples
    --------
    >>> remedies_on_page([{"label": "Leave 'x' out", "options": ["--drop=x"]}])
    [{'label': "Leave 'x' out", 'choices': {'drop': ['x']}}]
    """
    known = {*READING, *SELECTING} - ONLY_FLAGS
    fields = {_option_of(field): field for field in known}
    flags = {option: flag for flag, option in FLAGS.items()}
    found = []
    for remedy in remedies:
        choices: dict[str, Any] = {}
        for option in remedy["options"]:
            name, _, value = option.partition("=")
            field, value = flags.get(option, (fields.get(name), value))
            if field is None:
                break
            if field in SEVERAL:
                choices.setdefault(field, []).append(value)
            else:
                choices[field] = value
        else:
            found.append({"label": str(remedy["label"]), "choices": choices})
    return found


def words_of_page(sentence: str) -> str:
    """Return a sentence of the command line in words of the page.

    Examples
    --------
    >>> words_of_page("a.csv has gaps; fill them (--fill median), or drop 'b (x)'")
    "a.csv has gaps; fill them, or drop 'b (x)'"
    >>> words_of_page("-k/--features: -1 is not a number (see ufselect select --help)")
    'Number of features: -1 is not a number'
    """
    plain = BRACKETS.sub("", sentence)
    return OPTION.sub(lambda found: WORDS[found[0]], plain)

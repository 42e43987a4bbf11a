"""Options that commands share, the types of their values, and how help shows them."""

import re
from collections.abc import Callable
from inspect import cleandoc, getdoc
from pathlib import Path
from textwrap import indent
from typing import Any

import click
import cloup
from cloup import option_group as option_group

EXIT_CODES = "Exit codes: 0 success, 1 the work failed, 2 wrong usage, 130 interrupted"


Decorator = Callable[[Any], Any]


def option(names: str, text: str, **settings: Any) -> Decorator:
    """Declare an option as help shows it; without a value it is a flag.

    Parameters
    ----------
    names : str
        Such as "-o, --output OUT", or "id_column, --id COLUMN" to call the parameter
        of the function ``id_column``.
    text : str
        What help says of it.
    **settings
        Those of ``cloup.option``.
    """
    *first, last = names.split(", ")
    last, _, metavar = last.partition(" ")
    if metavar:
        settings["metavar"] = metavar
    elif "type" not in settings:
        settings |= {"is_flag": True, "default": None if "/" in last else False}
    return cloup.option(*first, last, help=text, **settings)


def argument(name: str, text: str, **settings: Any) -> Decorator:
    """Declare an argument, called as the parameter of the function."""
    plain = name.strip("[].").lower()
    return cloup.argument(plain, metavar=name, help=text, **settings)


def command(*parameters: Decorator) -> Callable[[Callable[..., int]], cloup.Command]:
    """Return a decorator that makes a command of a function.

    The name of the function and its docstring say what the command is called, how the
    list of commands describes it, its help and, after "For example:", examples.
    """

    def decorate(function: Callable[..., int]) -> cloup.Command:
        text, _, examples = (getdoc(function) or "").partition("For example:")
        short, _, rest = text.partition("\n\n")
        name = function.__name__.removesuffix("_command")
        for parameter in reversed(parameters):
            function = parameter(function)
        return cloup.command(
            name,
            help=rest.strip(),
            short_help=short[:1].lower() + short[1:].rstrip("."),
            epilog=f"\b\nExamples:\n{indent(cleandoc(examples), '  ')}\n\n{EXIT_CODES}",
        )(function)

    return decorate


def number_of_features(text: str) -> int | float:
    """Return a number of features, or a fraction of them.

    Examples
    --------
    >>> number_of_features("50"), number_of_features("0.1")
    (50, 0.1)
    """
    value = _number(text, "a number of features, or a fraction of them")
    if 0 < value < 1:
        return value
    if value < 1 or not value.is_integer():
        raise click.BadParameter(
            f"{text} is neither a whole number of at least 1 nor a fraction such as 0.1"
        )
    return int(value)


def seconds(text: str) -> float:
    """Return a time in seconds, above 0."""
    value = _number(text, "a number of seconds")
    if not 0 < value < float("inf"):
        raise click.BadParameter(
            f"{text} is not a time; give a number of seconds above 0"
        )
    return value


def gigabytes(text: str) -> float:
    """Return a size in gigabytes, above 0."""
    value = _number(text, "a number of gigabytes above 0")
    if not 0 < value < float("inf"):
        raise click.BadParameter(f"{text!r} is not a number of gigabytes above 0")
    return value


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not {what}") from None


def image_shape(text: str) -> tuple[int, int]:
    """Return rows and columns of images.

    Examples
    --------
    >>> image_shape("32x24")
    (32, 24)
    """
    found = re.fullmatch(r"([1-9]\d*) ?x ?([1-9]\d*)", text.strip().lower())
    if not found:
        raise click.BadParameter(f"{text} is not a shape; write it like 32x32")
    return int(found[1]), int(found[2])


def parameter(text: str) -> tuple[str, str]:
    """Return name and value of a parameter."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise click.BadParameter(f"{text} is not of the form name=value")
    return name.strip(), value.strip()


def method_names(text: str) -> list[str]:
    """Return names of methods between commas, each once.

    Examples
    --------
    >>> method_names("SCFS, MCFS,SCFS")
    ['SCFS', 'MCFS']
    """
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        raise click.BadParameter("give the name of a method")
    return list(dict.fromkeys(names))


def complete_methods(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[str]:
    """Complete the name after the last comma for a shell; no method is loaded."""
    from ufselect.registry import own_names

    before, comma, start = incomplete.rpartition(",")
    names = ["AutoSelect", *own_names()]
    known = [name for name in names if name.lower().startswith(start.lower())]
    return [before + comma + name for name in known]


# The commands check paths themselves, with clearer messages than click's.
TEXT_PATH = click.Path(readable=False, allow_dash=True)
PATH = click.Path(readable=False, path_type=Path)
POSITIVE = click.IntRange(min=1)

JSON = option("--json", "print JSON for scripts")
QUIET = option("--quiet", "print the result only, without notes and progress")
SEED = option(
    "--seed N",
    "seed of all random numbers (default: 0)",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
)
MARKDOWN = option("--markdown FILE", "write the tables as Markdown", type=PATH)
CLUSTERS = option(
    "--clusters N",
    "number of clusters of methods that need one (default: automatic)",
    type=POSITIVE,
)
# What commands that select features of a table have in common.
TABLE = [
    argument(
        "FILE",
        "a table: text, Parquet, Feather, Excel, NumPy, MATLAB, Matrix Market, "
        "AnnData; - is standard input",
        type=TEXT_PATH,
    ),
    option_group(
        "Reading",
        option(
            "--labels COLUMN",
            "column with the classes of the samples, to compare with at the end; the "
            "selection never uses it",
        ),
        option("id_column, --id COLUMN", "column with sample names"),
        option(
            "--groups COLUMN",
            "column that says which samples belong together, such as those of one "
            "patient; tests never split a group",
        ),
        option(
            "use, --use-column COLUMN",
            "use this column as a feature, although it looks like labels or an index "
            "or is mostly missing (repeat for more)",
            multiple=True,
        ),
        option(
            "--drop COLUMN",
            "leave this column out (repeat for more)",
            multiple=True,
        ),
        option(
            "--fill",
            "replace missing values by the mean or the median of their column, or by 0 "
            "(default: refuse them)",
            type=click.Choice(["mean", "median", "zero"]),
        ),
        option(
            "na_values, --na TEXT",
            "text that means a missing value, beside NA and the like (repeat for more)",
            multiple=True,
        ),
        option(
            "--decimal SIGN",
            "decimal sign, . or ,, of numbers such as 1,853 that nothing else in the "
            "table settles",
            type=click.Choice([".", ","]),
        ),
        option(
            "--thousands SIGN",
            "thousands sign of such numbers",
            type=click.Choice([",", ".", " ", "'"]),
        ),
        option(
            "--delimiter SIGN",
            "sign between the cells of text, or tab, or space (default: automatic)",
        ),
        option(
            "--drop-incomplete",
            "leave out samples with missing values",
            type=click.Choice(["rows"]),
        ),
        option(
            "--skip-rows N",
            "lines of the file before the table (default: automatic)",
            type=click.IntRange(min=0),
            default=0,
        ),
        option(
            "--transpose/--no-transpose",
            "whether the rows of the file are features (default: automatic)",
        ),
        option(
            "--header/--no-header",
            "whether the first row names the columns (default: automatic)",
        ),
        option(
            "--variable NAME",
            "which variable of a MATLAB or NumPy file, or layer of AnnData",
        ),
        option("--sheet NAME", "which sheet of a workbook"),
        option("--allow-large", "read a file even if it needs more than the memory"),
        option(
            "--name NAME",
            "name of the table in messages, in the report, and in the command to "
            "repeat it (default: FILE)",
        ),
    ),
]
PRINTING = [
    SEED,
    option("-v, --verbose", "print more: evidence, tests, explanations"),
    JSON,
    option(
        "--progress",
        "form of progress and notes on standard error: text, or json with one object "
        "per line (default: text)",
        type=click.Choice(["text", "json"]),
        default="text",
    ),
    QUIET,
]

"""Options that commands share, the types of their values, and how help shows them."""

import inspect
import re
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

EXIT_CODES = "Exit codes: 0 success, 1 the work failed, 2 wrong usage, 130 interrupted"


class Option(click.Option):
    """An option, written as help shows it; without a value it is a flag.

    Parameters
    ----------
    names : str
        Such as "-o, --output OUT".
    text : str
        What help says of it.
    **settings
        Those of click.
    """

    section = "Options"

    def __init__(self, names: str, text: str, **settings: Any) -> None:
        *first, last = names.split(", ")
        last, _, metavar = last.partition(" ")
        if metavar:
            settings["metavar"] = metavar
        elif "type" not in settings:
            settings |= {"is_flag": True, "default": None if "/" in last else False}
        super().__init__([*first, last], help=text, **settings)

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return no range: the help says what a value means."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class Argument(click.Argument):
    """An argument that help describes; its name is that of the parameter."""

    def __init__(self, name: str, text: str, **settings: Any) -> None:
        super().__init__([name.strip("[]").lower()], metavar=name, **settings)
        self.text = text


def section(title: str, *options: Option) -> list[Option]:
    """Return options that help lists under a heading of their own."""
    listed = [copy(each) for each in options]
    for each in listed:
        each.section = title
    return listed


class Command(click.Command):
    """A command whose help has sections, examples and exit codes."""

    examples: Sequence[str] = ()

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write arguments first, then the options under their headings."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            if isinstance(each, Argument):
                record = (each.make_metavar(ctx), each.text)
                sections.setdefault("Arguments", []).append(record)
            elif isinstance(each, click.Option) and (
                found := each.get_help_record(ctx)
            ):
                title = getattr(each, "section", Option.section)
                sections.setdefault(title, []).append(found)
        sections["Options"] = sections.pop("Options")
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and the exit codes, one line each."""
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        formatter.write(f"\n{EXIT_CODES}\n")


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


def size_in_bytes(text: str) -> int:
    """Return a number of bytes.

    Examples
    --------
    >>> size_in_bytes("2GB"), size_in_bytes("1.5 mb"), size_in_bytes("100")
    (2000000000, 1500000, 100)
    """
    found = re.fullmatch(r"(\d+\.?\d*) ?([KMGT]?)B?", text.strip().upper())
    size = float(found[1]) * 1000 ** " KMGT".index(found[2] or " ") if found else 0
    if not 1 <= size < 2**63:
        raise click.BadParameter(f"{text!r} is not a size; write it like 500MB or 2GB")
    return int(size)


class MethodNames(click.ParamType):
    """Names of methods between commas, each once; shells complete them."""

    name = "methods"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[str]:
        """Return the names.

        Examples
        --------
        >>> MethodNames().convert("SCFS, MCFS,SCFS", None, None)
        ['SCFS', 'MCFS']
        """
        names = [part.strip() for part in value.split(",") if part.strip()]
        if not names:
            raise click.BadParameter("give the name of a method")
        return list(dict.fromkeys(names))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete the name after the last comma; no method is loaded for it."""
        from ufselect.registry import own_names

        before, comma, start = incomplete.rpartition(",")
        return [
            CompletionItem(before + comma + name)
            for name in ["AutoSelect", *own_names()]
            if name.lower().startswith(start.lower())
        ]


class MethodName(MethodNames):
    """The name of one method."""

    name = "method"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the name as it is; it is checked when the methods are loaded."""
        return value


# The commands check paths themselves, with clearer messages than click's.
TEXT_PATH = click.Path(readable=False, allow_dash=True)
PATH = click.Path(readable=False, path_type=Path)
POSITIVE = click.IntRange(min=1)

JSON = Option("--json", "print JSON for scripts")
QUIET = Option("--quiet", "print the result only, without notes and progress")
SEED = Option(
    "--seed N",
    "seed of all random numbers (default: 0)",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
)
MARKDOWN = Option("--markdown FILE", "write the tables as Markdown", type=PATH)
CLUSTERS = Option(
    "--clusters N",
    "number of clusters of methods that need one (default: automatic)",
    type=POSITIVE,
)
# What commands that select features of a table have in common.
TABLE = [
    Argument(
        "FILE",
        "a table: text, Parquet, Feather, Excel, NumPy, MATLAB, Matrix Market, "
        "AnnData; - is standard input",
        type=TEXT_PATH,
    ),
    *section(
        "Reading",
        Option(
            "--labels COLUMN",
            "column with the classes of the samples, to compare with at the end; the "
            "selection never uses it",
        ),
        Option("--id COLUMN", "column with sample names"),
        Option(
            "--groups COLUMN",
            "column that says which samples belong together, such as those of one "
            "patient; tests never split a group",
        ),
        Option(
            "--use-column COLUMN",
            "use this column as a feature, although it looks like labels or an index "
            "or is mostly missing (repeat for more)",
            multiple=True,
        ),
        Option(
            "--drop COLUMN",
            "leave this column out (repeat for more)",
            multiple=True,
        ),
        Option(
            "--fill",
            "replace missing values by the mean or the median of their column, or by 0 "
            "(default: refuse them)",
            type=click.Choice(["mean", "median", "zero"]),
        ),
        Option(
            "--na TEXT",
            "text that means a missing value, beside NA and the like (repeat for more)",
            multiple=True,
        ),
        Option(
            "--decimal SIGN",
            "decimal sign, . or ,, of numbers such as 1,853 that nothing else in the "
            "table settles",
            type=click.Choice([".", ","]),
        ),
        Option(
            "--thousands SIGN",
            "thousands sign of such numbers",
            type=click.Choice([",", ".", " ", "'"]),
        ),
        Option(
            "--delimiter SIGN",
            "sign between the cells of text, or tab, or space (default: automatic)",
        ),
        Option(
            "--drop-incomplete",
            "leave out samples with missing values",
            type=click.Choice(["rows"]),
        ),
        Option(
            "--skip-rows N",
            "lines of the file before the table (default: automatic)",
            type=click.IntRange(min=0),
            default=0,
        ),
        Option(
            "--transpose/--no-transpose",
            "whether the rows of the file are features (default: automatic)",
        ),
        Option(
            "--header/--no-header",
            "whether the first row names the columns (default: automatic)",
        ),
        Option(
            "--variable NAME",
            "which variable of a MATLAB or NumPy file, or layer of AnnData",
        ),
        Option("--sheet NAME", "which sheet of a workbook"),
        Option("--allow-large", "read a file even if it needs more than the memory"),
        Option(
            "--name NAME",
            "name of the table in messages, in the report, and in the command to "
            "repeat it (default: FILE)",
        ),
    ),
]
PRINTING = [
    SEED,
    Option("-v, --verbose", "print more: evidence, tests, explanations"),
    JSON,
    Option(
        "--progress",
        "form of progress and notes on standard error: text, or json with one object "
        "per line (default: text)",
        type=click.Choice(["text", "json"]),
        default="text",
    ),
    QUIET,
]


def command(*params: click.Parameter) -> Callable[[Callable[..., int]], Command]:
    """Return a decorator that makes a command of a function.

    The name of the function and its docstring say what the command is called, how the
    list of commands describes it, its help and, after "For example:", examples.
    """

    def decorate(function: Callable[..., int]) -> Command:
        name = function.__name__.removesuffix("_command")
        text, _, examples = (inspect.getdoc(function) or "").partition("For example:")
        short, _, rest = text.partition("\n\n")
        made = click.command(
            name,
            cls=Command,
            params=list(params),
            help=rest.strip(),
            short_help=short[:1].lower() + short[1:].rstrip("."),
        )(function)
        made.examples = inspect.cleandoc(examples).splitlines()
        return made

    return decorate

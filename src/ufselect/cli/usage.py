"""What people type: values of options, checked and turned into what they mean."""

import argparse
from pathlib import Path

from ufselect.experiments.limits import bytes_of


class HelpFormatter(argparse.HelpFormatter):
    """Fills paragraphs, and keeps the lines of a text that has several."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" not in text:
            return super()._fill_text(text, width, indent)
        return "\n".join(f"{indent}{line}".rstrip() for line in text.splitlines())


def add_quiet_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that all commands have in common."""
    parser.add_argument(
        "--quiet", action="store_true", help="no notes and no progress, only the result"
    )


class UsageError(ValueError):
    """Options that make no sense, alone or together: exit code 2."""


def positive(text: str) -> int:
    """Return a number of at least one.

    Examples
    --------
    >>> positive("3")
    3
    """
    value = _number(text, int, "a whole number")
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return int(value)


def seconds(text: str) -> float:
    """Return a time that is more than nothing."""
    value = _number(text, float, "a number of seconds")
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a time; give seconds above 0")
    return value


def seed(text: str) -> int:
    """Return a number that can be a seed."""
    value = _number(text, int, "a whole number")
    if not 0 <= value < 2**32:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 2**32 - 1")
    return int(value)


def correlation(text: str) -> float:
    """Return an absolute correlation."""
    value = _number(text, float, "a number")
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def number_of_features(text: str) -> int | float:
    """Return a number of features, or a fraction of them.

    Examples
    --------
    >>> number_of_features("50"), number_of_features("0.1")
    (50, 0.1)
    """
    value = _number(text, float, "a number of features, or a fraction of them")
    if 0 < value < 1:
        return value
    if value < 1 or not value.is_integer():
        raise argparse.ArgumentTypeError(
            f"{text} is neither a whole number of at least 1 nor a fraction such as 0.1"
        )
    return int(value)


def image_shape(text: str) -> tuple[int, int]:
    """Return rows and columns of images.

    Examples
    --------
    >>> image_shape("32x24")
    (32, 24)
    """
    sizes = text.lower().split("x")
    if len(sizes) != 2:
        raise argparse.ArgumentTypeError(f"{text} is no shape; write it like 32x32")
    return positive(sizes[0]), positive(sizes[1])


def parameter(text: str) -> tuple[str, str]:
    """Return name and value of a parameter."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise argparse.ArgumentTypeError(f"{text} is not of the form name=value")
    return name.strip(), value.strip()


def port(text: str) -> int:
    """Return a port, or 0 for any that is free."""
    value = _number(text, int, "a whole number")
    if not 0 <= value < 2**16:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and {2**16 - 1}")
    return int(value)


def size(text: str) -> int:
    """Return a number of bytes.

    Examples
    --------
    >>> size("2GB"), size("1.5 mb"), size("100")
    (2000000000, 1500000, 100)
    """
    try:
        return bytes_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def list_of_names(text: str) -> list[str]:
    """Return the names between commas, each once.

    Examples
    --------
    >>> list_of_names("SCFS, MCFS,SCFS")
    ['SCFS', 'MCFS']
    """
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        raise argparse.ArgumentTypeError("no name is given")
    return list(dict.fromkeys(names))


def refuse_folders_that_are_missing(*paths: Path | None) -> None:
    """Refuse a file that cannot be written, before anything is computed."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise ValueError(
                f"cannot write {path}: the folder {path.parent} does not exist; create "
                "it or choose another file"
            )
        if path is not None and path.is_dir():
            raise ValueError(f"{path} is a folder; give the name of a file in it")


def _number(text: str, kind: type, what: str) -> float:
    try:
        return float(kind(text))
    except (OverflowError, ValueError):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}") from None

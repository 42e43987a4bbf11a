"""Names that are loaded when they are first used, guessed, and printed safely.

A package lists its names once, as imports under ``if TYPE_CHECKING``: type checkers and
editors read them there, and so does `attach`, as ``lazy_loader`` reads a stub file.
"""

import ast
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any


def attach(
    package: str, *own: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package : str
        Its name. ``from package import x as x`` in it lists the module ``package.x``,
        which is not in ``__all__``; ``from other import *`` lists the names of another
        package that loads lazily.
    own : str
        Public names that the package itself defines.
    """
    module = sys.modules[package]
    origin: dict[str, str] = {}
    for node in ast.parse(Path(str(module.__file__)).read_text("utf-8")).body:
        for line in node.body if isinstance(node, ast.If) else ():
            if not isinstance(line, ast.ImportFrom) or line.module is None:
                continue
            names = [alias.name for alias in line.names]
            if names == ["*"]:
                names = import_module(line.module).__all__
            origin |= dict.fromkeys(names, line.module)

    def get(name: str) -> Any:
        if name not in origin:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: Any
        if origin[name] == package:
            value = import_module(f"{package}.{name}")
        else:
            value = getattr(import_module(origin[name]), name)
        setattr(module, name, value)
        return value

    def listed() -> list[str]:
        return sorted({*vars(module), *origin})

    functions = (name for name in origin if origin[name] != package)
    return get, listed, sorted({*functions, *own})


def nearest_words(word: str, known: Iterable[str]) -> str:
    """Return the likely meanings of a word, upper or lower case, or all known ones.

    Examples
    --------
    >>> nearest_words("mcf", ["SCFS", "MCFS", "SPEC"])
    'MCFS'
    """
    words = list(known)
    return ", ".join(similar(word, words) or sorted(words, key=str.lower))


def similar(word: str, known: Iterable[str]) -> list[str]:
    """Return up to three known words that are like this one, in any case."""
    by_lower_case = {each.lower(): each for each in reversed(list(known))}
    near = get_close_matches(word.lower(), by_lower_case)
    return [by_lower_case[each] for each in near]


def printable(text: object) -> str:
    r"""Return text in which control characters are escaped, so that they do nothing.

    Examples
    --------
    >>> printable("\x1b[31mred")
    '\\x1b[31mred'
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in str(text)
    )


def shortened(text: object, longest: int) -> str:
    """Return printable text, cut if it would leave no space for anything else."""
    shown = printable(text)
    if len(shown) <= longest:
        return shown
    return f"{shown[: longest - 1]}\N{HORIZONTAL ELLIPSIS}"

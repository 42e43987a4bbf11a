"""Packages that only some formats need, imported when they are used."""

from importlib import import_module
from typing import Any


def needed(package: str, name: str) -> Any:
    """Return a module of an optional package, or say how to install it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(
            f"{name} can only be read or written with {package.split('.')[0]}; "
            'pip install "ufselect[files]" installs it'
        ) from error

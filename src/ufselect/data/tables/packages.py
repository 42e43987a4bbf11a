"""Packages that only some formats need, imported when they are used."""

from importlib import import_module
from typing import Any

EXTRAS = {"openpyxl": "excel", "pyarrow": "parquet", "h5py": "hdf5"}


def needed(package: str, name: str) -> Any:
    """Return a module of an optional package, or say how to install it."""
    root = package.split(".")[0]
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(
            f"{name} can only be read or written with {root}; "
            f'pip install "ufselect[{EXTRAS[root]}]" installs it'
        ) from error

"""What was asked for, in words and numbers that an AnnData file can hold."""

from collections.abc import Mapping
from typing import Any

from ufselect._version import __version__


def storable(**entries: Any) -> dict[str, Any]:
    """Return the entries and the version; what is None is left out.

    Anything but text, numbers and tables of them is told in the words of Python.

    Examples
    --------
    >>> entries = storable(method="SCFS", layer=None, parameters={"n_clusters": [2, 3]})
    >>> entries["method"], entries["parameters"], "layer" in entries
    ('SCFS', {'n_clusters': '[2, 3]'}, False)
    """
    return {**_plain(entries), "version": __version__}


def _plain(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _plain(value) if isinstance(value, Mapping) else _word(value)
        for name, value in entries.items()
        if value is not None
    }


def _word(value: Any) -> str | int | float | bool:
    return value if isinstance(value, str | int | float | bool) else repr(value)

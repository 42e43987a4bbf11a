"""The catalogue of public research data: what exists, where, and how to know it."""

import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from importlib.resources import files
from typing import Any, NamedTuple


class CataloguedSet(NamedTuple):
    """A public data set: its shape, its file's checksum, and addresses of the file.

    ``checksum`` is ``sha256:<digest>`` or ``git-blob:<id>``. ``addresses`` is empty
    when no public file has that checksum; the data then come from ``source`` and
    must be put into a folder by hand.
    """

    name: str
    domain: str
    n_samples: int
    n_features: int
    n_classes: int
    checksum: str
    source: str
    addresses: tuple[str, ...] = ()
    size: int | None = None

    @property
    def file_name(self) -> str:
        """Name of the file, in the cache and in a folder of data."""
        return f"{self.name}.mat"


def catalogued_sets() -> dict[str, CataloguedSet]:
    """Return the catalogue: every set by its name.

    Examples
    --------
    >>> from ufselect.data import catalogued_sets
    >>> lung = catalogued_sets()["lung"]
    >>> lung.n_samples, lung.n_features, lung.n_classes
    (203, 3312, 5)
    """
    return {
        row["name"]: CataloguedSet(**{**row, "addresses": tuple(row["addresses"])})
        for row in _rows()
    }


def _rows() -> list[dict[str, Any]]:
    text = files("ufselect.data").joinpath("catalogue.toml").read_text("utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["set"]
    return rows


def unknown_name(name: str, local_names: Iterable[str] = ()) -> ValueError:
    """Return the error for a name that is neither catalogued nor a local file."""
    known = {*catalogued_sets(), *local_names}
    by_lower_case = {each.lower(): each for each in sorted(known)}
    near = get_close_matches(name.lower(), by_lower_case, n=3)
    remedy = (
        f"did you mean {' or '.join(by_lower_case[each] for each in near)}?"
        if near
        else "ufselect datasets lists the names"
    )
    return ValueError(f"there is no data set {name!r}; {remedy}")

"""Which column is what: names made unique, and columns found by their name."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from ufselect.data.tables.table import Request, TableError

# A first column of one of these names holds no measurement, even if it is numeric.
ID_NAMES = {"", "id", "ids", "index", "unnamed: 0", "row", "rownames", "row_names"}
ID_NAMES |= {"sample", "samples", "sample_id", "sampleid", "sample id", "barcode"}
MOST_LISTED = 8


class Roles(NamedTuple):
    """Places of the columns that are no features."""

    identity: int | None
    labels: int | None
    dropped: frozenset[int]

    @property
    def taken(self) -> frozenset[int]:
        """All of them."""
        named = {self.identity, self.labels} - {None}
        return self.dropped | frozenset(place for place in named if place is not None)


def roles(names: Sequence[str], request: Request, name: str) -> Roles:
    """Find the columns that the caller named."""
    identity = request.id_column
    labels = request.labels
    found = Roles(
        None if identity is None else place_of(identity, names, name),
        None if labels is None else place_of(labels, names, name),
        frozenset(place_of(each, names, name) for each in request.drop),
    )
    _check_disjoint(found, names)
    return found


def place_of(wanted: str, names: Sequence[str], name: str, kind: str = "column") -> int:
    """Return the place of a name among names; say which are near if it is not there.

    Examples
    --------
    >>> place_of("age", ["id", "age"], "people.csv")
    1
    >>> place_of("Agee", ["id", "age"], "people.csv")
    Traceback (most recent call last):
    ...
    ufselect.data.tables.table.TableError: people.csv has no column 'Agee'; did you \
mean 'age'?
    """
    wanted = str(wanted)
    if wanted in names:
        return list(names).index(wanted)
    by_lower_case = {each.lower(): each for each in reversed(names)}
    near = get_close_matches(wanted.lower(), by_lower_case, n=3)
    remedy = (
        f"did you mean {' or '.join(repr(by_lower_case[each]) for each in near)}?"
        if near
        else f"it has {listed(names)}"
    )
    raise TableError(f"{name} has no {kind} {wanted!r}; {remedy}")


def _check_disjoint(found: Roles, names: Sequence[str]) -> None:
    twice = found.dropped & {found.identity, found.labels}
    if twice:
        raise TableError(
            f"column {names[min(twice)]!r} is both to be dropped and to be used; "
            "name it once"
        )


def listed(names: Iterable[str], most: int = MOST_LISTED) -> str:
    """Return names in a sentence, not more than a few of them.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    every = [repr(str(each)) for each in names]
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most} more"
    return " and ".join([", ".join(every[:-1]), every[-1]] if every[1:] else every)


def unique_names(names: Sequence[str], notes: list[str]) -> list[str]:
    """Return names of which no two are the same; a note says which were changed.

    Examples
    --------
    >>> unique_names(["a", "a", "a_2"], [])
    ['a', 'a_3', 'a_2']
    """
    taken, seen, result, changed = set(names), set(), [], {}
    for each in names:
        fresh, number = each, 2
        if each in seen:
            while fresh in taken:
                fresh, number = f"{each}_{number}", number + 1
            taken.add(fresh)
            changed[each] = fresh
        seen.add(each)
        result.append(fresh)
    if changed:
        notes.append(
            f"Names that occur more than once were numbered: {listed(changed)}."
        )
    return result


def filled_names(names: Sequence[str]) -> list[str]:
    """Return names of which none is empty: the place stands in, as in ``column_3``."""
    return [each or f"column_{place + 1}" for place, each in enumerate(names)]

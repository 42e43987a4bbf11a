"""Short helpers that read tables and check the results."""

from io import BytesIO

import numpy as np
import pytest

from ufselect.data import TableError, read_table, write_table


def read(source, **options):
    """Read a table from a path, a stream, or the content itself, text or bytes."""
    content = source.encode() if isinstance(source, str) else source
    stream = BytesIO(content) if isinstance(content, bytes) else content
    return read_table(stream, **options)


def refused(words, source, **options):
    """Check that a table is refused in one sentence that matches; return the error."""
    with pytest.raises(TableError, match=words) as caught:
        read(source, **options)
    (sentence,) = caught.value.args
    assert "\n" not in sentence
    return caught.value


def cut(path, *kept):
    """Check that a file is refused if it is truncated to shares or numbers of bytes."""
    whole = path.read_bytes()
    for each in kept:
        path.write_bytes(whole[: int(each * len(whole)) if each < 1 else each])
        refused("cut off or damaged", path)
    path.write_bytes(whole)


def written(table, columns, **options):
    """Return the text of a table after writing it to a stream."""
    stream = BytesIO()
    write_table(table, columns, stream, **options)
    return stream.getvalue().decode()


def noted(table, words):
    """Return whether a note contains some words."""
    return any(words in note for note in table.notes)


def dense(values):
    """Return the values as a dense array."""
    return values.toarray() if hasattr(values, "toarray") else values


def check(table, values=None, **names):
    """Compare the values of a table, and its names, labels or groups if given."""
    if values is not None:
        np.testing.assert_array_equal(dense(table.values), values)
    for name, expected in names.items():
        found = getattr(table, name)
        assert (None if found is None else found.tolist()) == expected, name

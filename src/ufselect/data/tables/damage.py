"""Files that are cut off or damaged: one sentence, whatever a library raised."""

import csv
import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from scipy.io.matlab import MatReadError

from ufselect.data.tables.table import TableError

LONGEST_REASON = 300

# Readers trust what a file says of itself, and fail in many ways if it is not true.
READING_FAILS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    csv.Error,  # in files of names beside a matrix
    EOFError,
    LookupError,
    MatReadError,
    NameError,  # SciPy, where a MATLAB file has an unknown type
    OSError,
    RuntimeError,
    SyntaxError,
    SystemError,  # Arrow, where text has a negative length
    TypeError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


@contextmanager
def saying_when_damaged(name: str, kind: str) -> Iterator[None]:
    """Turn what a library raises on a damaged file into one sentence."""
    try:
        with saying_when_too_large(name):
            yield
    except TableError:
        raise
    except READING_FAILS as error:
        raise damaged(name, kind, error) from error


@contextmanager
def saying_when_too_large(name: str) -> Iterator[None]:
    """Turn the end of memory into one sentence."""
    try:
        yield
    except MemoryError:
        raise TableError(
            f"{name} needs more memory than there is, or is damaged; use a smaller "
            "table, or .npy, which stays on disk"
        ) from None


def damaged(name: str, kind: str, error: BaseException) -> TableError:
    """Return the error for a damaged file.

    Examples
    --------
    >>> damaged("a.npy", "a NumPy array", ValueError("too short"))
    TableError('a.npy is cut off or damaged (read as a NumPy array: too short); copy, \
download or save it again')
    """
    reason = " ".join(str(error).split()) or type(error).__name__
    if len(reason) > LONGEST_REASON:  # some show the bytes that they do not like
        reason = f"{reason[:LONGEST_REASON]}..."
    return TableError(
        f"{name} is cut off or damaged (read as {kind}: {reason}); "
        "copy, download or save it again"
    )

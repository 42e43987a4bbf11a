"""What libraries raise on damaged files becomes one sentence, whatever it is."""

import struct
import zlib

import pytest

from ufselect.data import TableError
from ufselect.data.tables.isolation import saying_when_damaged


@pytest.mark.parametrize(
    "error",
    [
        NameError("name 'x' is not defined"),
        SystemError("Negative size passed to PyUnicode_New"),
        struct.error("unpack requires\na buffer"),
        zlib.error("Error -3"),
        ArithmeticError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_the_sentence_has_the_reason_and_the_remedy(error):
    with (
        pytest.raises(TableError) as raised,
        saying_when_damaged("a.feather", "an Arrow file"),
    ):
        raise error
    reason = " ".join(str(error).split()) or "ArithmeticError"

    assert str(raised.value) == (
        f"a.feather is cut off or damaged (read as an Arrow file: {reason}); copy, "
        "download or save it again"
    )


def test_the_end_of_memory_is_no_damage_for_sure():
    with (
        pytest.raises(TableError, match="a needs more memory than there is"),
        saying_when_damaged("a", "b"),
    ):
        raise MemoryError


def test_what_is_no_damage_is_left_alone():
    with pytest.raises(KeyboardInterrupt), saying_when_damaged("a", "b"):
        raise KeyboardInterrupt

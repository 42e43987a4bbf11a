"""Types of the elements of MATLAB files: those that would end SciPy are refused."""

import struct
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from ufselect.data import TableError, read_table
from ufselect.data.tables.matrices import DATA_ELEMENTS as DATA
from ufselect.data.tables.matrices import check_matlab_elements as check_types

X = np.arange(1.0, 13.0).reshape(4, 3)
CONTENTS = {
    "numbers": {"X": X},
    "complex": {"X": X, "z": X + 1j},
    "sparse": {"X": sp.csc_array(X)},
    "cells": {"X": X, "names": np.array(["p", "a long name", ""], dtype=object)},
    "structure": {"X": X, "s": {"a": X, "b": {"c": "text"}, "d": np.zeros((0, 3))}},
    "narrow": {"X": np.eye(3, dtype=np.uint8), "flags": np.array([[True, False]])},
}
TYPE_OF_NUMBERS = 176
OF_SCIPY = Path(scipy.io.__file__).parent / "matlab" / "tests" / "data"


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("content", CONTENTS.values(), ids=list(CONTENTS))
def test_what_scipy_writes_is_let_through(tmp_path, content, compressed):
    scipy.io.savemat(tmp_path / "a.mat", content, do_compression=compressed)
    check_types(tmp_path / "a.mat", "a.mat")
    values = read_table(tmp_path / "a.mat", variable="X").values

    assert values.shape == content["X"].shape


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(OF_SCIPY.glob("*.mat")) if "malformed" not in path.name],
    ids=lambda path: path.name,
)
def test_what_matlab_writes_is_let_through(path):
    check_types(path, path.name)


@pytest.mark.parametrize("kind", [0, 8, 10, 11, 15, 19, 163, 255])
def test_numbers_of_a_type_that_there_is_not_are_refused(tmp_path, kind):
    scipy.io.savemat(tmp_path / "a.mat", {"X": X})
    content = bytearray((tmp_path / "a.mat").read_bytes())
    assert content[TYPE_OF_NUMBERS] == 9
    content[TYPE_OF_NUMBERS] = kind
    (tmp_path / "a.mat").write_bytes(content)

    with pytest.raises(TableError, match=f"byte 176 .* an element of type {kind}, "):
        read_table(tmp_path / "a.mat")


def test_cells_are_looked_into(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", CONTENTS["cells"])
    content = bytearray((tmp_path / "a.mat").read_bytes())
    text = b"a long name"
    tag = content.index(text) - 8
    assert struct.unpack_from("<II", content, tag) == (16, len(text))
    struct.pack_into("<I", content, tag, 175)
    (tmp_path / "a.mat").write_bytes(content)

    with pytest.raises(TableError, match="an element of type 175, which is none"):
        read_table(tmp_path / "a.mat")


@pytest.mark.parametrize("kind", [9, 99])
def test_the_other_byte_order_is_understood(tmp_path, kind):
    parts = [
        struct.pack(">IIII", 6, 8, 6, 0),
        struct.pack(">IIii", 5, 8, 2, 1),
        struct.pack(">HH4s", 1, 1, b"X\0\0\0"),
        struct.pack(">II2d", kind, 16, 1.5, 2.5),
    ]
    matrix = b"".join(parts)
    header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack(">H", 0x0100) + b"MI"
    (tmp_path / "a.mat").write_bytes(header + struct.pack(">II", 14, len(matrix)))
    with (tmp_path / "a.mat").open("ab") as stream:
        stream.write(matrix)

    if kind in DATA:
        assert read_table(tmp_path / "a.mat").values.tolist() == [[1.5], [2.5]]
    else:
        with pytest.raises(TableError, match="an element of type 99, which is none"):
            read_table(tmp_path / "a.mat")


def test_a_file_of_version_4_has_no_such_elements(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": X}, format="4")

    assert read_table(tmp_path / "a.mat").values.tolist() == X.tolist()

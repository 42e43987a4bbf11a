"""The format of a file, by its first bytes and by its name."""

import pickle
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import pytest

from ufselect.data import TableError, read_table

FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})


def test_wrong_name_is_noted_and_the_content_read(tmp_path):
    path = tmp_path / "table.csv"
    FRAME.to_parquet(path)
    table = read_table(path)

    assert table.format == "parquet"
    assert any("is a Parquet file, whatever its name says" in n for n in table.notes)


@pytest.mark.parametrize(
    "name", ["a.parquet", "a.feather", "a.xlsx", "a.npy", "a.npz", "a.h5ad", "a.mtx"]
)
def test_text_under_the_name_of_another_format_is_refused(tmp_path, name):
    (tmp_path / name).write_text("a,b\n1,2\n3,4\n")

    with pytest.raises(TableError, match=r"begins like text; rename it as \.csv"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", ["a.txt", "a", "a.values", "a.1"])
def test_text_is_read_under_any_other_name(tmp_path, name):
    (tmp_path / name).write_text("a,b\n1,2\n3,4\n")

    assert read_table(tmp_path / name).shape == (2, 2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x89PNG\r\n", "is a picture"),
        (b"%PDF-1.7", "is a PDF document; export the table as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", r"old Excel file \(\.xls\); save it as \.xlsx"),
        (b"SQLite format 3\0", "is an SQLite database"),
        (pickle.dumps(FRAME), "is a pickle, which may run programs"),
        (b"\x01\x00\x02\x00" * 50, "is of no known format; give one of .csv"),
    ],
)
def test_other_files_are_refused_with_the_remedy(content, words):
    with pytest.raises(TableError, match=words):
        read_table(BytesIO(content))


def test_archive_of_other_files_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", "a,b\n1,2\n")

    with pytest.raises(TableError, match="unpack it and give the table in it"):
        read_table(tmp_path / "a.zip")


@pytest.mark.parametrize("name", ["a.npz", "a.xlsx"])
def test_archive_that_is_cut_off_is_refused(tmp_path, name):
    path = tmp_path / name
    if name == "a.npz":
        np.savez(path, X=np.eye(3))
    else:
        FRAME.to_excel(path)
    path.write_bytes(path.read_bytes()[:-30])

    with pytest.raises(TableError, match=r"cut off or damaged \(read as a zip"):
        read_table(path)

"""Excel workbooks that pandas and openpyxl wrote."""

import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest

from ufselect.data import TableError, read_table, write_table


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "who": ["x", "y", "z"],
            "height": [1.5, np.nan, 3.0],
            "flag": [True, False, True],
            "when": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-02"]),
            "kind": ["u", "v", "u"],
        }
    )


def save(path, rows, title="data"):
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("index", [True, False])
def test_sheet_is_read(tmp_path, frame, index):
    frame.to_excel(tmp_path / "a.xlsx", index=index)
    table = read_table(tmp_path / "a.xlsx", labels="kind", drop=["when"])

    np.testing.assert_array_equal(table.values, [[1.5, 1], [np.nan, 0], [3, 1]])
    assert table.feature_names.tolist() == ["height", "flag"]
    assert table.labels.tolist() == ["u", "v", "u"]
    assert table.sample_names.tolist() == (["0", "1", "2"] if index else list("xyz"))


def test_sheet_is_chosen_by_name(tmp_path, frame):
    with pd.ExcelWriter(tmp_path / "a.xlsx") as writer:
        frame.to_excel(writer, sheet_name="first", index=False)
        frame[["flag"]].to_excel(writer, sheet_name="second", index=False)

    assert read_table(tmp_path / "a.xlsx", sheet="second").shape == (3, 1)
    notes = read_table(tmp_path / "a.xlsx").notes
    assert "Sheet 'first' was read; --sheet reads 'second'." in notes
    with pytest.raises(TableError, match=r"no sheet 'Secnd'; did you mean 'second'\?"):
        read_table(tmp_path / "a.xlsx", sheet="Secnd")


def test_empty_rows_and_columns_around_the_table(tmp_path):
    rows = [[], ["a", "b", None], [1, 2], [None, None], [3, 4, None, None]]
    table = read_table(save(tmp_path / "a.xlsx", rows))

    assert table.values.tolist() == [[1, 2], [3, 4]]
    assert table.feature_names.tolist() == ["a", "b"]
    assert "Rows without any value were left out: 1." in table.notes


def test_stray_text_is_refused_with_its_row(tmp_path):
    path = save(tmp_path / "a.xlsx", [["a", "b"], [1, 2], [3, "high"], [5, 6]])

    with pytest.raises(TableError, match="'b' is numeric but for 'high' in line 3"):
        read_table(path)


@pytest.mark.parametrize(
    ("rows", "words"),
    [([], "is empty"), ([["a", "b"]], "header and no data"), ([[1, 2]], "1 row of")],
)
def test_useless_sheet_is_refused(tmp_path, rows, words):
    with pytest.raises(TableError, match=words):
        read_table(save(tmp_path / "a.xlsx", rows))


def test_workbook_is_written_with_its_sheet_and_no_formula(tmp_path):
    rows = [["who", "=a", "b", "c"], ["x", 1, 2.5, 3], ["=1+1", 4, None, 6]]
    book = openpyxl.Workbook()
    book.active.title = "mine"
    for number, row in enumerate(rows, start=1):
        for column, value in enumerate(row, start=1):
            cell = book.active.cell(number, column, value)
            cell.data_type = "s" if isinstance(value, str) else cell.data_type
    book.save(tmp_path / "a.xlsx")
    write_table(read_table(tmp_path / "a.xlsx"), [1, 0], tmp_path / "b.xlsx")

    written = openpyxl.load_workbook(tmp_path / "b.xlsx")["mine"]
    assert [[cell.value for cell in row] for row in written.rows] == [
        ["who", "=a", "b"],
        ["x", 1, 2.5],
        ["=1+1", 4, None],
    ]
    assert written["B1"].data_type == written["A3"].data_type == "s"


def test_damaged_workbook_is_refused(tmp_path, frame):
    frame.to_excel(tmp_path / "a.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "a.xlsx") as source,
        zipfile.ZipFile(tmp_path / "b.xlsx", "w") as target,
    ):
        for name in source.namelist():
            content = source.read(name)
            cut = name.endswith("sheet1.xml")
            target.writestr(name, content[: len(content) // 2] if cut else content)

    with pytest.raises(TableError, match="cut off or damaged"):
        read_table(tmp_path / "b.xlsx")

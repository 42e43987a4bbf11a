"""Files of columns: Parquet, Feather and Excel that other libraries wrote."""

import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from table_reading import check, cut, refused

from ufselect.data import read_table, write_table

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "who": ["x", "y", "z"],
            "height": [1.5, np.nan, 3.0],
            "count": pd.array([1, 2, None], dtype="Int64"),
            "flag": [True, False, True],
            "when": pd.to_datetime(["2020-01-01"] * 3),
            "kind": pd.Categorical(["u", "v", "u"]),
        }
    )


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_feather(path)


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_columns_are_read_by_their_type(tmp_path, frame, ending):
    write(frame, tmp_path / f"a.{ending}")
    table = read_table(tmp_path / f"a.{ending}", labels="kind")

    check(table, [[1.5, 1, 1], [np.nan, 2, 0], [3, np.nan, 1]], labels=list("uvu"))
    check(table, feature_names=["height", "count", "flag"], sample_names=list("xyz"))
    assert "Column 'when' holds no numbers and was left out." in table.notes


def test_index_of_pandas_names_the_samples(tmp_path, frame):
    frame.index = pd.Index([7, 8, 9])
    frame.set_index("who", append=False).to_parquet(tmp_path / "named.parquet")
    frame[["height", "flag"]].to_parquet(tmp_path / "numbered.parquet")

    check(read_table(tmp_path / "named.parquet"), sample_names=list("xyz"))
    check(read_table(tmp_path / "numbered.parquet"), sample_names=list("789"))


def test_float32_and_decimal_numbers(tmp_path):
    single = pa.table({"a": pa.array([1, 2], pa.float32())})
    exact = pa.table({"a": pa.array([Decimal("1.25"), Decimal("2.50")])})
    parquet.write_table(single, tmp_path / "single.parquet")
    parquet.write_table(exact, tmp_path / "exact.parquet")

    assert read_table(tmp_path / "single.parquet").values.dtype == np.float32
    assert read_table(tmp_path / "exact.parquet").values.tolist() == [[1.25], [2.5]]


def test_what_polars_writes_is_read(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, 2], "b": [0.5, None], "c": ["u", "u"]})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ipc(tmp_path / "a.arrow")

    for name in ("a.parquet", "a.arrow"):
        table = read_table(tmp_path / name)
        np.testing.assert_array_equal(table.values, [[1, 0.5], [2, np.nan]])
        assert table.sample_names is None


def test_table_of_genes_is_turned_and_written_so(tmp_path):
    frame = pd.DataFrame({"gene": ["A", "B", "C"], "s1": [1, 2, 3], "s2": [4, 5, 6]})
    frame.to_parquet(tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet", labels="B")
    write_table(table, [1], tmp_path / "b.parquet")

    check(table, [[1, 3], [4, 6]], labels=["2", "5"])
    assert pd.read_parquet(tmp_path / "b.parquet").to_dict("list") == {
        "gene": ["C"],
        "s1": [3],
        "s2": [6],
    }


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_types_are_kept_on_writing(tmp_path, frame, ending):
    source, target = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    write(frame, source)
    write_table(read_table(source, labels="kind"), [2, 1], target)
    cut(source, 0.5, 0.98)
    reader = pd.read_parquet if ending == "parquet" else pd.read_feather
    written = reader(target)

    assert written.columns.tolist() == ["who", "count", "flag", "when", "kind"]
    assert written["when"].tolist() == frame["when"].tolist()
    assert written["flag"].dtype == bool
    assert written["flag"].tolist() == [True, False, True]
    assert written["kind"].tolist() == ["u", "v", "u"]


def test_columns_of_one_name_and_files_without_numbers_are_refused(tmp_path):
    table = pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    feather.write_feather(table, str(tmp_path / "a.feather"))
    pd.DataFrame({"a": ["u", "u"]}).to_parquet(tmp_path / "a.parquet")

    refused("two columns called 'a'; rename", tmp_path / "a.feather")
    refused("no numeric column to select from, only 'a'", tmp_path / "a.parquet")


# Excel.


def save(path, rows, title="data"):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("index", [True, False])
def test_sheet_is_read(tmp_path, frame, index):
    frame.drop(columns="count").to_excel(tmp_path / "a.xlsx", index=index)
    table = read_table(tmp_path / "a.xlsx", labels="kind", drop=["when"])

    names = ["0", "1", "2"] if index else ["x", "y", "z"]
    check(table, [[1.5, 1], [np.nan, 0], [3, 1]], feature_names=["height", "flag"])
    check(table, labels=["u", "v", "u"], sample_names=names)


def test_sheet_is_chosen_by_name(tmp_path, frame):
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame({"about": ["made by us"]}).to_excel(writer, sheet_name="Info")
        frame[["flag"]].to_excel(writer, sheet_name="second", index=False)
        frame.to_excel(writer, sheet_name="third", index=False)

    assert read_table(path, sheet="second").shape == (3, 1)
    refused(r"no sheet 'Secnd'; did you mean 'second'\?", path, sheet="Secnd")
    reason = r"first sheet, 'Info', and --sheet reads 'second' and 'third'"
    refused(f"no numeric column .*{reason}", path)
    book = openpyxl.load_workbook(path)
    del book["Info"]
    book.save(path)
    assert "Sheet 'second' was read; --sheet reads 'third'." in read_table(path).notes


def test_a_hidden_sheet_is_not_the_first(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(save(tmp_path / "a.xlsx", [["x"], [1], [2]]))
    book.active.sheet_state = "hidden"
    for row in (["a"], [3], [4]):
        book.create_sheet("shown") if "shown" not in book.sheetnames else None
        book["shown"].append(row)
    book.save(tmp_path / "a.xlsx")

    table = read_table(tmp_path / "a.xlsx")
    check(table, [[3], [4]], feature_names=["a"])
    assert "Sheet 'shown' was read; --sheet reads 'data'." in table.notes
    check(read_table(tmp_path / "a.xlsx", sheet="data"), [[1], [2]])


@pytest.mark.parametrize("rows", [[1, 2, 3], [2]], ids=["all", "one"])
def test_formulas_without_results_are_refused(tmp_path, rows):
    cells = [["a", "b"], *([i, "=1+1" if i in rows else 5.5] for i in (1, 2, 3))]
    words = f"without results, the first in row {rows[0] + 1}, column 2; open and save"
    refused(words, save(tmp_path / "a.xlsx", cells))


def test_empty_text_is_the_result_of_a_formula(tmp_path):
    cells = [["a", "b"], *([i, '=IF(1,"",2)' if i == 2 else 5.5] for i in (1, 2, 3))]
    with (
        zipfile.ZipFile(save(tmp_path / "a.xlsx", cells)) as source,
        zipfile.ZipFile(tmp_path / "b.xlsx", "w") as target,
    ):
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, content.replace(b'r="B3"', b'r="B3" t="str"'))

    check(read_table(tmp_path / "b.xlsx"), [[1, 5.5], [2, np.nan], [3, 5.5]])


def test_text_in_a_sheet_is_no_proof_of_its_numbers(tmp_path):
    rows = [["a", "b"], ["2,125", 1.5], ["7", 2.5]]
    refused("'2,125' in line 2, which is 2.125", save(tmp_path / "a.xlsx", rows))
    rows = [["a", "b"], ["2,125", "1.5"], [7, 2.5]]
    check(read_table(save(tmp_path / "b.xlsx", rows)), [[2125, 1.5], [7, 2.5]])


def test_what_is_around_the_table_is_left_out(tmp_path):
    rows = [[], ["a", "b", None], [1, 2], [None, None], [3, 4, None, None]]
    titled = [["A study"], ["of 2020"], [], ["id", "a", "b"], ["x", 1, 2], ["y", 3, 4]]
    table = read_table(save(tmp_path / "a.xlsx", rows))
    below = read_table(save(tmp_path / "b.xlsx", titled))
    skipped = read_table(tmp_path / "b.xlsx", skip_rows=2)

    check(table, [[1, 2], [3, 4]], feature_names=["a", "b"])
    assert "Rows without any value were left out: 1." in table.notes
    assert below.values.tolist() == skipped.values.tolist() == [[1, 2], [3, 4]]
    assert "2 rows above the header ('A study') were left out." in below.notes


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "is empty"),
        ([["a", "b"]], "header and no data"),
        ([[1, 2]], "1 row of"),
        ([["a", "b"], [1, 2], [3, "high"], [5, 6]], "except for 'high' in line 3"),
    ],
)
def test_useless_sheet_is_refused(tmp_path, rows, words):
    openpyxl = pytest.importorskip("openpyxl")
    refused(words, save(tmp_path / "a.xlsx", rows))

    book = openpyxl.load_workbook(save(tmp_path / "a.xlsx", np.eye(4).tolist()))
    book.active["XFD9000"] = 1
    book.save(tmp_path / "a.xlsx")
    refused("delete those far from the table", tmp_path / "a.xlsx")


def test_workbook_is_written_with_its_sheet_and_no_formula(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    rows = [["who", "'=a", "b", "c"], ["x", 1, 2.5, 3], ["=1+1", 4, None, 6]]
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
        ["who", "'=a", "b"],
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

    refused("cut off or damaged", tmp_path / "b.xlsx")

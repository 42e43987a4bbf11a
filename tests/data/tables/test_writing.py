"""Writing: the format of the input, the order of the columns, all or nothing."""

import gzip
import sys
from dataclasses import replace
from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from small_tables import small_frame, write_frame
from table_reading import dense, read, written

from ufselect.data import TableError, read_table, write_table
from ufselect.data.tables.missing import filled, without_incomplete
from ufselect.data.tables.table import Origin, Table, as_names

MATLAB_HEADER = {"__header__", "__version__", "__globals__"}
TEXT = "who,a,kind,b,c\nx,1,u,2.5,3\ny,4,v,,6e-300\n"


def test_columns_keep_their_order_with_names_and_labels():
    table = read(TEXT, labels="kind")

    assert written(table, [2, 1]) == "who,kind,b,c\nx,u,2.5,3\ny,v,,6e-300\n"
    assert written(table, [True, False, False]) == "who,a,kind\nx,1,u\ny,4,v\n"
    assert written(table, [0], only_features=True) == "who,a\nx,1\ny,4\n"


OTHERS = (
    "day;a;target;id;b;sex\n2020-01-02;1,5;0;p;;f\n2020-01-03;;1;q;2;m\n"
    "2020-01-04;3;1;r;4;\n2020-01-05;5;0;s;8;f\n"
)


def test_other_columns_are_kept_and_filled_cells_stay_empty():
    table = filled(read(OTHERS, id_column="id"), "median")
    kept = "day;a;target;id;sex\n2020-01-02;1,5;0;p;f\n2020-01-03;{};1;q;m\n"
    kept += "2020-01-04;3;1;r;\n2020-01-05;5;0;s;f\n"

    assert table.feature_names.tolist() == ["a", "b"]
    assert written(table, [0]) == kept.format("")
    assert written(table, [0], write_filled=True) == kept.format("3")
    assert written(table, [0, 1], only_features=True) == (
        "a;id;b\n1,5;p;\n;q;2\n3;r;4\n5;s;8\n"
    )
    rest = without_incomplete(read(OTHERS, id_column="id", groups="sex"))
    assert rest.groups.tolist() == ["", "f"]
    assert written(rest, [0]) == (
        "day;a;target;id;sex\n2020-01-04;3;1;r;\n2020-01-05;5;0;s;f\n"
    )


def test_annotations_and_numeric_labels_of_a_transposed_table_are_kept():
    text = "gene,about,s1,s2,s3\ntarget,,0,1,1\nA,x,1,2,3\nB,y,4,,6\nC,z,7,8,9\n"
    table = filled(read(text), "zero")

    assert table.suspected_labels == ("target",)
    assert written(table, [0, 1]) == (
        "gene,about,s1,s2,s3\ntarget,,0,1,1\nA,x,1,2,3\nB,y,4,,6\n"
    )
    assert written(table, [1], only_features=True) == "gene,s1,s2,s3\nB,4,,6\n"
    text = "gene,s1,s2\nclass,u,v\nA,1,2\nB,3,4\n"
    asked = written(read(text, labels="class"), [1])
    assert asked == "gene,s1,s2\nclass,u,v\nB,3,4\n"


# What is written is read back.

VALUES = np.array([[0.1 + 0.2, -1e-300, 7.0], [1e308, np.nan, -2.5], [0.0, 3.0, 1 / 3]])
NAMES = ["gène", "=sum(a)", 'a "b", c']
SAMPLES = ["s 1", "-2", "x;y"]
LABELS = ["ill", "wéll", "ill"]
NAMED = ["csv", "tsv", "csv.gz", "parquet", "feather", "xlsx", "npz", "mat"]


def table_with_names(values=VALUES):
    names, samples, labels = map(as_names, (NAMES, SAMPLES, LABELS))
    origin = Origin("nowhere", "nothing")
    return Table(values, names, samples, "id", labels, "kind", "text", (), origin)


def assert_same(one, other):
    """Compare values, names and types of two tables."""
    np.testing.assert_array_equal(dense(one.values), dense(other.values))
    assert one.values.dtype == other.values.dtype
    assert sp.issparse(one.values) == sp.issparse(other.values)
    for name in ("feature_names", "sample_names", "labels", "groups"):
        found, expected = getattr(one, name), getattr(other, name)
        assert np.array_equal(found, expected), name
    columns = [
        [(each.name, each.cells.tolist()) for each in table.others]
        for table in (one, other)
    ]
    assert columns[0] == columns[1]


@pytest.mark.parametrize("ending", [*NAMED, "mtx", "mtx.gz", "npy"])
def test_a_table_comes_back_from_every_format_again_and_again(tmp_path, ending):
    table = table_with_names()
    asked = {"labels": "kind"} if ending in NAMED else {}
    if ending in ("csv", "tsv", "csv.gz", "parquet", "feather", "xlsx"):
        asked["id_column"] = "id"
    for folder in ("first", "second"):
        path = tmp_path / folder / f"b.{ending}"
        path.parent.mkdir()
        write_table(table, [0, 1, 2], path)
        table = read_table(path, **asked)
        expected = table_with_names()
        if ending not in NAMED:
            expected = replace(expected, labels=None)
        if ending == "npy":
            expected = replace(expected, feature_names=None, sample_names=None)
        assert_same(table, expected)


@pytest.mark.parametrize("ending", ["npy", "npz", "mat", "parquet", "feather"])
def test_single_precision_is_kept(tmp_path, ending):
    table = table_with_names(np.array([[0.1, 2], [3, 4], [5, 6]], np.float32))
    table = replace(table, feature_names=table.feature_names[:2])
    write_table(table, [0, 1], tmp_path / f"b.{ending}")

    again = read_table(tmp_path / f"b.{ending}").values
    assert again.dtype == np.float32
    assert again.tolist() == table.values.tolist()


@pytest.mark.parametrize("ending", ["npz", "mat", "mtx"])
def test_a_sparse_table_keeps_its_names(tmp_path, ending):
    table = table_with_names(sp.csr_array(np.nan_to_num(VALUES)))
    path, asked = tmp_path / f"b.{ending}", {"labels": "kind"}
    write_table(table, [0, 1, 2], path)
    again = read_table(path, **(asked if ending != "mtx" else {}))

    assert_same(again, replace(table, labels=None) if ending == "mtx" else table)
    if ending == "npz":
        assert sp.load_npz(path).toarray().tolist() == table.values.toarray().tolist()


@pytest.mark.parametrize("source", [".npz", ".mat", ".h5ad", ".parquet", ".xlsx"])
def test_a_file_is_written_back_as_it_was(tmp_path, source):
    path = write_frame(tmp_path / f"a{source}", small_frame())
    table = read_table(path)
    write_table(table, np.arange(table.shape[1]), tmp_path / f"b{source}")

    assert_same(read_table(tmp_path / f"b{source}"), table)
    assert read_table(tmp_path / f"b{source}").format == table.format


@pytest.mark.parametrize("ending", ["xlsx", "parquet", "feather", "tsv"])
def test_other_columns_are_kept_in_other_formats(tmp_path, ending):
    table = filled(read(OTHERS, id_column="id", groups="sex"), "median")
    write_table(table, [0], tmp_path / f"b.{ending}")

    again = read_table(tmp_path / f"b.{ending}", id_column="id", groups="sex")
    assert [other.name for other in again.others] == ["day", "target"]
    assert again.others[0].cells.tolist()[0] == "2020-01-02"
    assert again.groups.tolist() == ["f", "m", "", "f"]
    assert np.isnan(again.values[:, 0]).tolist() == [False, True, False, False]


@pytest.mark.parametrize("ending", ["npz", "mat"])
@pytest.mark.parametrize("name", ["X", "file", "allow_pickle", "_kind", "body mass"])
def test_variables_have_names_that_their_format_takes(tmp_path, ending, name):
    path = tmp_path / f"b.{ending}"
    labels = replace(table_with_names(), label_column=name)
    write_table(labels, [0, 1, 2], path)
    content = np.load(path) if ending == "npz" else scipy.io.loadmat(path)
    (stored,) = set(content) - {"X", "feature_names", "sample_names"} - MATLAB_HEADER

    assert_same(read_table(path, labels=stored), table_with_names())


@pytest.mark.parametrize(
    ("values", "labels", "words"),
    [
        (np.ones((2, 16_385)), ["a", "b"], "16384 columns .* has 3, 16386 and 6;"),
        (
            np.ones((2, 2)),
            ["a" * 40_000, "b"],
            "32767 characters in a cell, but the result has 3, 3 and 40000",
        ),
    ],
    ids=["columns", "characters"],
)
def test_what_a_workbook_cannot_hold_is_refused(tmp_path, values, labels, words):
    origin = Origin("nowhere", "nothing")
    table = Table(values, labels=as_names(labels), label_column="kind", origin=origin)
    with pytest.raises(TableError, match=words):
        write_table(table, np.arange(values.shape[1]), tmp_path / "b.xlsx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "a;b\n1,5;2\n0,25;3\n",
        "a\tb\n1.5\t2\n0.25\t3\n",
        "a|b\n1.5|2\n0.25|3\n",
        "a b\n1.5 NA\n0.25 3\n",
        "1.5,2\n0.25,3\n",
        "gene,s1,s2\nA,1,2\nB,3,4\n",
        '\ufeff"a, b",c\n1,2\n3,4\n',
        "0.1,1e+300\n0.30000000000000004,-1e-07\n",
    ],
)
def test_text_is_written_as_it_was(text):
    assert written(read(text), [0, 1]) == text


def test_names_cannot_be_formulas():
    for name in ("=cmd()", "+a", "-a", "@a"):
        text = f"who,{name},b\n{name},1,-2\nx,3,4\n"
        table = read(text)
        assert written(table, [0, 1]) == f"who,'{name},b\n'{name},1,-2\nx,3,4\n"
        assert written(table, [0, 1], escape_formulas=False) == text
    turned = read("gene,s1,s2\nA,1,2\n'=B,3,4\n")
    assert turned.feature_names.tolist() == ["A", "=B"]
    assert written(turned, [1]) == "gene,s1,s2\n'=B,3,4\n"
    commas = "who;a;b\n-0,5;1,5;2\n1,25;3;4\n"
    assert written(read(commas, id_column="who"), [0, 1]) == commas
    negative = "who,-1.5,b\n-7,1,-2\n-8,3,4\n"
    assert written(read(negative, header=True, id_column="who"), [0, 1]) == negative


def test_compression_follows_the_name_else_the_source(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    table = read_table(tmp_path / "a.csv.gz")
    for name in ("b.csv", "b.csv.gz", "b"):
        write_table(table, [0], tmp_path / name)

    expected = b"who,a,kind\nx,1,u\ny,4,v\n"
    assert (tmp_path / "b.csv").read_bytes() == expected
    assert gzip.decompress((tmp_path / "b.csv.gz").read_bytes()) == expected
    assert gzip.decompress((tmp_path / "b").read_bytes()) == expected


def test_standard_output_and_the_source_are_destinations(tmp_path, monkeypatch):
    stream, path = BytesIO(), tmp_path / "a.npy"
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=stream))
    write_table(read(TEXT), [0], "-")
    np.save(path, np.arange(6.0).reshape(2, 3))
    write_table(read_table(path), [1], path)

    assert stream.getvalue() == b"who,a,kind\nx,1,u\ny,4,v\n"
    assert np.load(path).tolist() == [[1], [4]]


def test_failure_leaves_the_earlier_file_and_nothing_else(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    target = tmp_path / "b.csv"
    target.write_text("earlier")
    monkeypatch.setattr("ufselect.data.tables.writing.number_text", fail)

    with pytest.raises(TableError, match=r"b\.csv cannot be written \(No space left"):
        write_table(read(TEXT), [0], target)
    assert target.read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [target]


def test_folders_and_columns_and_scores_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(TableError, match="there is no folder"):
        write_table(read(TEXT), [0], tmp_path / "absent" / "b.csv")
    with pytest.raises(TableError, match="is a folder"):
        write_table(read(TEXT), [0], tmp_path)
    for columns, options, words in [
        ([0, 3], {}, "from 0 to 3, but the table has columns 0 to 2"),
        ([-1], {}, "from -1 to -1, but the table has columns 0 to 2"),
        ([True, False], {}, r"mask has shape \(2,\) for 3 features"),
        ([0], {"scores": [1.0, 2.0]}, r"scores have shape \(2,\) for 3 features"),
    ]:
        with pytest.raises(ValueError, match=words):
            written(read(TEXT), columns, **options)

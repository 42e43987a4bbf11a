"""The table itself: features that are not complete, filled in or left out."""

import io

import numpy as np
import pytest
import scipy.sparse as sp
from table_reading import check

from ufselect.data import TableError, read_table
from ufselect.data.tables.missing import filled, without_incomplete
from ufselect.data.tables.table import Origin, Table, as_names

TEXT = b"id,a,b,c\np,1,5,1\nq,,6,2\nr,3,7,inf\ns,8,8,3\n"


def table_of(values, names=None):
    origin = Origin("nowhere", "nothing")
    return Table(values, names, None, None, None, None, "npy", (), origin)


def test_a_sentence_is_one_line_of_limited_length():
    name = "a" * 5000
    error = TableError(f"column {name}\nis text; encode it")
    assert str(error).startswith("column aaa")
    assert str(error).endswith("aaa is text; encode it")
    assert len(str(error)) < 1010
    assert " ... " in str(error)
    assert str(TableError("short\nsentence")) == "short sentence"


def test_halves_of_characters_become_question_marks():
    assert as_names(["a\ud800", ""]).tolist() == ["a?", ""]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_incomplete_features_and_samples_are_counted(monkeypatch, kind):
    monkeypatch.setattr("ufselect.data.tables.table.BLOCK_CELLS", 6)
    values = np.ones((5, 4))
    assert table_of(kind(values)).incomplete().tolist() == []
    values[4, 2], values[1, 0], values[1, 2] = np.nan, np.inf, np.nan
    table = table_of(kind(values))

    assert table.incomplete().tolist() == ["x1", "x3"]
    assert table.n_incomplete().tolist() == [1, 0, 2, 0]
    assert table.n_incomplete(axis=1).tolist() == [0, 2, 0, 0, 1]


@pytest.mark.parametrize(
    ("by", "a", "c"), [("mean", 4, 2), ("median", 3, 2), ("zero", 0, 0)]
)
def test_a_cell_without_a_value_gets_that_of_its_column(by, a, c):
    table = read_table(io.BytesIO(TEXT))
    again = filled(table, by)

    assert again.values.tolist() == [[1, 5, 1], [a, 6, 2], [3, 7, c], [8, 8, 3]]
    assert np.isnan(table.values[1, 0])
    value = "0" if by == "zero" else f"the {by} of their columns"
    assert again.notes[-1] == (
        f"2 missing or infinite values, in 2 of 3 columns, were replaced by {value}."
    )
    assert filled(again, by) is again
    with pytest.raises(ValueError, match="by='mode' is unknown; choose one of mean, "):
        filled(table, "mode")


@pytest.mark.parametrize("stored", [sp.csr_array, sp.csc_array])
def test_zeros_of_a_sparse_table_count(stored, tmp_path):
    matrix = stored(np.array([[0.0, 1.0], [np.nan, 2.0], [6.0, 0.0]]))
    sp.save_npz(tmp_path / "a.npz", matrix)
    table = read_table(tmp_path / "a.npz")
    values = filled(table, "mean").values

    assert sp.issparse(values)
    assert values.toarray().tolist() == [[0, 1], [3, 2], [6, 0]]
    assert without_incomplete(table).values.toarray().tolist() == [[0, 1], [6, 0]]


def test_features_that_are_mostly_missing_are_left_out_with_a_note(tmp_path):
    text = b"id,a,b,c\np,1,,1\nq,,,2\nr,3,7,3\ns,8,,3\n"
    table = read_table(io.BytesIO(text))
    used = filled(read_table(io.BytesIO(text), use=["b"]), "zero")
    np.save(tmp_path / "a.npy", [[1, np.nan, 3], [2, np.nan, np.nan], [3, 4, 5]])
    mapped = filled(read_table(tmp_path / "a.npy"), "zero")

    assert table.feature_names.tolist() == ["a", "c"]
    assert table.notes[-1] == (
        "Column 'b' is mostly missing and was left out; --use-column b takes it as a "
        "feature."
    )
    assert table.origin.positions.tolist() == [1, 3]
    by_row = without_incomplete(table)
    check(by_row, [[1, 1], [3, 3], [8, 3]], sample_names=["p", "r", "s"])
    assert by_row.notes[-1] == "1 row was left out for missing or infinite values."
    assert used.feature_names.tolist() == ["a", "b", "c"]
    assert mapped.names().tolist() == ["x1", "x3"]


def test_too_little_that_is_known_is_refused():
    nothing = table_of(np.array([[np.nan, 1.0], [np.nan, np.nan], [1.0, np.nan]]))
    with pytest.raises(TableError, match="more missing values than known ones"):
        filled(nothing, "mean")
    gaps = np.ones((4, 3))
    gaps[[0, 1, 2], [0, 1, 2]] = np.nan
    with pytest.raises(TableError, match=r"1 row without missing .*--fill median"):
        without_incomplete(table_of(gaps))

"""Missing values are filled in when that is asked for, and it is said how many."""

import io

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect.cli import main
from ufselect.data import read_table
from ufselect.data.tables.table import filled

TEXT = b"id,a,b,c\np,1,5,1\nq,,6,2\nr,3,7,inf\ns,8,8,3\n"


@pytest.mark.parametrize(
    ("by", "a", "c"), [("mean", 4, 2), ("median", 3, 2), ("zero", 0, 0)]
)
def test_a_cell_without_a_value_gets_that_of_its_column(by, a, c):
    table = read_table(io.BytesIO(TEXT))
    values = filled(table, by).values

    assert values[:, 0].tolist() == [1, a, 3, 8]
    assert values[:, 1].tolist() == [5, 6, 7, 8]
    assert values[:, 2].tolist() == [1, 2, c, 3]
    assert np.isnan(table.values[1, 0])


def test_it_is_said_how_many():
    (*_, note) = filled(read_table(io.BytesIO(TEXT)), "median").notes

    assert note == (
        "2 missing or infinite values, in 2 of 3 columns, were replaced by the median "
        "of their columns."
    )


def test_nothing_is_said_of_a_whole_table():
    table = read_table(io.BytesIO(b"a,b\n1,5\n2,6\n"))

    assert filled(table, "mean") is table


@pytest.mark.parametrize("stored", [sp.csr_array, sp.csc_array])
def test_zeros_of_a_sparse_table_count(stored, tmp_path):
    matrix = stored(np.array([[0.0, 1.0], [np.nan, 2.0], [6.0, 0.0]]))
    sp.save_npz(tmp_path / "a.npz", matrix)
    values = filled(read_table(tmp_path / "a.npz"), "mean").values

    assert sp.issparse(values)
    assert values.toarray().tolist() == [[0, 1], [3, 2], [6, 0]]


def test_a_column_without_any_value_stays_and_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[np.nan, 1.0], [np.nan, np.nan]]))
    table = filled(read_table(tmp_path / "a.npy"), "mean")

    assert table.incomplete().tolist() == ["x1"]


def test_another_word_is_refused():
    with pytest.raises(ValueError, match="by='mode' is unknown; it could be mean, "):
        filled(read_table(io.BytesIO(TEXT)), "mode")


def test_the_sentence_about_missing_values_says_how_to_fill_them_in(tmp_path, capsys):
    random = np.random.default_rng(0)
    rows = random.normal(size=(20, 6)).round(3).astype(str)
    rows[3, 2] = ""
    path = tmp_path / "patients.csv"
    path.write_text("\n".join(["a,b,c,d,e,f", *map(",".join, rows)]))
    asked = ["select", str(path), "--method", "MaxVariance", "-k", "2", "-o", "-"]

    assert main(asked) == 1
    assert "fill them in (--fill median)" in capsys.readouterr().err
    assert main([*asked, "--fill", "median"]) == 0
    assert "1 missing or infinite values, in 1 of 6 columns" in capsys.readouterr().err

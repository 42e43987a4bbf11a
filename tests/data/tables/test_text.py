"""Text tables: delimiters, headers, kinds of columns, and what is wrong with them."""

import csv
from io import BytesIO

import numpy as np
import pandas as pd
import pytest

from ufselect.data import TableError, read_table


def read(text, **options):
    content = text if isinstance(text, bytes) else text.encode()
    return read_table(BytesIO(content), **options)


def refusal(text, **options):
    with pytest.raises(TableError) as caught:
        read(text, **options)
    (sentence,) = caught.value.args
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", " ", "   "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiter_and_line_ends_are_found(delimiter, end):
    rows = [["a", "b", "c"], ["1", "2.5", "-3e2"], ["4", "5", "6"]]
    table = read(end.join(delimiter.join(row) for row in rows) + end)

    assert table.values.tolist() == [[1, 2.5, -300], [4, 5, 6]]
    assert table.feature_names.tolist() == ["a", "b", "c"]


def test_last_line_needs_no_end():
    assert read("a,b\n1,2\n3,4").values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_decimal_comma(delimiter):
    table = read("a;b\n1,5;2\n-3;0,25\n".replace(";", delimiter))

    assert table.values.tolist() == [[1.5, 2], [-3, 0.25]]
    assert "decimal commas" in table.notes[0]


@pytest.mark.parametrize("header", ["id;u;v;w;a\n", ""])
def test_decimal_commas_are_no_delimiters_however_much_text_there_is(header):
    table = read(f"{header}x;p;q;r;1,5\ny;p;q;s;2,5\n")

    assert table.values.tolist() == [[1.5], [2.5]]


def test_commas_are_delimiters_whatever_the_text_has():
    table = read("id,tags,a\nsample 1,p;q,1\nsample 2,r;s,2\n")

    assert table.values.tolist() == [[1], [2]]
    assert table.sample_names.tolist() == ["sample 1", "sample 2"]


def test_decimal_comma_that_first_occurs_far_down():
    table = read("a;b\n" + "1;2\n" * 5000 + "1,5;2\n")

    assert table.values[-1].tolist() == [1.5, 2]


def test_commas_that_may_be_thousands_are_not_taken_for_decimal():
    table = read("x\tn\n5\t1,234\n6\t2,345\n")

    assert table.feature_names.tolist() == ["x"]


def test_byte_order_mark_is_no_part_of_a_name():
    table = read("height,width\n1,2\n3,4\n".encode("utf-8-sig"))

    assert table.feature_names.tolist() == ["height", "width"]


def test_utf_16_as_excel_saves_it():
    table = read("größe\tb\n1\t2\n3\t4\n".encode("utf-16"))

    assert table.feature_names.tolist() == ["größe", "b"]


def test_latin_1_is_read_with_a_note():
    table = read("größe,b\n1,2\n3,4\n".encode("latin-1"))

    assert table.feature_names.tolist() == ["größe", "b"]
    assert any("Latin-1" in note for note in table.notes)


def test_quoted_cells_may_have_delimiters_quotes_and_line_breaks():
    text = 'id,"a, b","c ""d""\ne"\n"x,1","1","2"\n"y\n2",3,"4"\n'
    table = read(text)

    assert table.feature_names.tolist() == ["a, b", 'c "d"\ne']
    assert table.sample_names.tolist() == ["x,1", "y\n2"]
    assert table.values.tolist() == [[1, 2], [3, 4]]


def test_quoted_cell_may_cross_the_end_of_a_block(monkeypatch):
    monkeypatch.setattr("ufselect.data.tables.text.BLOCK_CHARACTERS", 40)
    text = "id,a,b\n" + "".join(f'"n{i}\nm",{i},{2 * i}\n' for i in range(50))
    table = read(text)

    assert table.sample_names[49] == "n49\nm"
    assert table.values[:, 1].tolist() == [2 * i for i in range(50)]


def test_quotation_mark_inside_a_name_is_a_mark():
    table = read('id,a\n5" pipe,1\nrod,2\n')

    assert table.sample_names.tolist() == ['5" pipe', "rod"]


@pytest.mark.parametrize(
    "missing", ["", "NA", "NaN", "nan", "null", "None", "N/A", "#N/A"]
)
def test_missing_cells_are_kept_as_nan(missing):
    table = read(f"a,b\n1,2\n{missing},4\n5,6\n")

    assert np.isnan(table.values[1, 0])
    assert table.values[:, 1].tolist() == [2, 4, 6]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_missing_cells_at_the_ends_of_lines(delimiter):
    text = "a,b,c,d\n,,3,4\n1, NA ,,\n5,6,7,N/A\n,2,na,8\n"
    table = read(text.replace(",", delimiter))

    nan = np.nan
    np.testing.assert_array_equal(
        table.values,
        [[nan, nan, 3, 4], [1, nan, nan, nan], [5, 6, 7, nan], [nan, 2, nan, 8]],
    )


def test_missing_cells_between_white_space():
    table = read("a b c\n1 NA 3\nnan 5 NA\n7 8 9\n")

    np.testing.assert_array_equal(
        table.values, [[1, np.nan, 3], [np.nan, 5, np.nan], [7, 8, 9]]
    )


def test_every_cell_may_be_in_quotes():
    table = read('"who","a","b"\n"x","1.5","2"\n"y","-3","NA"\n')

    np.testing.assert_array_equal(table.values, [[1.5, 2], [-3, np.nan]])
    assert table.sample_names.tolist() == ["x", "y"]


def test_names_that_look_missing_are_names():
    table = read("who,a,b\nNA,1,NA\nnull,2,3\n,4,5\n", id_column="who")

    assert table.sample_names.tolist() == ["NA", "null", ""]


def test_truth_values_are_one_and_zero():
    assert read("a,b\n1,TRUE\n2,false\n").values.tolist() == [[1, 1], [2, 0]]


def test_float32_on_request():
    table = read("a,b\n1,2\n3,0.1\n", dtype=np.float32)

    assert table.values.dtype == np.float32
    assert table.values[1, 1] == np.float32(0.1)


def test_other_types_are_refused():
    with pytest.raises(ValueError, match="dtype is int64; choose float64 or float32"):
        read("a,b\n1,2\n3,4\n", dtype=np.int64)


def test_nul_bytes_in_a_text_file_are_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n1,2\n3,\0\n")

    with pytest.raises(TableError, match="NUL bytes"):
        read_table(path)


def test_cell_that_is_too_long_is_refused():
    text = 'a,b\n1,"' + "x" * (csv.field_size_limit() + 1) + '"\n3,4\n'

    assert "cannot be split into cells" in refusal(text)


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("sep", [",", ";", "\t"])
def test_what_pandas_writes_is_read(index, sep):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.standard_normal((30, 7)))
    frame.iloc[3, 2] = np.nan
    table = read(frame.to_csv(index=index, sep=sep))

    np.testing.assert_array_equal(table.values, frame.to_numpy())
    assert table.feature_names.tolist() == [str(name) for name in frame.columns]


def test_wide_table_is_read_as_pandas_reads_it():
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.standard_normal((12, 5000))).add_prefix("g")
    frame.insert(0, "who", [f"s{row}" for row in range(12)])
    frame["kind"] = ["u", "v"] * 6
    text = frame.to_csv(index=False)
    table = read(text, labels="kind")

    np.testing.assert_array_equal(table.values, frame.filter(like="g").to_numpy())
    assert table.labels.tolist() == frame["kind"].tolist()

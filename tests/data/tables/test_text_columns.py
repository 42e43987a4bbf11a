"""Columns of text tables: numbers, text, names of samples, labels; and wrong rows."""

from io import BytesIO

import pytest

from ufselect.data import TableError, read_table


def read(text, **options):
    return read_table(BytesIO(text.encode()), **options)


def refusal(text, **options):
    with pytest.raises(TableError) as caught:
        read(text, **options)
    (sentence,) = caught.value.args
    assert "\n" not in sentence
    return sentence


def test_text_columns_are_left_out_by_name():
    table = read("a,city,b,day\n1,Rom,2,2020-01-01\n3,Rom,4,2020-01-02\n")

    assert table.feature_names.tolist() == ["a", "b"]
    assert "2 columns are text and were left out: 'city' and 'day'." in table.notes


def test_empty_columns_are_left_out_by_name():
    table = read("a,b,c\n1,,2\n3,,4\n")

    assert table.feature_names.tolist() == ["a", "c"]
    assert "Column 'b' is empty and was left out." in table.notes


def test_rows_without_any_cell_are_skipped():
    table = read("a,b\n\n1,2\n,\n  \n3,4\n,\n")

    assert table.values.tolist() == [[1, 2], [3, 4]]
    assert "Rows without any value were left out: 2." in table.notes


@pytest.mark.parametrize("line", [2, 3, 60, 500, 4000])
def test_stray_text_is_refused_with_column_line_and_value(line):
    lines = ["a,b", *["1,2"] * 4000]
    lines[line - 1] = "1,high"

    sentence = refusal("\n".join(lines))

    assert f"column 'b' is numeric but for 'high' in line {line};" in sentence
    assert "--drop 'b'" in sentence


def test_stray_numbers_in_a_text_column_do_no_harm():
    lines = ["a,b", *["1,word"] * 1000, *["2,7"] * 400]

    assert read("\n".join(lines)).feature_names.tolist() == ["a"]


def test_text_that_begins_after_many_numbers_decides_by_the_majority():
    lines = ["a,b", *["1,7"] * 400, *["2,word"] * 1000]

    assert read("\n".join(lines)).feature_names.tolist() == ["a"]


def test_numbers_that_begin_after_some_text_decide_by_the_majority():
    lines = ["a,b", *["1,word"] * 400, *["2,7"] * 1000]

    assert "'word' in line 2 and 399 more such cells" in refusal("\n".join(lines))


def test_dropped_column_may_hold_anything():
    table = read("a,b\n1,2\n3,high\n5,6\n", drop=["b"])

    assert table.values.tolist() == [[1], [3], [5]]


def test_an_underscore_makes_no_number():
    assert "'1_000'" in refusal("a,b\n1,2\n3,1_000\n5,6\n")


def test_line_numbers_count_line_breaks_in_quotes():
    text = 'id,a\n"x\ny",1\nz,2\nu,oops\nv,4\n'

    assert "'oops' in line 5" in refusal(text)


@pytest.mark.parametrize("bad", ["1,2,3", "1"])
@pytest.mark.parametrize("line", [3, 2500])
def test_ragged_row_is_refused_with_its_line(bad, line):
    lines = ["a,b", *["1,2"] * 3000]
    lines[line - 1] = bad

    assert f"{bad.count(',') + 1} cells in line {line}, but 2" in refusal(
        "\n".join(lines)
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n\n", "has no data"),
        ("a,b\n", "has a header and no data"),
        ("a,b\n1,2\n", "1 row of data"),
        ("a,b\nx,y\nu,v\n", "no numeric column to select from, only 'a' and 'b'"),
        ('a,b\n"1,2\n3,4\n', "close its quotation marks"),
    ],
)
def test_useless_table_is_refused(text, words):
    assert words in refusal(text)


@pytest.mark.parametrize("option", ["labels", "id_column", "drop"])
def test_unknown_column_is_refused_with_the_nearest(option):
    text = "sample,weight,Class\na,1,x\nb,2,y\n"

    assert "no column 'class'; did you mean 'Class'?" in refusal(
        text, **{option: ["class"] if option == "drop" else "class"}
    )
    assert "it has 'sample', 'weight' and 'Class'" in refusal(
        text, **{option: ["zzz"] if option == "drop" else "zzz"}
    )


def test_column_cannot_be_dropped_and_used():
    text = "a,b,c\n1,2,3\n4,5,6\n"

    assert "'c' is both to be dropped and to be used" in refusal(
        text, labels="c", drop=["c"]
    )


def test_duplicate_names_are_numbered_with_a_note():
    table = read("a,a,a_2,a\n1,2,3,4\n5,6,7,9\n")

    assert table.feature_names.tolist() == ["a", "a_3", "a_2", "a_4"]
    assert "Names that occur more than once were numbered: 'a'." in table.notes


def test_labels_are_text_and_no_feature():
    table = read("a,class,b\n1,1,2\n3,0,4\n", labels="class")

    assert table.feature_names.tolist() == ["a", "b"]
    assert table.labels.tolist() == ["1", "0"]
    assert table.label_column == "class"


def test_first_text_column_names_the_samples_if_no_value_occurs_twice():
    unique = read("who,a\nx,1\ny,2\n")
    repeated = read("who,a\nx,1\nx,2\n")

    assert unique.sample_names.tolist() == ["x", "y"]
    assert unique.id_column == "who"
    assert repeated.sample_names is None
    assert "Column 'who' is text and was left out." in repeated.notes


@pytest.mark.parametrize("title", ["", "id", "ID", "Unnamed: 0", "sample_id"])
def test_numbered_rows_are_no_feature(title):
    table = read(f"{title},a\n0,1.5\n1,2.5\n2,3.5\n")

    assert table.feature_names.tolist() == ["a"]
    assert table.sample_names.tolist() == ["0", "1", "2"]
    assert table.id_column == title


def test_columns_without_names_are_called_by_their_place():
    table = read("1,2,x\n3,4,y\n5,1,z\n", labels="3", drop=["x1"])

    assert table.values.tolist() == [[2], [4], [1]]
    assert table.feature_names.tolist() == ["x2"]
    assert table.labels.tolist() == ["x", "y", "z"]

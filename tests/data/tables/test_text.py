"""Text tables: delimiters, headers, columns, orientation, and what can be wrong."""

import itertools
from unittest import mock

import hypothesis.extra.numpy as arrays
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import NAMES
from table_reading import check, noted, read, refused, written

from ufselect.data import TableError, read_table
from ufselect.data.tables import text as text_module
from ufselect.data.tables.table import Origin, Table, as_names

GENES = "gene,s1,s2\nTP53,1,2\nMYC,3,4\nKRAS,5,6\n"
NAN = np.nan


def refusal(text, **options):
    return str(refused(None, text, **options))


@pytest.fixture(params=["cells", "pyarrow"])
def reader(request, monkeypatch):
    """Let small tables be read in both ways that large ones are."""
    if request.param != "cells":
        monkeypatch.setattr(text_module, "SMALL_BLOCK", 0)
    return request.param


# Delimiters and encodings.


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", " ", "   "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiter_and_line_ends_are_found(delimiter, end):
    rows = [["a", "b", "c"], ["1", "2.5", "-3e2"], ["4", "5", "6"]]
    text = end.join(delimiter.join(row) for row in rows)

    for table in (read(text), read(text + end)):
        check(table, [[1, 2.5, -300], [4, 5, 6]], feature_names=["a", "b", "c"])


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a;b\n1,5;2\n-3;0,25\n", [[1.5, 2], [-3, 0.25]]),
        ("a\tb\n1,5\t2\n-3\t0,25\n", [[1.5, 2], [-3, 0.25]]),
        ("a;b\n1,5;2.250,5\n-3;1.234,5\n", [[1.5, 2250.5], [-3, 1234.5]]),
        ("a;b\n1,5;2.25\n-3;1\n", [[1.5, 2.25], [-3, 1]]),
        ("id;u;v;w;a\nx;p;q;r;1,5\ny;p;q;s;2,5\n", [[1.5], [2.5]]),
        ("x;p;q;r;1,5\ny;p;q;s;2,5\n", [[1.5], [2.5]]),
        ("id,tags,a\nsample 1,p;q,1\nsample 2,r;s,2\n", [[1], [2]]),
        ("a;b\n" + "1;2\n" * 3 + "1,5;2\n", [[1, 2]] * 3 + [[1.5, 2]]),
    ],
)
def test_decimal_commas_and_delimiters_are_told_apart(reader, text, values):
    table = read(text)

    check(table, values)
    commas = "decimal commas" in table.notes[0] or noted(table, "commas in 'a'")
    assert commas == ("1,5" in text)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("x,y\tT K\tb\n1 234\t2\t3\n5 678\t5\t6\n", (2, 3)),
        ("id\tT K\tb\ns\t1 234\t3\nt\t5 678\t6\n", (2, 2)),
        (' "a" "x,y"\ns "1 234" 1,5\nt 7 2,5\n', (2, 2)),
        ("a;b c\n1 234;5\n6;7 890\n", (2, 2)),
    ],
)
def test_blanks_and_commas_in_cells_are_no_delimiters(text, shape):
    assert read(text).shape == shape


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_encodings(encoding, mark):
    mark = "" if encoding == "cp1252" else mark
    table = read(f"{mark}größe €,b\n1,2\n3,4\n".encode(encoding))

    assert table.feature_names.tolist() == ["größe €", "b"]
    assert noted(table, "read as Windows-1252") == (encoding == "cp1252")
    refused("neither in UTF-8 nor in Windows-1252", b"a\x81,b\n1,2\n3,4\n")


def test_quoted_cells(reader, monkeypatch):
    monkeypatch.setattr(text_module, "BLOCK_CHARACTERS", 40)
    text = 'id,"a, b","c ""d""\ne"\n"x,1","1","2"\n"y\n2",3,"NA"\n'
    table = read(text + "".join(f'"n{i}\nm",{i},"{2 * i}"\n' for i in range(50)))

    assert table.feature_names.tolist() == ["a, b", 'c "d"\ne']
    assert table.sample_names[:2].tolist() == ["x,1", "y\n2"]
    assert table.sample_names[-1] == "n49\nm"
    np.testing.assert_array_equal(table.values[:2], [[1, 2], [3, NAN]])
    assert table.values[2:, 1].tolist() == [2 * i for i in range(50)]


def test_names_that_look_like_something_else_are_names(reader):
    marked = read('id,a\n5" pipe,1\nrod,2\n')
    missing = read("who,a,b\nNA,1,NA\nnull,2,3\n,4,5\n", id_column="who")
    commas = read("id\t,0\n0\t1,5\n,1\t0\n", header=True, id_column="id")

    check(marked, sample_names=['5" pipe', "rod"])
    check(missing, sample_names=["NA", "null", ""])
    check(commas, [[1.5], [0]], feature_names=[",0"], sample_names=["0", ",1"])


# Cells.


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_missing_cells_are_nan(reader, delimiter):
    text = "a,b,c,d\n,,3,4\n1, NA ,,\n5,6,7,N/A\n,2,na,8\nNaN,None,null,#N/A\n1,1,1,1\n"
    table = read(text.replace(",", delimiter))

    known = [[NAN, NAN, 3, 4], [1, NAN, NAN, NAN], [5, 6, 7, NAN], [NAN, 2, NAN, 8]]
    check(table, [*known, [NAN] * 4, [1] * 4])
    spaced = read("a b c\n1 NA 3\nnan 5 NA\n7 8 9\n")
    check(spaced, [[1, NAN, 3], [NAN, 5, NAN], [7, 8, 9]])


def test_other_words_for_missing_are_named_by_the_caller(reader):
    text = "a,b\n1,?\n2,-\n-99,4\n5,6\n7,8\n"

    sentence = refusal(text)
    assert "'b' is numeric except for '?' in line 2 and 1 more such cell" in sentence
    assert "read it as missing (--na '?' --na '-')" in sentence
    values = read(text, na_values=["?", "-", "-99"]).values
    np.testing.assert_array_equal(values[:3], [[1, NAN], [2, NAN], [NAN, 4]])
    commas = "a;b\n1,5;-99,0\n2;3.5\n-99,0;4\n5;6\n"
    expected = [[1.5, NAN], [2, 3.5], [NAN, 4], [5, 6]]
    check(read(commas, na_values="-99,0"), expected)


def test_decorated_numbers_are_read_with_a_note(reader):
    table = read(
        'id,people,share,price,code\nx,"1,065",13.2 %,$127,a1\n'
        'y,"2,100.5",5%,9.50 $,b2\nz,12,1%,-$3,b2\n'
    )

    assert table.values.tolist() == [[1065, 13.2, 127], [2100.5, 5, 9.5], [12, 1, -3]]
    assert noted(table, "removed in 'people', 'share' and 'price' ('1,065' was read")
    assert read("95%,50%\n1,2\n3,4\n").feature_names.tolist() == ["95%", "50%"]


def test_columns_that_libraries_do_not_read_do_not_slow_the_others(reader, monkeypatch):
    monkeypatch.setattr(text_module, "BLOCK_CHARACTERS", 500)
    rows = [f"s{i};{i % 7},5;{i % 2 == 0};{i**2} %;k{i % 3},5\n" for i in range(200)]
    table = read("id;a;flag;share;kind\n" + "".join(rows), labels="kind")
    stray = [*rows[:-1], "s;1,5;maybe;1 %;k\n"]

    expected = [[i % 7 + 0.5, float(i % 2 == 0), i**2] for i in range(200)]
    assert table.values.tolist() == expected
    assert table.labels[:2].tolist() == ["k0,5", "k1,5"]
    text = "id;a;flag;share;kind\n" + "".join(stray)
    refused("'flag' is numeric except for 'maybe' in line 201", text, labels="kind")


def test_truth_values_and_types(reader):
    assert read("a,b\n1,TRUE\n2,false\n").values.tolist() == [[1, 1], [2, 0]]
    single = read("a,b\n1,2\n3,0.1\n", dtype=np.float32).values
    assert single.dtype == np.float32
    assert single[1, 1] == np.float32(0.1)
    with pytest.raises(ValueError, match="dtype is int64; choose float64 or float32"):
        read("a,b\n1,2\n3,4\n", dtype=np.int64)


@settings(deadline=None, max_examples=100)
@example(["0"] * 7 + ["inf"] * 2)
@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=False).map(repr),
            st.decimals(allow_nan=False, allow_infinity=False, places=9).map(str),
            st.from_regex(r"-?\d{1,20}\.?\d{0,20}(e-?\d{1,2})?", fullmatch=True),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_numbers_are_rounded_to_the_nearest(numbers):
    text = "".join(f"{each};{each}\n" for each in [*numbers, "7.5"])
    for small in (0, 1 << 16):
        with mock.patch.object(text_module, "SMALL_BLOCK", small):
            table = read(text, header=False, use=["x1", "x2"], decimal=".")
        assert table.values[:, 0].tolist() == [*map(float, numbers), 7.5]


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("shape", [(30, 7), (9, 700), (4000, 3)])
def test_what_pandas_writes_is_read(reader, index, shape):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal(shape)).add_prefix(
        "g"
    )
    frame.iloc[3, 2] = NAN
    frame["kind"] = [f"k{row % 2}" for row in range(len(frame))]
    for sep in (",", ";", "\t"):
        table = read(frame.to_csv(index=index, sep=sep), labels="kind")

        values, kinds = frame.drop(columns="kind"), frame["kind"].tolist()
        check(table, values, feature_names=[*values.columns], labels=kinds)
    named = frame.set_index("kind").reset_index()
    assert read(named.to_csv(index=False), labels="kind").shape == shape


# The header.


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1,2\n3,4\n", ["a", "b"]),
        ("1,2\n3,4\n", None),
        ("0,1\n1,0\n1,1\n", None),
        ("0,1,2,3\n5,5,5,5\n1,0,2,2\n", ["0", "1", "2", "3"]),
        ("0,1,2,3\n4,5,6,7\n8,9,10,11\n", None),
        (",x,y\n1,2,3\n2,4,5\n", ["x", "y"]),
        (",0,1\n0,2.5,3\n1,4,5\n", ["0", "1"]),
        (",2.5,1\n0,2.5,3\n1,4,5\n", None),
        (",0,1\n7.5,2.5,3\n1,4,5\n", None),
        ("# a, b\n1,2\n3,4\n", ["a", "b"]),
        ("# made by hand\n1,2\n3,4\n", None),
        ("# made by hand\n#OTU\tx\ty\nq\t1\t2\nr\t3\t4\n", ["q", "r"]),
        ("sep=;\na;b\n1;2\n3;4\n", ["a", "b"]),
        ("a,b,\n1,2,\n3,4,\n", ["a", "b"]),
        ("a,b\n1,2,\n3,4,\n", ["a", "b"]),
        ("a,b\nNA,2\n1,4\n1,2\n", ["a", "b"]),
        (
            "id," + ",".join(map(str, range(400, 410))) + "\ns,3,1,5,2,9,4,6,0,7,1\nt"
            ",2,7,1,8,2,8,1,8,2,8\n",
            [str(wave) for wave in range(400, 410)],
        ),
    ],
)
def test_header(text, names):
    found = read(text).feature_names

    assert (None if found is None else found.tolist()) == names


@pytest.mark.parametrize("text", ['"a" "b"\n"s" 1 2\n"t" 3 4\n', "a,b\ns,1,2\nt,3,4\n"])
def test_header_of_r_leaves_out_the_row_names(text):
    table = read(text)

    check(table, feature_names=["a", "b"], sample_names=["s", "t"])
    assert table.id_column == ""


@pytest.mark.parametrize(
    "title", ["My study\n", "My study\n\n", "My study,,\n,,\n", '"My\nstudy"\n2020\n']
)
def test_titles_above_the_header_are_left_out_with_a_note(title):
    table = read(f"{title}id,a,b\nx,1,2\ny,3,4\n")

    assert table.values.tolist() == [[1, 2], [3, 4]]
    assert noted(table, "above the header ('My")
    assert "line" in refusal(f"{title}id,a,b\nx,1,2\ny,3,4\nz,5,six\nu,7,8\nv,1,1\n")


def test_header_may_be_forced_forbidden_or_below_other_rows():
    text = "A study, of 2020\nid,a,b\nx,1,2\ny,3,4\n"

    refused(r"skip the lines above the table \(--skip-rows 1\)", text)
    check(read(text, skip_rows=1), [[1, 2], [3, 4]])
    check(read("1,2\n3,4\n5,6\n", header=True), feature_names=["1", "2"])
    assert read("0,1,2,3\n5,5,5,5\n1,0,2,2\n", header=False).shape == (3, 4)


def test_what_numpy_saves_is_read(tmp_path):
    values = np.random.default_rng(0).standard_normal((20, 6))
    np.savetxt(tmp_path / "plain.txt", values, fmt="%.18e")
    np.savetxt(tmp_path / "named.txt", values, fmt="%.18e", header="a b c d e f")
    plain, named = (read_table(tmp_path / f"{n}.txt") for n in ("plain", "named"))

    check(plain, values, feature_names=None)
    check(named, values, feature_names=list("abcdef"))


# Columns: numbers, text, names of samples, labels.


def test_text_empty_columns_and_empty_rows_are_left_out_by_name(reader):
    table = read(
        "a,city,b,day,c\n\n1,Rom,2,2020-01-01,\n,,,,\n  \n3,Rom,4,2020-01-02,\n"
    )

    check(table, [[1, 2], [3, 4]], feature_names=["a", "b"])
    assert "2 columns ('city' and 'day') are text and were left out." in table.notes
    assert "Column 'c' is empty and was left out." in table.notes
    assert "Rows without any value were left out: 1." in table.notes


@pytest.mark.parametrize("line", [2, 3, 60, 4000])
def test_stray_text_is_refused_with_column_line_and_value(reader, line):
    lines = ["a,b", *["1,2"] * 4000]
    lines[line - 1] = "1,high"
    sentence = refusal("\n".join(lines))

    assert f"column 'b' is numeric except for 'high' in line {line};" in sentence
    assert "--drop 'b'" in sentence
    assert read("\n".join(lines), drop=["b"]).shape == (4000, 1)


def test_the_majority_decides_what_a_column_is(reader):
    few, many = 400, 1000
    numbers_last = ["a,b", *["1,word"] * many, *["2,7"] * few]
    numbers_first = ["a,b", *["1,7"] * few, *["2,word"] * many]
    text_first = ["a,b", *["1,word"] * few, *["2,7"] * many]

    assert read("\n".join(numbers_last)).feature_names.tolist() == ["a"]
    assert read("\n".join(numbers_first)).feature_names.tolist() == ["a"]
    assert "'word' in line 2 and 399 more such cells" in refusal("\n".join(text_first))


def test_lines_within_quotes_are_counted(reader):
    assert "'oops' in line 5" in refusal('id,a\n"x\ny",1\nz,2\nu,oops\nv,4\n')


@pytest.mark.parametrize("bad", ["1,2,3", "1"])
@pytest.mark.parametrize("line", [3, 2500])
def test_ragged_row_is_refused_with_its_line(reader, bad, line):
    lines = ["a,b", *["1,2"] * 3000]
    lines[line - 1] = bad
    sentence = refusal("\n".join(lines))

    assert f"{bad.count(',') + 1} cells in line {line}, but 2" in sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n\n", "has no data"),
        ("a,b\n", "has a header and no data"),
        ("a,b\n1,2\n", "1 row of data"),
        ("a,b\nx,y\nu,v\n", "no numeric column to select from, only 'a' and 'b'"),
        ('a,b\n"1,2\n3,4\n', "close its quotation marks"),
        ("a,b\n1,2\n3,\0\n", "unknown format"),
        ("a,b\n" + "1,2\n" * 2000 + "3,\0\n", "NUL bytes"),
        (b"a,b\n1," + b"1" * 200_000 + b"\n3,4\n", "more than 131072 characters"),
        (b"a,b\n1," + b"\xff" * 200_000 + b"\n3,4\n", "more than 131072 characters"),
        ('a,b\n1,"' + "x" * 131_073 + '"\n3,4\n', "more than 131072 characters"),
    ],
    ids=itertools.count(),
)
def test_useless_table_is_refused(text, words):
    refused(words, text)


@pytest.mark.parametrize("option", ["labels", "id_column", "drop"])
def test_unknown_column_is_refused_with_the_nearest(option):
    text = "sample,weight,Class\na,1,x\nb,2,y\n"

    refused(r"no column 'class'; did you mean 'Class'\?", text, **{option: "class"})
    refused("it has 'sample', 'weight' and 'Class'", text, **{option: "zzz"})


def test_names_and_roles_of_columns():
    twice = read("a,a,a_2,a\n1,2,3,4\n5,6,7,9\n")
    labelled = read("a,class,b\n1,1,2\n3,0,4\n", labels="class")
    placed = read("1,2,x\n3,4,y\n5,1,z\n", labels="3", drop=["x1"])

    assert twice.feature_names.tolist() == ["a", "a_3", "a_2", "a_4"]
    assert "Names that occur more than once were numbered: 'a'." in twice.notes
    check(labelled, feature_names=["a", "b"], labels=["1", "0"])
    assert labelled.label_column == "class"
    assert noted(read("a,Class\n1,2\n3,4\n"), "--labels Class")
    assert not noted(labelled, "--labels")
    check(placed, [[2], [4], [1]], feature_names=["x2"], labels=["x", "y", "z"])
    sentence = refusal("a,b,c\n1,2,3\n4,5,6\n", labels="c", drop=["c"])
    assert "'c' cannot be both dropped and used" in sentence


def test_the_first_column_names_the_samples_if_it_can():
    unique, repeated = read("who,a\nx,1\ny,2\n"), read("who,a\nx,1\nx,2\n")

    check(unique, sample_names=["x", "y"])
    assert unique.id_column == "who"
    check(repeated, sample_names=None)
    assert "Column 'who' is text and was left out." in repeated.notes
    for title in ("", "id", "ID", "Unnamed: 0", "sample_id"):
        table = read(f"{title},a\n0,1.5\n1,2.5\n2,3.5\n")
        check(table, feature_names=["a"], sample_names=["0", "1", "2"])
        assert table.id_column == title


# Samples in columns.


def test_table_of_genes_is_transposed(reader):
    table = read(GENES)

    assert table.values.tolist() == [[1, 3, 5], [2, 4, 6]]
    assert table.values.flags.c_contiguous
    check(table, feature_names=["TP53", "MYC", "KRAS"], sample_names=["s1", "s2"])
    assert noted(table, "--no-transpose")
    assert "Column 'gene' holds feature names." in table.notes
    assert read(GENES, transpose=False).shape == (3, 2)
    assert read(GENES.replace("gene", "patient")).shape == (3, 2)
    refused(r"no row 'TP35'; did you mean 'TP53'\?", GENES, drop=["TP35"])


@pytest.mark.parametrize("names", ["ENSG00000141510 ENSG00000141511", "1007_s_at 1_at"])
def test_names_of_genes_transpose_a_table(names):
    first, second = names.split()
    table = read(f"x,s1,s2\n{first},1,2\n{second},3,4\n")

    assert table.feature_names.tolist() == [first, second]
    assert read("entrez_id,s1,s2\n7157,1,2\n4609,3,4\n").feature_names[0] == "7157"
    assert read("gene,s1,s2\nA,1,2\nA,3,4\n").feature_names.tolist() == ["A", "A_2"]


def test_labels_and_dropped_features_of_a_transposed_table_are_rows(reader):
    text = "gene,s1,s2,s3\nclass,u,v,u\nTP53,1,2,3\nplate,A,B,A\nMYC,4,5,6\n"
    table = read(text, labels="class", drop=["plate"])

    check(table, [[1, 4], [2, 5], [3, 6]], labels=["u", "v", "u"])
    check(read("1,2,3\n4,5,6\n", transpose=True), [[1, 4], [2, 5], [3, 6]])


def test_series_matrix_of_geo_is_read(reader):
    table = read(
        '!Series_title\t"A study"\n!Sample_title\t"one"\t"two"\n\n'
        '!series_matrix_table_begin\n"ID_REF"\t"GSM1"\t"GSM2"\n'
        '"1007_s_at"\t7.5\t8\n"1053_at"\t5\tnull\n"117_at"\t1\t2\n'
        "!series_matrix_table_end\n"
    )

    check(table, feature_names=["1007_s_at", "1053_at", "117_at"])
    check(table, sample_names=["GSM1", "GSM2"])
    assert table.values[0].tolist() == [7.5, 5, 1]
    assert table.incomplete().tolist() == ["1053_at"]


def test_a_sample_may_be_called_like_a_line_of_geo(reader):
    table = read("!Sample_id,x,y\n!Sample_1,1,2\n!series_matrix_table_end,3,4\n")

    check(table, [[1, 2], [3, 4]], feature_names=["x", "y"])


# What is written as text is read back the same, whatever numbers and names it has.

DETAILS = [
    {"delimiter": ","},
    {"delimiter": "\t"},
    {"delimiter": ";"},
    {"delimiter": ";", "decimal": ","},
]


@settings(deadline=None, max_examples=200)
@given(
    st.data(),
    st.sampled_from([np.float64, np.float32]),
    st.sampled_from(DETAILS),
    st.sampled_from([0, 1 << 16]),
)
def test_text_gives_back_numbers_and_names(data, dtype, details, small):
    numbers = st.floats(width=8 * np.dtype(dtype).itemsize)
    values = data.draw(arrays.arrays(dtype, (5, 4), elements=numbers))
    # A row and a column of nothing would be left out.
    values[0], values[:, 0] = 1, 2
    free = NAMES.filter(lambda name: name.lower() != "id")
    names = data.draw(st.lists(free, min_size=4, max_size=4, unique_by=str.lower))
    samples = data.draw(st.lists(NAMES, min_size=5, max_size=5))
    origin = Origin("nowhere", "nothing", None, {"header": True, **details})
    table = Table(
        values, as_names(names), as_names(samples), "id", None, None, "text", (), origin
    )
    asked = {"header": True, "id_column": "id", "transpose": False, "use": names}
    with mock.patch.object(text_module, "SMALL_BLOCK", small):
        again = read(written(table, range(4)), dtype=dtype, **asked)

    check(again, values, feature_names=names, sample_names=samples)


@settings(deadline=None, max_examples=300)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.text(st.sampled_from(list('0123.-e,;|\t "#ab_\n')), max_size=60).map(
            str.encode
        ),
    ),
    st.sampled_from([None, True, False]),
    st.sampled_from([None, True, False]),
)
def test_anything_is_a_table_or_refused_in_one_sentence(content, header, transpose):
    found = []
    for small in (1 << 16, 0):
        with mock.patch.object(text_module, "SMALL_BLOCK", small):
            try:
                table = read(content, header=header, transpose=transpose)
            except TableError as error:
                assert "\n" not in str(error)  # noqa: PT017 - or nothing is raised
                found.append(str(error))
                continue
        assert table.values.shape[1] == len(table.names())
        found.append((table.values.tolist(), table.names().tolist(), table.notes))
    assert repr(found[0]) == repr(found[1])

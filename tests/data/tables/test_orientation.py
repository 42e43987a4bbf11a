"""Samples in columns: recognised where that is clear, and turned on request."""

from io import BytesIO

import pytest

from ufselect.data import TableError, read_table

GENES = "gene,s1,s2\nTP53,1,2\nMYC,3,4\nKRAS,5,6\n"


def read(text, **options):
    return read_table(BytesIO(text.encode()), **options)


def test_table_of_genes_is_turned():
    table = read(GENES)

    assert table.values.tolist() == [[1, 3, 5], [2, 4, 6]]
    assert table.values.flags.c_contiguous
    assert table.feature_names.tolist() == ["TP53", "MYC", "KRAS"]
    assert table.sample_names.tolist() == ["s1", "s2"]
    assert any("--no-transpose" in note for note in table.notes)


def test_table_of_genes_is_left_on_request():
    assert read(GENES, transpose=False).shape == (3, 2)


@pytest.mark.parametrize("name", ["ENSG00000141510", "1007_s_at", "NM_000546.5"])
def test_names_of_genes_turn_a_table(name):
    table = read(f"x,s1,s2\n{name},1,2\n{name}1,3,4\n".replace("at1", "at"))

    assert table.shape == (2, 2)
    assert table.sample_names.tolist() == ["s1", "s2"]


def test_numbers_may_name_genes():
    table = read("entrez_id,s1,s2\n7157,1,2\n4609,3,4\n3845,5,6\n")

    assert table.values.tolist() == [[1, 3, 5], [2, 4, 6]]
    assert table.feature_names.tolist() == ["7157", "4609", "3845"]


def test_other_tables_are_not_turned():
    table = read(GENES.replace("gene", "patient"))

    assert table.shape == (3, 2)
    assert not any("turn" in note for note in table.notes)


def test_suspicion_is_said():
    rows = "".join(f"q{row},1,2,3\n" for row in range(40))
    table = read("name,GSM1,GSM2,GSM3\n" + rows)

    assert table.shape == (40, 3)
    assert any("--transpose" in note for note in table.notes)


@pytest.mark.parametrize(
    ("title", "stem", "suspected"),
    [("", "TP", True), ("", "", False), ("patient", "TP", False)],
)
def test_many_rows_named_as_r_and_pandas_write_genes_are_suspected(
    title, stem, suspected
):
    rows = "".join(f"{stem}{row},1.5,2\n" for row in range(20))
    table = read(f"{title},ann,bob\n{rows}")

    assert table.shape == (20, 2)
    assert any("--transpose" in note for note in table.notes) == suspected


def test_the_column_of_genes_is_said_to_name_features():
    assert "Column 'gene' names the features." in read(GENES).notes


def test_plain_numbers_are_turned_on_request():
    assert read("1,2,3\n4,5,6\n", transpose=True).values.tolist() == [
        [1, 4],
        [2, 5],
        [3, 6],
    ]


def test_labels_and_dropped_features_are_rows_then():
    text = "gene,s1,s2,s3\nclass,u,v,u\nTP53,1,2,3\nplate,A,B,A\nMYC,4,5,6\n"
    table = read(text, labels="class", drop=["plate"])

    assert table.values.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert table.labels.tolist() == ["u", "v", "u"]


def test_unknown_row_is_refused_with_the_nearest():
    with pytest.raises(TableError, match=r"no row 'TP35'; did you mean 'TP53'\?"):
        read(GENES, drop=["TP35"])


def test_repeated_genes_are_numbered():
    table = read("gene,s1,s2\nA,1,2\nA,3,4\n")

    assert table.feature_names.tolist() == ["A", "A_2"]


def test_series_matrix_of_geo_is_read():
    table = read(
        '!Series_title\t"A study"\n!Sample_title\t"one"\t"two"\n\n'
        '!series_matrix_table_begin\n"ID_REF"\t"GSM1"\t"GSM2"\n'
        '"1007_s_at"\t7.5\t8\n"1053_at"\t5\tnull\n"117_at"\t1\t2\n'
        "!series_matrix_table_end\n"
    )

    assert table.feature_names.tolist() == ["1007_s_at", "1053_at", "117_at"]
    assert table.sample_names.tolist() == ["GSM1", "GSM2"]
    assert table.values[0].tolist() == [7.5, 5, 1]
    assert table.incomplete().tolist() == ["1053_at"]

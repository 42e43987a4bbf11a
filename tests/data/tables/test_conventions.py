"""How numbers are written: each column is read rightly, or refused with an option."""

import random
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from table_reading import check, noted, read, refused
from written_numbers import random_table

from ufselect.data import TableError, read_table

NAN = np.nan
APOSTROPHE = "\N{RIGHT SINGLE QUOTATION MARK}"
SPACES = ["\u00a0", "\u202f", "\u2009"]


@pytest.fixture(autouse=True, params=["cells", "pyarrow"])
def reader(request, monkeypatch):
    """Let small tables be read in both ways that large ones are."""
    if request.param == "pyarrow":
        monkeypatch.setattr("ufselect.data.tables.text.SMALL_BLOCK", 0)


def column(*cells, beside="", delimiter=";", **options):
    """Return the numbers of a column, and of one beside it, in a file."""
    rows = [f'"{cell}"{delimiter}"{beside}"{delimiter}t\n' for cell in cells]
    text = f"a{delimiter}b{delimiter}c\n{''.join(rows)}"
    table = read(text, use=["a"], **options)
    return table.values[:, 0].tolist()


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|", " "])
@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["999.5", "1,234.5", "2,345", "1,234,567"], [999.5, 1234.5, 2345, 1234567]),
        (["999,5", "1.234,5", "2.345", "1.234.567"], [999.5, 1234.5, 2345, 1234567]),
        (["0,125", "1,853"], [0.125, 1.853]),
        (["12,3456", "1,853"], [12.3456, 1.853]),
        (["1.234e5", "1.5"], [123400, 1.5]),
        (["1,234E+05", "1,853"], [123400, 1.853]),
        (["1.853", "2.201"], [1.853, 2.201]),
        (["1'234.5", "999", "-1'234"], [1234.5, 999, -1234]),
        ([f"1{APOSTROPHE}234,5", f"2{APOSTROPHE}000"], [1234.5, 2000]),
        *(([f"1{each}234,5", f"12{each}000"], [1234.5, 12000]) for each in SPACES),
        (["\N{MINUS SIGN}1.5", "+2.5", " 3 "], [-1.5, 2.5, 3]),
        (["1.234.567", "1.853"], [1234567, 1853]),
        (["1,234", "0,5"], [1.234, 0.5]),
        (["1e-3", "2E4", "inf", "-Infinity"], [0.001, 20000, np.inf, -np.inf]),
        (["TRUE", "false", "2"], [1, 0, 2]),
        (["5%", "12.5 %"], [5, 12.5]),
        (["-$5", "$-6", "$1,234.50"], [-5, -6, 1234.5]),
        (["9,50 €", "1.234,00 €"], [9.5, 1234]),
        (["CHF 1'234.50", "CHF -2"], [1234.5, -2]),
    ],
    ids=lambda cells: " ".join(map(str, cells)),
)
def test_cells_that_prove_their_convention_are_read(cells, numbers, delimiter):
    assert column(*cells, delimiter=delimiter) == numbers


@pytest.mark.parametrize(
    ("beside", "numbers"),
    [("0.5", [999, 1234]), ("0,5", [999, 1.234]), ("1.234,5", [999, 1.234])],
)
def test_neighbours_decide_a_column_that_proves_nothing(beside, numbers):
    assert column("999", "1,234", beside=beside) == numbers
    points = [1.853, 2.5] if beside == "0.5" else [1853, 2500]
    assert column("1.853", "2.500", beside=beside) == points


@pytest.mark.parametrize("row", [0, 150, 1999])
@pytest.mark.parametrize("place", ["itself", "beside it"])
def test_one_cell_far_from_the_others_is_proof_enough(row, place):
    cells = [f"{1 + i % 9},{i % 10}{i % 9}{i % 8}" for i in range(2000)]
    beside = ["5"] * 2000
    (cells if place == "itself" else beside)[row] = "2201.4"
    text = "".join(f"{a};{b}\n" for a, b in zip(cells, beside, strict=True))
    table = read(f"a;b\n{text}", use=["a", "b"])

    expected = [float(cell.replace(",", "")) for cell in cells]
    assert table.values[:, 0].tolist() == expected


@pytest.mark.parametrize(
    ("cells", "beside", "sign", "readings"),
    [
        (["999", "1,853"], "7", ",", (1.853, 1853)),
        (["1.853", "2,201"], "7", ".", (1.853, 1853)),
        (["1,853", "2.201"], "7", ",", (1.853, 1853)),
    ],
)
def test_a_column_that_nothing_decides_is_refused(cells, beside, sign, readings):
    with pytest.raises(TableError) as caught:
        column(*cells, beside=beside)
    sentence = str(caught.value)
    assert "column 'a' has '1" in sentence
    assert f"(--decimal {sign} or --thousands {sign})" in sentence
    for remedy, reading in zip(caught.value.remedies, readings, strict=True):
        option, _, value = remedy.options[0].partition("=")
        found = column(*cells, beside=beside, **{option.strip("-"): value})
        assert reading in found


def test_two_proofs_leave_other_columns_undecided():
    text = "a;b;c\n1.5;2,5;1.853\n1.25;2,25;2.500\n"
    points = read("a;b\n1.5;2,5\n1.25;2,25\n")

    check(points, [[1.5, 2.5], [1.25, 2.25]])
    assert noted(points, "different decimal signs: points in 'a' and commas in 'b'")
    refused("'c' has '1.853' in line 2, which is 1.853 with decimal points", text)
    assert read(text, decimal=",").values[:, 2].tolist() == [1853, 2500]
    assert read(text, thousands=",").values[:, 2].tolist() == [1.853, 2.5]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["10%", "0.2"], "'10%' in line 2 and '0.2' in line 3; give all its cells"),
        (["$10", "€20", "£5"], "has '\\$10' in line 2 and '€20' in line 3"),
        (["1,23,456", "2,345"], "'1,23,456' in line 2, which is not a number"),
        (["(5)", "1.5"], "'\\(5\\)' in line 2, which is not a number"),
        (["5-", "1.5"], "'5-' in line 2, which is not a number"),
        (["1,5", "2.25"], "'1,5' in line 2 and '2.25' in line 3, which no decimal"),
        (["1.5", "2.5", "1_000"], "numeric except for '1_000' in line 4"),
        (["1.5", "2.5", "0x1A"], "numeric except for '0x1A' in line 4"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_columns_without_one_convention_are_refused(cells, words):
    rows = "".join(f"{cell};{place}\n" for place, cell in enumerate(cells))
    error = refused(words, f"a;b\n{rows}")
    assert error.remedies[-1].options == ("--drop=a",)


@pytest.mark.parametrize("word", ["12.03.2020", "10:30", "192.168.1.1", "1-2", "3rd"])
def test_dates_and_the_like_are_text_and_named(word):
    table = read(f"a;b\n{word};1.5\n{word};2.5\n")
    assert "Column 'a' is text and was left out." in table.notes


def test_a_comma_below_one_name_is_asked_for():
    error = refused("a decimal sign or a delimiter; say which", "a\n1,5\n2,5\n")
    assert error.remedies[0].options == ("--delimiter=;",)
    check(read("a\n1,5\n2,5\n", delimiter=";"), [[1.5], [2.5]])
    check(read("a\n1,5\n2,5\n", delimiter=","), [[5], [5]], sample_names=["1", "2"])
    check(read('"a"\n"p",5\n"q",5\n'), [[5], [5]], sample_names=["p", "q"])


def test_a_comma_after_a_blank_is_asked_for():
    text = "low 9,790\nhigh 28.259,374\n"
    error = refused("commas may be delimiters or decimal signs; say which", text)
    assert [each.options for each in error.remedies] == [
        ("--delimiter=,",),
        ("--delimiter=space",),
    ]
    check(read(text, delimiter="space"), [[9.79], [28259.374]])
    check(read("a, b\n1, 2\n3, 4\n"), [[1, 2], [3, 4]])


def test_options_name_the_delimiter_and_the_signs():
    commas = read("a,b;c\n1,2\n3,5\n", delimiter=",")
    assert commas.feature_names.tolist() == ["a", "b;c"]
    tabs = read("a b\tc\n1\t2\n4\t5\n", delimiter="tab")
    assert tabs.feature_names.tolist() == ["a b", "c"]
    blanks = read("a  c\n1 2\n4    5\n", delimiter="space")
    check(blanks, [[1, 2], [4, 5]], feature_names=["a", "c"])
    with pytest.raises(ValueError, match="decimal and thousands are both ','"):
        read("a\n1\n2\n", decimal=",", thousands=",")
    with pytest.raises(ValueError, match="the decimal sign is a point or a comma"):
        read("a\n1\n2\n", decimal="x")


@pytest.mark.parametrize("ending", ["parquet", "feather", "xlsx"])
def test_numbers_stored_as_text_are_read_as_in_csv(tmp_path, ending):
    pytest.importorskip({"xlsx": "openpyxl"}.get(ending, "pyarrow"))
    frame = pd.DataFrame(
        {
            "id": ["x", "y", "z"],
            "a": ["1,5", "2.125,25", None],
            "b": ["2,125", "7", "8"],
            "kind": pd.Categorical(["u", "v", "u"]),
        }
    )
    path = tmp_path / f"a.{ending}"
    if ending == "xlsx":
        frame.to_excel(path, index=False)
    else:
        getattr(frame, f"to_{ending}")(path)
    table = read_table(path)

    check(table, [[1.5, 2.125], [2125.25, 7], [NAN, 8]], sample_names=list("xyz"))


def outcome(written, **options):
    """Return "read", "left out", "misread", or the error with which it is refused."""
    try:
        table = read_table(BytesIO(written.content), **options)
    except TableError as error:
        return error
    found = dict(zip(table.places.tolist(), table.values.T, strict=True))
    for place, numbers in written.columns.items():
        known = np.delete(numbers, written.empty_rows)
        if place in found and not np.array_equal(found[place], known, equal_nan=True):
            return "misread"
    return "read" if written.columns.keys() <= found.keys() else "left out"


def check_tables(seed, number):
    refusals = 0
    for each in range(number):
        written = random_table(random.Random(f"{seed} {each}"))
        said = (seed, each, written.description, written.options)
        found = outcome(written)
        if isinstance(found, TableError):
            refusals += 1
            options = {o.partition("=")[0] for r in found.remedies for o in r.options}
            assert options & {"--decimal", "--na", "--delimiter"}, (said, str(found))
            found = outcome(written, **written.options)
            assert found == "read", (said, str(found))
        elif found == "left out":  # a counter of the rows, once in a thousand tables
            refusals += 1
        assert found != "misread", said
    assert refusals <= 0.05 * number


def test_random_tables_are_read_back_or_refused_with_the_option():
    check_tables(seed=0, number=300)


@pytest.mark.nightly
def test_many_random_tables_are_read_back_or_refused_with_the_option():
    check_tables(seed=1, number=20_000)

"""Whether the first row of a text table names the columns."""

from io import BytesIO

import numpy as np
import pytest

from ufselect.data import read_table


def read(text, **options):
    return read_table(BytesIO(text.encode()), **options)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1,2\n3,4\n", ["a", "b"]),
        ("1,2\n3,4\n", None),
        ("0,1\n1,0\n1,1\n", None),
        ("0,1,2,3\n5,5,5,5\n1,0,2,2\n", ["0", "1", "2", "3"]),
        ("0,1,2,3\n4,5,6,7\n8,9,10,11\n", None),
        (",x,y\n1,2,3\n2,4,5\n", ["x", "y"]),
        ("# a, b\n1,2\n3,4\n", ["a", "b"]),
        ("# made by hand\n1,2\n3,4\n", None),
        ("# made by hand\n#OTU\tx\ty\nq\t1\t2\nr\t3\t4\n", ["q", "r"]),
        ("sep=;\na;b\n1;2\n3;4\n", ["a", "b"]),
        ("a,b,\n1,2,\n3,4,\n", ["a", "b"]),
        ("a,b\n1,2,\n3,4,\n", ["a", "b"]),
        ("a,b\nNA,2\nNA,4\n1,2\n", ["a", "b"]),
    ],
)
def test_header(text, names):
    found = read(text).feature_names

    assert (None if found is None else found.tolist()) == names


def test_wavelengths_are_names():
    waves = [str(400 + 2.5 * step) for step in range(10)]
    below = "\n".join(f"s{row}," + ",".join("3152946071"[row:]) for row in range(1))
    text = "id," + ",".join(waves) + "\n" + below + "\ns2," + ",".join("2718281828")

    assert read(text).feature_names.tolist() == waves


@pytest.mark.parametrize("text", ['"a" "b"\n"s" 1 2\n"t" 3 4\n', "a,b\ns,1,2\nt,3,4\n"])
def test_header_of_r_leaves_out_the_row_names(text):
    table = read(text)

    assert table.feature_names.tolist() == ["a", "b"]
    assert table.sample_names.tolist() == ["s", "t"]
    assert table.id_column == ""


def test_header_may_be_forced_or_forbidden():
    assert read("1,2\n3,4\n5,6\n", header=True).feature_names.tolist() == ["1", "2"]
    assert read("0,1,2,3\n5,5,5,5\n1,0,2,2\n", header=False).shape == (3, 4)


def test_what_numpy_saves_is_read(tmp_path):
    random = np.random.default_rng(0)
    values = random.standard_normal((20, 6))
    np.savetxt(tmp_path / "plain.txt", values, fmt="%.18e")
    np.savetxt(tmp_path / "named.txt", values, fmt="%.18e", header="a b c d e f")
    plain, named = (read_table(tmp_path / f"{n}.txt") for n in ("plain", "named"))

    np.testing.assert_array_equal(plain.values, values)
    np.testing.assert_array_equal(named.values, values)
    assert plain.feature_names is None
    assert named.feature_names.tolist() == list("abcdef")

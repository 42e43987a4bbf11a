"""What is written as text is read back the same, whatever numbers and names it has."""

from io import BytesIO

import hypothesis.extra.numpy as arrays
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ufselect.data import TableError, read_table, write_table
from ufselect.data.tables.table import Origin, Table, as_names

# Names are stripped on reading, and control characters are for no name.
CHARACTERS = st.characters(exclude_categories=["C", "Zl", "Zp"])
NAME = st.text(CHARACTERS, min_size=1, max_size=8).map(str.strip).filter(bool)


@st.composite
def tables(draw, dtype):
    shape = draw(st.tuples(st.integers(2, 6), st.integers(1, 5)))
    width = 64 if dtype == np.float64 else 32
    numbers = st.floats(allow_nan=True, allow_infinity=True, width=width)
    values = draw(arrays.arrays(dtype, shape, elements=numbers))
    # A column of nothing would be left out, and so would a row of nothing.
    values[np.isnan(values).all(axis=1), 0] = 1
    values[0, np.isnan(values).all(axis=0)] = 1
    names = draw(
        st.lists(NAME, min_size=shape[1], max_size=shape[1], unique_by=str.lower)
    )
    samples = draw(st.lists(NAME, min_size=shape[0], max_size=shape[0]))
    return values, names, samples


def copied(values, names, samples, details, dtype):
    origin = Origin("nowhere", "nothing", None, {"header": True, **details})
    table = Table(
        values, as_names(names), as_names(samples), "id", None, None, "text", (), origin
    )
    stream = BytesIO()
    write_table(table, np.arange(len(names)), stream)
    stream.seek(0)
    return read_table(stream, header=True, id_column="id", transpose=False, dtype=dtype)


@settings(deadline=None, max_examples=150)
@given(
    tables(np.float64),
    st.sampled_from(
        [
            {"delimiter": ","},
            {"delimiter": "\t"},
            {"delimiter": ";"},
            {"delimiter": ";", "decimal": ","},
        ]
    ),
)
def test_text_gives_back_numbers_and_names(content, details):
    values, names, samples = content
    names = [name for name in names if name.lower() != "id"]
    values = values[:, : len(names)]
    if not names or np.isnan(values).all(axis=1).any():
        return
    again = copied(values, names, samples, details, np.float64)

    np.testing.assert_array_equal(again.values, values)
    assert again.feature_names.tolist() == names
    assert again.sample_names.tolist() == samples


@settings(deadline=None, max_examples=50)
@given(tables(np.float32))
def test_text_gives_back_single_precision(content):
    values, _, samples = content
    names = [f"f{place}" for place in range(values.shape[1])]
    again = copied(values, names, samples, {"delimiter": ","}, np.float32)

    np.testing.assert_array_equal(again.values, values)


def attempted(content, **options):
    try:
        return read_table(BytesIO(content), **options), ""
    except TableError as error:
        return None, str(error)


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
    table, sentence = attempted(content, header=header, transpose=transpose)

    assert "\n" not in sentence
    assert table is None or table.values.shape[1] == len(table.names())

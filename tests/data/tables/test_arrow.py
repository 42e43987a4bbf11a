"""Parquet and Feather files that pandas and pyarrow wrote."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from ufselect.data import TableError, read_table, write_table


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "who": ["x", "y", "z"],
            "height": [1.5, np.nan, 3.0],
            "count": pd.array([1, 2, None], dtype="Int64"),
            "flag": [True, False, True],
            "when": pd.to_datetime(["2020-01-01"] * 3),
            "kind": pd.Categorical(["u", "v", "u"]),
        }
    )


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_feather(path)


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_columns_are_read_by_their_type(tmp_path, frame, ending):
    write(frame, tmp_path / f"a.{ending}")
    table = read_table(tmp_path / f"a.{ending}", labels="kind")

    np.testing.assert_array_equal(
        table.values, [[1.5, 1, 1], [np.nan, 2, 0], [3, np.nan, 1]]
    )
    assert table.feature_names.tolist() == ["height", "count", "flag"]
    assert table.sample_names.tolist() == ["x", "y", "z"]
    assert table.labels.tolist() == ["u", "v", "u"]
    assert "Columns without numbers were left out: 'when'." in table.notes


def test_index_of_pandas_names_the_samples(tmp_path, frame):
    frame.index = pd.Index([7, 8, 9])
    frame.set_index("who", append=False).to_parquet(tmp_path / "named.parquet")
    frame[["height", "flag"]].to_parquet(tmp_path / "numbered.parquet")

    assert read_table(tmp_path / "named.parquet").sample_names.tolist() == list("xyz")
    assert read_table(tmp_path / "numbered.parquet").sample_names.tolist() == list(
        "789"
    )


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_large_table_is_read_in_batches(tmp_path, monkeypatch, ending):
    monkeypatch.setattr("ufselect.data.tables.arrow.BATCH_CELLS", 100)
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.standard_normal((77, 12))).add_prefix("g")
    write(frame, tmp_path / f"a.{ending}")
    table = read_table(tmp_path / f"a.{ending}")

    np.testing.assert_array_equal(table.values, frame.to_numpy())
    assert table.values.flags.c_contiguous


def test_float32_and_decimal_numbers(tmp_path):
    single = pa.table({"a": pa.array([1, 2], pa.float32())})
    exact = pa.table({"a": pa.array([Decimal("1.25"), Decimal("2.50")])})
    pyarrow.parquet.write_table(single, tmp_path / "single.parquet")
    pyarrow.parquet.write_table(exact, tmp_path / "exact.parquet")

    assert read_table(tmp_path / "single.parquet").values.dtype == np.float32
    assert read_table(tmp_path / "exact.parquet").values.tolist() == [[1.25], [2.5]]


def test_what_polars_writes_is_read(tmp_path):
    frame = polars.DataFrame({"a": [1, 2], "b": [0.5, None], "c": ["u", "u"]})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ipc(tmp_path / "a.arrow")

    for name in ("a.parquet", "a.arrow"):
        table = read_table(tmp_path / name)
        np.testing.assert_array_equal(table.values, [[1, 0.5], [2, np.nan]])
        assert table.sample_names is None


def test_table_of_genes_is_turned_and_written_so(tmp_path):
    frame = pd.DataFrame({"gene": ["A", "B", "C"], "s1": [1, 2, 3], "s2": [4, 5, 6]})
    frame.to_parquet(tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet", labels="B")
    write_table(table, [1], tmp_path / "b.parquet")

    assert table.values.tolist() == [[1, 3], [4, 6]]
    assert table.labels.tolist() == ["2", "5"]
    assert pd.read_parquet(tmp_path / "b.parquet").to_dict("list") == {
        "gene": ["C"],
        "s1": [3],
        "s2": [6],
    }


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_types_are_kept_on_writing(tmp_path, frame, ending):
    source, target = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    write(frame, source)
    write_table(read_table(source, labels="kind"), [2, 1], target)
    reader = pd.read_parquet if ending == "parquet" else pd.read_feather
    written = reader(target)

    assert written.columns.tolist() == ["who", "count", "flag", "kind"]
    assert written["flag"].dtype == bool
    assert written["flag"].tolist() == [True, False, True]
    assert written["kind"].tolist() == ["u", "v", "u"]


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize("kept", [0.5, 0.98])
def test_file_that_is_cut_off_is_refused(tmp_path, frame, ending, kept):
    path = tmp_path / f"a.{ending}"
    write(frame, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])

    with pytest.raises(TableError, match="cut off or damaged"):
        read_table(path)


def test_columns_of_one_name_are_refused(tmp_path):
    table = pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    pyarrow.feather.write_feather(table, str(tmp_path / "a.feather"))

    with pytest.raises(TableError, match="two columns of one name, 'a'; rename"):
        read_table(tmp_path / "a.feather")


def test_file_without_numbers_is_refused(tmp_path):
    pd.DataFrame({"a": ["u", "u"]}).to_parquet(tmp_path / "a.parquet")

    with pytest.raises(TableError, match="no numeric column to select from, only 'a'"):
        read_table(tmp_path / "a.parquet")

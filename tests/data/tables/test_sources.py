"""Where bytes come from: paths, streams, standard input, compressed files."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from ufselect.data import TableError, read_table

TEXT = b"a,b\n1,2\n3,4\n"
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed_text_is_read(tmp_path, ending):
    path = tmp_path / f"table.csv.{ending}"
    path.write_bytes(PACKERS[ending](TEXT))
    table = read_table(path)

    assert table.values.tolist() == [[1, 2], [3, 4]]
    assert table.format == "text"


@pytest.mark.parametrize("ending", PACKERS)
def test_compression_is_known_without_a_name(ending):
    table = read_table(io.BytesIO(PACKERS[ending](TEXT)))

    assert table.values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("kept", [20, -3])
def test_compressed_file_that_is_cut_off_is_refused(tmp_path, ending, kept):
    path = tmp_path / f"table.csv.{ending}"
    noise = np.random.default_rng(0).integers(0, 9, size=(400, 9))
    text = "\n".join(",".join(map(str, row)) for row in noise.tolist())
    path.write_bytes(PACKERS[ending](text.encode())[:kept])

    with pytest.raises(TableError, match=r"cut off or damaged.*again"):
        read_table(path)


def test_compressed_array_is_read(tmp_path):
    stream = io.BytesIO()
    np.save(stream, np.eye(3))
    (tmp_path / "a.npy.gz").write_bytes(gzip.compress(stream.getvalue()))

    assert read_table(tmp_path / "a.npy.gz").values.tolist() == np.eye(3).tolist()


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(TEXT)))

    assert read_table("-").values.tolist() == [[1, 2], [3, 4]]


def test_standard_input_of_a_pipe_may_be_any_format():
    stream = io.BytesIO()
    np.save(stream, np.arange(6.0).reshape(3, 2))
    code = "from ufselect.data import read_table; print(read_table('-').values.sum())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=stream.getvalue(),
        capture_output=True,
        check=True,
    )

    assert float(done.stdout) == 15


def test_copy_of_a_stream_goes_with_the_table():
    stream = io.BytesIO()
    np.save(stream, np.eye(3))
    stream.seek(0)
    table = read_table(stream)
    copy = table.origin.path
    assert copy.exists()
    del table

    assert not copy.exists()


def test_missing_file_is_named(tmp_path):
    with pytest.raises(TableError, match=r"there is no file .*absent\.csv"):
        read_table(tmp_path / "absent.csv")


def test_folder_is_refused(tmp_path):
    with pytest.raises(TableError, match="is a folder; give the file in it"):
        read_table(tmp_path)


@pytest.mark.parametrize("name", ["a.csv", "a.npy", "a.parquet", "a.xlsx", "a.h5ad"])
def test_empty_file_is_refused(tmp_path, name):
    (tmp_path / name).touch()

    with pytest.raises(TableError, match="is empty"):
        read_table(tmp_path / name)


def test_nothing_compressed_is_nothing():
    with pytest.raises(TableError, match="is empty"):
        read_table(io.BytesIO(gzip.compress(b"")))

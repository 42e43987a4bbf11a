"""Which file to read and what it is: sources, compression, formats, packages."""

import bz2
import gzip
import itertools
import lzma
import os
import pickle
import subprocess
import sys
import zipfile
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.io
from table_reading import check, cut, noted, read, refused

from ufselect.data import read_table, write_table

TEXT = b"a,b\n1,2\n3,4\n"
FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})


def zipped(content, name="table.csv", others=()):
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
        for other in others:
            archive.writestr(other, "a,b\n1,2\n")
    return stream.getvalue()


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zip": zipped}


def content_of(write, *arguments, **options):
    """Return what a function writes to a stream."""
    stream = BytesIO()
    write(stream, *arguments, **options)
    return stream.getvalue()


def npy(values):
    return content_of(np.save, values)


def hdf5(stream, groups=(), **options):
    h5py = pytest.importorskip("h5py")
    with h5py.File(stream, "w") as file:
        file.create_dataset("X", data=np.zeros((300, 200)), **options)
        for group in groups:
            file.create_group(group)


ZEROS = np.zeros((300, 200))
ROWS = b"a,b\n" + b"1,2\n" * 30_000


def nearly_empty_workbook():
    frame = pd.DataFrame([[1] + [None] * 200 + [2]] * 400)
    return content_of(frame.to_excel, header=False, index=False)


# Functions that return the content of a file.
EXPANDING = {name: partial(pack, ROWS) for name, pack in PACKERS.items()} | {
    "npy.gz": lambda: gzip.compress(npy(ZEROS)),
    "parquet": lambda: content_of(pd.DataFrame(ZEROS).add_prefix("c").to_parquet),
    "xlsx": nearly_empty_workbook,
    "npz": lambda: content_of(np.savez_compressed, X=ZEROS),
    "hdf5": lambda: content_of(hdf5, compression="gzip"),
    "mat": lambda: content_of(scipy.io.savemat, {"X": ZEROS}, do_compression=True),
}


@pytest.mark.parametrize("kind", EXPANDING)
def test_what_expands_too_much_is_refused_unless_it_is_allowed(monkeypatch, kind):
    content = EXPANDING[kind]()
    monkeypatch.setattr("ufselect.data.tables.detection.MIN_LARGE_BYTES", 40_000)
    monkeypatch.setattr("ufselect.data.tables.detection.MAX_EXPANSION_RATIO", 1)
    monkeypatch.setattr("ufselect.data.tables.frames.MIN_CHECKED_CELLS", 0)
    error = refused(r"expands to more than .*--allow-large", content, isolate=True)

    assert error.remedies[0].options == ("--allow-large",)
    assert read(content, allow_large=True).shape[0] >= 200


def test_half_of_the_free_memory_is_the_limit(monkeypatch):
    memory = "ufselect.data.tables.detection.available_bytes"
    monkeypatch.setattr("ufselect.data.tables.detection.MIN_LARGE_BYTES", 1000)
    monkeypatch.setattr(memory, lambda: 2 * len(ROWS) + 10)
    assert read_table(BytesIO(ROWS)).shape == (30_000, 2)
    monkeypatch.setattr(memory, lambda: 2 * len(ROWS) - 10)
    refused("standard input expands to more than", ROWS)


def test_endless_lines_and_full_disks_are_one_sentence(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ufselect.data.tables.text.MAX_LINE_LENGTH", 1 << 20)
    line = b"1," * (1 << 22)
    for content in (line, gzip.compress(line), ROWS + b"\0" * 3_000_000):
        refused(r"of more than 1048576 char|has NUL bytes", content)
    monkeypatch.setattr("shutil.copyfileobj", full)
    refused(r"does not fit into .*set TMPDIR", TEXT)


def test_a_copy_of_standard_input_has_no_name(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen = []

    class Stream(BytesIO):
        def read(self, size=-1):
            seen.append(list(tmp_path.iterdir()))
            return super().read(size)

    table = read_table(Stream(npy(np.eye(3))))
    assert table.values.tolist() == np.eye(3).tolist()
    assert list(tmp_path.iterdir()) == []
    assert not any(seen)


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed_files_are_read_by_name_and_without_one(tmp_path, ending):
    path = tmp_path / f"table.csv.{ending}"
    path.write_bytes(PACKERS[ending](TEXT))

    for table in (read_table(path), read(path.read_bytes())):
        check(table, [[1, 2], [3, 4]])
        assert table.format == "text"
    assert read(zipped(TEXT, others=["__MACOSX/table"])).shape == (2, 2)
    array = read(PACKERS[ending](npy(np.eye(3))))
    check(array, np.eye(3))
    assert array.format == "npy"
    noise = np.random.default_rng(0).integers(0, 9, size=(400, 9))
    text = "\n".join(",".join(map(str, row)) for row in noise.tolist())
    path.write_bytes(PACKERS[ending](text.encode()))
    cut(path, 20, path.stat().st_size - 3)


def test_standard_input_may_be_any_format(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(TEXT)))
    assert read_table("-").values.tolist() == [[1, 2], [3, 4]]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(npy(np.eye(3)))))
    assert read_table("-").values.tolist() == np.eye(3).tolist()


def test_what_is_no_file_is_refused(tmp_path):
    refused(r"there is no file .*absent\.csv", tmp_path / "absent.csv")
    refused("is a folder; give the file in it", tmp_path)
    for name in ("a.csv", "a.npy", "a.parquet"):
        (tmp_path / name).touch()
        refused("is empty", tmp_path / name)
    refused("is empty", gzip.compress(b""))
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")  # which must not be waited for
        refused("is a pipe or a device; give a file, or -", tmp_path / "pipe")
    for source in (StringIO("a,b\n1,2\n"), pd.DataFrame(), 3):
        with pytest.raises(TypeError, match="give a path, or a file that was opened"):
            read_table(source)


def test_wrong_name_is_noted_and_the_content_read(tmp_path):
    path = tmp_path / "table.csv"
    FRAME.to_parquet(path)
    table = read_table(path)

    assert table.format == "parquet"
    assert noted(table, "is a Parquet file despite its name")
    for name in ("a.txt", "a", "a.values", "a.1"):
        (tmp_path / name).write_bytes(TEXT)
        assert read_table(tmp_path / name).shape == (2, 2)
    for ending in ("parquet", "feather", "xlsx", "npy", "npz", "h5ad", "mtx"):
        (tmp_path / f"a.{ending}").write_bytes(TEXT)
        refused(r"begins like text; rename it as \.csv", tmp_path / f"a.{ending}")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x89PNG\r\n", "is a picture"),
        (b"\x28\xb5\x2f\xfd", r"compressed with Zstandard; .*\(zstd -d\)"),
        (b"7z\xbc\xaf\x27\x1c", "is a 7-Zip archive; unpack it first"),
        (b"%PDF-1.7", "is a PDF document; export the table as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", r"old Excel file \(\.xls\); save it as \.xlsx"),
        (b"SQLite format 3\0", "is an SQLite database"),
        (pickle.dumps(FRAME), "is a pickle, which can run any program"),
        (b"\x01\x00\x02\x00" * 50, "has an unknown format; give one of .csv"),
        (gzip.compress(b"X\n\0\0\0\3"), r"is an R object \(\.rds, .*write\.csv in R"),
        (b"RDX3\nX\n", "is an R object"),
        (zipped("", "content.xml", ["META-INF/manifest.xml"]), r"\(\.ods\); save"),
        (zipped(TEXT, others=["b"]), "of 2 files, 'table.csv' and 'b'; unpack it"),
        (zipped(zipped(TEXT)), "is an archive in an archive"),
        (b'\xef\xbb\xbf[{"a": 1.5, "b": 2}]', "is JSON; save the table as CSV"),
        (b'{"a": [1, 2]}', "is JSON; save the table as CSV"),
        (b"\n<!DOCTYPE html><table>", "is a web page"),
    ],
    # Archives hold the time, which must not be part of a name.
    ids=itertools.count(),
)
def test_other_files_are_refused_with_the_remedy(content, words):
    refused(words, content)


def test_a_loom_file_is_refused_with_the_remedy():
    content = content_of(hdf5, ["row_attrs", "col_attrs"])
    refused("is a loom file; read it with anndata's read_loom", content)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("a.parquet", "pyarrow", "parquet"),
        ("a.feather", "pyarrow", "parquet"),
        ("a.xlsx", "openpyxl", "excel"),
    ],
)
def test_missing_package_is_named_with_the_remedy(
    tmp_path, monkeypatch, name, package, extra
):
    writers = {".parquet": "to_parquet", ".feather": "to_feather", ".xlsx": "to_excel"}
    getattr(FRAME, writers[Path(name).suffix])(tmp_path / name)
    table = read_table(tmp_path / name)
    for module in [each for each in sys.modules if each.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)

    remedy = rf'{package}; install it with pip install "ufselect\[{extra}\]"'
    with pytest.raises(ImportError, match=remedy):
        read_table(tmp_path / name)
    with pytest.raises(ImportError, match=remedy):
        write_table(table, [0], tmp_path / f"b{Path(name).suffix}")


def test_other_formats_need_only_the_base_install(tmp_path):
    values = np.eye(3)
    rows = "".join(f"{row / 7!r},x\n" for row in range(5000))
    (tmp_path / "a.csv").write_text(f"a,b\n{rows}")
    np.save(tmp_path / "a.npy", values)
    np.savez(tmp_path / "a.npz", X=values)
    scipy.io.savemat(tmp_path / "a.mat", {"X": values})
    scipy.io.mmwrite(tmp_path / "a.mtx", values)
    optional = ["h5py", "openpyxl", "polars", "pyarrow"]
    code = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({optional}))\n"
        "from ufselect.data import read_table, write_table\n"
        "for path in sys.argv[1:]:\n"
        "    write_table(read_table(path), [0], path)\n"
    )
    paths = sorted(map(str, tmp_path.iterdir()))
    subprocess.run([sys.executable, "-c", code, *paths], check=True)

    assert [read_table(path).shape for path in paths] == [(5000, 1), *[(3, 1)] * 4]
    numbers = read_table(paths[0]).values[:, 0].tolist()
    assert numbers == [row / 7 for row in range(5000)]

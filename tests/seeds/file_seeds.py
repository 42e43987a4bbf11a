"""Valid files of each supported format, and functions that damage them.

Bytes are changed, removed and moved at random, and numbers are replaced by extreme
ones. The folders beside this file have files that once found a fault.
"""

import gzip
import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

VALUES = np.random.default_rng(0).normal(size=(12, 5)).round(3)
SPARSE = sp.csr_array(np.where(np.abs(VALUES) > 0.8, VALUES, 0.0))
NAMES = [f"gene {place}" for place in range(5)]
SAMPLES = [f"s{place}" for place in range(12)]
PLAN = """
methods = ["SCFS", "LaplacianScore"]
"""
HEADER_73 = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon".ljust(124)


def csv_text() -> str:
    """Return the table as text."""
    rows = zip(SAMPLES, VALUES.tolist(), strict=True)
    lines = [",".join([name, *map(str, row), "kind"]) for name, row in rows]
    return "\n".join([",".join(["id", *NAMES, "label"]), *lines]) + "\n"


def write_arrow(path: Path) -> None:
    """Write the table with its names as Parquet or Feather."""
    import pyarrow
    from pyarrow import feather, parquet

    columns = dict(zip(NAMES, VALUES.T, strict=True))
    table = pyarrow.table({"id": SAMPLES, **columns})
    write = parquet.write_table if path.suffix == ".parquet" else feather.write_feather
    write(table, path)


def write_anndata(path: Path, values: object = VALUES) -> None:
    """Write AnnData with a column of categories on both axes."""
    import anndata
    import pandas as pd

    axes = (
        pd.DataFrame({"kind": pd.Categorical(["a"] * len(names), ["a", "b"])}, names)
        for names in (SAMPLES, NAMES)
    )
    anndata.AnnData(values, *axes).write_h5ad(path)


def write_matlab_73(path: Path) -> None:
    """Write a matrix as MATLAB does from version 7.3 on."""
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        file["X"] = VALUES.T
        file["X"].attrs["MATLAB_class"] = np.bytes_("double")
    with path.open("r+b") as stream:
        stream.write(HEADER_73 + b"\0\x02IM")


def write_workbook(path: Path) -> None:
    """Write a workbook of one sheet."""
    import openpyxl

    book = openpyxl.Workbook()
    for row in ([["id", *NAMES]], zip(SAMPLES, VALUES.tolist(), strict=True)):
        for cells in row:
            flat = cells if isinstance(cells, list) else [cells[0], *cells[1]]
            book.active.append(flat)
    book.save(path)


def _matlab(**options: object) -> Callable[[Path], None]:
    cells = np.array(NAMES, dtype=object)

    def write(path: Path) -> None:
        scipy.io.savemat(
            path, {"X": VALUES, "S": SPARSE[:5], "names": cells}, **options
        )

    return write


def _old_matlab(path: Path) -> None:
    scipy.io.savemat(path, {"X": VALUES}, format="4")


SEEDS: dict[str, Callable[[Path], object]] = {
    "text.csv": lambda path: path.write_text(csv_text()),
    "text.tsv": lambda path: path.write_text(csv_text().replace(",", "\t")),
    "utf16.csv": lambda path: path.write_text(csv_text(), encoding="utf-16"),
    "text.csv.gz": lambda path: path.write_bytes(gzip.compress(csv_text().encode())),
    "array.npy": lambda path: np.save(path, VALUES),
    "arrays.npz": lambda path: np.savez_compressed(path, X=VALUES, names=NAMES),
    "sparse.npz": lambda path: sp.save_npz(path, SPARSE),
    "version-4.mat": _old_matlab,
    "version-5.mat": _matlab(),
    "version-7.mat": _matlab(do_compression=True),
    "version-7.3.mat": write_matlab_73,
    "table.parquet": write_arrow,
    "table.feather": write_arrow,
    "workbook.xlsx": write_workbook,
    "dense.h5ad": write_anndata,
    "sparse.h5ad": lambda path: write_anndata(path, SPARSE),
    "dense.mtx": lambda path: scipy.io.mmwrite(path, VALUES),
    "sparse.mtx": lambda path: scipy.io.mmwrite(path, sp.coo_array(SPARSE)),
}


EXTREME = (0, 1, 127, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)
WORDS = (b'"', b"\0", b"\xff\xfe", b",", b";", b"\t", b"\n", b"\r", b"nan", b"1e999")
WORDS += (b"#", b"-", b"'", b"=1+1", b"\xef\xbb\xbf", b"9" * 400, b'""', b"<a>", b"{")
MAX_CHANGES = 4


def damaged(content: bytes, random: np.random.Generator) -> bytes:
    """Return content with a few changes."""
    data = bytearray(content)
    for _ in range(random.integers(1, MAX_CHANGES + 1)):
        change = CHANGES[random.integers(len(CHANGES))]
        change(data, random)
    return bytes(data)


def damaged_inside(content: bytes, random: np.random.Generator) -> bytes:
    """Return content damaged under its compression, so that checksums are right."""
    if content.startswith(b"\x1f\x8b"):
        return gzip.compress(damaged(gzip.decompress(content), random), 1)
    if not content.startswith(b"PK"):
        return damaged(content, random)
    result = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as source,
        zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        members = source.infolist()
        hit = random.integers(len(members))
        for place, member in enumerate(members):
            inner = source.read(member)
            target.writestr(member, damaged(inner, random) if place == hit else inner)
    return result.getvalue()


def _place(data: bytearray, random: np.random.Generator) -> int:
    return int(random.integers(max(1, len(data))))


def _flip(data: bytearray, random: np.random.Generator) -> None:
    if data:
        data[_place(data, random)] ^= 1 << int(random.integers(8))


def _overwrite(data: bytearray, random: np.random.Generator) -> None:
    start, length = _place(data, random), int(random.integers(1, 40))
    fill = (b"\0", b"\xff", random.bytes(1))[random.integers(3)]
    data[start : start + length] = fill * length


def _cut_off(data: bytearray, random: np.random.Generator) -> None:
    del data[_place(data, random) :]


def _cut_out(data: bytearray, random: np.random.Generator) -> None:
    start = _place(data, random)
    del data[start : start + int(random.integers(1, 200))]


def _repeat(data: bytearray, random: np.random.Generator) -> None:
    start = _place(data, random)
    piece = data[start : start + int(random.integers(1, 200))]
    data[start:start] = piece * int(random.integers(1, 5))


def _extreme(data: bytearray, random: np.random.Generator) -> None:
    start, value = _place(data, random), EXTREME[random.integers(len(EXTREME))]
    size = (2, 4, 8)[random.integers(3)]
    order = ("little", "big")[random.integers(2)]
    data[start : start + size] = (value % 256**size).to_bytes(size, order)


def _word(data: bytearray, random: np.random.Generator) -> None:
    start = _place(data, random)
    data[start:start] = WORDS[random.integers(len(WORDS))]


def _special(data: bytearray, random: np.random.Generator) -> None:
    value = (np.nan, np.inf, -np.inf, 1e308, 5e-324)[random.integers(5)]
    start = 8 * (_place(data, random) // 8)
    data[start : start + 8] = struct.pack("<d", value)


CHANGES = (_flip, _flip, _overwrite, _cut_off, _cut_out, _repeat, _extreme, _extreme)
CHANGES += (_word, _special)

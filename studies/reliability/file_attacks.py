"""Malicious files: archive bombs, false sizes, code in pickles, path traversal."""

import bz2
import gzip
import io
import lzma
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pyarrow as arrow
import scipy.io
import scipy.sparse as sp
from pyarrow import feather, parquet

from studies.reliability.file_seeds import (
    SAMPLES,
    SPARSE,
    VALUES,
    csv_text,
    write_anndata,
    write_sparse_anndata,
    write_workbook,
)

Writer = Callable[[Path], object]
# Of what the bombs become: more than the limit under which they are read.
BOMB = 3 << 30
MEGABYTE = bytes(1 << 20)
ONES = b"1" * (1 << 20)
# Two bytes of text are eight of memory.
ROWS = (b"s0," + b"1," * 10_000 + b"kind\n") * 50


class Program:
    """What is run, if it is unpickled: a folder appears."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("unpickled",)


PICKLE = np.array([[Program(), 1.0], [2.0, 3.0]], dtype=object)


def npy(header: str, body: bytes = bytes(80), version: bytes = b"\1\0") -> bytes:
    """Return an array with a header of one's own."""
    text = header.encode().ljust(118) + b"\n"
    size = struct.pack("<H" if version == b"\1\0" else "<I", len(text))
    return b"\x93NUMPY" + version + size + text + body


def shape(text: str, kind: str = "<f8") -> str:
    """Return a header that declares a shape."""
    return f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {text}}}"


def zipped(members: dict[str, bytes]) -> bytes:
    """Return an archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def compressed(
    pack: Callable[[bytes], bytes],
    piece: bytes,
    path: Path,
    head: bytes = b"a,b\n1,2\n3,",
) -> None:
    """Write a file that becomes 3 GB when it is read: streams follow each other."""
    path.write_bytes(pack(head) + pack(piece) * (BOMB // len(piece)))


def deep_archive(path: Path) -> None:
    """Write an archive in an archive in an archive."""
    content = csv_text().encode()
    for _ in range(200):
        content = zipped({"table.zip": content})
    path.write_bytes(content)


def bomb_npz(path: Path) -> None:
    """Write an archive whose array of zeros is honest, and too large."""
    rows = BOMB // 800
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("X.npy", "w", force_zip64=True) as stream,
    ):
        stream.write(npy(shape(f"({rows}, 100)"), b""))
        for _ in range(rows * 800 // len(MEGABYTE)):
            stream.write(MEGABYTE)
        stream.write(bytes(rows * 800 % len(MEGABYTE)))


def workbook_with(path: Path, member: str, content: bytes, declared: str = "") -> None:
    """Write a workbook one part of which is replaced, or added and declared."""
    write_workbook(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    types = members["[Content_Types].xml"]
    members["[Content_Types].xml"] = types.replace(
        b"</Types>", f"{declared}</Types>".encode()
    )
    path.write_bytes(zipped(members | {member: content}))


def sheet(rows: str, before: str = "") -> bytes:
    """Return a sheet of a workbook."""
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return (
        f'<?xml version="1.0"?>{before}<worksheet xmlns="{space}">'
        f"<sheetData>{rows}</sheetData></worksheet>"
    ).encode()


def entities(path: Path) -> None:
    """Write a workbook of which one cell means a billion laughs."""
    levels = "".join(
        f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' if i else '<!ENTITY l0 "lol">'
        for i in range(10)
    )
    cell = '<row r="1"><c r="A1" t="str"><v>&l9;</v></c></row>'
    content = sheet(cell, f"<!DOCTYPE x [{levels}]>")
    workbook_with(path, "xl/worksheets/sheet1.xml", content)


def other_file(path: Path) -> None:
    """Write a workbook that asks for a file of this machine."""
    cell = '<row r="1"><c r="A1" t="str"><v>&x;</v></c></row>'
    content = sheet(cell, '<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>')
    workbook_with(path, "xl/worksheets/sheet1.xml", content)


def far_cell(path: Path) -> None:
    """Write a workbook with a table, and one cell in the last row and column."""
    rows = '<row r="1"><c r="A1"><v>1</v></c></row>'
    rows += '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    workbook_with(path, "xl/worksheets/sheet1.xml", sheet(rows))


STRINGS = "xl/sharedStrings.xml"


def many_strings(path: Path) -> None:
    """Write a workbook whose table of strings is a bomb."""
    text = b'<?xml version="1.0"?><sst>' + b"<si><t>a</t></si>" * 20_000_000 + b"</sst>"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    declared = (
        f'<Override PartName="/{STRINGS}" ContentType="{kind}.sharedStrings+xml"/>'
    )
    workbook_with(path, STRINGS, text, declared)


def deep_cells(path: Path) -> None:
    """Write MATLAB cells in cells, deeper than any stack."""
    inner = b""
    for _ in range(20_000):
        head = struct.pack("<IIII", 6, 8, 1, 0) + struct.pack("<IIii", 5, 8, 1, 1)
        inner = head + struct.pack("<II", 1, 0) + inner
        inner = struct.pack("<II", 14, len(inner)) + inner
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM"
    path.write_bytes(header + inner)


def huge_matrix(path: Path) -> None:
    """Write a MATLAB matrix that says it has four quintillion numbers."""
    scipy.io.savemat(path, {"X": VALUES})
    content = path.read_bytes()
    sizes = struct.pack("<ii", *VALUES.shape)
    path.write_bytes(content.replace(sizes, struct.pack("<ii", 2**31 - 1, 2**31 - 1)))


def outside(path: Path, how: str) -> None:
    """Write AnnData whose numbers are those of another file."""
    write_anndata(path)
    secret = path.with_name("secret.bin")
    secret.write_bytes(np.full((12, 5), 7.0).tobytes())
    with h5py.File(path.with_name("secret.h5"), "w") as file:
        file["X"] = np.full((12, 5), 7.0)
    with h5py.File(path, "r+") as file:
        del file["X"]
        if how == "link":
            file["X"] = h5py.ExternalLink(str(path.with_name("secret.h5")), "X")
        elif how == "storage":
            stored = [(str(secret), 0, h5py.h5f.UNLIMITED)]
            file.create_dataset("X", (12, 5), "f8", external=stored)
        else:
            layout = h5py.VirtualLayout((12, 5), "f8")
            layout[:] = h5py.VirtualSource(path.with_name("secret.h5"), "X", (12, 5))
            file.create_virtual_dataset("X", layout)


def circle(path: Path) -> None:
    """Write AnnData whose matrix leads to itself."""
    write_anndata(path)
    with h5py.File(path, "r+") as file:
        del file["X"]
        file["X"] = h5py.SoftLink("/Y")
        file["Y"] = h5py.SoftLink("/X")


def empty_space(path: Path, part: str) -> None:
    """Write AnnData with an array that is declared to be huge, and never written."""
    write_anndata(path)
    with h5py.File(path, "r+") as file:
        del file[part]
        size = (10**6, 10**6) if part == "X" else (10**12,)
        kind = "f8" if part == "X" else "i1"
        file.create_dataset(part, size, kind, chunks=tuple(min(s, 1000) for s in size))


def huge_text(path: Path, columns: int, rows: int) -> None:
    """Write text that is honest, and very wide."""
    row = ",".join(["1"] * columns)
    header = ",".join(f"g{place}" for place in range(columns))
    path.write_text(
        "\n".join([header, *[row.replace("1", str(i), i + 1) for i in range(rows)]])
    )


def symbolic(path: Path, target: str) -> None:
    """Make a symbolic link."""
    path.symlink_to(target)


def plain(content: bytes) -> Writer:
    """Return how to write bytes as they are."""
    return lambda path: path.write_bytes(content)


def zipped_names() -> bytes:
    """Return an archive whose members have names that lead elsewhere."""
    stream = io.BytesIO()
    np.save(stream, VALUES)
    return zipped(
        {"../../../tmp/X.npy": stream.getvalue(), "/etc/X.npy": stream.getvalue()}
    )


def pickled_npz(path: Path) -> None:
    """Write an archive whose table is a pickle."""
    np.savez(path, X=PICKLE)


def pickle_inside_anndata(path: Path) -> None:
    """Write AnnData in which names are pickles, as bytes."""
    write_anndata(path)
    with h5py.File(path, "r+") as file:
        del file["obs/_index"]
        content = np.frombuffer(pickle.dumps(Program()), dtype=np.uint8)
        file["obs/_index"] = np.array([content.tobytes()] * len(SAMPLES), dtype="S200")


def changed_anndata(name: str, value: object, sparse: bool = False) -> Writer:
    """Return how to write AnnData in which something is another thing.

    A number changes the first entry of an array; an attribute begins with @.
    """

    def write(path: Path) -> None:
        (write_sparse_anndata if sparse else write_anndata)(path)
        with h5py.File(path, "r+") as file:
            if name.startswith("@"):
                file["X"].attrs[name[1:]] = value
            elif isinstance(value, int):
                file[name][0] = value
            else:
                del file[name]
                file[name] = value

    return write


def sparse_npz(form: str, **parts: tuple[int, int]) -> Writer:
    """Return how to write a sparse matrix of a form, with entries of parts changed."""

    def write(path: Path) -> None:
        matrix = SPARSE[:10, :4].tocsr().asformat(form)
        if form == "bsr":
            matrix = SPARSE[:10, :4].tocsr().tobsr((2, 2))
        for part, (place, value) in parts.items():
            getattr(matrix, part)[place] = value
        sp.save_npz(path, matrix)

    return write


def sparse_matlab(path: Path) -> None:
    """Write a sparse MATLAB matrix with an index that is too large."""
    matrix = sp.csc_array(VALUES)
    matrix.indices[0] = 10**6
    scipy.io.savemat(path, {"X": matrix})


def arrow_file(table: dict[str, object]) -> Writer:
    """Return how to write a table of Arrow."""
    return lambda path: feather.write_feather(arrow.table(table), path)


def many_rows(path: Path) -> None:
    """Write a Parquet file of megabytes that is 3 GB of the same number."""
    piece = arrow.table({name: np.zeros(1 << 20) for name in "abcdefgh"})
    with parquet.ParquetWriter(path, piece.schema) as writer:
        for _ in range(BOMB // piece.nbytes):
            writer.write_table(piece)


def many_cells(path: Path) -> None:
    """Write a small workbook of four million cells."""
    row = f"<row>{'<c><v>1</v></c>' * 100}</row>"
    workbook_with(path, "xl/worksheets/sheet1.xml", sheet(row * 40_000))


UTF_16 = csv_text().encode("utf-16-le")
OUTSIDE = arrow.DictionaryArray.from_arrays(
    arrow.array([0, 99], arrow.int8()), arrow.array(["a"]), safe=False
)
BY_NAME: dict[str, dict[str, Writer]] = {
    "a.csv": {
        "a million columns": lambda path: huge_text(path, 10**6, 3),
        "200,000 columns in a line without end": lambda p: huge_text(p, 200000, 2),
        "NUL bytes": plain(csv_text().encode().replace(b"s3", b"s\x003")),
        "NUL bytes only": plain(bytes(5000)),
        "UTF-16 without its mark": plain(UTF_16),
        "UTF-16 cut in a character": plain(b"\xff\xfe" + UTF_16[:-1]),
        "UTF-32": plain(csv_text().encode("utf-32")),
        "Shift JIS": plain(csv_text().replace("s3", "漢字").encode("shift_jis")),
        "bytes at random": plain(np.random.default_rng(0).bytes(50000)),
        "a line of 200 MB": lambda path: path.write_bytes(b"1" * 200000000),
        "a cell in quotes that never ends": plain(b'a,b\n1,"' + b"x\n" * 10**6),
        "a cell of a megabyte": plain(b"a,b\n1," + b"2" * 10**6 + b"\n3,4\n"),
        "a header of a million empty names": plain(b"," * 10**6 + b"\n1,2\n"),
        "a pickle of protocol 0 called .csv": plain(
            pickle.dumps(Program(), protocol=0)
        ),
        "a link to itself": lambda path: symbolic(path, "a.csv"),
        "a link to nothing": lambda path: symbolic(path, "nothing.csv"),
        "a link to /dev/zero": lambda path: symbolic(path, "/dev/zero"),
        "a link to a folder": lambda path: symbolic(path, "/"),
        "a pipe that nobody writes to": os.mkfifo,
    },
    "a.csv.gz": {
        "gzip of zeros, 3 GB": lambda p: compressed(gzip.compress, MEGABYTE, p),
        "gzip of numbers, 3 GB": lambda p: compressed(gzip.compress, ROWS, p, b""),
        "gzip in gzip in gzip": plain(
            gzip.compress(gzip.compress(gzip.compress(UTF_16)))
        ),
        "gzip of short rows, 3 GB": lambda p: compressed(
            gzip.compress, b"1,2\n" * (1 << 18), p, b"a,b\n"
        ),
    },
    "a.csv.bz2": {
        "bzip2 of one line, 3 GB": lambda p: compressed(bz2.compress, ONES, p),
    },
    "a.csv.xz": {
        "xz of one line, 3 GB": lambda p: compressed(lzma.compress, ONES, p),
    },
    "a.zip": {
        "zip in zip, 200 deep": deep_archive,
    },
    "a.npy": {
        "npy of 10^18 numbers": plain(npy(shape("(1000000000, 1000000000)"))),
        "npy with a negative shape": plain(npy(shape("(-5, 4)"))),
        "npy with a program in its header": plain(
            npy("__import__('os').mkdir('executed')")
        ),
        "npy whose header nests": plain(npy("(" * 60000, version=b"\x02\x00")),
        "npy of objects (a pickle)": lambda path: np.save(
            path, PICKLE, allow_pickle=True
        ),
        "npy of a version to come": plain(npy(shape("(2, 5)"), version=b"\t\x00")),
        "a pickle called .npy": plain(pickle.dumps(Program())),
    },
    "a.npz": {
        "npz of pickles": pickled_npz,
        "npz of 3 GB of zeros": bomb_npz,
        "npz with ways out in names": plain(zipped_names()),
        "npz of 10^18 numbers": plain(
            zipped({"X.npy": npy(shape("(1000000000, 1000000000)"))})
        ),
        "npz in blocks with a pointer outside": sparse_npz("bsr", indptr=(-1, 10**6)),
        "npz in blocks with an index outside": sparse_npz("bsr", indices=(0, 99)),
        "npz of triples with a negative row": sparse_npz("coo", row=(0, -1)),
        "npz of rows with a falling pointer": sparse_npz("csr", indptr=(2, -7)),
        "npz of columns with an index outside": sparse_npz(
            "csc", indices=(0, 2**31 - 1)
        ),
    },
    "a.pkl": {
        "a pickle": plain(pickle.dumps(Program())),
    },
    "a.mat": {
        "a pickle called .mat": plain(pickle.dumps(Program())),
        "MATLAB matrix of 4 * 10^18 numbers": huge_matrix,
        "MATLAB cells, 20,000 deep": deep_cells,
        "MATLAB sparse matrix with an index outside": sparse_matlab,
        "MATLAB structures in structures": lambda p: scipy.io.savemat(
            p, {"X": {"a": {"b": VALUES}}}
        ),
    },
    "a.h5ad": {
        "a pickle called .h5ad": plain(pickle.dumps(Program(), protocol=2)),
        "AnnData with a link to another file": lambda p: outside(p, "link"),
        "AnnData with numbers stored in another file": lambda p: outside(p, "storage"),
        "AnnData made up from another file": lambda p: outside(p, "virtual"),
        "AnnData with a circle of links": circle,
        "AnnData of 10^12 numbers": lambda p: empty_space(p, "X"),
        "AnnData with 10^12 names": lambda p: empty_space(p, "obs/_index"),
        "AnnData with pickles for names": pickle_inside_anndata,
        "AnnData with an index outside": changed_anndata("X/indices", 99, sparse=True),
        "AnnData with a negative index": changed_anndata("X/indices", -1, sparse=True),
        "AnnData with pointers from elsewhere": changed_anndata(
            "X/indptr", 10**6, sparse=True
        ),
        "AnnData with a shape that is too large": changed_anndata(
            "@shape", (10**9, 10**9), sparse=True
        ),
        "AnnData with a negative shape": changed_anndata(
            "@shape", (-5, 5), sparse=True
        ),
        "AnnData of text": changed_anndata("X", "text"),
        "AnnData of records": changed_anndata("X", np.zeros((12, 5), "f8,i4")),
        "AnnData of three dimensions": changed_anndata("X", np.zeros((12, 5, 2))),
        "AnnData with names of another number": changed_anndata(
            "obs/_index", ["a", "b"]
        ),
    },
    "a.xlsx": {
        "workbook of a billion laughs": entities,
        "workbook that asks for another file": other_file,
        "workbook with a cell in the last row and column": far_cell,
        "workbook of 20 million strings": many_strings,
        "workbook of 4 million cells": many_cells,
    },
    "a.feather": {
        "Feather with a category outside": arrow_file({"a": OUTSIDE}),
        "Feather of lists": arrow_file({"a": [[1.0], [2.0, 3.0]]}),
        "Feather of nothing": arrow_file({"a": [None, None]}),
    },
    "a.parquet": {
        "Parquet of one number, 3 GB": many_rows,
    },
    "a.mtx": {
        "Matrix Market of 10^9 rows": plain(
            b"%%MatrixMarket matrix coordinate real general\n"
            b"1000000000 1000000000 1\n1 1 1\n"
        ),
        "Matrix Market with entries outside": plain(
            b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n-9 99 1\n"
        ),
    },
}
ATTACKS = {
    what: (name, write)
    for name, attacks in BY_NAME.items()
    for what, write in attacks.items()
}
# Tables in spite of all: nothing is wrong with them but their size or their names.
HONEST = {"a million columns", "200,000 columns in a line without end"}
# Four million cells fit into memory.
HONEST |= {"workbook of 4 million cells"}
HONEST |= {"AnnData with pickles for names", "npz with ways out in names", "Shift JIS"}

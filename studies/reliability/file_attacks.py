"""Files made to do harm: bombs, false sizes, programs in pickles, ways out."""

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
import scipy.io

from studies.reliability.file_seeds import (
    SAMPLES,
    VALUES,
    csv_text,
    write_anndata,
    write_workbook,
)

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


def plain(content: bytes) -> Callable[[Path], object]:
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


UTF_16 = csv_text().encode("utf-16-le")
ATTACKS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a million columns": ("a.csv", lambda path: huge_text(path, 10**6, 3)),
    "200,000 columns in a line without end": (
        "a.csv",
        lambda p: huge_text(p, 200_000, 2),
    ),
    "NUL bytes": ("a.csv", plain(csv_text().encode().replace(b"s3", b"s\x003"))),
    "NUL bytes only": ("a.csv", plain(bytes(5000))),
    "UTF-16 without its mark": ("a.csv", plain(UTF_16)),
    "UTF-16 cut in a character": ("a.csv", plain(b"\xff\xfe" + UTF_16[:-1])),
    "UTF-32": ("a.csv", plain(csv_text().encode("utf-32"))),
    "Shift JIS": (
        "a.csv",
        plain(csv_text().replace("s3", "\u6f22\u5b57").encode("shift_jis")),
    ),
    "bytes at random": ("a.csv", plain(np.random.default_rng(0).bytes(50_000))),
    "a line of 200 MB": ("a.csv", lambda path: path.write_bytes(b"1" * 200_000_000)),
    "a cell in quotes that never ends": ("a.csv", plain(b'a,b\n1,"' + b"x\n" * 10**6)),
    "a cell of a megabyte": ("a.csv", plain(b"a,b\n1," + b"2" * 10**6 + b"\n3,4\n")),
    "a header of a million empty names": ("a.csv", plain(b"," * 10**6 + b"\n1,2\n")),
    "gzip of zeros, 3 GB": (
        "a.csv.gz",
        lambda p: compressed(gzip.compress, MEGABYTE, p),
    ),
    "gzip of numbers, 3 GB": (
        "a.csv.gz",
        lambda p: compressed(gzip.compress, ROWS, p, b""),
    ),
    "bzip2 of one line, 3 GB": (
        "a.csv.bz2",
        lambda p: compressed(bz2.compress, ONES, p),
    ),
    "xz of one line, 3 GB": ("a.csv.xz", lambda p: compressed(lzma.compress, ONES, p)),
    "gzip in gzip in gzip": (
        "a.csv.gz",
        plain(gzip.compress(gzip.compress(gzip.compress(UTF_16)))),
    ),
    "zip in zip, 200 deep": ("a.zip", deep_archive),
    "npy of 10^18 numbers": (
        "a.npy",
        plain(npy(shape("(10**9, 10**9)".replace("10**9", "1000000000")))),
    ),
    "npy with a negative shape": ("a.npy", plain(npy(shape("(-5, 4)")))),
    "npy with a program in its header": (
        "a.npy",
        plain(npy("__import__('os').mkdir('executed')")),
    ),
    "npy whose header nests": ("a.npy", plain(npy("(" * 60_000, version=b"\2\0"))),
    "npy of objects (a pickle)": (
        "a.npy",
        lambda path: np.save(path, PICKLE, allow_pickle=True),
    ),
    "npy of a version to come": (
        "a.npy",
        plain(npy(shape("(2, 5)"), version=b"\x09\0")),
    ),
    "npz of pickles": ("a.npz", pickled_npz),
    "npz of 3 GB of zeros": ("a.npz", bomb_npz),
    "npz with ways out in names": ("a.npz", plain(zipped_names())),
    "npz of 10^18 numbers": (
        "a.npz",
        plain(zipped({"X.npy": npy(shape("(1000000000, 1000000000)"))})),
    ),
    "a pickle": ("a.pkl", plain(pickle.dumps(Program()))),
    "a pickle called .npy": ("a.npy", plain(pickle.dumps(Program()))),
    "a pickle called .mat": ("a.mat", plain(pickle.dumps(Program()))),
    "a pickle called .h5ad": ("a.h5ad", plain(pickle.dumps(Program(), protocol=2))),
    "a pickle of protocol 0 called .csv": (
        "a.csv",
        plain(pickle.dumps(Program(), protocol=0)),
    ),
    "workbook of a billion laughs": ("a.xlsx", entities),
    "workbook that asks for another file": ("a.xlsx", other_file),
    "workbook with a cell in the last row and column": ("a.xlsx", far_cell),
    "workbook of 20 million strings": ("a.xlsx", many_strings),
    "MATLAB matrix of 4 * 10^18 numbers": ("a.mat", huge_matrix),
    "MATLAB cells, 20,000 deep": ("a.mat", deep_cells),
    "AnnData with a link to another file": ("a.h5ad", lambda p: outside(p, "link")),
    "AnnData with numbers stored in another file": (
        "a.h5ad",
        lambda p: outside(p, "storage"),
    ),
    "AnnData made up from another file": ("a.h5ad", lambda p: outside(p, "virtual")),
    "AnnData with a circle of links": ("a.h5ad", circle),
    "AnnData of 10^12 numbers": ("a.h5ad", lambda p: empty_space(p, "X")),
    "AnnData with 10^12 names": ("a.h5ad", lambda p: empty_space(p, "obs/_index")),
    "AnnData with pickles for names": ("a.h5ad", pickle_inside_anndata),
    "Matrix Market of 10^9 rows": (
        "a.mtx",
        plain(
            b"%%MatrixMarket matrix coordinate real general\n"
            b"1000000000 1000000000 1\n1 1 1\n"
        ),
    ),
    "Matrix Market with entries outside": (
        "a.mtx",
        plain(
            b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n-9 99 1\n"
        ),
    ),
    "a link to itself": ("a.csv", lambda path: symbolic(path, "a.csv")),
    "a link to nothing": ("a.csv", lambda path: symbolic(path, "nothing.csv")),
    "a link to /dev/zero": ("a.csv", lambda path: symbolic(path, "/dev/zero")),
    "a link to a folder": ("a.csv", lambda path: symbolic(path, "/")),
    "a pipe that nobody writes to": ("a.csv", os.mkfifo),
}
# Tables in spite of all: nothing is wrong with them but their size or their names.
HONEST = {"a million columns", "200,000 columns in a line without end"}
HONEST |= {"AnnData with pickles for names", "npz with ways out in names", "Shift JIS"}

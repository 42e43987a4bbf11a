"""Find the file and its format, by its first bytes and then by its name."""

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import shutil
import sys
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, cast

from ufselect.data.replacing import file_problem
from ufselect.data.tables.isolation import available_bytes, damage_errors, damaged
from ufselect.data.tables.table import File, Remedy, TableError, listed

Source = str | os.PathLike[str] | BinaryIO


class Format(NamedTuple):
    """A format: its title, and how to recognise it.

    A file ``of_columns`` may have columns that are not features; other formats hold
    features only. A damaged ``crashing`` file can crash the process that reads it. HDF5
    cannot open a temporary file that has no name.
    """

    title: str
    endings: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()
    of_columns: bool = False
    read_compressed: bool = False
    crashing: bool = True
    on_hdf5: bool = False


FORMATS = {
    "text": Format(
        "a text table",
        (".csv", ".tsv", ".tab", ".txt", ".dat", ".data"),
        of_columns=True,
        read_compressed=True,
        crashing=False,
    ),
    "parquet": Format(
        "a Parquet file", (".parquet", ".pq"), (b"PAR1",), of_columns=True
    ),
    "feather": Format(
        "an Arrow file",
        (".feather", ".arrow", ".ipc"),
        (b"ARROW1", b"FEA1"),
        of_columns=True,
    ),
    "excel": Format(
        "an Excel workbook", (".xlsx", ".xlsm"), of_columns=True, crashing=False
    ),
    "npy": Format("a NumPy array", (".npy",), (b"\x93NUMPY",), crashing=False),
    "npz": Format("a NumPy archive", (".npz",)),
    "mat": Format(
        "a MATLAB file",
        (".mat",),
        (b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file"),
        on_hdf5=True,
    ),
    "mtx": Format(
        "a Matrix Market file", (".mtx",), (b"%%MatrixMarket",), read_compressed=True
    ),
    "h5ad": Format("an AnnData file", (".h5ad",), on_hdf5=True),
    "10x": Format("a 10x Genomics file", on_hdf5=True),
    # One of the three above: their names or their content tell which.
    "hdf5": Format("an HDF5 file", magic=(b"\x89HDF\r\n\x1a\n",), on_hdf5=True),
}
EXTENSIONS = {end: name for name, each in FORMATS.items() for end in each.endings}
KNOWN = ".csv, .tsv, .txt, .parquet, .feather, .xlsx, .npy, .npz, .mat, .mtx and .h5ad"
# Formats that are recognised and refused, with the remedy.
PICKLE = "is a pickle, which can run any program; save it as .npy or CSV"
R_OBJECT = "is an R object (.rds, .RData); write the table with write.csv in R"
REFUSED = {
    b"\xd0\xcf\x11\xe0": "is an old Excel file (.xls); save it as .xlsx or CSV",
    b"%PDF": "is a PDF document; export the table as CSV",
    b"\x28\xb5\x2f\xfd": "is compressed with Zstandard; decompress it first (zstd -d)",
    b"7z\xbc\xaf\x27\x1c": "is a 7-Zip archive; unpack it first",
    b"SQLite format 3": "is an SQLite database; export the table as CSV",
    **dict.fromkeys([b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"], PICKLE),
    **dict.fromkeys([b"RDX2\n", b"RDX3\n", b"RDA3\n", b"X\n\0\0"], R_OBJECT),
    b"\x89PNG": "is a picture; give the table it was made from",
}
REFUSED_TEXT = {
    rb"[\[{]\s*[\[{\"]": "is JSON; save the table as CSV",
    rb"<(!doctype|html|\?xml|table)": "is a web page or XML; save the table as CSV",
}
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}
OPENERS: dict[str | None, Callable[..., Any]] = {
    None: open,
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
}
# Errors of decompressors for files that are cut off, damaged or encrypted.
DAMAGED = (
    *(EOFError, OSError, RuntimeError),
    *(lzma.LZMAError, zlib.error, zipfile.BadZipFile),
)


# Linux shows here the files that a process has open.
OPEN_FILES = Path("/proc/self/fd")
# A file may expand to half of the free memory and, above a size that fits everywhere,
# to this multiple of its own size. No table of numbers compresses better.
USUAL_MEMORY = 1 << 33
MIN_LARGE_BYTES = 1 << 28
MAX_EXPANSION_RATIO = 100
# Packages that only some formats need, and the extras that bring them.
EXTRAS = {"openpyxl": "excel", "pyarrow": "parquet", "h5py": "hdf5"}
EXTRAS |= {"anndata": "single-cell"}


def needed(package: str, name: str) -> Any:
    """Import a module of an optional package; the error says how to install it."""
    root = package.split(".")[0]
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(
            f"{name} can only be read or written with {root}; "
            f'install it with pip install "ufselect[{EXTRAS[root]}]"'
        ) from error


class Spool:
    """A temporary file that is deleted with this object."""

    path: Path

    def __init__(self, stream: IO[bytes], name: str, *, named: bool = False) -> None:
        # A file without a name leaves nothing behind when the process is killed.
        named = named or not OPEN_FILES.is_dir()
        try:
            if named:
                folder = Path(tempfile.mkdtemp(prefix="ufselect-"))
                weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
                self.path = folder / "input"
                with self.path.open("wb") as file:
                    shutil.copyfileobj(stream, file, 1 << 20)
            else:
                target = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this
                weakref.finalize(self, target.close)
                self.path = OPEN_FILES / str(target.fileno())
                shutil.copyfileobj(stream, target, 1 << 20)
                target.flush()
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise TableError(
                f"{name} does not fit into {tempfile.gettempdir()} (no space left on "
                "device); set TMPDIR to a larger folder"
            ) from error


def check_size(n_bytes: int, size: int, file: File) -> None:
    """Refuse a file that expands to more than this machine can hold.

    Parameters
    ----------
    n_bytes : int
        Size in memory.
    size : int
        Size in the file.
    file : File
    """
    most = (available_bytes() or USUAL_MEMORY) // 2
    if n_bytes > MIN_LARGE_BYTES:
        most = min(most, max(MAX_EXPANSION_RATIO * size, MIN_LARGE_BYTES))
    if n_bytes > most and not file.allow_large:
        raise TableError(
            f"{file.name} expands to more than {most / 1e9:.2g} GB, which is too much "
            "for the free memory or for a file of its size; if that is right, read it "
            "with --allow-large",
            [Remedy("Read it, however large it is", ("--allow-large",))],
        )


class _Bounded(io.RawIOBase):
    """A decompressed stream that stops before it fills the memory."""

    def __init__(self, stream: BinaryIO, size: int, file: File) -> None:
        super().__init__()
        self.stream, self.size, self.file, self.given = stream, size, file, 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Tell whether it can be read from another place, as archives are."""
        return self.stream.seekable()

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to another place."""
        return self.stream.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        """Read up to the size of the buffer."""
        content = self.stream.read(len(buffer))
        buffer[: len(content)] = content
        self.given += len(content)
        if self.given > MIN_LARGE_BYTES:
            check_size(self.given, self.size, self.file)
        return len(content)


def is_standard(source: Any) -> bool:
    """Tell whether a source or destination is a standard stream, written ``-``."""
    return isinstance(source, str) and source == "-"


def located(
    source: Source, name: str | None = None, allow_large: bool = False
) -> tuple[Path, str, Spool | None]:
    """Return the path of a source, its name, and the temporary copy if there is one."""
    spool = None
    if is_standard(source):
        source = sys.stdin.buffer
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        name = name or str(path)
        if problem := file_problem(path):
            raise TableError(problem)
    else:
        stream: Any = source
        if not hasattr(stream, "read") or isinstance(stream, io.TextIOBase):
            raise TypeError(
                f"the source is of type {type(source).__name__}; give a path, or a "
                "file that was opened in binary mode"
            )
        name = name or "standard input"
        # The length of a stream is known only at its end.
        file = File(Path(), None, name, allow_large)
        bounded = _Bounded(stream, sys.maxsize, file)
        spool = Spool(io.BufferedReader(bounded, 1 << 20), name)
        path = spool.path
    if path.stat().st_size == 0:
        raise TableError(f"{name} is empty; export the table again")
    return path, name, spool


def compression_of(path: Path, name: str) -> str | None:
    """Return how a file is compressed, by its first bytes."""
    with path.open("rb") as stream:
        start = stream.read(6)
    for magic, compression in COMPRESSIONS.items():
        if start.startswith(magic):
            return compression
    if start.startswith(b"PK\x03\x04") and _zipped_table(path, name) is not None:
        return "zip"
    return None


def _members(stream: BinaryIO, name: str) -> list[str]:
    """Return the names of the files in a zip archive."""
    with damage_errors(name, "a zip archive"), zipfile.ZipFile(stream) as archive:
        return [
            each.filename
            for each in archive.infolist()
            if not each.is_dir() and not each.filename.startswith("__MACOSX/")
        ]


def _zipped_table(path: Path, name: str) -> str | None:
    """Return the only file in a zip archive; None for a workbook or a NumPy archive."""
    with path.open("rb") as stream:
        members = _members(stream, name)
    if "[Content_Types].xml" in members or any(m.endswith(".npy") for m in members):
        return None
    if "META-INF/manifest.xml" in members and "content.xml" in members:
        raise TableError(
            f"{name} is an OpenDocument file (.ods); save it as .xlsx or CSV"
        )
    if len(members) != 1:
        raise TableError(
            f"{name} is a zip archive of {len(members) or 'no'} files"
            f"{', ' if members else ''}{listed(members, 3)}; unpack it and give the "
            "table in it"
        )
    return members[0]


@contextmanager
def opened(file: File) -> Iterator[BinaryIO]:
    """Open a file, decompressed; a damaged one raises one sentence."""
    path, compression, name, _ = file
    size = path.stat().st_size
    try:
        if compression is None:
            with path.open("rb") as plain:
                yield plain
        elif compression == "zip":
            member = _zipped_table(path, name) or ""
            with zipfile.ZipFile(path) as archive, archive.open(member) as stream:
                yield io.BufferedReader(_Bounded(cast(BinaryIO, stream), size, file))
        else:
            with OPENERS[compression](path, "rb") as stream:
                yield io.BufferedReader(_Bounded(stream, size, file), 1 << 17)
    except DAMAGED as error:
        if compression is None:
            raise
        raise damaged(name, compression, error) from error


def split_name(name: str) -> tuple[str, str]:
    """Split the name of a file before its known endings.

    Examples
    --------
    >>> split_name("My genes.TSV.gz"), split_name("genes.doc"), split_name("counts.gz")
    (('My genes', '.TSV.gz'), ('genes.doc', ''), ('counts', '.gz'))
    """
    stem, end = name, ""
    for known in (SUFFIXES, EXTENSIONS):
        before, dot, last = stem.rpartition(".")
        if dot + last.lower() in known:
            stem, end = before, dot + last + end
    return stem, end


def format_by_name(path: Path) -> str | None:
    """Return the format that a name promises, compressed or not.

    Examples
    --------
    >>> from pathlib import Path
    >>> format_by_name(Path("genes.tsv.gz")), format_by_name(Path("genes.doc"))
    ('text', None)
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in SUFFIXES:
        suffixes.pop()
    return EXTENSIONS.get(suffixes[-1]) if suffixes else None


def detect(file: File) -> tuple[str, list[str]]:
    """Return the format of a file, and notes on it; its bytes count, then its name."""
    with opened(file) as stream:
        start = stream.read(4096)
    if not start:
        raise TableError(f"{file.name} is empty; export the table again")
    for magic, reason in REFUSED.items():
        if start.startswith(magic):
            raise TableError(f"{file.name} {reason}")
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    for pattern, reason in REFUSED_TEXT.items():
        if re.match(pattern, text, re.IGNORECASE):
            raise TableError(f"{file.name} {reason}")
    promised = format_by_name(file.path)
    found = next((k for k, each in FORMATS.items() if start.startswith(each.magic)), "")
    if start.startswith(b"PK\x03\x04"):
        found = _kind_of_archive(file)
    if found == "hdf5" and promised and FORMATS[promised].on_hdf5:
        return promised, []
    if not found:
        return _without_magic(promised, start, file.name), []
    if promised in (None, found):
        return found, []
    title = FORMATS[found].title
    return found, [f"{file.name} is {title} despite its name, and was read as such."]


def _kind_of_archive(file: File) -> str:
    """Tell workbooks from archives of NumPy."""
    with opened(file) as stream:
        names = _members(stream, file.name)
    if "[Content_Types].xml" in names:
        return "excel"
    if any(name.endswith(".npy") for name in names):
        return "npz"
    raise TableError(f"{file.name} is an archive in an archive; unpack it first")


def _without_magic(promised: str | None, start: bytes, name: str) -> str:
    binary = b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff"))
    if promised == "text" or (promised is None and not binary):
        return "text"
    if promised == "mat" and binary:  # version 4 has no magic
        return "mat"
    if promised is None:
        raise TableError(f"{name} has an unknown format; give one of {KNOWN}")
    content = "something else" if binary else "text"
    remedy = "" if binary else " as .csv if it is a text table"
    raise TableError(
        f"{name} is not {FORMATS[promised].title}: it begins like {content}; "
        f"rename it{remedy} or export it again"
    )

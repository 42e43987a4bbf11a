"""Which format a file has: by its first bytes, else by the end of its name."""

import zipfile
from pathlib import Path

from ufselect.data.tables.damage import saying_when_damaged
from ufselect.data.tables.hdf5 import opened_hdf5
from ufselect.data.tables.sources import SUFFIXES, opened
from ufselect.data.tables.table import File, TableError

EXTENSIONS = {
    ".csv": "text",
    ".tsv": "text",
    ".tab": "text",
    ".txt": "text",
    ".dat": "text",
    ".data": "text",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".npy": "npy",
    ".npz": "npz",
    ".mat": "mat",
    ".mtx": "mtx",
    ".h5ad": "h5ad",
}
MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"FEA1": "feather",
    b"\x93NUMPY": "npy",
    b"\x89HDF\r\n\x1a\n": "hdf5",
    b"MATLAB 5.0 MAT-file": "mat",
    b"MATLAB 7.3 MAT-file": "mat",
    b"%%MatrixMarket": "mtx",
    b"PK\x03\x04": "zip",
}
# Known, and not read: with the remedy.
REFUSED = {
    b"\xd0\xcf\x11\xe0": "is an old Excel file (.xls); save it as .xlsx or CSV",
    b"%PDF": "is a PDF document; export the table as CSV",
    b"\x28\xb5\x2f\xfd": "is compressed with Zstandard; decompress it first (zstd -d)",
    b"7z\xbc\xaf\x27\x1c": "is a 7-Zip archive; unpack it first",
    b"SQLite format 3": "is an SQLite database; export the table as CSV",
    b"\x80\x02": "is a pickle, which may run programs; save it as .npy or CSV",
    b"\x80\x03": "is a pickle, which may run programs; save it as .npy or CSV",
    b"\x80\x04": "is a pickle, which may run programs; save it as .npy or CSV",
    b"\x80\x05": "is a pickle, which may run programs; save it as .npy or CSV",
    b"RDX": "is an R workspace; write.csv the table in R",
    b"\x89PNG": "is a picture; give the table behind it",
}
TITLES = {
    "text": "a text table",
    "parquet": "a Parquet file",
    "feather": "an Arrow file",
    "excel": "an Excel workbook",
    "npy": "a NumPy array",
    "npz": "a NumPy archive",
    "mat": "a MATLAB file",
    "mtx": "a Matrix Market file",
    "h5ad": "an AnnData file",
    "hdf5": "an HDF5 file",
}
# Formats built on HDF5, which only their names or their content tell apart.
ON_HDF5 = ("mat", "h5ad")
KNOWN = ".csv, .tsv, .txt, .parquet, .feather, .xlsx, .npy, .npz, .mat, .mtx and .h5ad"


def split_name(name: str) -> tuple[str, str]:
    """Return the name of a file without its known ends, and these.

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
    """Return the format that the end of a name promises, whether compressed or not.

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
    """Return the format of a file, and notes on it.

    What its bytes say counts more than its name.
    """
    with opened(*file) as stream:
        start = stream.read(4096)
    if not start:
        raise TableError(f"{file.name} is empty; export the table again")
    promised = format_by_name(file.path)
    found = _by_content(start, file.path, file.name)
    if found is None:
        return _without_magic(promised, start, file.name), []
    if promised in (None, found):
        return found, []
    return found, [
        f"{file.name} is {TITLES[found]}, whatever its name says, and was read as such."
    ]


def _by_content(start: bytes, path: Path, name: str) -> str | None:
    for magic, reason in REFUSED.items():
        if start.startswith(magic):
            raise TableError(f"{name} {reason}")
    found = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), "")
    if found == "zip":
        return _kind_of_archive(path, name)
    if found == "hdf5" and format_by_name(path) in ON_HDF5:
        return format_by_name(path)
    return found or None


def _kind_of_archive(path: Path, name: str) -> str:
    with saying_when_damaged(name, "a zip archive"), zipfile.ZipFile(path) as archive:
        members = archive.namelist()
    if "[Content_Types].xml" in members:
        return "excel"
    if any(member.endswith(".npy") for member in members):
        return "npz"
    raise TableError(f"{name} is a zip archive; unpack it and give the table in it")


def kind_of_hdf5(file: File) -> str:
    """Tell AnnData from MATLAB by what the file holds."""
    with saying_when_damaged(file.name, "HDF5"), opened_hdf5(*file[::2]) as content:
        return "h5ad" if {"obs", "var"} <= set(content) else "mat"


def _without_magic(promised: str | None, start: bytes, name: str) -> str:
    binary = b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff"))
    if promised == "text" or (promised is None and not binary):
        return "text"
    if promised == "mat" and binary:  # version 4 has no magic
        return "mat"
    if promised is None:
        raise TableError(f"{name} is of no known format; give one of {KNOWN}")
    content = "something else" if binary else "text"
    remedy = "" if binary else " as .csv if it is a text table"
    raise TableError(
        f"{name} is not {TITLES[promised]}: it begins like {content}; "
        f"rename it{remedy} or export it again"
    )

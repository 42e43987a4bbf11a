"""Look for a file that is neither read nor refused in one sentence, with Atheris.

    pip install atheris
    python scripts/fuzz.py [TARGET ...] [--seconds 60] [--keep FOLDER]

Atheris changes valid files so that they reach new lines of the readers. The exit code
is 1 if it found a fault; the file is then in the folder (by default fuzz-findings),
under the name of its target. Move it to tests/seeds, where
tests/data/test_damaged_files.py reads it. Without Atheris, the script says so and ends
with 0.
"""

import argparse
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_SENTENCE, MAX_FILE, MAX_SECONDS, MAX_MEGABYTES = 2000, 20_000, 25, 3000
SUFFIXES = (".csv", ".csv.gz", ".parquet", ".feather", ".xlsx", ".npy", ".npz", ".mat")
SUFFIXES += (".mtx", ".h5ad", ".zip", "", ".doc")
# The names of valid files, from tests/seeds/file_seeds.py, to begin with.
TARGETS = {
    "any": ("text.csv", "array.npy", "arrays.npz", "version-5.mat", "dense.mtx"),
    "text": ("text.csv", "text.tsv", "utf16.csv"),
    "matlab": ("version-4.mat", "version-5.mat", "version-7.mat", "version-7.3.mat"),
    "anndata": ("dense.h5ad", "sparse.h5ad"),
    "npz": ("arrays.npz", "sparse.npz"),
    "model": (),
}


def main() -> int:
    """Fuzz the targets one after the other, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = set(options.targets) - set(TARGETS)
    if unknown:
        parser.error(f"no target is called {unknown.pop()!r}; use {', '.join(TARGETS)}")
    if find_spec("atheris") is None:
        print("not tried: fuzzing needs atheris (pip install atheris)")
        return 0
    if options.inside:
        explore(options.targets[0], options.inside, options.seconds)
    return max(fuzz(each, options) for each in options.targets or TARGETS)


def fuzz(target: str, options: argparse.Namespace) -> int:
    """Fuzz one target, and keep the file that ended the process, if one did."""
    command = [sys.executable, __file__, target, "--seconds", str(options.seconds)]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*command, "--inside", folder], stderr=subprocess.PIPE, text=True
        )
        found = list(Path(folder).glob("found-*"))
        options.keep.mkdir(parents=True, exist_ok=True)
        for path in found:
            path.replace(options.keep / f"{target}-{path.name}")
    print(f"{target}: {f'{len(found)} found' if found else 'nothing found'}")
    if done.returncode and not found:
        print(done.stderr[-2000:], file=sys.stderr)
    return int(done.returncode != 0)


def explore(target: str, folder: Path, seconds: int) -> None:
    """Fuzz in this process, which ends with it."""
    import atheris

    # Instrumented before they are run, so that Atheris sees which lines a file reaches.
    with atheris.instrument_imports(include=["ufselect", "scipy.io", "numpy.lib"]):
        from ufselect.data import TableError, read_table
        from ufselect.models import OPENING, ModelError, load_selector
    sys.path.insert(0, str(ROOT / "tests" / "seeds"))
    from file_seeds import SEEDS

    def read(content: bytes) -> None:
        suffix = {"matlab": ".mat", "anndata": ".h5ad", "npz": ".npz"}.get(
            target, ".csv"
        )
        if target == "any" and content:
            suffix, content = SUFFIXES[content[0] % len(SUFFIXES)], content[1:]
        if target in ("npz", "model"):
            content = archive_of(content)
        path = folder / f"a{suffix}"
        try:
            if target == "model":
                digest = hashlib.sha256(content).hexdigest().encode()
                path.write_bytes(OPENING + digest + b"\n" + content)
                load_selector(path)
            else:
                path.write_bytes(content)
                read_table(path)
        except (TableError, ModelError) as error:
            if len(str(error)) > MAX_SENTENCE or "\n" in str(error):
                raise AssertionError("not one sentence") from error

    corpus = folder / "corpus"
    corpus.mkdir()
    for number, content in enumerate(beginnings(target, SEEDS)):
        (corpus / str(number)).write_bytes(content)
    flags = {
        "max_total_time": seconds,
        "timeout": MAX_SECONDS,
        "rss_limit_mb": MAX_MEGABYTES,
        "max_len": MAX_FILE,
        "artifact_prefix": folder / "found-",
    }
    arguments = [f"-{name}={value}" for name, value in flags.items()]
    atheris.Setup(["fuzz", *arguments, str(corpus)], read)
    atheris.Fuzz()


def beginnings(target: str, seeds: dict) -> list[bytes]:
    """Return valid files of a target."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name in TARGETS[target]:
            path = Path(folder, name)
            seeds[name](path)
            content = path.read_bytes()
            if target == "any":
                content = bytes([SUFFIXES.index(name[name.index(".") :])]) + content
            found.append(members_of(content) if target == "npz" else content)
        if target == "model":
            from ufselect import MaxVariance, save_selector

            path = Path(folder, "fitted.selector")
            save_selector(MaxVariance(2).fit([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]), path)
            archive = path.read_bytes().split(b"\n", 1)[1]
            found.append(members_of(archive))
    return found


def archive_of(content: bytes) -> bytes:
    """Return an archive of members, each of them PK, a name, a line feed and bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for part in content.split(b"PK")[1:]:
            name, _, member = part.partition(b"\n")
            text = name.decode("latin-1").partition("\0")[0][:100]
            archive.writestr(text or "X.npy", member)
    return stream.getvalue()


def members_of(archive: bytes) -> bytes:
    """Return what `archive_of` makes the archive of."""
    with zipfile.ZipFile(io.BytesIO(archive)) as source:
        names = source.namelist()
        parts = [b"PK" + name.encode() + b"\n" + source.read(name) for name in names]
    return b"".join(parts)


if __name__ == "__main__":
    sys.exit(main())

"""Does coverage-guided fuzzing find a file without a table or a clear error message?

atheris changes valid files so that they reach new lines of the readers. Every reader is
a target. "Answered" means a table whose names match its shape, "refused" an error
message of one sentence. A crash of the library counts as refused only if ``ufselect
select``, which reads such files in a subprocess, reports it in one sentence. A file
that found a fault is kept in ``studies/reliability/seeds``, and the tests read it.

    pip install atheris
    python -m studies fuzz
    python -m studies.reliability.fuzz matlab --seconds 60 --keep lost
"""

import argparse
import hashlib
import importlib
import io
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import scipy.sparse as sp

from studies.findings import Outcome, line
from studies.reliability.file_seeds import SEEDS
from studies.reliability.hostile_files import KINDS, read_selector, read_whole
from studies.reliability.watched import LONGEST_SENTENCE, Trial, verdicts
from studies.settings import Settings
from ufselect import data
from ufselect.data import TableError
from ufselect.models import OPENING, ModelError

DURATION = "120 minutes"
SECONDS = 20 * 60
MOST_SECONDS, MOST_MEGABYTES, LONGEST_FILE = 25, 3000, 20_000
KEPT = Path(__file__).parent / "seeds"
SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".parquet", ".feather", ".xlsx", ".npy")
SUFFIXES += (".npz", ".mat", ".mtx", ".h5ad", ".h5", ".zip", "", ".doc")
# Compiled before they are run, so that atheris sees which lines a file reaches.
EXPLORER = """
import sys, atheris
readers = ["ufselect", "scipy.io", "numpy.lib", "zipfile"]
with atheris.instrument_imports(include=readers):
    from studies.reliability import fuzz
    fuzz.import_readers()
fuzz.explore(sys.argv[1], sys.argv[2:])
"""


def import_readers() -> None:
    """Import every module that reads files: they are imported when needed only."""
    for module in pkgutil.walk_packages(data.__path__, "ufselect.data."):
        importlib.import_module(module.name)


def read_named(content: bytes, folder: Path, isolate: bool, name: str) -> None:
    """Read a file of this name."""
    path = folder / name
    path.write_bytes(content)
    read_whole(path, isolate=isolate)


def read_any(content: bytes, folder: Path, isolate: bool) -> None:
    """Read a file whose first byte chooses the end of its name."""
    suffix = SUFFIXES[content[0] % len(SUFFIXES)] if content else ""
    read_named(content[1:], folder, isolate, f"a{suffix}")


def read_text(content: bytes, folder: Path, isolate: bool) -> None:
    """Read text with options that the first byte chooses."""
    first, path = content[0] if content else 0, folder / "a.csv"
    path.write_bytes(content[1:])
    choices = (None, True, False)
    read_whole(
        path,
        header=choices[first % 3],
        transpose=choices[first // 3 % 3],
        labels="label" if first & 64 else None,
        na_values=("-", "?") if first & 128 else (),
    )


def archive_of(content: bytes) -> bytes:
    """Return an archive with right checksums of members that follow each other.

    Each begins with ``PK``, its name and a line feed. An archive stays as it is.
    """
    if content.startswith(b"PK\x03\x04"):
        return content
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for part in content.split(b"PK")[1:]:
            name, _, member = part.partition(b"\n")
            # ZipFile cuts names at a NUL.
            text = name.decode("latin-1").partition("\0")[0][:100]
            archive.writestr(text or "X.npy", member)
    return stream.getvalue()


def members_of(archive: bytes) -> bytes:
    """Return what `archive_of` makes the archive of."""
    with zipfile.ZipFile(io.BytesIO(archive)) as source:
        return b"".join(
            b"PK" + name.encode() + b"\n" + source.read(name)
            for name in source.namelist()
        )


def read_archive(content: bytes, folder: Path, isolate: bool) -> None:
    """Read members as a NumPy archive."""
    read_named(archive_of(content), folder, isolate, "a.npz")


def read_model(content: bytes, folder: Path, isolate: bool) -> None:
    """Read members as a selector file, with the right digest."""
    archive, path = archive_of(content), folder / "a.selector"
    digest = hashlib.sha256(archive).hexdigest().encode()
    path.write_bytes(OPENING + digest + b"\n" + archive)
    read_selector(path)


def written(*names: str) -> Callable[[], list[bytes]]:
    """Return how to make the files of these names that are as they should be."""

    def make() -> list[bytes]:
        found = []
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                path = Path(folder, name)
                (KINDS[name].write or SEEDS[name])(path)
                found.append(path.read_bytes())
        return found

    return make


def text_files() -> list[bytes]:
    """Return texts, each after a byte of options."""
    first, second, third, _ = written(*list(SEEDS)[:4])()
    more = (b"a;b\n1,5;2\n3,5;4\n", b"gene\ts1\ts2\nTP53\t1\t2\nMYC\t3\t4\n")
    return [b"\0" + each for each in (first, second, third, *more)]


def any_files() -> list[bytes]:
    """Return a file of each kind, each after the byte of its name."""
    return [
        bytes([SUFFIXES.index(name[name.index(".") :])]) + content
        for name, content in zip(SEEDS, written(*SEEDS)(), strict=True)
        if name[name.index(".") :] in SUFFIXES
    ]


def archives() -> list[bytes]:
    """Return archives of arrays, and of sparse matrices of more forms, as members."""
    found = written("arrays.npz", "sparse.npz")()
    for form in ("bsr", "coo", "csc", "dia"):
        stream = io.BytesIO()
        sp.save_npz(stream, sp.random(6, 4, 0.5, form, random_state=0))
        found.append(stream.getvalue())
    return [*map(members_of, found), found[0]]


def models() -> list[bytes]:
    """Return files of selectors as members, without opening and digest."""
    contents = written("fitted.selector")()
    return [members_of(each[each.index(b"\n") + 1 :]) for each in contents]


class Target(NamedTuple):
    """What to read, files of it with which nothing is wrong, and how to refuse."""

    read: Callable[[bytes, Path, bool], None]
    files: Callable[[], list[bytes]]
    refusal: type[Exception] = TableError


MATLAB = ("version-4.mat", "version-5.mat", "version-7.mat", "version-7.3.mat")
TARGETS = {
    "detection": Target(read_any, any_files),
    "text": Target(read_text, text_files),
    "matlab": Target(partial(read_named, name="a.mat"), written(*MATLAB)),
    "anndata": Target(
        partial(read_named, name="a.h5ad"), written("dense.h5ad", "sparse.h5ad")
    ),
    "npz": Target(read_archive, archives),
    "model": Target(read_model, models, ModelError),
}


def read_kept(name: str, path: Path) -> None:
    """Read a file that was found, as ``ufselect select`` would."""
    with tempfile.TemporaryDirectory() as folder:
        TARGETS[name].read(path.read_bytes(), Path(folder), True)


def explore(name: str, arguments: list[str]) -> None:
    """Fuzz in this process, which ends with it; counts and losses go to the folder."""
    import atheris

    folder, target = Path(arguments[0]), TARGETS[name]
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    written_at = 0.0

    def one(content: bytes) -> None:
        nonlocal written_at
        try:
            target.read(content, folder, False)
            counts["answered"] += 1
        except target.refusal as error:
            said = str(error)
            if len(said) < LONGEST_SENTENCE and len(said.splitlines()) == 1:
                counts["refused"] += 1
            else:
                keep(content, "not one sentence")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a loss
            keep(content, f"{type(error).__name__}: {error}"[:200])
        if time.monotonic() - written_at > 1:
            (folder / "counts.json").write_text(json.dumps(counts))
            written_at = time.monotonic()

    def keep(content: bytes, reason: str) -> None:
        counts["lost"] += 1
        if (kind := reason[:40]) not in seen:
            seen.add(kind)
            path = folder / f"lost-{len(seen)}-{os.getpid()}"
            path.write_bytes(content)
            path.with_suffix(".txt").write_text(reason)

    atheris.Setup(["fuzz", *arguments[1:]], one)
    atheris.Fuzz()


def fuzzed(name: str, seconds: float, keep: Path | None = None) -> Outcome:
    """Fuzz a target for so long, and return how often what happened."""
    totals: Counter[str] = Counter()
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        corpus = folder / "corpus"
        corpus.mkdir()
        # Those that end the process would do so before anything else is tried.
        paths = sorted((KEPT / name).glob("*"))
        kept = [path.read_bytes() for path in paths if "ends-" not in path.name]
        for number, content in enumerate([*TARGETS[name].files(), *kept]):
            (corpus / f"{number}").write_bytes(content)
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 1:
            options = {
                "max_total_time": int(left),
                "timeout": MOST_SECONDS,
                "report_slow_units": MOST_SECONDS,
                "rss_limit_mb": MOST_MEGABYTES,
                "max_len": LONGEST_FILE,
                "artifact_prefix": f"{folder}/ended-",
                "seed": 1 + totals["ended"],
            }
            flags = [f"-{option}={value}" for option, value in options.items()]
            command = [sys.executable, "-c", EXPLORER, name, str(folder), *flags]
            with (folder / "log").open("wb") as log:
                subprocess.run(
                    [*command, str(corpus)], stdout=log, stderr=log, check=False
                )
            counts = folder / "counts.json"
            if not counts.exists():
                raise ValueError((folder / "log").read_text(errors="replace")[-500:])
            totals.update(json.loads(counts.read_text()))
            counts.unlink()
            for path in folder.glob("ended-*"):
                judge_ended(name, path, totals, notes, keep)
        notes += [path.read_text() for path in sorted(folder.glob("lost-*.txt"))]
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            for path in folder.glob("lost-*"):
                shutil.copy(path, keep / f"{name}-{path.name}")
        reached = len(list(corpus.iterdir()))
    if totals["ended"]:
        notes.insert(0, f"{totals['ended']} ended the process and were read once more")
    notes.insert(0, f"{seconds / 60:.0f} minutes, {reached} files that reach new lines")
    kinds = [totals[kind] for kind in ("answered", "refused", "lost")]
    return Outcome(name, sum(kinds), *kinds, "; ".join(notes[:4]))


def judge_ended(
    name: str, path: Path, totals: Counter[str], notes: list[str], keep: Path | None
) -> None:
    """Read once more, as the command does, what has ended the process."""
    work, refusals = partial(read_kept, name, path), (TARGETS[name].refusal,)
    (verdict,) = verdicts([Trial(path.name, work, refusals, MOST_SECONDS)])
    totals["ended"] += 1
    if verdict.kind in ("answered", "refused"):
        totals[verdict.kind] += 1
    else:
        totals["lost"] += 1
        notes.append(verdict.said[:200])
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, keep / f"{name}-{verdict.kind}-{path.name}")
    path.unlink()


def measure(settings: Settings) -> Iterator[Outcome]:
    """Yield one outcome for every target."""
    for name in TARGETS:
        if find_spec("atheris") is None:
            note = "not tried: needs atheris (pip install atheris)"
            yield Outcome(name, 0, 0, 0, 0, note)
        else:
            yield fuzzed(name, settings.count(SECONDS, 20))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m studies.reliability.fuzz")
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--keep", type=Path, help="folder for files that were lost")
    chosen = parser.parse_args()
    print(line(fuzzed(chosen.target, chosen.seconds, chosen.keep)))

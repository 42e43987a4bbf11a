"""Which circumstances around a command crash it, hang it, or lose a file?

They are full or read-only disks, closed streams, small limits, files that change while
they are read, kills at any moment, a Dask cluster that loses its client or a worker,
and a server after a hundred runs. "Answered" means the right result, "refused" an error
message of one sentence and a non-zero exit code. Existing files must stay complete, and
no partial new file may remain.

    python -m studies circumstances
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import anndata
import numpy as np
import pandas as pd

from studies.findings import Count, Outcome
from studies.reliability.experiment_runs import Run, environment_here, prepare
from studies.reliability.faults import small_disk
from studies.reliability.long_runs import SLACK
from studies.reliability.page_attacks import served
from studies.settings import Settings
from ufselect.experiments.limits import memory_of

DURATION = "12 minutes"
SECONDS = 120
PROGRAM = [sys.executable, "-m", "ufselect"]
OUTPUTS = tuple(f"--output=out.{end}" for end in ("csv", "npy", "parquet", "xlsx"))
OUTPUTS += ("--scores=out.csv", "--report=out.html")
OLD = b"what was here before\n"


def table(rows: int = 60, columns: int = 12) -> pd.DataFrame:
    """Return a table of three groups."""
    random = np.random.default_rng(0)
    values = random.normal(size=(rows, columns))
    values[:, :4] += 5 * (np.arange(rows) % 3)[:, np.newaxis]
    return pd.DataFrame(values, columns=[f"gene {i}" for i in range(columns)])


def judged(
    count: Count,
    arguments: list[str],
    folder: Path,
    check: Callable[[], list[Any]] = list,
    *,
    limit: tuple[int, int] | None = None,
    **options: Any,
) -> None:
    """Run a command, and count how it ended; what the check finds is a loss."""
    given = {
        "cwd": folder,
        "env": environment_here(),
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.PIPE,
        "preexec_fn": limit and partial(resource.setrlimit, limit[0], (limit[1],) * 2),
    }
    process = subprocess.Popen([*PROGRAM, *arguments], **{**given, **options})
    try:
        _, said = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        count.hang(f"{arguments} hangs")
        return
    complaint = (said or b"").decode(errors="replace").strip()
    problems = [*check(), "Traceback" in complaint and f"traceback: {complaint[-200:]}"]
    if process.returncode < 0:
        count.crash(f"{arguments}: {signal.Signals(-process.returncode).name}")
    elif process.returncode == 0:
        count.answer(*problems)
    else:
        silent = said is not None and not complaint.rpartition("\n")[2].startswith(
            "ufs"
        )
        count.refuse(*problems, silent and f"no sentence: {complaint[-200:]}")


def select(*more: str) -> list[str]:
    """Return the arguments of a quick selection."""
    return ["select", "t.csv", "--method=MaxVariance", "--features=3", *more]


def left_as_it_was(path: Path) -> list[Any]:
    """Return what is wrong unless a file is the old one, or new and whole."""
    beside = [each.name for each in path.parent.iterdir() if ".part" in each.name]
    old = path.exists() and path.read_bytes() == OLD
    whole = path.exists() and (path.stat().st_size > len(OLD) or path.suffix != ".csv")
    return [
        not (old or whole) and f"{path.name} is lost",
        bool(beside) and f"{beside} stays behind",
    ]


def disks(folder: Path, settings: Settings) -> Iterator[Outcome]:
    """Write to disks that are full or read-only, and beyond a limit on files."""
    for what, change in (
        ("output to a full disk", "full"),
        ("output to a read-only file system", "ro"),
        ("output beyond the limit on the size of files", "limit"),
    ):
        count = Count(what)
        for place, option in enumerate(OUTPUTS):
            with small_disk(folder / "disk", 2000) as disk:
                if disk is None:
                    break
                table().to_csv(disk / "t.csv")
                target = disk / option.partition("=")[2]
                if place % 2:
                    target.write_bytes(OLD)
                if change == "full":
                    with (disk / "filler").open("wb", 0) as filler:
                        try:
                            while filler.write(bytes(4096)):
                                pass
                        except OSError:
                            pass
                elif change == "ro":
                    command = ["mount", "-o", "remount,ro", str(disk)]
                    subprocess.run(command, check=True)
                limit = (resource.RLIMIT_FSIZE, 500) if change == "limit" else None
                check = partial(left_as_it_was, target) if place % 2 else list
                judged(count, select(option), disk, check, limit=limit)
        yield count.outcome() if count.tried else count.outcome("not tried: needs root")


def surroundings(folder: Path, settings: Settings) -> Iterator[Outcome]:
    """Close streams, take away variables, folders and limits."""
    table().to_csv(folder / "t.csv")
    count = Count("closed or full standard streams")
    full = Path("/dev/full").open("wb")  # noqa: SIM115 - closed below
    for options in (
        {"stdout": full},
        {"stdout": full, "stderr": full},
        {"preexec_fn": lambda: os.close(1)},
        {"preexec_fn": lambda: os.close(2), "stderr": None},
        {"preexec_fn": lambda: os.closerange(0, 3), "stderr": None},
        {"preexec_fn": lambda: os.close(0)},
    ):
        judged(count, select("--no-files"), folder, **options)
        judged(count, ["select", "-", "--no-files"], folder, **options)
    full.close()
    yield count.outcome()
    count = Count("missing folders and variables, odd settings")
    here = environment_here()
    for change in (
        {"HOME": "/nowhere"},
        {"TMPDIR": "/nowhere"},
        {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        {"COLUMNS": "1"},
        {"COLUMNS": "-5", "TERM": "nothing"},
        {"TZ": "Nowhere/Land"},
        {"MPLCONFIGDIR": "/dev/null"},
        {"OMP_NUM_THREADS": "many"},
    ):
        report = folder / "out.html"
        judged(count, select(f"--report={report}"), folder, env={**here, **change})
        report.unlink(missing_ok=True)
    gone = folder / "gone"
    gone.mkdir()
    command = ["select", str(folder / "t.csv"), "--method=MaxVariance"]
    judged(count, command, gone, preexec_fn=lambda: shutil.rmtree(gone))
    yield count.outcome()
    count = Count("small limits on open files, memory and time")
    for limit in (
        (resource.RLIMIT_NOFILE, 12),
        (resource.RLIMIT_NOFILE, 40),
        (resource.RLIMIT_DATA, 400 << 20),
        (resource.RLIMIT_STACK, 1 << 20),
        (resource.RLIMIT_CORE, 0),
    ):
        judged(count, select("--no-files"), folder, limit=limit)
    yield count.outcome()


FORMATS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "t.csv": lambda frame, path: frame.to_csv(path),
    "t.csv.gz": lambda frame, path: frame.to_csv(path),
    "t.npy": lambda frame, path: np.save(path, frame.to_numpy()),
    "t.parquet": lambda frame, path: frame.to_parquet(path),
    "t.h5ad": lambda frame, path: anndata.AnnData(frame.to_numpy()).write_h5ad(path),
}


def grow(path: Path) -> None:
    """Append to a file."""
    with path.open("ab") as stream:
        stream.write(b"9,9,9\n" * 1000)


def overwrite(path: Path) -> None:
    """Write noise into the middle of a file."""
    with path.open("r+b") as stream:
        stream.seek(path.stat().st_size // 2)
        stream.write(np.random.default_rng(0).bytes(5000))


def replace(path: Path) -> None:
    """Put another file in its place."""
    path.with_name("new").write_bytes(b"something else")
    path.with_name("new").replace(path)


CHANGES: dict[str, Callable[[Path], object]] = {
    "cut to half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "emptied": lambda path: os.truncate(path, 0),
    "grows": grow,
    "overwritten": overwrite,
    "replaced": replace,
    "deleted": Path.unlink,
}


def changing_files(folder: Path, settings: Settings) -> Iterator[Outcome]:
    """Change a file at some moment of its being read."""
    frame, random = table(800, 200), np.random.default_rng(settings.seed)
    for name, write in FORMATS.items():
        count = Count(f"{name} that changes while it is read")
        path = folder / name
        write(frame, path)
        whole = path.read_bytes()
        command = ["select", name, "--method=MaxVariance", "--features=3", "--no-files"]
        start = time.monotonic()
        judged(count, command, folder)
        taken = time.monotonic() - start
        for change in CHANGES.values():
            for _ in range(settings.count(2, 1)):
                path.write_bytes(whole)
                delay = random.uniform(0.2 * taken, taken)
                timer = threading.Timer(delay, change, (path,))
                timer.start()
                judged(count, command, folder)
                timer.join()
        yield count.outcome()


def kills(folder: Path, settings: Settings) -> Iterator[Outcome]:
    """Kill a selection at any moment; look at its output and at what it spooled."""
    table(200, 50).to_csv(folder / "t.csv")
    random = np.random.default_rng(settings.seed)
    start = time.monotonic()
    whole = [*PROGRAM, *select("--output=out.csv")]
    subprocess.run(whole, cwd=folder, env=environment_here(), capture_output=True)
    taken = time.monotonic() - start
    for what, number in (
        ("SIGKILL of a selection that replaces a file", signal.SIGKILL),
        ("SIGTERM while standard input is read", signal.SIGTERM),
    ):
        count = Count(what)
        for _ in range(settings.count(12, 2)):
            output, spool = folder / "out.csv", folder / "spool"
            output.write_bytes(OLD)
            shutil.rmtree(spool, ignore_errors=True)
            spool.mkdir()
            reading = number == signal.SIGTERM
            arguments = select("--output=out.csv")
            arguments[1] = "-" if reading else "t.csv"
            process = subprocess.Popen(
                [*PROGRAM, *arguments],
                cwd=folder,
                env={**environment_here(), "TMPDIR": str(spool)},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            if reading and process.stdin is not None:
                process.stdin.write(b"a,b\n" * 10_000)
                process.stdin.flush()
            # Most often at the end, where the file is written.
            time.sleep(taken * random.triangular(0.1, 0.95, 1.05))
            process.send_signal(number)
            process.communicate()
            problems = left_as_it_was(output)
            if reading:
                size = sum(p.stat().st_size for p in spool.rglob("*") if p.is_file())
                problems.append(size > 0 and f"{size} bytes of input stay behind")
            count.answer(*problems)
        yield count.outcome("the file is the old one or the new one")


CLIENT = """
import sys, numpy as np, dask.array as da
from distributed import Client
from ufselect import SCFS
X = np.load(sys.argv[2])
client = Client(sys.argv[1])
A = client.persist(da.from_array(X, chunks=(100, X.shape[1])))
print("begins", flush=True)
for _ in range(int(sys.argv[3])):
    fitted = SCFS(5, n_clusters=3, max_iter=20, random_state=0).fit(A)
print(fitted.order_[:5].tolist(), flush=True)
"""


def cluster(folder: Path, settings: Settings) -> Iterator[Outcome]:
    """Kill the client of a cluster, and a worker during a fit; then fit once more."""
    from distributed import LocalCluster

    np.save(folder / "X.npy", table(600, 60).to_numpy())
    command = [sys.executable, "-c", CLIENT]
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as workers:
        first = [*command, workers.scheduler_address, str(folder / "X.npy")]

        def fit(number: int = 1) -> Any:
            return subprocess.Popen(
                [*first, str(number)],
                env=environment_here(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )

        expected = fit().communicate(timeout=SECONDS)[0]
        for what, victim in (
            ("a client of a Dask cluster that is killed", "client"),
            ("a worker of a Dask cluster that is killed during a fit", "worker"),
        ):
            count = Count(what)
            for _ in range(settings.count(3, 1)):
                process = fit(20 if victim == "client" else 2)
                process.stdout.readline()
                time.sleep(1)
                if victim == "client":
                    process.kill()
                    process.communicate()
                    process = fit()
                else:
                    os.kill(next(iter(workers.workers.values())).pid, signal.SIGKILL)
                try:
                    # A cluster restarts its worker and sends it the data again.
                    said, complaint = process.communicate(timeout=5 * SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    count.hang("the fit hangs")
                    continue
                right = said.splitlines()[-1:] == expected.splitlines()[-1:]
                count.answer(not right and f"{said[-80:]} {complaint[-200:]}")
            yield count.outcome("the next fit, or this one, has the right result")


def stores(folder: Path, settings: Settings) -> Iterator[Outcome]:
    """Begin an experiment on a file system that is read-only."""
    count = Count("a store on a read-only file system")
    prepare(folder, repetitions=1)
    with small_disk(folder / "disk", 2000) as disk:
        if disk is not None:
            Run(folder, store=disk / "kept.sqlite").end()
            before = (disk / "kept.sqlite").read_bytes()
            command = ["mount", "-o", "remount,ro", str(disk)]
            subprocess.run(command, check=True)
            for name in ("kept.sqlite", "new.sqlite"):
                ended = Run(folder, store=disk / name).end()
                same = (disk / "kept.sqlite").read_bytes() == before
                problems = [
                    ended.traceback and f"traceback: {ended.complaint[-200:]}",
                    not same and "the store was changed",
                ]
                (count.answer if ended.code == 0 else count.refuse)(*problems)
    yield count.outcome()


@contextmanager
def page(folder: Path) -> Iterator[Callable[..., Any]]:
    """Serve the page; return how to ask it, and the process."""
    (folder / "page").mkdir()
    with served(folder / "page") as found:
        opener = build_opener(ProxyHandler({}))
        address = f"http://127.0.0.1:{found.port}/{found.token}/"

        def ask(path: str, body: bytes | None = None) -> Any:
            request = Request(address + path, body)
            request.add_header("Origin", f"http://127.0.0.1:{found.port}")
            with opener.open(request, timeout=SECONDS) as answer:
                return json.loads(answer.read())

        yield ask


def server(folder: Path, settings: Settings) -> Iterator[Outcome]:
    """Run many selections on one server, and weigh it after a fifth and after all."""
    number = settings.count(100, 5)
    count = Count(f"{number} runs on one server")
    content = table().to_csv().encode()
    weights, left = [], []
    with page(folder) as ask:
        (process,) = (
            int(path.parent.name)
            for path in Path("/proc").glob("[0-9]*/cmdline")
            if b"serve\0--json" in path.read_bytes()
            and f"TMPDIR={folder / 'page'}".encode()
            in path.with_name("environ").read_bytes()
        )
        for place in range(number):
            file = ask("api/files?name=t.csv", content)["file"]
            choices = {"method": "MaxVariance", "features": "3", "effort": "quick"}
            asked = json.dumps(
                {"action": "select", "file": file, "choices": choices}
            ).encode()
            run = ask("api/runs", asked)
            until = time.monotonic() + SECONDS
            while run["state"] in ("waiting", "running") and time.monotonic() < until:
                time.sleep(0.2)
                run = ask(f"api/runs/{run['run']}")
            if run["state"] != "done":
                left.append(f"{run['state']}: {str(run)[:150]}")
            if place + 1 in (max(1, number // 5), number):
                weights.append(memory_of(process))
    early, late = weights
    files = [path.name for path in (folder / "page").rglob("*") if path.is_file()]
    problems = [late - early > SLACK and f"grows from {early} to {late} bytes"]
    problems.append(bool(files) and f"{files[:3]} stay behind")
    for _ in range(number - len(left) - 1):
        count.answer()
    for said in left:
        count.answer(said)
    count.answer(*problems)
    yield count.outcome(
        f"{early / 1e6:.0f} MB after a fifth, {late / 1e6:.0f} MB after all"
    )


FAMILIES = (disks, surroundings, changing_files, kills, stores, cluster, server)


def measure(settings: Settings) -> Iterator[Outcome]:
    """Yield what became of the commands, one family of circumstances at a time."""
    for family in FAMILIES:
        with tempfile.TemporaryDirectory() as folder:
            yield from family(Path(folder), settings)

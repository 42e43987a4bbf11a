"""How long is ``ufselect select``, next to reading the file and fitting once?

Prostate-GE is written as CSV. The whole command, from the start of Python to the page
on disk, is timed against ``pandas.read_csv`` plus one ``SCFS(random_state=0).fit``. The
hard reading leaves the start of Python and all imports out of the latter, though not
out of the command; the friendly one takes both as whole processes. Every time is of a
process of its own; repetitions are interleaved; printed are medians of the ratios, with
the least and the most, by the clock and by the time of the processor, which a busy
machine disturbs less (as long as threads do not wait for each other: one is best).

    python benchmarks/select_speed.py [--repeats 7] [--set Prostate-GE]
        [--one-thread] [-- ARGUMENTS OF SELECT]
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from threadpoolctl import threadpool_info

from ufselect.data import data_folder, read_labelled
from ufselect.report import text_table

LIMIT = 5.0
READ_AND_FIT = """
import sys, time
import pandas
from ufselect import SCFS
start, used = time.perf_counter(), time.process_time()
SCFS(random_state=0).fit(pandas.read_csv(sys.argv[1]))
print(time.perf_counter() - start, time.process_time() - used)
"""


def write(path, table):
    with path.open("w") as stream:
        stream.write(",".join(f"g{place}" for place in range(table.shape[1])) + "\n")
        for row in table.tolist():
            stream.write(",".join(map(repr, row)) + "\n")


def surroundings(folder, one_thread):
    """Return an environment in which modules are compiled once, as when installed."""
    found = dict(os.environ, PYTHONPYCACHEPREFIX=str(Path(folder, "compiled")))
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    if one_thread:
        found |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return found


def used_by_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def timed(arguments, environment):
    """Return the seconds of a process, by the clock and used, and what it printed."""
    start, used = time.perf_counter(), used_by_children()
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return time.perf_counter() - start, used_by_children() - used, done.stdout


def one_repetition(file, more, environment):
    """Return (clock, used) of the command, of reading and fitting, of its process."""
    folder = file.parent
    files = ["-o", folder / "selected.csv", "--report", folder / "page.html"]
    *whole, _ = timed(
        ["-m", "ufselect", "select", file, *files, "--quiet", *more], environment
    )
    *process, printed = timed(["-c", READ_AND_FIT, file], environment)
    return whole, [float(each) for each in printed.split()], process


def row_of(name, seconds, against, measure):
    """Return what the command takes next to something else, by one measure of time."""
    wholes = [each[0][measure] for each in seconds]
    others = [each[against][measure] for each in seconds]
    ratios = [whole / other for whole, other in zip(wholes, others, strict=True)]
    return [
        name,
        ("clock", "processor")[measure],
        f"{median(wholes):.2f} s",
        f"{median(others):.2f} s",
        f"{median(ratios):.2f}",
        f"{min(ratios):.2f} to {max(ratios):.2f}",
        "yes" if median(ratios) <= LIMIT else "no",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--set", default="Prostate-GE")
    parser.add_argument("--one-thread", action="store_true")
    parser.add_argument("more", nargs="*", help="further arguments of select")
    options = parser.parse_args()
    folder = data_folder()
    if folder is None:
        raise SystemExit("no data: set UFSELECT_DATA to the folder of the .mat files")
    table = read_labelled(folder / f"{options.set}.mat").table
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary, "table.csv")
        write(file, table)
        environment = surroundings(temporary, options.one_thread)
        one_repetition(file, options.more, environment)  # compiles, fills caches
        seconds = [
            one_repetition(file, options.more, environment)
            for _ in range(options.repeats)
        ]
        megabytes = file.stat().st_size / 1e6
    threads = 1 if options.one_thread else threadpool_info()[0]["num_threads"]
    print(
        f"{options.set}, {table.shape[0]} x {table.shape[1]}, {megabytes:.1f} MB of "
        f"CSV, threads of BLAS: {threads}, repetitions: {options.repeats}\n"
    )
    rows = [
        row_of(name, seconds, against, measure)
        for against, name in enumerate(("hard", "friendly"), start=1)
        for measure in (0, 1)
    ]
    columns = ["reading", "time by", "command", "read and fit", "ratio", "spread"]
    print(text_table([*columns, f"within {LIMIT:g}x"], rows))


if __name__ == "__main__":
    main()

"""Write docs/benchmarks.md from the latest results of asv.

    python -m benchmarks.page [--run] [--output docs/benchmarks.md]

With --run, `asv run --quick --python=same` is run first, in this environment.
"""

import argparse
import ast
import importlib
import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from itertools import product
from pathlib import Path

from ufselect.report import markdown_table

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("ufselect", "numpy", "scipy", "scikit-learn", "pandas")
INTRODUCTION = """# Benchmarks

Processor seconds with one thread, from a run of `asv run --quick`, which measures each
benchmark once: compare those of a row, and expect somewhat other values in another run.
`asv run` repeats each benchmark and takes medians. A dash means that the package does
not have the method, or failed. This page is made by

    python -m benchmarks.page --run

{machine}
"""


def run():
    """Measure in this environment, and keep the results under the present commit."""
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True)
    asv = [sys.executable, "-m", "asv"]
    subprocess.run([*asv, "machine", "--yes"], cwd=ROOT, check=True)
    measured = [
        "run",
        "--quick",
        "--python=same",
        f"--set-commit-hash={commit.strip()}",
    ]
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([*asv, *measured], cwd=ROOT, env={**os.environ, **single})
    # 2: some benchmarks failed, which the page shows.
    if done.returncode not in (0, 2):
        raise SystemExit("asv failed")


def latest():
    """Return the newest file of results."""
    found = sorted((ROOT / ".asv" / "results").glob("*/*-*.json"), key=changed)
    if not found:
        raise SystemExit("no results: run `asv run --quick` first, or use --run")
    return json.loads(found[-1].read_text("utf-8"))


def changed(path):
    """Return when a file was written."""
    return path.stat().st_mtime


def page(results):
    """Return the text of the page."""
    columns = results["result_columns"]
    tables = {}
    for name, values in sorted(results["results"].items()):
        module, group, measure = name.split(".")
        found = dict(zip(columns, values, strict=False))
        tables.setdefault((module, group), {})[measure] = found
    parts = [INTRODUCTION.format(machine=machine(results))]
    title = None
    for (module, group), measures in tables.items():
        loaded = importlib.import_module(f"benchmarks.{module}")
        if module != title:
            parts.append("## " + loaded.__doc__.split("\n\n")[0].strip().rstrip("."))
            title = module
        parts.append(" ".join(getattr(loaded, group).__doc__.split()))
        parts.append(table(getattr(loaded, group), measures))
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def machine(results):
    """Return what a reader must know of the machine."""
    on = results["params"]
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"The machine: {on['num_cpu']} cores, {on['cpu'] or on['arch']}, {on['os']}, "
        f"Python {platform.python_version()}. "
        f"Versions: {versions}."
    )


def table(group, measures):
    """Return a row for each parameter, and a column for each measure."""
    first = next(iter(measures.values()))
    rows = []
    for place, values in enumerate(product(*first["params"])):
        cells = [str(ast.literal_eval(value)) for value in values]
        for name, found in measures.items():
            result = found["result"][place] if found["result"] else None
            cells.append(shown(name, result))
        rows.append(cells)
    names = list(getattr(group, "param_names", []))
    header = [*names, *(label(name) for name in measures)]
    return markdown_table(header, rows)


def label(measure):
    """Return the words of a measure."""
    kind, _, words = measure.partition("_")
    words = words.replace("_", " ")
    return f"memory: {words}" if kind == "peakmem" else words


def shown(measure, value):
    """Return a result with its unit."""
    if value is None or value != value:
        return "-"
    if measure.startswith("peakmem"):
        return f"{value / 1e6:,.0f} MB"
    if measure.startswith("track"):
        return f"{value:.1%}"
    return f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"


def main(arguments=None):
    """Run if asked to, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page")
    parser.add_argument("--run", action="store_true", help="run asv first")
    usual = ROOT / "docs" / "benchmarks.md"
    parser.add_argument("--output", type=Path, default=usual)
    options = parser.parse_args(arguments)
    if options.run:
        run()
    options.output.write_text(page(latest()), "utf-8")


if __name__ == "__main__":
    main()

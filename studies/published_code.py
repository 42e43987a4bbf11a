"""Why do our cells differ from the printed ones of the SCFS paper?

The protocol of the paper, one change at a time: the grid of a method, k-means on 50,
100, ..., 300 features, labels that choose the point of the grid at every number. A row
"public code" runs lap_score, NDFS and UDFS of skfeature-chappers instead of our
methods, where a fit takes at most BUDGET seconds of processor time. Its differences
from the papers are listed in docs/other-packages.md.

"Graph of the example" is what the examples of that code make: they name the options of
the graph in a way that it does not know, so that 5 neighbours get weights of one,
whatever weights are asked for. "Plus abs(min X)" is what the public script of SCFS does
to every table, also if all values are positive.

`--peers` names an interpreter with skfeature-chappers, by default this one. Rows that
the JSON file holds already are not computed again; all take about 90 minutes.

    python -m studies published_code [--repetitions N] [--sets a,b] [--methods a,b]
        [--peers PYTHON] [--json FILE] [--page docs/scfs-2020.md] [--read]
"""

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from studies.rankings import find_set
from ufselect.data import LabelledSet, read_labelled
from ufselect.evaluation import judge_ranking
from ufselect.experiments.protocol import PREPARATIONS
from ufselect.experiments.scfs_2020 import published, verdict
from ufselect.registry import all_selectors
from ufselect.solvers.starts import soft_start

BUDGET = 60
SIZES = (50, 100, 150, 200, 250, 300)
WEIGHTS = (1e-4, 1e-2, 1.0, 1e2, 1e4)
PLUS = "plus abs(min X)"
HEADING = "## Tests of reasons"
METRICS = {"ACC": "accuracy", "NMI": "nmi_geometric"}
TABLES = {"ACC": "accuracy", "NMI": "mutual_information"}
GRIDS: dict[str, dict[str, Sequence[Any]]] = {
    "LS": {"weights": ["heat"], "sigma": [1.0]},
    "UDFS": {"gamma": WEIGHTS, "lam": WEIGHTS},
    "NDFS": {"sigma": [1.0], "alpha": WEIGHTS, "beta": WEIGHTS},
    "SPUFS": {"sigma": [1.0], "alpha": WEIGHTS, "beta": WEIGHTS},
    "SCFS": {"alpha": WEIGHTS, "beta": WEIGHTS},
}


@dataclass(frozen=True)
class Change:
    """A change to one row of the tables, and the sets on which it is tried."""

    method: str
    what: str
    sets: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # Of the table that the method sees; k-means sees the table as it is.
    preparation: str = "none"
    start: float | None = None
    graph: str = ""
    alphas: Sequence[float] = WEIGHTS
    reverse: bool = False


GENES = ("Lung", "Lymphoma", "Prostate-GE")
EVERY = (*GENES, "ORL", "Isolet", "BASEHOCK")
# A fit of the public code inverts p x p matrices, or finds their eigenvectors: with
# more than 3000 features it takes longer than the budget, which Lymphoma shows.
CHANGES = (
    Change("LS", "public code, graph of the example", EVERY[:5], graph="example"),
    Change("LS", "public code, heat weights", EVERY[:5], graph="heat"),
    Change("LS", "weights of one", GENES, {"weights": "binary"}),
    Change("LS", "sigma from the data", GENES, {"sigma": None}),
    Change("LS", "columns from 0 to 1", GENES, preparation="unit-range"),
    Change("LS", "columns of unit variance", GENES, preparation="unit-variance"),
    Change("LS", "worst feature first", GENES, reverse=True),
    Change("NDFS", "nothing", ("Lymphoma", "Prostate-GE")),
    Change("UDFS", "nothing", ("Prostate-GE",)),
    Change("UDFS", "X as it is", ("Prostate-GE",), {"standardize": False}),
    Change("NDFS", PLUS, ("Lymphoma", "Prostate-GE"), preparation=PLUS),
    Change("SPUFS", "X as it is", ("Lung", "Lymphoma", "ORL"), {"standardize": False}),
    Change(
        "SPUFS",
        "X as it is, no graph (beta = 0)",
        ("Lung", "Lymphoma", "ORL"),
        {"standardize": False, "beta": 0.0},
    ),
    Change(
        "SCFS",
        f"paper solver, c-means of exponent 1.2, {PLUS}",
        EVERY,
        {"solver": "paper"},
        preparation=PLUS,
        start=1.2,
    ),
    # Next to the weight of its constraint, 1e9, alpha hardly matters.
    Change(
        "NDFS",
        "public code, graph of the example, alpha = 1",
        ("Isolet", "Lymphoma"),
        graph="example",
        alphas=(1.0,),
    ),
    Change(
        "NDFS",
        "public code, heat weights, alpha = 1",
        ("Isolet",),
        graph="heat",
        alphas=(1.0,),
    ),
    Change("UDFS", "public code", ("ORL", "Isolet", "Lymphoma"), graph="none"),
    Change("NDFS", "sigma from the data", ("Lymphoma", "Prostate-GE"), {"sigma": None}),
    Change(
        "NDFS",
        "columns of unit variance",
        ("Lymphoma", "Prostate-GE"),
        preparation="unit-variance",
    ),
    Change(
        "SCFS",
        "exact solver, X as it is, no intercept",
        GENES,
        {"standardize": False, "fit_intercept": False},
    ),
    Change("SCFS", "paper solver, k-means start", GENES, {"solver": "paper"}),
    Change(
        "SPUFS",
        f"X as it is, {PLUS}",
        ("Lung", "Lymphoma"),
        {"standardize": False},
        preparation=PLUS,
    ),
    Change("NDFS", PLUS, ("Isolet",), preparation=PLUS),
)

PEER = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import scipy.io
from skfeature.function.similarity_based import lap_score
from skfeature.function.sparse_learning_based import NDFS, UDFS
from skfeature.utility.construct_W import construct_W
path, method, graph, budget, weights, alphas = sys.argv[1:]
weights, alphas, budget = json.loads(weights), json.loads(alphas), int(budget)
content = scipy.io.loadmat(path)
X = content["X"]
X = (X.toarray() if hasattr(X, "toarray") else X).astype(float)
more = {"mode": "index", "n_clusters": len(np.unique(content["Y"]))}
if graph != "none":
    kind = {"weight_mode": "heat_kernel", "t": 1} if graph == "heat" else {}
    more["W"] = construct_W(X, metric="euclidean", k=5, **kind)
calls = {
    "LS": [(lap_score.lap_score, {})],
    "UDFS": [(UDFS.udfs, {"gamma": w, "k": 5}) for w in weights],
    "NDFS": [
        (NDFS.ndfs, {"alpha": a, "beta": b}) for a in alphas for b in weights
    ],
}
np.random.seed(0)
for function, parameters in calls[method]:
    limit = int(time.process_time()) + budget + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
    order = function(X.copy(), **more, **parameters)
    print(json.dumps(np.asarray(order).ravel().tolist()), flush=True)
"""


@dataclass(frozen=True)
class Found:
    """A row of the result: mean and deviation over the numbers of features."""

    data_set: str
    method: str
    what: str
    repetitions: int
    n_rankings: int
    scores: Mapping[str, tuple[float, float]]
    note: str = ""


def peer_orders(change: Change, path: Path, python: str) -> Iterator[list[int]]:
    """Yield the orders of the public code; fewer than asked for if time is over."""
    arguments = [str(path), change.method, change.graph, str(BUDGET)]
    numbers = [json.dumps(each) for each in (WEIGHTS, change.alphas)]
    command = [python, "-c", PEER, *arguments, *numbers]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode > 0:
        raise ValueError(done.stderr.strip().splitlines()[-1])
    for line in done.stdout.splitlines():
        yield json.loads(line)
    if done.returncode < 0:  # by a signal: that of the limit
        yield []


def our_orders(change: Change, data: LabelledSet) -> Iterator[np.ndarray]:
    """Yield the orders of our method at every point of its grid that has one."""
    paper = published()
    selector_class = all_selectors()[paper.methods[change.method]]
    X = np.asarray(data.table, dtype=float)
    if change.preparation == PLUS:
        X = X + abs(X.min())
    else:
        X = PREPARATIONS[change.preparation](X)
    n_clusters = len(np.unique(data.classes))
    given = {name: [value] for name, value in change.parameters.items()}
    for number, point in enumerate(points_of(GRIDS[change.method] | given)):
        selector = selector_class(**point)
        known = selector.get_params()
        # Another start at every point of the grid, as in the plan.
        random = {"n_clusters": n_clusters, "random_state": number}
        selector.set_params(**{k: v for k, v in random.items() if k in known})
        if change.start is not None:
            generator = np.random.RandomState(number)
            init = soft_start(X, n_clusters, generator, change.start)
            selector.set_params(init=init)
        try:
            order = selector.fit(X).order_
        except ValueError:
            continue  # W = 0, which the number of rankings shows
        yield order[::-1] if change.reverse else order


def points_of(grid: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the points of a grid."""
    for values in product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def found_of(change: Change, name: str, python: str, repetitions: int) -> Found:
    """Return the cells of one change on one set."""
    path = find_set(published().sets[name].catalogue_name)
    data = read_labelled(path)
    cache: dict[tuple[int, ...], np.ndarray] = {}
    scores = []
    late = False
    orders = (
        peer_orders(change, path, python) if change.graph else our_orders(change, data)
    )
    for order in orders:
        late |= len(order) == 0
        if len(order):
            judged = judge_ranking(
                data.table,
                order,
                data.classes,
                sizes=SIZES,
                seeds=range(repetitions),
                metrics=list(METRICS.values()),
                cache=cache,
            )
            scores.append(100 * judged.mean(axis=1))
    note = f"a fit takes more than {BUDGET} s" if late else ""
    first = (name, change.method, change.what, repetitions)
    if late or not scores:
        return Found(*first, 0, {}, note or "no ranking")
    best = np.max(scores, axis=0)
    cells = zip(METRICS, best.mean(axis=0), best.std(axis=0), strict=True)
    numbers = {metric: (round(m, 2), round(s, 2)) for metric, m, s in cells}
    return Found(*first, len(scores), numbers)


def words_of(found: Found, metric: str) -> tuple[str, str, str]:
    """Return the printed cell, ours and the verdict."""
    cell = getattr(published(), TABLES[metric])[found.method][found.data_set]
    printed = f"{cell.mean:.2f} ±{cell.std:.2f}"
    if metric not in found.scores:
        return printed, "-", "-"
    mean, deviation = found.scores[metric]
    return printed, f"{mean:.2f} ±{deviation:.2f}", verdict(mean, cell)


def section(rows: Sequence[Found]) -> str:
    """Return the part of the page."""
    repetitions = " or ".join(map(str, sorted({row.repetitions for row in rows})))
    lines = [
        HEADING,
        "",
        "Output of `python -m studies published_code --json "
        "studies/published_code.json --page docs/scfs-2020.md`. All changes "
        "that were tried are listed, and judged as above, with other seeds, and with "
        f'{repetitions} repetitions of k-means. Rows "public code" run '
        "skfeature-chappers, whose differences from the papers are listed in "
        "[other packages](other-packages.md). Its examples name the options of the "
        "graph in a way that the code does not know: the graph of the example has 5 "
        "neighbours with weights of one. A row in which nothing was changed tells what "
        "the seeds and the fewer repetitions do: compare others with it rather than "
        "with the tables above.",
        "",
        "| data set | method | what was changed | rankings | ACC published | ACC | | "
        "NMI published | NMI | |",
        "|:--|:--|:--|--:|--:|--:|:--|--:|--:|:--|",
    ]
    order = list(published().sets)
    for found in sorted(rows, key=lambda f: (f.method, order.index(f.data_set))):
        cells = [word for metric in METRICS for word in words_of(found, metric)]
        first = [found.data_set, found.method, found.what]
        number = found.note or str(found.n_rankings)
        lines.append(f"| {' | '.join([*first, number, *cells])} |")
    return "\n".join([*lines, ""])


def write_section(page: Path, text: str) -> None:
    """Put the part at the end of the page, in place of an earlier one."""
    before = page.read_text("utf-8").split(HEADING)[0].rstrip()
    page.write_text(f"{before}\n\n{text}", "utf-8")


def read_rows(path: Path | None) -> list[Found]:
    """Return what a file holds already."""
    if path is None or not path.is_file():
        return []
    return [Found(**row) for row in json.loads(path.read_text("utf-8"))]


def write_rows(path: Path, rows: Sequence[Found]) -> None:
    """Write all rows."""
    content = [asdict(row) for row in rows]
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m studies published_code")
    parser.add_argument("--quick", action="store_true", help="two rows of Prostate-GE")
    parser.add_argument("--repetitions", type=int, default=20, metavar="N")
    parser.add_argument("--sets", help="as the paper calls them, with commas")
    parser.add_argument("--methods", help="as the paper calls them, with commas")
    parser.add_argument("--peers", metavar="PYTHON", default=sys.executable)
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write, or go on with"
    )
    parser.add_argument("--page", type=Path, help="write the table at its end")
    parser.add_argument("--read", action="store_true", help="compute nothing")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Print a row for every change and set."""
    options = parse(arguments)
    rows = read_rows(options.json)
    done = {(row.data_set, row.method, row.what) for row in rows}
    changes = CHANGES[2:4] if options.quick else CHANGES
    sets = ["Prostate-GE"] if options.quick else list(EVERY)
    sets = options.sets.split(",") if options.sets else sets
    methods = options.methods.split(",") if options.methods else list(GRIDS)
    asked = [
        (change, name)
        for change in changes
        for name in change.sets
        if name in sets and change.method in methods
    ]
    for change, name in [] if options.read else asked:
        if (name, change.method, change.what) in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            python = options.peers
            row = found_of(change, name, python, options.repetitions)
        words = [" ".join(words_of(row, metric)) for metric in METRICS]
        print(f"{name} {change.method}, {change.what}: {words} {row.note}", flush=True)
        rows.append(row)
        if options.json is not None:
            write_rows(options.json, rows)
    if options.page is not None:
        write_section(options.page, section(rows))
    return 0

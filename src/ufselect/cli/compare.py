"""``ufselect compare``: several methods on one file, beside random and all features."""

import argparse
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ufselect.cli.outputs import write_whole
from ufselect.cli.progress import Waiting
from ufselect.cli.progress_json import waiting_for
from ufselect.cli.selectors import named_selector
from ufselect.cli.tables import (
    add_common_options,
    add_table_arguments,
    read,
    refuse_incomplete,
    refuse_too_many,
)
from ufselect.cli.usage import (
    list_of_names,
    number_of_features,
    positive,
    refuse_folders_that_are_missing,
)

if TYPE_CHECKING:
    from ufselect import UnsupervisedSelector
    from ufselect.data import Table
    from ufselect.report.method_comparison import Comparison

DEFAULT_METHODS = "AutoSelect,SCFS,LaplacianScore,MCFS"
# Random selections: so many that their spread can be told.
N_RANDOM = 20

# Features to compare where AutoSelect selects none.
FEWEST_COMPARED = 10

PREPARATIONS = ("auto", "features", "samples", "none")

EXAMPLES = """examples:
  ufselect compare genes.csv
  ufselect compare genes.csv --methods SCFS,MCFS,UDFS -k 50
  ufselect compare genes.csv --labels diagnosis --markdown comparison.md
"""
EXPLANATION = (
    "overlap and rank agreement: with the other methods, on average. reconstruction: "
    "R2 on held-out samples of all features, predicted by the chosen ones; below 0 "
    "where their means predict better. neighbours: share of the nearest neighbours of "
    "samples that stay. distinctness: 1 minus the mean absolute correlation of pairs. "
    f"Of random features the mean of {N_RANDOM} draws is given."
)


def add_parser(commands: Any) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "compare",
        help="compare the selections of several methods on a file",
        description="Ranks the features of a table with each method, all told the same "
        "number of features and clusters, and measures the selections beside those of "
        "highest variance, of chance, and all features.",
        epilog=EXAMPLES,
    )
    add_table_arguments(parser)
    parser.add_argument(
        "--methods",
        type=list_of_names,
        default=DEFAULT_METHODS,
        metavar="A,B,...",
        help="AutoSelect, or names that ufselect methods lists (default: %(default)s)",
    )
    parser.add_argument(
        "-k",
        "--features",
        type=number_of_features,
        metavar="N",
        help="how many features to compare, or which fraction (default: decided)",
    )
    parser.add_argument(
        "--clusters",
        type=positive,
        metavar="N",
        help="how many clusters the methods may think of (default: decided)",
    )
    parser.add_argument(
        "--standardize",
        choices=PREPARATIONS,
        default="auto",
        help="units in which selections are measured: features scaled to unit "
        "variance, samples to unit length, or none (default: what the methods choose "
        "for the table)",
    )
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the table as Markdown"
    )
    add_common_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Rank with each method, measure and print."""
    from ufselect._sklearn_compat import listening

    refuse_folders_that_are_missing(options.markdown)
    selectors = _selectors(options)
    with waiting_for(options) as waiting, listening(waiting.iteration):
        waiting.now(f"reading {options.name or options.file}")
        table = read(options)
        waiting.note(*table.notes)
        refuse_incomplete(table)
        refuse_too_many(options, table)
        compared = _compare(table, selectors, options, waiting)
        remarks = [
            f"{row['method']}: {remark}"
            for row in compared.rows
            for remark in row.get("remarks", ())
        ]
        waiting.note(*remarks)
    if options.markdown is not None:
        _write_markdown(compared, options.markdown)
    _print(table, compared, options)
    asked = {name for name in selectors if not name.startswith("random ")}
    return int(not asked & set(compared.names))


def _selectors(options: argparse.Namespace) -> dict[str, "UnsupervisedSelector"]:
    """Return the methods and the baselines by name."""
    from ufselect import AutoSelect, MaxVariance, RandomSelection

    chosen = [
        AutoSelect() if name.lower() == "autoselect" else named_selector(name)
        for name in options.methods
    ]
    several = {type(selector).__name__: selector for selector in chosen}
    # Chance is always there, and as several draws.
    several.pop("RandomSelection", None)
    several.setdefault("MaxVariance", MaxVariance())
    draws = {
        f"random {draw}": RandomSelection(random_state=(options.seed + draw) % 2**32)
        for draw in range(N_RANDOM)
    }
    return several | draws


def _compare(
    table: "Table",
    selectors: dict[str, "UnsupervisedSelector"],
    options: argparse.Namespace,
    waiting: Waiting,
) -> "Comparison":
    from ufselect import AutoSelect
    from ufselect.report.method_comparison import compare_selections
    from ufselect.tuning.side_by_side import rank_with_each

    waiting.now("deciding how many features and clusters")
    with warnings.catch_warnings():
        # Its reasons say the same.
        warnings.simplefilter("ignore", UserWarning)
        decided = AutoSelect(
            n_features_to_select=options.features or "auto",
            n_clusters=options.clusters or "auto",
            random_state=options.seed,
        ).fit(table.values)
    waiting.note(*decided.reasons_)
    n_features = decided.n_selected_
    if options.features is None:
        # Methods that select everything, or nothing, would all be the same.
        half = max(1, table.shape[1] // 2)
        n_features = min(n_features or FEWEST_COMPARED, half)
    ranked = rank_with_each(
        table.values,
        selectors,
        n_features=n_features,
        n_clusters=max(2, decided.n_clusters_),
        random_state=options.seed,
        progress=waiting.step,
    )
    groups: dict[str, list[Any]] = {}
    for each in ranked:
        name = "random" if each.name.startswith("random ") else each.name
        groups.setdefault(name, []).append(each)
    return compare_selections(
        table.values,
        groups,
        n_features,
        labels=table.labels,
        standardize=options.standardize,
        random_state=options.seed,
        progress=waiting.step,
    )


def _write_markdown(compared: "Comparison", path: Path) -> None:
    from ufselect.report import markdown_table

    words = f"{compared.conclusion}\n\n{EXPLANATION}"
    write_whole(path, f"{compared.table(markdown_table)}\n\n{words}\n")


def _print(table: "Table", compared: "Comparison", options: argparse.Namespace) -> None:
    if options.json:
        data = {
            "file": table.origin.name,
            "n_samples": table.shape[0],
            "reading": list(table.notes),
            "seed": options.seed,
            "labels": table.label_column,
            **compared._asdict(),
            "overlap": compared.overlap.tolist(),
            "rank_agreement": compared.rank_agreement.tolist(),
        }
        print(json.dumps(data, indent=2, allow_nan=False))
        return
    from textwrap import fill

    labels = ""
    if table.labels is not None:
        labels = (
            f" ACC and NMI compare k-means with {table.label_column!r}, which took no "
            "part in any selection."
        )
    print(f"{compared.n_features} features of {table.origin.name} by each method:\n")
    print(compared.table())
    print(f"\n{fill(EXPLANATION + labels, 88)}")
    print(f"\n{fill(compared.conclusion, 88)}")

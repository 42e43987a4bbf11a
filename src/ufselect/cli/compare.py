"""``ufselect compare``: several methods on one file, beside random and all features."""

import sys
import warnings
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from ufselect.cli.inputs import (
    check_source,
    command_line,
    in_options,
    loading,
    named_selector,
    read,
)
from ufselect.cli.options import (
    CLUSTERS,
    MARKDOWN,
    PATH,
    PRINTING,
    TABLE,
    command,
    complete_methods,
    method_names,
    number_of_features,
    option,
    option_group,
)
from ufselect.cli.output import (
    Progress,
    check_outputs,
    print_json,
    print_plain,
    print_table,
    print_text,
    print_written,
    printable,
    progress_for,
    width_of,
    write_whole,
)

if TYPE_CHECKING:
    from ufselect import UnsupervisedSelector
    from ufselect.data import Table
    from ufselect.report.comparison import Comparison

DEFAULT_METHODS = "AutoSelect,SCFS,LaplacianScore,MCFS"
# Random selections, enough to estimate their spread.
N_RANDOM = 20
# Features to compare where AutoSelect selects none.
MIN_COMPARED = 10
# Columns that a narrow terminal leaves out, in this order.
DISPENSABLE = ("rank agreement", "seconds", "overlap")


@command(
    *TABLE,
    option_group(
        "Comparing",
        option(
            "--methods A,B,...",
            "AutoSelect, or names that ufselect methods lists (default: "
            f"{DEFAULT_METHODS})",
            type=method_names,
            shell_complete=complete_methods,
            default=DEFAULT_METHODS,
        ),
        option(
            "-k, --features N",
            "how many features to compare, or which fraction (default: automatic)",
            type=number_of_features,
        ),
        CLUSTERS,
        option(
            "--standardize",
            "units in which to measure selections: features scaled to unit variance, "
            "samples to unit length, or none (default: what the methods choose for the "
            "table)",
            type=click.Choice(["auto", "features", "samples", "none"]),
            default="auto",
        ),
    ),
    option_group(
        "Writing",
        option("--report HTML", "write a report with figures", type=PATH),
        MARKDOWN,
    ),
    *PRINTING,
)
def compare_command(**given: Any) -> int:
    """Compare the selections of several methods on a file.

    Ranks the features of a table with each method, for the same number of features
    and clusters, and measures the selections beside features of highest variance,
    random features, and all features.

    For example:

        ufselect compare genes.csv
        ufselect compare genes.csv --methods SCFS,MCFS,UDFS -k 50
        ufselect compare genes.csv --labels diagnosis --report comparison.html
    """
    options = SimpleNamespace(**given)
    check_source(options.file)
    check_outputs(options.markdown, options.report)
    with loading():
        import ufselect.data.tables.reading
        import ufselect.tuning.auto_select
    selectors = _selectors(options)
    with progress_for(options) as progress:
        table = read(options, progress)
        with loading():
            import ufselect.report.comparison  # noqa: F401
            from ufselect.plotting.axes import load_matplotlib

            if options.report is not None:
                load_matplotlib()
        from ufselect.report import markdown_table

        compared = _compare(table, selectors, options, progress)
        progress.note(
            *(
                f"{row['method']}: {remark}"
                for row in compared.rows
                for remark in row.get("remarks", ())
            )
        )
        explanation = _explanation(table)
        if options.markdown is not None:
            words = f"{compared.conclusion}\n\n{explanation}"
            text = compared.table(markdown_table)
            write_whole(options.markdown, f"{text}\n\n{words}\n")
        if options.report is not None:
            page = compared.html(
                f"{table.origin.name}: {len(compared.selected)} methods compared",
                table.names().tolist(),
                reading=table.notes,
                explanation=explanation,
                command=command_line(options),
            )
            write_whole(options.report, page)
    kinds = ("report", "markdown")
    written = {kind: str(path) for kind in kinds if (path := given[kind])}
    if options.json:
        print_json(
            {
                "file": table.origin.name,
                "n_samples": table.shape[0],
                "reading": list(table.notes),
                "seed": options.seed,
                "labels": table.label_column,
                **compared.to_dict(table.names().tolist()),
                "written": written,
            }
        )
    else:
        _print_text(table, compared, options)
        print_written(written)
    asked = {name for name in selectors if not name.startswith("random ")}
    return int(not asked & set(compared.names))


def _selectors(options: SimpleNamespace) -> dict[str, "UnsupervisedSelector"]:
    """Return the methods and the baselines by name."""
    from ufselect import MaxVariance, RandomSelection

    chosen = map(named_selector, options.methods)
    several = {type(selector).__name__: selector for selector in chosen}
    # Random features are always compared, as several draws.
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
    options: SimpleNamespace,
    progress: Progress,
) -> "Comparison":
    from ufselect import AutoSelect
    from ufselect.matrix.checks import checked_matrix
    from ufselect.report.comparison import compare_selections
    from ufselect.solvers.iterations import showing_progress
    from ufselect.tuning.side_by_side import rank_with_each

    data = checked_matrix(table.values, owner="AutoSelect")
    with showing_progress(progress.iteration):
        progress.now("deciding how many features and clusters")
        with warnings.catch_warnings():
            # Its reasons say the same.
            warnings.simplefilter("ignore", UserWarning)
            decided = AutoSelect(
                n_features_to_select=options.features or "auto",
                n_clusters=options.clusters or "auto",
                random_state=options.seed,
            ).fit(data)
        # The first reason is the evidence of structure, if there is any.
        brief = decided.structure_found_ and not options.verbose
        progress.note(*map(in_options, decided.reasons_[1 if brief else 0 :]))
        n_features = decided.n_selected_
        if options.features is None:
            # Methods that select everything, or nothing, cannot be compared.
            half = max(1, table.shape[1] // 2)
            n_features = min(n_features or MIN_COMPARED, half)
        ranked = rank_with_each(
            data,
            selectors,
            n_features=n_features,
            n_clusters=max(2, decided.n_clusters_),
            random_state=options.seed,
            progress=progress.step,
        )
        groups: dict[str, list[Any]] = {}
        for each in ranked:
            name = "random" if each.name.startswith("random ") else each.name
            groups.setdefault(name, []).append(each)
        return compare_selections(
            data,
            groups,
            n_features,
            labels=table.labels,
            standardize=options.standardize,
            random_state=options.seed,
            progress=progress.step,
        )


def _explanation(
    table: "Table", *, brief: bool = False, left_out: Sequence[str] = ()
) -> str:
    """Return what the columns of the comparison mean, but for those left out."""
    from ufselect.report.rendering import render

    column = None if table.labels is None else repr(table.label_column)
    about = {"label_column": column, "n_random": N_RANDOM, "left_out": left_out}
    return " ".join(render("explanation.txt.j2", brief=brief, **about).split())


def _print_text(
    table: "Table", compared: "Comparison", options: SimpleNamespace
) -> None:
    from ufselect.report.decision import listed

    title = f"{compared.n_features} features of {table.origin.name} by each method:"
    print_text(printable(title) + "\n")
    if options.verbose:
        print_plain(f"{compared.table()}\n")
        words = _explanation(table)
    else:
        left_out = _print_what_fits(*compared.cells())
        words = _explanation(table, brief=True, left_out=left_out)
        if left_out:
            words += f" -v also shows {listed(left_out[::-1])}."
    print_text("\n" + printable(words))
    print_text("\n" + printable(compared.conclusion), "bold")


def _print_what_fits(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Print a table with the columns that fit the terminal; return the others."""
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    left_out = []
    for name in DISPENSABLE:
        widths = [max(map(len, [title, *cells])) for title, cells in columns.items()]
        if name in columns and sum(widths) + 2 * len(widths) - 2 > width_of(sys.stdout):
            del columns[name]
            left_out.append(name)
    print_table(list(columns), list(zip(*columns.values(), strict=True)))
    return left_out

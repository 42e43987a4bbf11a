"""``ufselect demo``: the main job on a table whose truth is known, or a sample table.

``genes.csv.gz`` is the sample table: 80 patients with three kinds of leukaemia and 500
genes, whose values are simulated. Thirty genes follow the cells in the blood (T, B or
myeloid), of six most values are missing, and the others are noise.
"""

import gzip
import shlex
from pathlib import Path
from typing import Any

import click

from ufselect.cli.inputs import loading
from ufselect.cli.options import JSON, PATH, QUIET, SEED, command, option
from ufselect.cli.output import (
    Progress,
    check_outputs,
    print_json,
    print_table,
    print_text,
    printable,
    write_whole,
)

SAMPLE = Path(__file__).parent / "genes.csv.gz"
N_USEFUL, N_NOISE = 20, 480


@command(
    option(
        "--write CSV",
        "write a sample table to try, and do nothing else",
        type=PATH,
    ),
    SEED,
    JSON,
    QUIET,
)
def demo_command(write: Path | None, seed: int, json: bool, quiet: bool) -> int:
    """Select features of a planted table, or write a table to try.

    Makes a table in which 20 of 500 features show three groups of samples, selects
    features without knowing which, and compares them with features of highest
    variance, random ones and all. With --write it writes a table instead: 80
    patients with three kinds of leukaemia, 500 genes, and gaps. Its values are
    simulated.

    For example:

        ufselect demo
        ufselect demo --write genes.csv
    """
    if write is not None:
        _write_sample(write, json=json, quiet=quiet)
        return 0
    with loading():
        import ufselect.evaluation.judging
        import ufselect.tuning.auto_select  # noqa: F401
    with Progress(quiet=quiet) as progress:
        progress.now("selecting features")
        rows = _compared(seed)
    if json:
        print_json({"n_useful": N_USEFUL, "methods": rows})
        return 0
    first = rows[0]
    print_text(
        f"AutoSelect found {first['useful']} of the {N_USEFUL} features that show "
        "groups.",
        "bold green",
    )
    print_text(
        f"It chose {first['features']} of {N_USEFUL + N_NOISE} features of 90 samples, "
        "without looking at any label. k-means with the chosen features finds the "
        "groups with the accuracy (ACC) and mutual information (NMI) below.\n"
    )
    print_table(
        ["method", "features", "show groups", "ACC %", "NMI %"],
        [
            [
                *map(str, (row["method"], row["features"], row["useful"])),
                *(f"{100 * row['accuracy']:.1f}", f"{100 * row['nmi']:.1f}"),
            ]
            for row in rows
        ],
    )
    print_text("\nNext: ufselect demo --write genes.csv")
    return 0


def _compared(seed: int) -> list[dict[str, Any]]:
    """Return how many useful features each method selects, and how they cluster."""
    import numpy as np

    from ufselect import AutoSelect, MaxVariance, RandomSelection
    from ufselect.data import planted
    from ufselect.evaluation import judge_by_k_means
    from ufselect.tuning.fits import user_warnings

    data = planted(n_useful=N_USEFUL, n_noise=N_NOISE, unequal_scales=True, seed=seed)
    with user_warnings():
        auto = AutoSelect(random_state=seed).fit(data.table)
    number = auto.n_selected_
    if not number:
        raise ValueError(
            f"AutoSelect finds no groups with seed {seed}; try another --seed"
        )
    chosen = {
        "AutoSelect": auto.get_support(),
        "highest variance": MaxVariance(number).fit(data.table).get_support(),
        "random": RandomSelection(number, random_state=seed)
        .fit(data.table)
        .get_support(),
        "all features": np.ones(data.table.shape[1], dtype=bool),
    }
    scaled = data.table / data.table.std(axis=0)
    rows: list[dict[str, Any]] = []
    for method, kept in chosen.items():
        scores = judge_by_k_means(scaled[:, kept], data.classes, seeds=range(3))
        accuracy, nmi = scores.mean(axis=0).tolist()
        rows.append(
            {
                "method": method,
                "features": int(kept.sum()),
                "useful": int(data.informative[kept].sum()),
                "accuracy": accuracy,
                "nmi": nmi,
            }
        )
    return rows


def _write_sample(path: Path, *, json: bool, quiet: bool) -> None:
    """Write the sample table, and say what to do with it."""
    if path.suffix.lower() != ".csv":
        raise click.UsageError(f"--write: {path} must end with .csv")
    check_outputs(path)
    if path.exists():
        raise ValueError(f"{path} already exists; give --write another name")
    write_whole(path, gzip.decompress(SAMPLE.read_bytes()), overwrite=False)
    if json:
        print_json({"table": str(path), "n_samples": 80, "n_genes": 500})
    elif not quiet:
        print_text(
            printable(f"Wrote {path}: 80 patients, 500 genes, simulated.")
            + "\nSee what is in it, and select the genes that matter:\n"
        )
        for verb in ("look", "select"):
            print_text(printable(f"  ufselect {verb} {shlex.quote(str(path))}"))

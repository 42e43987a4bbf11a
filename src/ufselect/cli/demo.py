"""``ufselect demo``: the main job on digits, or a sample table to try it with."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ufselect.cli.inputs import loading
from ufselect.cli.options import JSON, PATH, QUIET, SEED, Option, command
from ufselect.cli.output import (
    Progress,
    check_outputs,
    print_json,
    print_table,
    print_text,
    printable,
    write_whole,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

N_KEPT = 32
# What the two methods in the pictures are called.
DRAWN = ("SCFS", "highest variance")

N_PATIENTS = 80
N_GENES = 500
# Genes that follow the cells in a sample of blood: T, B and myeloid cells.
MARKERS = {
    "T": "CD3D CD3E CD3G CD2 CD7 TRAC LCK IL7R ZAP70 CD247",
    "B": "CD19 MS4A1 CD79A CD79B CD22 PAX5 BLNK VPREB3 FCRLA BANK1",
    "M": "LYZ S100A8 S100A9 CD14 FCN1 CST3 MPO AZU1 ELANE CTSG",
}
KINDS = {"T": "T-ALL", "B": "B-ALL", "M": "AML"}
# Names for the others, as genes have them: a family, numbers and endings.
FAMILIES = {
    "FAM": (220, "A B C"),
    "TMEM": (260, "A B"),
    "SLC": (52, "A1 A2 A3 A4 A5 A6 A7 A8 A9"),
    "ZNF": (700, ""),
    "KRT": (86, ""),
    "RPL": (41, ""),
}
# Of a few genes, most patients have no value.
N_GAPPED = 6
SHARE_OF_GAPS = 0.6


@command(
    Option(
        "--write CSV",
        "write a sample table to try, and do nothing else",
        type=PATH,
    ),
    Option(
        "--output FILE",
        "where to write the picture (default: ufselect-demo.svg)",
        type=PATH,
        default="ufselect-demo.svg",
    ),
    SEED,
    JSON,
    QUIET,
)
def demo_command(
    write: Path | None, output: Path, seed: int, json: bool, quiet: bool
) -> int:
    """Select features of embedded data, or write a table to try.

    Selects features of handwritten digits hidden among 200 columns of noise, and of
    the example of the SCFS paper; compares with random features, highest variance
    and all features; writes a picture of the kept pixels. With --write it writes a
    table instead: 80 patients with three kinds of leukaemia, 500 genes, and gaps.
    The values are simulated.

    For example:

        ufselect demo
        ufselect demo --write genes.csv
    """
    if write is not None:
        _write_sample(write, seed, json=json, quiet=quiet)
        return 0
    check_outputs(output)
    with loading():
        import ufselect.evaluation.judging
        import ufselect.plotting.maps  # noqa: F401
    with Progress(quiet=quiet) as progress:
        progress.now("selecting features of the example")
        kept = _toy(seed)
        progress.now("selecting features of the digits")
        rows, supports = _digits(seed, output)
    if json:
        print_json({"toy": kept, "digits": rows, "picture": str(output)})
        return 0
    print_text(
        f"SCFS found the digits: {rows[0]['real_pixels']:.0f} of the {N_KEPT} columns "
        f"it kept are pixels (variance: {rows[1]['real_pixels']:.0f}).",
        "bold green",
    )
    print_text(
        "1797 digits of 64 pixels, and 200 permuted copies of pixels; no label used.\n"
    )
    for line in _drawn(supports):
        print_text(line)
    print_table(
        ["method", "features", "real pixels", "ACC %", "NMI %"],
        [
            [
                row["method"],
                f"{row['features']}",
                f"{row['real_pixels']:.0f}",
                f"{100 * row['accuracy']:.1f}",
                f"{100 * row['mutual_information']:.1f}",
            ]
            for row in rows
        ],
    )
    print_text(
        "\nOn the example of its paper, whose samples lie along three of ten features, "
        f"SCFS selects {', '.join(kept)}. "
        + printable(f"The picture is in {output}. ")
        + "Next: ufselect demo --write genes.csv"
    )
    return 0


def _write_sample(path: Path, seed: int, *, json: bool, quiet: bool) -> None:
    """Write the sample table, and say what to do with it."""
    if path.suffix.lower() != ".csv":
        raise click.UsageError(f"--write: {path} must end with .csv")
    check_outputs(path)
    if path.exists():
        raise ValueError(f"{path} already exists; give --write another name")
    with loading():
        import pandas as pd  # noqa: F401
    text = sample_table(seed).to_csv(index=False, lineterminator="\n")
    write_whole(path, text, overwrite=False)
    if json:
        print_json({"table": str(path), "n_samples": N_PATIENTS, "n_genes": N_GENES})
    elif not quiet:
        print_text(
            printable(
                f"Wrote {path}: {N_PATIENTS} patients, {N_GENES} genes, simulated."
            )
            + "\nSee what is in it, and select the genes that matter:\n"
        )
        for verb in ("look", "select"):
            print_text(printable(f"  ufselect {verb} {shlex.quote(str(path))}"))


def sample_table(seed: int = 0) -> "pd.DataFrame":
    """Return expression of genes in the blood of patients, simulated.

    Examples
    --------
    >>> sample_table().iloc[:2, :3]
      patient diagnosis  SLC4A7
    0    P001     T-ALL    2.98
    1    P002     T-ALL    4.19
    """
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(seed)
    others = [
        f"{family}{number}{ending}"
        for family, (most, endings) in FAMILIES.items()
        for number in range(1, most)
        for ending in endings.split() or [""]
    ]
    markers = [name for each in MARKERS.values() for name in each.split()]
    names = [*markers, *random.choice(others, N_GENES - len(markers), replace=False)]
    kinds = random.choice(list(KINDS), N_PATIENTS, p=[0.25, 0.4, 0.35])
    # Patients of one kind have more or fewer of the cells that give it its name.
    share = np.where(kinds[:, np.newaxis] == list(KINDS), 1.5, -0.5)
    share = share + 0.4 * random.standard_normal(share.shape)
    loadings = np.zeros((len(KINDS), N_GENES))
    for place in range(len(KINDS)):
        genes = slice(10 * place, 10 * (place + 1))
        loadings[place, genes] = random.uniform(0.7, 1.3, 10)
    values = random.uniform(4, 11, N_GENES) + share @ loadings
    values += random.uniform(0.5, 1.2, N_GENES) * random.standard_normal(values.shape)
    gapped = random.choice(np.arange(len(markers), N_GENES), N_GAPPED, replace=False)
    gaps = random.uniform(size=(N_PATIENTS, N_GAPPED)) < SHARE_OF_GAPS
    values[:, gapped] = np.where(gaps, np.nan, values[:, gapped])
    order = random.permutation(N_GENES)
    frame = pd.DataFrame(values.round(2)[:, order], columns=np.array(names)[order])
    frame.insert(0, "patient", [f"P{number:03}" for number in range(1, N_PATIENTS + 1)])
    frame.insert(1, "diagnosis", [KINDS[kind] for kind in kinds])
    return frame


def _toy(seed: int) -> list[str]:
    from ufselect import SCFS
    from ufselect.data import union_of_subspaces

    toy = union_of_subspaces(seed)
    # The columns of the toy share a unit, so none is scaled.
    selector = SCFS(3, n_clusters=3, standardize=False, random_state=seed)
    selector.fit(toy.table)
    return sorted(toy.names[index] for index in selector.get_support(indices=True))


def _digits(
    seed: int, output: Path
) -> "tuple[list[dict[str, Any]], dict[str, list[Mask]]]":
    """Select pixels with each method; judge them, and write the picture."""
    import numpy as np

    from ufselect import SCFS, MaxVariance, RandomSelection
    from ufselect.data import digits_with_permuted_pixels
    from ufselect.evaluation import judge_by_k_means
    from ufselect.report import PixelPanel, pixel_image

    digits = digits_with_permuted_pixels(seed=seed)
    table = digits.table
    selectors = {
        "SCFS": [SCFS(N_KEPT, n_clusters=10, random_state=seed)],
        "highest variance": [MaxVariance(N_KEPT)],
        "random (mean of 3)": [
            RandomSelection(N_KEPT, random_state=seed + draw) for draw in range(3)
        ],
    }
    supports = {
        name: [selector.fit(table).get_support() for selector in draws]
        for name, draws in selectors.items()
    } | {"all features": [np.ones(table.shape[1], dtype=bool)]}
    rows = []
    for name, draws in supports.items():
        scores = [
            judge_by_k_means(table[:, kept], digits.classes, seeds=range(3), n_init=5)
            for kept in draws
        ]
        accuracy, information = np.vstack(scores).mean(axis=0).tolist()
        rows.append(
            {
                "method": name,
                "features": int(draws[0].sum()),
                "real_pixels": float(
                    np.mean([digits.informative[kept].sum() for kept in draws])
                ),
                "accuracy": accuracy,
                "mutual_information": information,
            }
        )
    mean = table[:, :64].mean(axis=0).reshape(8, 8)
    panels = []
    for name in DRAWN:
        kept = supports[name][0][:64]
        words = f"{kept.sum()} of the {N_KEPT} kept are pixels"
        panels.append(PixelPanel(name, words, mean / mean.max(), kept.reshape(8, 8)))
    write_whole(output, pixel_image(panels))
    return rows, supports


def _drawn(supports: "dict[str, list[Mask]]") -> list[str]:
    """Return the pictures of the kept pixels for a terminal, side by side."""
    pictures = [supports[name][0][:64].reshape(8, 8) for name in DRAWN]
    drawn = [
        "   ".join(
            "".join("\N{FULL BLOCK}" * 2 if kept else " ." for kept in row)
            for row in rows
        )
        for rows in zip(*pictures, strict=True)
    ]
    return ["   ".join(f"{name:16}" for name in DRAWN), *drawn, ""]

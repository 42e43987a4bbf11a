"""``ufselect demo``: the main job on data that ships with scikit-learn."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ufselect.cli.inputs import load
from ufselect.cli.options import JSON, PATH, QUIET, SEED, Option, command
from ufselect.cli.output import (
    print_json,
    print_table,
    print_text,
    printable,
    refuse_missing_folders,
    write_whole,
)
from ufselect.cli.progress import Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ufselect.data import DataSet

    Array = NDArray[np.float64]
    Mask = NDArray[np.bool_]

N_KEPT = 32


@command(
    "demo",
    Option(
        "--output FILE",
        "where to write the picture (default: ufselect-demo.svg)",
        type=PATH,
        default="ufselect-demo.svg",
    ),
    SEED,
    JSON,
    QUIET,
    short_help="select features of embedded data and compare with baselines",
    help="Selects features of handwritten digits hidden among 200 columns of noise, "
    "and of the toy of the SCFS paper; compares with random features, highest variance "
    "and all features; writes a picture of the kept pixels.",
    examples=["ufselect demo", "ufselect demo --output kept-pixels.svg"],
)
def demo_command(output: Path, seed: int, json: bool, quiet: bool) -> int:
    """Run the demonstration."""
    refuse_missing_folders(output)
    load("ufselect.report")
    with Progress(quiet=quiet) as progress:
        progress.now("selecting features of the toy")
        kept = _toy(seed)
        progress.now("selecting features of the digits")
        rows = _digits(seed, output)
    if json:
        print_json({"toy": kept, "digits": rows, "picture": str(output)})
        return 0
    print_text(
        "Union of three subspaces (7 samples, 10 features; F3, F6 and F9 span them)\n"
        f"  SCFS keeps {', '.join(kept)}\n\n"
        "Handwritten digits: 1797 samples, 64 pixels, 200 decoys (shuffled pixels)\n"
        "No label is used to select; SCFS is told that there are 10 clusters. ACC\n"
        "and NMI compare k-means on the kept columns with the ten digits (3 seeds).\n"
    )
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
    print_text("\n" + printable(f"The kept pixels are drawn in {output}."))
    return 0


def _toy(seed: int) -> list[str]:
    from ufselect import SCFS
    from ufselect.data import union_of_subspaces

    toy = union_of_subspaces(seed)
    # The columns of the toy share a unit, so none is scaled.
    selector = SCFS(3, n_clusters=3, standardize=False, random_state=seed)
    selector.fit(toy.table)
    return sorted(toy.names[index] for index in selector.get_support(indices=True))


def _digits(seed: int, output: Path) -> list[dict[str, Any]]:
    from ufselect.data import digits_with_decoys

    digits = digits_with_decoys(seed=seed)
    supports = _supports(digits.table, seed)
    rows = [_row(name, digits, kept) for name, kept in supports.items()]
    write_whole(output, _picture(digits.table, supports))
    return rows


def _supports(table: "Array", seed: int) -> "dict[str, list[Mask]]":
    """Return the kept columns of each method, of several draws for random."""
    import numpy as np

    from ufselect import SCFS, MaxVariance, RandomSelection

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
    }
    return {**supports, "all features": [np.ones(table.shape[1], dtype=bool)]}


def _row(name: str, digits: "DataSet", supports: "list[Mask]") -> dict[str, Any]:
    import numpy as np

    from ufselect.evaluation import judge_by_k_means

    scores = np.vstack(
        [
            judge_by_k_means(
                digits.table[:, kept], digits.classes, seeds=range(3), n_init=5
            )
            for kept in supports
        ]
    ).mean(axis=0)
    accuracy, information = scores.tolist()
    return {
        "method": name,
        "features": int(supports[0].sum()),
        "real_pixels": float(
            np.mean([digits.informative[kept].sum() for kept in supports])
        ),
        "accuracy": accuracy,
        "mutual_information": information,
    }


def _picture(table: "Array", supports: "dict[str, list[Mask]]") -> str:
    """Draw the mean digit with the pixels that the two methods kept."""
    from ufselect.report import PixelPanel, pixel_image

    mean = table[:, :64].mean(axis=0).reshape(8, 8)
    return pixel_image(
        [
            PixelPanel(
                name,
                f"{supports[name][0][:64].sum()} of the {N_KEPT} kept are pixels",
                mean / mean.max(),
                supports[name][0][:64].reshape(8, 8),
            )
            for name in ("SCFS", "highest variance")
        ]
    )

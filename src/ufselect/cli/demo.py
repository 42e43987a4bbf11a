"""``ufselect demo``: the main job on data that ships with scikit-learn."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ufselect.cli.outputs import write_whole
from ufselect.cli.progress import Waiting
from ufselect.cli.usage import add_quiet_option, refuse_folders_that_are_missing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ufselect.data import DataSet

    Array = NDArray[np.float64]
    Mask = NDArray[np.bool_]

N_KEPT = 32


def add_parser(commands: Any) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "demo",
        help="select features of embedded data and compare with baselines",
        description="Selects features of handwritten digits hidden among 200 columns "
        "of noise, and of the toy of the SCFS paper; compares with random features, "
        "highest variance and all features; writes a picture of the kept pixels.",
        epilog="example: ufselect demo --output kept-pixels.svg",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("ufselect-demo.svg"),
        metavar="FILE",
        help="where to write the picture (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of all that is random (default: 0)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    add_quiet_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the demonstration."""
    refuse_folders_that_are_missing(options.output)
    with Waiting(quiet=options.quiet) as waiting:
        waiting.now("selecting features of the toy")
        kept = _toy(options.seed)
        waiting.now("selecting features of the digits")
        rows = _digits(options.seed, options.output)
    if options.json:
        found = {"toy": kept, "digits": rows, "picture": str(options.output)}
        print(json.dumps(found, indent=2))
    else:
        print(_text(kept, rows))
        print(f"\nThe kept pixels are drawn in {options.output}.")
    return 0


def _text(kept: list[str], rows: list[dict[str, Any]]) -> str:
    from ufselect.report import text_table

    header = ["method", "features", "real pixels", "ACC %", "NMI %"]
    cells = [
        [
            row["method"],
            f"{row['features']}",
            f"{row['real_pixels']:.0f}",
            f"{100 * row['accuracy']:.1f}",
            f"{100 * row['mutual_information']:.1f}",
        ]
        for row in rows
    ]
    return (
        "Union of three subspaces (7 samples, 10 features; F3, F6 and F9 span them)\n"
        f"  SCFS keeps {', '.join(kept)}\n"
        "\n"
        "Handwritten digits: 1797 samples, 64 pixels, 200 decoys (shuffled pixels)\n"
        "No label is used to select; SCFS is told that there are 10 clusters. ACC\n"
        "and NMI compare k-means on the kept columns with the ten digits (3 seeds).\n"
        "\n" + text_table(header, cells)
    )


def _toy(seed: int) -> list[str]:
    # Imported here so that --help and --version answer at once.
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

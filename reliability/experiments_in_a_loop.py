"""Runs one experiment again and again, and prints what the process holds on the way.

python -m reliability.experiments_in_a_loop FOLDER NUMBER
"""

import json
import sys
from pathlib import Path

from reliability.holding import repeated
from ufselect.experiments.cells import locate
from ufselect.experiments.plan import read_plan
from ufselect.experiments.runner import run_plan


def main(folder: Path, number: int) -> None:
    """Print what is held after the first experiments, and after all of them."""
    plan, store = read_plan(folder / "plan.toml"), folder / "loop.sqlite"
    located = locate(plan.sets, folder)

    def run() -> None:
        run_plan(plan, store, located, n_jobs=2)
        store.unlink()

    print(json.dumps(repeated(run, number)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))

"""Runs one experiment again and again, and prints what the process holds on the way.

python -m reliability.experiments_in_a_loop FOLDER NUMBER
"""

import json
import sys
from pathlib import Path

from reliability.fits_in_a_loop import held
from ufselect.experiments.location import locate
from ufselect.experiments.plan import read_plan
from ufselect.experiments.runner import run_plan


def main(folder: Path, number: int) -> None:
    """Print what is held after the first experiments, and after all of them."""
    plan = read_plan(folder / "plan.toml")
    located, states = locate(plan.sets, folder), []
    for count in range(1, number + 1):
        store = folder / "loop.sqlite"
        run_plan(plan, store, located, n_jobs=2)
        store.unlink()
        if count in (max(1, number // 5), number):
            states.append(held())
    print(json.dumps(states))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))

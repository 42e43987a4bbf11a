"""Fits one method again and again, and prints what the process holds on the way.

python -m reliability.fits_in_a_loop METHOD NUMBER
"""

import gc
import json
import os
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from reliability.processes import children_of
from ufselect import all_selectors
from ufselect.experiments.memory import memory_of

# A leak does not depend on how long a fit takes.
SMALL = {"n_clusters": 3, "max_iter": 5, "n_init": 1}


def held() -> dict[str, int]:
    """Return what this process holds: memory, open files, threads and children."""
    gc.collect()
    return {
        "memory": memory_of(os.getpid()),
        "files": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
        "children": len(children_of(os.getpid())),
    }


def main(method: str, number: int) -> None:
    """Print what is held after a fifth of the fits, and after all of them."""
    random = np.random.default_rng(0)
    kind, states = all_selectors()[method], []
    accepted = kind().get_params()
    options = {name: value for name, value in SMALL.items() if name in accepted}
    for count in range(1, number + 1):
        kind(n_features_to_select=5, **options).fit(random.random((20, 10)))
        if count in (number // 5, number):
            states.append(held())
    print(json.dumps(states))


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    main(sys.argv[1], int(sys.argv[2]))

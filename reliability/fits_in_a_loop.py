"""Fits one method again and again, and prints what the process holds on the way.

python -m reliability.fits_in_a_loop METHOD NUMBER
"""

import json
import sys
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from reliability.holding import repeated
from ufselect import all_selectors

# A leak does not depend on how long a fit takes.
SMALL = {"n_clusters": 3, "max_iter": 5, "n_init": 1}


def fit_of(method: str) -> Callable[[], object]:
    """Return a small fit of a method, of other numbers each time."""
    random, kind = np.random.default_rng(0), all_selectors()[method]
    accepted = kind().get_params()
    options = {name: value for name, value in SMALL.items() if name in accepted}
    return lambda: kind(n_features_to_select=5, **options).fit(random.random((20, 10)))


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(json.dumps(repeated(fit_of(sys.argv[1]), int(sys.argv[2]))))

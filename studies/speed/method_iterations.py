"""What does an iteration of the wide methods cost, next to one eigendecomposition?

UDFS, NDFS, JELSR, GLSPFS and SPUFS on arcene (p = 10,000): the time of a fit divided by
its number of iterations, compared with one ``X @ X.T`` plus one ``eigh`` of n x n. The
limit is the time of one product of X X' with an n x n_clusters matrix.

    python -m studies method_iterations
"""

from collections.abc import Callable, Iterator
from typing import Any

from scipy.linalg import eigh

import ufselect
from studies.findings import Row, compared
from studies.measuring import Timing, interleaved, iteration_operations, limit, timed
from studies.settings import Settings, find_set
from ufselect.data import read_labelled

DURATION = "1 minute"
METHODS = ("UDFS", "NDFS", "JELSR", "GLSPFS", "SPUFS")
KNOWN = {"n_features_to_select": 100, "n_clusters": 2, "random_state": 0}


def fit_per_iteration(name: str, X: Any) -> Callable[[int], Timing]:
    """Return a function that gives the time of a fit over its iterations."""
    method = ufselect.all_selectors()[name]
    accepted = method().get_params()
    selector = method(**{key: KNOWN[key] for key in KNOWN if key in accepted})

    def fit(_: int) -> Timing:
        spent = timed(lambda _: selector.fit(X))
        return Timing(*(each / selector.n_iter_ for each in spent))

    return fit


def measure(settings: Settings) -> Iterator[Row]:
    """Yield a row for every method."""
    X = read_labelled(find_set("arcene")).table
    functions = {name: fit_per_iteration(name, X) for name in METHODS}
    unit = "X @ X.T and eigh"
    found = interleaved(
        {unit: lambda _: eigh(X @ X.T), **functions}, settings.repetitions(3)
    )
    least = limit(iteration_operations(X, KNOWN["n_clusters"]))
    for name in METHODS:
        what = f"an iteration of {name}"
        yield compared(what, found[name], unit, found[unit], limit=least)

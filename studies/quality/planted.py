"""Does a method rank known useful columns above columns of noise?

Prints, for every method and every geometry of ``ufselect.data.planted``, the area under
the ROC curve of ``scores_``: the probability that a useful column scores above a noise
column, which is 1 for a perfect and 0.5 for a random ranking. Each geometry has a tall
table, a wide one (p >> n) and one with columns of unequal scale. All parameters have
their defaults, except for the number of clusters, which is the true one.

    python -m studies planted [--seeds 5] [--jobs 2] [--methods a,b] [--quick]
"""

import argparse
import time
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from ufselect import all_selectors
from ufselect.data import GEOMETRIES, planted
from ufselect.report import text_table

DURATION = "10 minutes"
FORMS = {
    "tall": {"n_samples": 90, "n_noise": 60},
    "wide": {"n_samples": 60, "n_noise": 480},
    "unequal": {"n_samples": 90, "n_noise": 60, "unequal_scales": True},
}

N_USEFUL = 20

# What every other row has to beat.
YARDSTICKS = ("RandomSelection", "MaxVariance")


def area(name, geometry, form, seed):
    """Return the area under the curve of one method on one drawing."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    method = all_selectors()[name]
    wanted = {"n_clusters": 3, "random_state": seed, "n_features_to_select": N_USEFUL}
    known = method().get_params()
    selector = method(**{key: wanted[key] for key in wanted if key in known})
    data = planted(geometry, n_useful=N_USEFUL, seed=seed, **FORMS[form])
    scores = selector.fit(data.table).scores_
    return roc_auc_score(data.informative, scores)


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m studies planted", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", help="names separated by commas; default: all")
    parser.add_argument("--quick", action="store_true", help="one drawing")
    options = parser.parse_args(arguments)
    if options.quick:
        options.seeds = 1
    methods = options.methods.split(",") if options.methods else list(all_selectors())
    methods = [*YARDSTICKS, *(name for name in methods if name not in YARDSTICKS)]
    cases = [(form, geometry) for form in FORMS for geometry in GEOMETRIES]
    start = time.perf_counter()
    areas = Parallel(n_jobs=options.jobs)(
        delayed(area)(name, geometry, form, seed)
        for name in methods
        for form, geometry in cases
        for seed in range(options.seeds)
    )
    means = np.reshape(areas, (len(methods), len(cases), -1)).mean(axis=2)
    print(
        f"\nArea under the ROC curve in percent, mean over {options.seeds} drawings\n"
    )
    header = ["method", *(f"{form} {geometry}" for form, geometry in cases), "least"]
    rows = [
        [name, *(f"{100 * value:.0f}" for value in row), f"{100 * row.min():.0f}"]
        for name, row in zip(methods, means, strict=True)
    ]
    print(text_table(header, rows))
    print(f"\n{(time.perf_counter() - start) / 60:.1f} minutes")

"""Every method ranks known useful columns above noise, or its page says why not."""

import functools
import warnings

import numpy as np
import pytest
from method_pages import sections_of
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from ufselect import all_selectors
from ufselect.data import GEOMETRIES, planted

FORMS = {
    "tall": {"n_samples": 60, "n_useful": 15, "n_noise": 35},
    "wide": {"n_samples": 40, "n_useful": 15, "n_noise": 65},
    "unequal": {"n_samples": 60, "n_useful": 15, "n_noise": 35, "unequal_scales": True},
}
CASES = [f"{form} {geometry}" for form in FORMS for geometry in GEOMETRIES]
SEEDS = range(3)

# The mean over three drawings of a random ranking strays from 0.5 by 0.05.
CLEARLY_ABOVE_CHANCE = 0.6

UNITS = "X is taken in its own units"
MEASURED_UNEQUAL = ["unequal blobs", "unequal rings", "unequal subspaces"]
WIDE = [case for case in CASES if case.startswith("wide")]
MEANS = "clusters that share their mean"
REPEATS = "features that repeat others"

# What a method cannot do, with the words by which its page says so.
CANNOT = {
    "RandomSelection": dict.fromkeys(CASES, "X is not looked at"),
    "MaxVariance": dict.fromkeys(MEASURED_UNEQUAL, UNITS),
    "CPFS": dict.fromkeys(MEASURED_UNEQUAL, UNITS),
    "MFFS": dict.fromkeys(MEASURED_UNEQUAL, UNITS),
    "SGFS": dict.fromkeys(MEASURED_UNEQUAL, UNITS),
    "LDSSL": dict.fromkeys(MEASURED_UNEQUAL, UNITS),
    "JELSR": {"unequal subspaces": UNITS},
    "LaplacianScore": {"unequal subspaces": UNITS},
    "NDFS": {"unequal subspaces": UNITS},
    "SPEC": {"unequal subspaces": UNITS},
    "GraphEnergy": dict.fromkeys(["unequal subspaces", "unequal counts"], UNITS),
    "FSASL": {"wide subspaces": MEANS},
    "GLSPFS": {"wide subspaces": MEANS},
    "MCFS": {"wide subspaces": MEANS},
    "SCFS": {"wide subspaces": MEANS},
    "UDFS": dict.fromkeys(WIDE, "planted features rank no better than noise"),
    "REFS": {"wide blobs": REPEATS},
}


@functools.cache
def drawn(case, seed):
    form, geometry = case.split()
    return planted(geometry, seed=seed, **FORMS[form])


def area(method, case, seed):
    """Return the chance that a useful column scores above one of noise."""
    wanted = {"n_features_to_select": 10, "n_clusters": 3, "random_state": seed}
    known = method().get_params()
    selector = method(**{key: wanted[key] for key in wanted if key in known})
    data = drawn(case, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        selector.fit(data.table)
    return roc_auc_score(data.informative, selector.scores_)


# Their 45 fits take seconds.
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("FSASL", "LDSSL")]
QUICK = sorted(set(all_selectors()) - {"RandomSelection", "FSASL", "LDSSL"})


@pytest.mark.parametrize("name", QUICK + SLOW)
def test_useful_columns_rank_above_noise(name):
    cases = [case for case in CASES if case not in CANNOT.get(name, {})]
    found = {
        case: np.mean([area(all_selectors()[name], case, seed) for seed in SEEDS])
        for case in cases
    }

    assert len(found) >= len(CASES) - len(GEOMETRIES)
    assert {case: x for case, x in found.items() if x <= CLEARLY_ABOVE_CHANCE} == {}


@pytest.mark.parametrize("name", CANNOT)
def test_the_page_says_what_the_method_cannot(name):
    said = sections_of(name)["What it cannot do"]

    assert set(CANNOT[name]) <= set(CASES)
    assert [words for words in CANNOT[name].values() if words not in said] == []


@pytest.mark.parametrize("case", ["tall blobs", "wide counts"])
def test_a_random_ranking_is_not_clearly_above_chance(case):
    # Else the bound would say nothing of the others.
    areas = [area(all_selectors()["RandomSelection"], case, seed) for seed in range(60)]
    means = np.reshape(areas, (20, 3)).mean(axis=1)

    assert (means > CLEARLY_ABOVE_CHANCE).mean() <= 0.1

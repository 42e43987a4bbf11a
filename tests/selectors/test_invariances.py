"""What the pages say of signs, offsets, units, the order of samples and the seed."""

import re

import numpy as np
import pytest
from method_pages import sections_of
from scipy.stats import spearmanr

from ufselect import SPEC, all_selectors

CLAIMS = {
    name: sections_of(name)["What its ranking depends on"] for name in all_selectors()
}


def tables(seed=0):
    """Yield a tall and a wide table of three groups."""
    random = np.random.RandomState(seed)
    for n_samples, n_features in ((60, 20), (30, 50)):
        labels = random.randint(0, 3, n_samples)
        X = random.standard_normal((n_samples, n_features)) + 5.0
        centres = 3 * random.standard_normal((3, n_features // 4))
        X[:, : n_features // 4] += centres[labels]
        yield X


def changed(X, what):
    random, n_features = np.random.RandomState(1), X.shape[1]
    return {
        "sign of features": lambda: X * random.choice([-1.0, 1.0], n_features),
        "offset of features": lambda: X + np.linspace(-20, 20, n_features),
        "unit of X": lambda: 1e-6 * X,
        "a large unit": lambda: 1e6 * X,
        "unit of single features": lambda: (
            X * np.exp(random.uniform(-2, 2, n_features))
        ),
        "order of samples": lambda: X[random.permutation(len(X))],
        "seed": lambda: X,
    }[what]()


def scores(name, X, seed=0):
    selector = all_selectors()[name](n_features_to_select=5)
    parameters = {"n_clusters": 3, "random_state": seed, "max_iter": 300}
    known = selector.get_params()
    selector.set_params(**{key: parameters[key] for key in parameters if key in known})
    return selector.fit(X).scores_


def agreements(name, what):
    """Yield the rank correlation with the ranking before the change, by table."""
    changes = [what, "a large unit"] if what == "unit of X" else [what]
    for X in tables():
        before = scores(name, X)
        for change in changes:
            after = scores(name, changed(X, change), seed=7 if what == "seed" else 0)
            yield spearmanr(before, after)[0]


def claims(heading):
    """Return what each page names after a heading."""
    found = {
        name: re.search(rf"\* {heading}: ([^.]*)\.", text)
        for name, text in CLAIMS.items()
    }
    return {
        name: claim[1].split(", ") if claim else [] for name, claim in found.items()
    }


def test_pages_make_claims():
    assert all(claims("Invariant to").values())
    assert sum(map(len, claims("Not invariant to").values())) >= 15


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CLAIMS)
def test_what_does_not_change_the_ranking(name):
    for what in claims("Invariant to")[name]:
        assert min(agreements(name, what)) > 0.999, what


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CLAIMS)
def test_what_changes_the_ranking(name):
    for what in claims("Not invariant to")[name]:
        assert min(agreements(name, what)) < 0.97, what


@pytest.mark.parametrize(("phi", "invariant"), [(1, False), (2, True), (3, False)])
def test_offsets_matter_to_two_functions_of_spec(phi, invariant):
    for X in tables():
        both = [
            SPEC(phi=phi, n_clusters=3).fit(table).scores_
            for table in (X, changed(X, "offset of features"))
        ]
        assert (spearmanr(*both)[0] > 0.999) == invariant

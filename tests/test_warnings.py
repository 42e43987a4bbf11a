"""Every warning points at the line of the user who called."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ufselect import (
    JELSR,
    NDFS,
    SCFS,
    UDFS,
    AutoSelect,
    Consensus,
    LaplacianScore,
    StabilitySelection,
)
from ufselect.evaluation import repeated_k_means, skip_near_duplicates
from ufselect.tuning import false_selections, sensitivity_to_clusters

NOISE = np.random.default_rng(0).normal(size=(40, 12))
TOO_MANY = SCFS(n_clusters=1000)
HASTY = [
    *(kind(n_clusters=3, max_iter=1) for kind in (JELSR, NDFS, SCFS, UDFS)),
]


def few_members():
    return Consensus([LaplacianScore(), TOO_MANY], random_state=0)


CALLS = {
    "no structure": (lambda: AutoSelect(random_state=0).fit(NOISE), "shows no groups"),
    "transformed": (lambda: AutoSelect(random_state=0).fit_transform(NOISE), "groups"),
    "as pandas": (
        lambda: (
            AutoSelect(random_state=0).set_output(transform="pandas")
        ).fit_transform(NOISE),
        "groups",
    ),
    "in a pipeline": (
        lambda: make_pipeline(StandardScaler(), AutoSelect(random_state=0)).fit(NOISE),
        "groups",
    ),
    "in a pipeline as pandas": (
        lambda: (
            make_pipeline(StandardScaler(), AutoSelect(random_state=0))
            .set_output(transform="pandas")
            .fit_transform(NOISE)
        ),
        "groups",
    ),
    "few others": (
        lambda: AutoSelect(
            n_features_to_select=12, max_correlation=0.0, random_state=0
        ).fit(NOISE),
        "instead of 12 features",
    ),
    "Consensus": (lambda: few_members().fit(NOISE), "1 of 2 fits failed"),
    "Consensus in a pipeline": (
        lambda: make_pipeline(few_members()).fit_transform(NOISE),
        "1 of 2 fits failed",
    ),
    "two jobs": (
        lambda: few_members().set_params(n_jobs=2).fit(NOISE),
        "1 of 2 fits failed",
    ),
    "StabilitySelection": (
        lambda: StabilitySelection(time_budget=1e-9, random_state=0).fit(NOISE),
        "1 of 50 fits",
    ),
    "false_selections": (
        lambda: false_selections(LaplacianScore(), NOISE, time_budget=1e-9),
        "1 of 5 fits",
    ),
    "sensitivity_to_clusters": (
        lambda: sensitivity_to_clusters(SCFS(), NOISE, (2, 3, 1000), random_state=0),
        "1 of 3 fits failed",
    ),
    "path": (
        lambda: list(SCFS(n_clusters=2).path(NOISE, alphas=[1.0], betas=[1e9])),
        "1 of 1 pairs",
    ),
    "near-duplicates": (
        lambda: skip_near_duplicates(NOISE, np.arange(12), 12, 0.0),
        "Only 1 of n_features=12",
    ),
    "k-means": (
        lambda: repeated_k_means(np.ones((9, 2)), 3, seeds=[0]),
        "1 distinct clusters",
    ),
    **{
        f"{type(each).__name__} not converged": (
            lambda each=each: (
                each.set_params(random_state=0).fit(NOISE)
                if "random_state" in each.get_params()
                else each.fit(NOISE)
            ),
            "max_iter=1",
        )
        for each in HASTY
    },
    "not converged in a pipeline": (
        lambda: make_pipeline(StandardScaler(), UDFS(max_iter=1)).fit(NOISE),
        "max_iter=1",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_warnings_point_at_the_line_of_the_caller(name):
    call, words = CALLS[name]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()

    ours = [each for each in caught if words in str(each.message)]
    assert ours
    for each in ours:
        assert issubclass(each.category, UserWarning | ConvergenceWarning)
        assert each.filename == __file__

"""scikit-learn's own checks, over every selector of the package."""

import pytest
from documented_method import documented_method
from quick_selectors import quick
from sklearn.utils.estimator_checks import check_estimator

import ufselect
from ufselect import (
    GLSPFS,
    MCFS,
    SCFS,
    SPEC,
    AutoSelect,
    Consensus,
    LaplacianScore,
    StabilitySelection,
    UnsupervisedSelector,
    all_selectors,
)

INSTANCES: list[UnsupervisedSelector] = [
    *(quick(selector()) for selector in all_selectors().values()),
    documented_method()(),
    SCFS(solver="paper", n_clusters=2),
    SPEC(phi=3),
    GLSPFS(local="ltsa"),
    Consensus([("mcfs", MCFS()), ("ls", LaplacianScore())], n_clusters=[2, 3]),
    AutoSelect(LaplacianScore(), n_clusters=2, max_correlation=0.9),
    StabilitySelection(SCFS(n_clusters=2), n_subsamples=3),
]


# scikit-learn checks with noise, of which AutoSelect selects nothing.
@pytest.mark.filterwarnings("ignore:No feature:UserWarning")
@pytest.mark.parametrize("estimator", INSTANCES, ids=repr)
def test_scikit_learn_checks(estimator):
    ended = check_estimator(estimator, on_skip=None, on_fail=None)

    failed = [
        (each["check_name"], each["exception"])
        for each in ended
        if each["status"] == "failed"
    ]
    assert not failed
    assert sum(each["status"] == "passed" for each in ended) > 30


def test_every_selector_is_checked_and_public_and_the_base_class_is_abstract():
    names = {type(instance).__name__ for instance in INSTANCES}

    assert {"SCFS", "MaxVariance", "RandomSelection"} <= names
    assert set(all_selectors()) <= set(ufselect.__all__)
    with pytest.raises(TypeError, match="abstract"):
        UnsupervisedSelector()

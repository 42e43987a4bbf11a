"""Whether a table shows structure: the test and what it says."""

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect.data import planted
from ufselect.evaluation import structure_test


def test_noise_is_called_noise_in_a_sentence():
    X = np.random.default_rng(0).normal(size=(80, 400))

    found = structure_test(X, random_state=0)

    assert not found.found
    assert found.sentence.startswith("This table shows no groups: the largest")


def test_groups_are_found_and_their_units_named():
    found = structure_test(planted("blobs").table, random_state=0)

    assert (found.found, found.p_value, found.standardize) == (True, 0.025, "none")
    assert found.sentence.startswith(
        "This table shows structure in the units of the table: "
    )
    assert set(found.evidence) == {"none", "features"}


def test_sparse_counts_are_tested_as_they_are():
    X = planted("counts", n_useful=20).table

    assert structure_test(sp.csr_array(X), random_state=0).standardize == "samples"


def test_the_same_seed_gives_the_same_test():
    X = np.random.default_rng(0).normal(size=(30, 40))

    assert structure_test(X, random_state=3) == structure_test(X, random_state=3)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[1.0, 2.0]], {}, "minimum of 2"),
        ([[1.0], [np.nan]], {}, "NaN"),
        ([[1.0], [2.0]], {"n_permutations": 0}, "n_permutations=0 must be at least 1"),
    ],
)
def test_bad_input_is_refused(X, options, message):
    with pytest.raises(ValueError, match=message):
        structure_test(X, **options)

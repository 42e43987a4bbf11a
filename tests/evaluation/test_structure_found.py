"""Structure: a parallel analysis that is exact for noise, and what it says."""

import numpy as np
import pytest
import scipy.sparse as sp
from each_case import each
from scipy.stats import kstest
from sklearn.datasets import load_wine

from ufselect.data import planted
from ufselect.evaluation import structure_test
from ufselect.evaluation.structure_found import (
    eigenvalues_by_kind,
    eigenvalues_of_copies,
    parallel_analysis,
    permuted_columns,
)
from ufselect.matrix import as_matrix


def analysis(X, seed=0, n_permutations=19):
    return parallel_analysis(as_matrix(X), n_permutations, np.random.RandomState(seed))


def noise(kind, random):
    if kind == "counts":
        return random.poisson(random.uniform(0.2, 4, size=50), size=(40, 50)) * 1.0
    if kind == "heavy tails":
        return random.standard_t(2, size=(40, 50))
    return random.normal(size=(40, 50)) * np.logspace(-2, 2, 50)


@pytest.mark.slow
@each("kind", ["counts", "heavy tails", "unequal units"])
def test_p_values_of_noise_are_uniform(kind):
    random = np.random.default_rng(6)
    found = np.array(
        [analysis(noise(kind, random), seed).p_value for seed in range(100)]
    )

    # Within each step of one twentieth any value is as good as another.
    spread = found - random.random(100) / 20
    assert kstest(spread, "uniform").pvalue > 0.01
    assert np.mean(found <= 0.05) <= 0.12


@each("shape", [(60, 400), (60, 8)])
def test_shared_permutations_give_the_eigenvalues_of_permuted_columns(shape):
    random = np.random.default_rng(0)
    raw = random.normal(size=shape) * np.linspace(1, 3, shape[1])
    raw[:, :4] += 6 * random.normal(size=(shape[0], 1))
    summary, kinds = as_matrix(raw).summary(), ["none", "features"]
    own, copies = eigenvalues_of_copies(raw, summary, 60, random)
    others = np.array(
        [
            eigenvalues_by_kind(permuted_columns(raw, random), summary, kinds)[:, 0]
            for _ in range(60)
        ]
    )

    np.testing.assert_allclose(
        own, eigenvalues_by_kind(raw, summary, kinds), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(copies.mean(axis=0), others.mean(axis=0), rtol=0.05)
    np.testing.assert_allclose(copies.std(axis=0), others.std(axis=0), rtol=0.5)
    assert own[0, 0] > 1.2 * copies[:, 0].max()


def test_a_table_in_one_unit_stays_in_it_and_one_of_many_units_is_scaled():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3000))
    X[:, :40] += random.normal(0, 2.5, size=(3, 40))[np.arange(60) % 3]
    found, scaled = analysis(X), analysis(load_wine().data)

    assert found.kind == "none"
    assert found.ratios["none"] > 1.1 > found.ratios["features"] - 0.05
    assert (found.p_value, found.n_directions) == (0.05, 2)
    assert scaled.kind == "features"
    assert scaled.ratios["features"] > 2 > 1.1 > scaled.ratios["none"]


def test_of_a_sparse_table_columns_keep_their_values():
    X = sp.csr_array(np.random.default_rng(0).binomial(3, 0.1, size=(30, 12)) * 1.0)

    found = permuted_columns(X, np.random.default_rng(1)).toarray()

    np.testing.assert_array_equal(np.sort(found, axis=0), np.sort(X.toarray(), axis=0))
    assert (found != X.toarray()).any()


def test_counts_have_their_samples_scaled():
    X = np.random.default_rng(0).poisson(1.0, size=(30, 40)).astype(float)
    multiples = np.outer(np.arange(1.0, 21.0), np.r_[np.zeros(5), np.ones(5)])
    sparse = sp.csr_array(planted("counts", n_useful=20).table)

    assert analysis(X).kind == analysis(sp.csr_array(X)).kind == "samples"
    assert structure_test(sparse, random_state=0).standardize == "samples"
    assert analysis(multiples).kind in ("none", "features")
    assert analysis(np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 2.0]])).p_value == 1.0


def test_noise_and_groups_are_told_in_a_sentence():
    X = np.random.default_rng(0).normal(size=(80, 400))
    lost = structure_test(X, random_state=0)
    found = structure_test(planted("blobs").table, random_state=0)

    assert lost == structure_test(X, random_state=0)
    assert not lost.found
    assert lost.sentence.startswith("This table shows no groups: the largest")
    assert (found.found, found.p_value, found.standardize) == (True, 0.025, "none")
    assert found.sentence.startswith(
        "This table shows structure in the units of the table: "
    )
    assert set(found.evidence) == {"none", "features"}


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="minimum of 2"):
        structure_test([[1.0, 2.0]])
    with pytest.raises(ValueError, match="NaN"):
        structure_test([[1.0], [np.nan]])
    with pytest.raises(ValueError, match="n_permutations=0 must be at least 1"):
        structure_test([[1.0], [2.0]], n_permutations=0)

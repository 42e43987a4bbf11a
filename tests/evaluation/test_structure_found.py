"""Structure: a test that is exact for noise, and features that follow it."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import kstest
from sklearn.datasets import load_wine

from ufselect.data import planted
from ufselect.evaluation import structure_test
from ufselect.evaluation.structure_found import (
    effective_samples,
    eigenvalues_by_kind,
    eigenvalues_of_copies,
    explained_shares,
    q_values,
    structure_of_matrix,
)
from ufselect.matrix import DenseMatrix, as_matrix


def analysis(X, seed=0, n_permutations=19):
    random = np.random.RandomState(seed)
    return structure_of_matrix(as_matrix(X), n_permutations, random)


def noise(kind, random):
    if kind == "counts":
        return random.poisson(random.uniform(0.2, 4, size=50), size=(40, 50)) * 1.0
    if kind == "heavy tails":
        return random.standard_t(2, size=(40, 50))
    return random.normal(size=(40, 50)) * np.logspace(-2, 2, 50)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["counts", "heavy tails", "unequal units"])
def test_p_values_of_noise_are_uniform(kind):
    random = np.random.default_rng(6)
    found = np.array(
        [analysis(noise(kind, random), seed).p_value for seed in range(100)]
    )

    # Within each step of one twentieth any value is as good as another.
    spread = found - random.random(100) / 20
    assert kstest(spread, "uniform").pvalue > 0.01
    assert np.mean(found <= 0.05) <= 0.12


@pytest.mark.parametrize("shape", [(60, 400), (60, 8)])
def test_shared_permutations_give_the_eigenvalues_of_permuted_columns(shape):
    random = np.random.default_rng(0)
    raw = random.normal(size=shape) * np.linspace(1, 3, shape[1])
    raw[:, :4] += 6 * random.normal(size=(shape[0], 1))
    data, kinds = DenseMatrix(raw), ["none", "features"]
    own, copies = eigenvalues_of_copies(data, 60, random)
    permuted = (data.permuted(random) for _ in range(60))
    others = np.array([eigenvalues_by_kind(each, kinds)[:, 0] for each in permuted])

    expected = eigenvalues_by_kind(data, kinds)
    np.testing.assert_allclose(own, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(copies.mean(axis=0), others.mean(axis=0), rtol=0.05)
    np.testing.assert_allclose(copies.std(axis=0), others.std(axis=0), rtol=0.5)
    assert own[0, 0] > 1.2 * copies[:, 0].max()


def test_a_table_in_one_unit_stays_in_it_and_one_of_many_units_is_scaled():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3000))
    X[:, :40] += random.normal(0, 2.5, size=(3, 40))[np.arange(60) % 3]
    found, scaled = analysis(X), analysis(load_wine().data)

    assert found.standardize == "none"
    assert found.evidence["none"] > 1.1 > found.evidence["features"] - 0.05
    assert (found.p_value, found.n_directions) == (0.05, 2)
    assert scaled.standardize == "features"
    assert scaled.evidence["features"] > 2 > 1.1 > scaled.evidence["none"]


def test_counts_have_their_samples_scaled():
    X = np.random.default_rng(0).poisson(1.0, size=(30, 40)).astype(float)
    multiples = np.outer(np.arange(1.0, 21.0), np.r_[np.zeros(5), np.ones(5)])
    sparse = sp.csr_array(planted("counts", n_useful=20).table)

    assert analysis(X).standardize == analysis(sp.csr_array(X)).standardize == "samples"
    assert structure_test(sparse, random_state=0).standardize == "samples"
    assert analysis(multiples).standardize in ("none", "features")
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


# From eigenvectors that did not see the features


def following(X, seed=0):
    return explained_shares(as_matrix(X - X.mean(axis=0)), np.random.RandomState(seed))


def test_q_values_are_the_naive_ones():
    random = np.random.default_rng(0)
    shares, permuted = random.random(40) ** 0.3, random.random((5, 40))

    rates = np.array(
        [(1 + np.sum(permuted >= t)) / 5 / np.sum(shares >= t) for t in shares]
    )
    expected = [rates[shares <= t].min() for t in shares]

    np.testing.assert_allclose(q_values(shares, permuted), np.minimum(expected, 1.0))


def test_of_noise_hardly_anything_is_a_discovery():
    random = np.random.default_rng(0)
    found = [
        np.sum(following(random.normal(size=(60, 300)), seed).q_values <= 0.05)
        for seed in range(10)
    ]

    # One false discovery makes the whole of it false: at most one table in twenty.
    assert np.mean(np.array(found) > 0) <= 0.3
    assert np.sum(found) <= 10


@pytest.mark.parametrize("geometry", ["blobs", "rings", "subspaces"])
def test_planted_columns_are_discoveries_and_few_others_are(geometry):
    data = planted(geometry, n_samples=120, n_useful=30, n_noise=270)

    discovered = following(data.table).q_values <= 0.05

    assert discovered[data.informative].mean() >= 0.8
    assert (~data.informative[discovered]).mean() <= 0.15


def test_rare_words_are_compared_with_rare_words():
    # Two outlying samples share words that occur nowhere else, as many by chance do.
    random = np.random.default_rng(0)
    data = planted("blobs", n_samples=100, n_useful=20, n_noise=80)
    rare = np.zeros((100, 200))
    rare[random.integers(100, size=200), np.arange(200)] = 50.0
    X = np.hstack([data.table, rare])

    found = following(X)

    assert (found.q_values[:100][data.informative] <= 0.05).mean() >= 0.8
    assert (found.q_values[100:] <= 0.05).mean() <= 0.05


def test_a_single_column_follows_nothing_and_few_samples_make_a_rare_one():
    found = following(np.arange(10.0)[:, np.newaxis])
    X = np.zeros((20, 3))
    X[0, 0], X[:, 1] = 1.0, np.tile([-1.0, 1.0], 10)

    np.testing.assert_allclose(effective_samples(as_matrix(X)), [1.0, 20.0, 1.0])

    assert (found.shares[0], found.q_values[0]) == (0.0, 1.0)

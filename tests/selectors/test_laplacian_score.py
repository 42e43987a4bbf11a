"""Laplacian score against reference numbers, the naive formula and identities."""

import numpy as np
import oracle_files
import pytest
import scipy.sparse as sp

from ufselect import SPEC, LaplacianScore
from ufselect.matrix import as_matrix
from ufselect.solvers.graph_scores import smoothness


def score(X, graph):
    forms = smoothness(as_matrix(X), sp.csr_array(graph))
    return forms.variation / forms.spread


def naive_score(X, graph):
    scores = []
    for f in X.T:
        degree = graph.sum(axis=1)
        g = f - (f @ degree) / degree.sum()
        pairs = sum(
            (g[i] - g[j]) ** 2 * graph[i, j]
            for i in range(len(g))
            for j in range(len(g))
        )
        scores.append(pairs / 2 / (g**2 @ degree))
    return np.array(scores)


def test_sparse_and_full_columns_have_the_same_forms_as_dense_ones():
    random = np.random.RandomState(0)
    X = sp.random(60, 40, 0.05, "csr", random_state=random).toarray()
    X[:, ::7] += 1e4 + random.standard_normal((60, 6))
    half = sp.random(60, 60, 0.1, "csr", random_state=random)
    graph = sp.csr_array(half + half.T)

    found = smoothness(as_matrix(sp.csr_array(X)), graph)

    for ours, dense in zip(found, smoothness(as_matrix(X), graph), strict=True):
        np.testing.assert_allclose(ours, dense, rtol=1e-10)
    varying = X.any(axis=0)
    naive = naive_score(X[:, varying], graph.toarray())
    ratio = found.variation[varying] / found.spread[varying]
    np.testing.assert_allclose(ratio, naive, rtol=1e-8)


@pytest.mark.parametrize("letter", ["A", "B"])
def test_selector_ranks_small_scores_first(letter):
    given = oracle_files.inputs(letter)
    ((_, values),) = oracle_files.runs("ls", letter)
    selector = LaplacianScore().fit(given["X"])
    found = score(given["X"], given["S"])

    np.testing.assert_allclose(found, values["laplacian_score"], rtol=1e-6)

    np.testing.assert_array_equal(
        selector.order_, np.argsort(values["laplacian_score"], kind="stable")
    )
    np.testing.assert_allclose(
        selector.scores_, values["one_minus_laplacian_score"], rtol=1e-6
    )


def test_scores_equal_the_sum_over_pairs():
    given = oracle_files.inputs("A")

    np.testing.assert_allclose(
        score(given["X"], given["S"]), naive_score(given["X"], given["S"])
    )


@pytest.mark.parametrize("weights", ["binary", "heat"])
def test_it_is_the_second_function_of_spec(weights):
    X = oracle_files.inputs("B")["X"]
    laplacian_score = LaplacianScore(weights=weights).fit(X).scores_
    spec = SPEC(phi=2, weights=weights).fit(X).scores_

    np.testing.assert_allclose(laplacian_score, spec)


@pytest.mark.parametrize("method", [LaplacianScore, SPEC])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_neighbours_far_from_zero_are_those_near_zero(method, convert):
    # So many columns that distances come from products, which lose their digits.
    X = np.round(np.random.RandomState(0).standard_normal((40, 20)) * 1024) / 1024

    scores = method().fit(convert(X + 1e8)).scores_

    np.testing.assert_allclose(scores, method().fit(X).scores_, rtol=1e-9)

"""Consensus: members, their parameters, and what becomes of their rankings."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from ufselect import MCFS, SCFS, Consensus, LaplacianScore, MaxVariance
from ufselect.solvers.rankings import COMBINATIONS, ranks_of


@pytest.fixture
def X(planted):
    return planted(40, 12, n_informative=5).X


def ranks(selector, X):
    order = selector.fit(X).order_
    places = np.empty(len(order))
    places[order] = np.arange(1.0, len(order) + 1)
    return places


def test_the_score_is_one_over_the_geometric_mean_of_the_ranks(X):
    members = [LaplacianScore(), MaxVariance(), SCFS(n_clusters=3, random_state=0)]
    consensus = Consensus(members).fit(X)

    expected = np.array([ranks(clone(member), X) for member in members])

    np.testing.assert_array_equal(consensus.rankings_, expected)
    np.testing.assert_allclose(
        consensus.scores_, 1 / np.prod(expected, axis=0) ** (1 / 3)
    )


@pytest.mark.parametrize("combine", COMBINATIONS)
def test_the_consensus_of_equals_is_their_ranking(X, combine):
    consensus = Consensus([MaxVariance()] * 3, combine=combine).fit(X)

    np.testing.assert_array_equal(consensus.order_, MaxVariance().fit(X).order_)
    np.testing.assert_allclose(consensus.agreement_, 1.0)


def test_members_are_fitted_for_every_number_of_clusters(X):
    members = [("a", SCFS()), ("b", LaplacianScore())]
    consensus = Consensus(members, n_clusters=[2, 4], random_state=0).fit(X)

    assert list(consensus.members_) == ["a n_clusters=2", "a n_clusters=4", "b"]
    parameters = consensus.members_["a n_clusters=4"]
    alone = SCFS(**parameters)
    assert parameters["n_clusters"] == 4
    np.testing.assert_array_equal(consensus.rankings_[1], ranks(alone, X))
    default = Consensus(n_clusters=3, random_state=0).fit(X)
    assert list(default.members_) == ["scfs n_clusters=3", "laplacianscore"]


def test_preparations_may_differ_and_members_are_told_how_many_features(X):
    members = [
        (str(kind), SCFS(n_clusters=3, standardize=kind)) for kind in (True, False)
    ]
    units = X * 10.0 ** (np.arange(12) % 4)

    rankings = Consensus(members, random_state=0).fit(units).rankings_
    wanted = Consensus([MCFS(n_clusters=3, n_features_to_select=9)], 4).fit(X)

    assert (rankings[0] != rankings[1]).any()
    np.testing.assert_array_equal(wanted.rankings_[0], ranks(MCFS(4, n_clusters=3), X))


# Members that fail


def test_a_member_that_fails_is_left_out_with_its_name_and_reason(X):
    big, many = MCFS(max_memory=1.0), SCFS(n_clusters=41)
    consensus = Consensus([("many", many), ("ls", LaplacianScore()), ("big", big)])

    with pytest.warns(UserWarning, match=r"big .*max_memory") as caught:
        consensus.fit(X)

    assert "many (ValueError: n_clusters=41 but X has" in str(caught[0].message)
    assert caught[0].filename == __file__

    assert list(consensus.members_) == ["ls"]
    assert consensus.rankings_.shape == (1, 12)


# Mistakes


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"selectors": []}, ValueError, r"selectors=\[\] is empty"),
        ({"selectors": [SCFS]}, TypeError, "not a selector; give an instance"),
        ({"selectors": ["SCFS"]}, TypeError, "'SCFS', which is not a selector"),
        ({"selectors": [("a", MCFS(), 3)]}, TypeError, "which is not a selector"),
        (
            {"selectors": [("a", SCFS()), ("a", MCFS())]},
            ValueError,
            "Names provided are not unique",
        ),
        ({"selectors": [("combine", SCFS())]}, ValueError, "conflict"),
        ({"selectors": [SCFS(n_clusters=-1)]}, ValueError, "'n_clusters' parameter"),
        ({"n_clusters": [0, 2]}, ValueError, "'n_clusters' parameter of SCFS"),
        ({"n_clusters": [2.5]}, ValueError, "'n_clusters' parameter of SCFS"),
        ({"n_clusters": []}, ValueError, r"n_clusters=\[\] is empty"),
        ({"combine": "borda"}, ValueError, "'combine' parameter"),
        ({"time_budget": 0}, ValueError, "'time_budget' parameter"),
    ],
)
def test_a_mistake_is_refused_with_its_value(X, parameters, error, message):
    with pytest.raises(error, match=message):
        Consensus(**parameters).fit(X)


# Parameters of members


def test_parameters_of_members_have_names():
    consensus = Consensus([("scfs", SCFS(alpha=2.0)), ("ls", LaplacianScore())])
    consensus.set_params(scfs__alpha=3.0, ls__n_neighbors=7, combine="best-rank")
    assert consensus.get_params()["scfs__alpha"] == 3.0
    assert consensus.get_params()["ls"].n_neighbors == 7
    assert consensus.combine == "best-rank"
    # A member is replaced by name, and parameters may be those of new members.
    consensus.set_params(ls=MCFS(), scfs__alpha=5.0)
    assert isinstance(consensus.get_params()["ls"], MCFS)
    assert consensus.selectors[0][1].alpha == 5.0
    consensus.set_params(selectors=[("new", MCFS())], new__n_clusters=3)
    assert consensus.selectors[0][1].n_clusters == 3
    with pytest.raises(ValueError, match="Invalid parameter 'other'"):
        consensus.set_params(other__alpha=1.0)
    # Members without names are named by their class.
    unnamed = Consensus([SCFS(), MCFS(), SCFS(alpha=2.0)]).set_params(
        mcfs__n_clusters=4
    )
    assert unnamed.get_params()["scfs-2__alpha"] == 2.0
    assert unnamed.selectors[1].n_clusters == 4


def test_fit_leaves_the_members_as_they_were(X):
    member = SCFS(n_clusters=3)
    Consensus([member], random_state=0).fit(X)

    assert member.random_state is None
    assert member.n_features_to_select is None
    assert not hasattr(member, "scores_")


def test_a_consensus_may_be_a_member_and_sparse_data_stay_sparse(X, monkeypatch):
    inner = Consensus([LaplacianScore(), MaxVariance()])
    outer = Consensus([("inner", inner), ("ls", LaplacianScore())]).fit(X)
    expected = ranks_of(clone(inner).fit(X).scores_)[0]
    seen, fit = [], MaxVariance._score_features

    def noted(self, data):
        seen.append(sp.issparse(data.raw))
        return fit(self, data)

    monkeypatch.setattr(MaxVariance, "_score_features", noted)
    Consensus([MaxVariance()]).fit(sp.csr_array(X))

    np.testing.assert_array_equal(outer.rankings_[0], expected)
    assert seen == [True]

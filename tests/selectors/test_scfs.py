"""SCFS: the objective it reports, the start, the stop, both solvers."""

import importlib.util
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ufselect import SCFS
from ufselect.solvers import scfs as scfs_solver

SOLVERS = ["exact", "paper"]

needs_callbacks = pytest.mark.skipif(
    importlib.util.find_spec("sklearn.callback") is None,
    reason="this scikit-learn has no callbacks",
)


@pytest.fixture(params=[(40, 60), (90, 20)], ids=["wide", "tall"])
def X(request, planted):
    return planted(*request.param, n_informative=8).X


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(120, 8, centers=4, cluster_std=0.5, random_state=0)[0]


def crisp(labels, n_clusters=3):
    return np.eye(n_clusters)[labels]


def indicators(memberships):
    return memberships / np.sqrt(memberships.sum(axis=0))


def centred(matrix):
    return matrix - matrix.mean(axis=0)


def equation_8(X, G, W, alpha, beta, *, intercept=False):
    """Return the objective term by term, with n x n matrices and no shortcut."""
    error = centred(X @ W - G) if intercept else X @ W - G
    return (
        np.sum((X - G @ G.T @ X) ** 2)
        + alpha * np.sum(error**2)
        + beta * np.sum(np.sqrt(np.sum(W**2, axis=1)))
    )


def as_scaled(X, kind):
    if kind == "features":
        return X / X.std(axis=0)
    if kind == "samples":
        return X / np.linalg.norm(X, axis=1, keepdims=True)
    return X


# What is learned


@pytest.mark.parametrize("solver", SOLVERS)
def test_attributes_have_their_shapes(X, solver):
    n, p = X.shape

    selector = SCFS(n_clusters=3, solver=solver, random_state=0).fit(X)

    assert selector.coef_.shape == (p, 3)
    assert selector.memberships_.shape == (n, 3)
    assert selector.labels_.shape == (n,)
    assert selector.objective_history_.shape == (selector.n_iter_,)
    assert selector.alpha_ > 0
    assert selector.beta_ > 0
    assert selector.standardize_ in {"features", "samples", "none"}


@pytest.mark.parametrize("solver", SOLVERS)
def test_memberships_are_a_soft_partition(X, solver):
    selector = SCFS(n_clusters=3, solver=solver, random_state=0).fit(X)
    memberships = selector.memberships_

    assert memberships.min() >= 0
    assert memberships.sum(axis=0).min() > 0
    np.testing.assert_allclose(memberships.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(selector.labels_, memberships.argmax(axis=1))


def test_scores_of_rows_in_the_model_are_their_norms(X):
    selector = SCFS(n_clusters=3, random_state=0).fit(X)
    norms = np.linalg.norm(selector.coef_, axis=1)

    np.testing.assert_allclose(selector.scores_[norms > 0], norms[norms > 0])


def test_zero_rows_follow_the_others_nearest_first(planted):
    X = planted(40, 60).X
    selector = SCFS(n_clusters=3, standardize=False, random_state=0).fit(X)
    G, W = indicators(selector.memberships_), selector.coef_
    outside = np.flatnonzero(~W.any(axis=1))
    kkt_ratios = np.linalg.norm(centred(X).T @ (centred(G) - centred(X) @ W), axis=1)

    expected = outside[np.argsort(-kkt_ratios[outside])]

    assert 0 < len(outside) < X.shape[1]
    np.testing.assert_array_equal(selector.order_[-len(outside) :], expected)
    assert (2 * selector.alpha_ * kkt_ratios[outside] <= selector.beta_).all()


# The objective


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("standardize", [False, "features", "samples"])
def test_the_last_objective_is_equation_8(X, standardize, intercept):
    selector = SCFS(
        n_clusters=3,
        standardize=standardize,
        fit_intercept=intercept,
        random_state=0,
    ).fit(X)

    expected = equation_8(
        as_scaled(X, standardize),
        indicators(selector.memberships_),
        selector.coef_,
        selector.alpha_,
        selector.beta_,
        intercept=intercept,
    )

    np.testing.assert_allclose(selector.objective_history_[-1], expected, rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_numbers_are_the_weights_of_equation_8(X, solver):
    auto = SCFS(n_clusters=3, solver=solver, random_state=0).fit(X)
    given = SCFS(
        n_clusters=3,
        solver=solver,
        alpha=auto.alpha_,
        beta=auto.beta_,
        random_state=0,
    ).fit(X)

    np.testing.assert_allclose(given.alpha_, auto.alpha_, rtol=1e-12)
    np.testing.assert_allclose(given.beta_, auto.beta_, rtol=1e-12)
    np.testing.assert_allclose(given.scores_, auto.scores_, rtol=1e-6, atol=1e-12)


def test_printed_numbers_give_the_printed_objective(X):
    selector = SCFS(
        n_clusters=3,
        alpha=20.0,
        beta=3.0,
        standardize=False,
        fit_intercept=False,
        random_state=0,
    ).fit(X)
    G, W = indicators(selector.memberships_), selector.coef_

    expected = equation_8(X, G, W, 20.0, 3.0)

    np.testing.assert_allclose(selector.objective_history_[-1], expected, rtol=1e-9)


def test_W_is_nearly_optimal_for_its_clusters(X):
    selector = SCFS(n_clusters=3, standardize=False, random_state=0).fit(X)
    G, W = centred(indicators(selector.memberships_)), selector.coef_
    pull = (
        2
        * selector.alpha_
        * np.linalg.norm(centred(X).T @ (G - centred(X) @ W), axis=1)
    )

    # Optimal means: equal to beta in the model, at most beta outside.
    assert pull.max() <= 1.05 * selector.beta_
    assert pull[W.any(axis=1)].min() >= 0.9 * selector.beta_


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_auto_weights_follow_the_unit_of_X(X, fit_intercept):
    selector = SCFS(
        n_clusters=3, standardize=False, fit_intercept=fit_intercept, random_state=0
    )

    metres = selector.fit(X)
    alpha, beta, order = metres.alpha_, metres.beta_, metres.order_
    millimetres = selector.fit(1000 * X)

    np.testing.assert_array_equal(millimetres.order_, order)
    np.testing.assert_allclose(millimetres.alpha_, 1e6 * alpha, rtol=1e-9)
    np.testing.assert_allclose(millimetres.beta_, 1e9 * beta, rtol=1e-9)


@pytest.mark.parametrize("standardize", [False, "features", "samples"])
@pytest.mark.parametrize("factor", [1e-150, 1e-30, 1e30, 1e150])
def test_extreme_units_do_not_change_the_order(X, standardize, factor):
    selector = SCFS(n_clusters=3, standardize=standardize, random_state=0)

    order = selector.fit(X).order_
    extreme = selector.fit(factor * X).order_

    np.testing.assert_array_equal(extreme, order)


@pytest.mark.parametrize("standardize", [False, "features"])
def test_with_an_intercept_offsets_do_not_matter(X, standardize):
    offsets = 10 * np.random.RandomState(1).standard_normal(X.shape[1])
    selector = SCFS(n_clusters=3, standardize=standardize, random_state=0)

    scores = selector.fit(X).scores_
    moved = selector.fit(X + offsets).scores_

    np.testing.assert_allclose(moved, scores, rtol=1e-6, atol=1e-9)


# What is found


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_samples", [60, 400], ids=["wide", "tall"])
@pytest.mark.parametrize("seed", [0, 1])
def test_planted_features_are_found(planted, solver, n_samples, seed):
    X, _, informative = planted(n_samples, 200, seed=seed)

    # Scaled to unit variance, the other 190 columns may mislead a single start.
    selector = SCFS(10, n_clusters=3, solver=solver, n_init=5, random_state=0).fit(X)

    assert len(np.intersect1d(selector.order_[:10], informative)) >= 9


def test_planted_clusters_are_found(planted):
    X, labels, _ = planted(90, 30)

    found = SCFS(n_clusters=3, random_state=0).fit(X).labels_

    pairs = set(zip(found, labels, strict=True))
    assert len(pairs) == 3


@pytest.mark.parametrize("standardize", [False, "features"])
def test_columns_that_cancel_are_ranked(planted, standardize):
    # As in a yes and a no column: centred, one is the other with its sign changed.
    x = planted(60, 1, n_informative=1).X

    scores = (
        SCFS(n_clusters=3, standardize=standardize, random_state=0)
        .fit(np.hstack([x, 1.0 - x]))
        .scores_
    )

    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-3)


# The start


def test_a_warm_start_goes_on_where_the_last_fit_ended(X):
    cold = SCFS(n_clusters=3, random_state=0).fit(X)

    warm = SCFS(
        n_clusters=3, init=cold.memberships_, alpha=cold.alpha_, beta=cold.beta_
    ).fit(X)

    last = cold.objective_history_[-1]
    assert warm.objective_history_[0] <= last * (1 + 1e-3)
    assert warm.objective_history_[-1] <= last * (1 + 1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_best_of_several_starts_is_kept(solver):
    X = np.random.RandomState(0).standard_normal((30, 10))
    parameters = {"n_clusters": 4, "solver": solver, "alpha": 5.0, "beta": 1.0}
    random = np.random.RandomState(1)

    ends = [
        SCFS(**parameters, random_state=random).fit(X).objective_history_[-1]
        for _ in range(4)
    ]
    best = SCFS(**parameters, n_init=4, random_state=1).fit(X)

    assert ends[0] > 1.01 * min(ends)
    np.testing.assert_allclose(best.objective_history_[-1], min(ends), rtol=1e-9)


def test_a_random_start_ends_near_the_start_from_k_means(blobs):
    informed = SCFS(n_clusters=4, standardize=False, random_state=0).fit(blobs)

    blind = SCFS(
        n_clusters=4, standardize=False, init="random", n_init=5, random_state=0
    ).fit(blobs)

    ratio = blind.objective_history_[-1] / informed.objective_history_[-1]
    assert ratio == pytest.approx(1.0, abs=0.05)


def test_the_start_given_is_not_changed(X):
    start = np.full((len(X), 3), 1 / 3) + 0.1 * (crisp(np.arange(len(X)) % 3) - 1 / 3)
    before = start.tobytes()

    SCFS(n_clusters=3, init=start).fit(X)

    assert start.tobytes() == before


def test_one_cluster_is_allowed(X):
    selector = SCFS(n_clusters=1, random_state=0).fit(X)

    assert np.isfinite(selector.scores_).all()
    np.testing.assert_array_equal(selector.labels_, 0)


# Progress and stopping


@pytest.mark.parametrize("solver", SOLVERS)
def test_verbose_prints_one_line_per_iteration(X, solver, capsys):
    selector = SCFS(n_clusters=3, solver=solver, random_state=0, verbose=True).fit(X)

    lines = capsys.readouterr().out.splitlines()

    assert len(lines) == selector.n_iter_
    assert lines[0].startswith("SCFS iteration 1: objective ")


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_verbose_nothing_is_printed(X, solver, capsys):
    SCFS(n_clusters=3, solver=solver, random_state=0).fit(X)

    captured = capsys.readouterr()

    assert captured.out == ""
    assert captured.err == ""


@pytest.mark.parametrize("solver", SOLVERS)
def test_too_few_iterations_warn_with_the_number_to_raise(X, solver):
    selector = SCFS(n_clusters=3, solver=solver, max_iter=1, random_state=0)

    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 .*raise max_iter"):
        selector.fit(X)

    assert selector.n_iter_ == 1


def test_the_warning_points_at_the_line_that_called_fit(X):
    selector = SCFS(n_clusters=3, max_iter=1, random_state=0)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(X)

    assert [warning.filename for warning in caught] == [__file__]


class Recorder:
    """Keeps what a fit reports; asks it to stop after some iterations."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.objectives = []
        self.calls = []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, metadata=None):
        self.calls.append("begin")

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        self.calls.append("end")
        if context.task_name == "iteration":
            self.objectives.append(metadata["objective"])
        return len(self.objectives) == self.stop_after


@needs_callbacks
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_callback_hears_of_every_iteration(X, solver):
    recorder = Recorder()
    selector = SCFS(n_clusters=3, solver=solver, random_state=0)

    selector.set_callbacks(recorder).fit(X)

    assert len(recorder.objectives) == selector.n_iter_
    assert recorder.calls[0] == "setup"
    assert recorder.calls[-1] == "teardown"
    assert recorder.calls.count("begin") == recorder.calls.count("end")


@needs_callbacks
def test_a_callback_hears_the_objective(X):
    recorder = Recorder()
    selector = SCFS(n_clusters=3, standardize=False, solver="paper", random_state=0)

    selector.set_callbacks(recorder).fit(X)

    np.testing.assert_allclose(recorder.objectives, selector.objective_history_)


@needs_callbacks
def test_a_callback_hears_the_objective_of_the_exact_solver(X):
    recorder = Recorder()
    selector = SCFS(n_clusters=3, standardize=False, random_state=0, tol=1e-7)

    history = selector.set_callbacks(recorder).fit(X).objective_history_

    # The last entry of the history is improved once more after the report.
    np.testing.assert_allclose(recorder.objectives[:-1], history[:-1])


@needs_callbacks
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_callback_can_stop_the_fit(X, solver):
    recorder = Recorder(stop_after=2)
    selector = SCFS(n_clusters=3, solver=solver, tol=0, random_state=0)

    selector.set_callbacks(recorder).fit(X)

    assert selector.n_iter_ == 2


@needs_callbacks
def test_a_callback_stops_all_starts(X):
    recorder = Recorder(stop_after=2)
    selector = SCFS(n_clusters=3, n_init=3, tol=0, random_state=0)

    selector.set_callbacks(recorder).fit(X)

    assert len(recorder.objectives) == 2


@needs_callbacks
def test_a_callback_can_stop_the_fit_inside_a_pipeline(X):
    recorder = Recorder(stop_after=2)
    selector = SCFS(n_clusters=3, tol=0, random_state=0).set_callbacks(recorder)

    make_pipeline(StandardScaler(), selector).fit(X)

    assert selector.n_iter_ == 2
    assert len(recorder.objectives) == 2


# The paper solver


def test_the_paper_solver_shifts_negative_data(X):
    selector = SCFS(n_clusters=3, solver="paper", random_state=0)

    scores = selector.fit(X).scores_
    shifted = selector.fit(X - X.min()).scores_

    np.testing.assert_allclose(shifted, scores, rtol=1e-6, atol=1e-12)


def test_the_paper_solver_leaves_data_without_negative_values(X):
    positive = np.abs(X) + 1.0
    selector = SCFS(n_clusters=3, solver="paper", random_state=0).fit(positive)
    G = indicators(selector.memberships_)

    expected = equation_8(positive, G, selector.coef_, selector.alpha_, selector.beta_)

    # Here G is feasible up to 1 / gamma, so that the constraint costs next to nothing.
    np.testing.assert_allclose(selector.objective_history_[-1], expected, rtol=1e-3)


def test_auto_means_no_preparation_for_the_paper_solver(X):
    selector = SCFS(n_clusters=3, solver="paper", random_state=0)

    auto = selector.fit(X)
    kind, scores = auto.standardize_, auto.scores_
    plain = selector.set_params(standardize=False).fit(X)

    assert kind == "none"
    np.testing.assert_array_equal(plain.scores_, scores)


@pytest.mark.parametrize("seed", range(3))
def test_the_paper_solver_never_leaves_a_crisp_start(X, seed):
    labels = np.random.RandomState(seed).permutation(np.arange(len(X)) % 3)

    selector = SCFS(n_clusters=3, solver="paper", init=crisp(labels)).fit(X)

    np.testing.assert_array_equal(selector.labels_, labels)
    np.testing.assert_array_equal(selector.memberships_, crisp(labels))


class TestVanishing:
    def problem(self):
        random = np.random.default_rng(0)
        X = random.normal(size=(90, 30))
        X[:30, :4] += 4
        X[30:60, 4:8] += 4
        return X

    def test_a_beta_that_was_decided_is_lowered_until_something_is_found(
        self, monkeypatch
    ):
        plain = SCFS(n_clusters=3, random_state=0).fit(self.problem())

        monkeypatch.setattr(scfs_solver, "AUTO_BETA", 5.0)
        lowered = SCFS(n_clusters=3, random_state=0).fit(self.problem())

        assert lowered.beta_ == pytest.approx(10 * plain.beta_)
        assert set(lowered.order_[:8]) == set(range(8))

    def test_a_lowered_beta_gives_what_it_gives_when_asked_for(self, monkeypatch):
        X = self.problem()
        monkeypatch.setattr(scfs_solver, "AUTO_BETA", 5.0)

        lowered = SCFS(n_clusters=3, random_state=0).fit(X)
        asked = SCFS(n_clusters=3, beta=lowered.beta_, random_state=0).fit(X)

        np.testing.assert_allclose(lowered.scores_, asked.scores_)

    def test_nothing_is_tried_without_end(self, monkeypatch):
        monkeypatch.setattr(scfs_solver, "AUTO_BETA", 1e9)

        with pytest.raises(ValueError, match="or try another n_clusters"):
            SCFS(n_clusters=3, random_state=0).fit(self.problem())

    def test_a_beta_that_was_given_is_not_touched(self):
        with pytest.raises(ValueError, match='or use beta="auto"'):
            SCFS(n_clusters=3, beta=1e9, random_state=0).fit(self.problem())


class TestGroupsInARow:
    """Three groups along one direction, as the card of the method says."""

    @staticmethod
    def found(n_clusters, seed):
        X = np.random.default_rng(seed).normal(size=(60, 12))
        X[:, :3] += 4 * (np.arange(60) % 3)[:, np.newaxis]
        selector = SCFS(3, n_clusters=n_clusters, random_state=0).fit(X)
        return set(selector.order_[:3])

    def test_noise_comes_among_the_best_with_a_cluster_for_each(self):
        assert all(self.found(3, seed) != {0, 1, 2} for seed in range(5))

    def test_a_smaller_number_of_clusters_finds_them(self):
        assert all(self.found(2, seed) == {0, 1, 2} for seed in range(5))

"""What every selector promises, over all of them."""

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from documented_method import documented_method
from quick_selectors import made, variants
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ufselect.selectors
from ufselect import (
    SCFS,
    SPEC,
    AutoSelect,
    Consensus,
    MaxVariance,
    StabilitySelection,
    UnsupervisedSelector,
    all_selectors,
)

SHAPES = [(24, 40), (60, 12)]

INSTANCES = {name: made(method) for name, method in all_selectors().items()}
# It is held to what its page promises.
INSTANCES["documented"] = made(documented_method())
INSTANCES |= {
    "SCFS-paper": made(SCFS, solver="paper"),
    "SPEC-exponent": made(SPEC, exponent=4.0),
    **variants(),
    "Consensus": made(Consensus, n_clusters=[2, 3]),
    "AutoSelect": made(AutoSelect),
    "AutoSelect-distinct": made(
        AutoSelect, n_features_to_select=0.5, max_correlation=0.95
    ),
    "StabilitySelection": made(StabilitySelection, n_subsamples=4),
}


# What the base class does is tried with a few, and with those around other selectors.
FEW = ["MaxVariance", "SCFS", "MCFS", "Consensus", "AutoSelect"]


@pytest.fixture(params=INSTANCES, ids=str)
def name(request):
    return request.param


@pytest.fixture
def selector(name):
    return clone(INSTANCES[name])


@pytest.fixture(params=FEW)
def one_of_few(request):
    return clone(INSTANCES[request.param])


@pytest.fixture(params=SHAPES, ids=["wide", "tall"])
def X(request, planted):
    return planted(*request.param, n_informative=6).X


@pytest.fixture(scope="module")
def fits():
    """Return fits by selector and shape, each made once."""
    return {}


@pytest.fixture
def fitted(fits, name, X):
    """Return a fit of X: a copy of the one that all tests compare with or look at."""
    key = name, X.shape
    if key not in fits:
        np.random.seed(0)  # noqa: NPY002 - a test has another, and it must not matter
        fits[key] = clone(INSTANCES[name]).fit(X.copy())
    return deepcopy(fits[key])


def learned(selector):
    """Return what a fit has set, by name."""
    return {
        name: value
        for name, value in vars(selector).items()
        if name.endswith("_") and not name.startswith("_")
    }


def assert_same_fit(first, second):
    first, second = learned(first), learned(second)
    assert first.keys() == second.keys()
    for name, value in first.items():
        if isinstance(value, UnsupervisedSelector):
            assert_same_fit(value, second[name])
        else:
            np.testing.assert_array_equal(value, second[name], err_msg=name)


# The ranking


def test_a_fit_keeps_the_contract(selector, fitted, X):
    scores, support = fitted.scores_, fitted.get_support()
    assert scores.shape == (X.shape[1],)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(fitted.order_, np.argsort(-scores, kind="stable"))
    head = np.sort(fitted.order_[: fitted.n_selected_])
    np.testing.assert_array_equal(fitted.get_support(indices=True), head)
    np.testing.assert_array_equal(np.flatnonzero(support), head)
    if hasattr(fitted, "n_iter_"):
        assert fitted.n_iter_ == len(fitted.objective_history_)
        assert np.isfinite(fitted.objective_history_).all()

    reduced = fitted.transform(X)
    restored = fitted.inverse_transform(reduced)
    np.testing.assert_array_equal(reduced, X[:, support])
    np.testing.assert_array_equal(restored, np.where(support, X, 0.0))

    assert fitted.get_params() == selector.get_params()
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert learned(copy) == {}
    unpickled = pickle.loads(pickle.dumps(fitted))
    assert_same_fit(fitted, unpickled)
    np.testing.assert_array_equal(unpickled.transform(X), reduced)


def test_constant_columns_come_last(selector, X):
    constants = np.tile([0.0, 0.1, -7.0, 1e8], (len(X), 1))
    with_constants = np.hstack([constants[:, :2], X, constants[:, 2:]])

    order = selector.fit(with_constants).order_

    p = X.shape[1]
    assert set(order[-4:]) == {0, 1, p + 2, p + 3}


@pytest.mark.parametrize("standardize", [False, "features", "samples"])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_constant_columns_come_last_without_an_intercept(X, standardize, convert):
    # Without an intercept, a constant column is a good predictor of any cluster.
    with_constant = convert(np.column_stack([np.full(len(X), 3.0), X]))
    selector = made(SCFS, fit_intercept=False, standardize=standardize)

    assert selector.fit(with_constant).order_[-1] == 0


@pytest.mark.parametrize("init", ["k-means", "fuzzy", "random"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [False, "features", "samples"])
def test_the_exact_objective_never_rises(X, init, fit_intercept, standardize):
    options = {"init": init, "fit_intercept": fit_intercept, "standardize": standardize}
    selector = SCFS(n_clusters=4, random_state=0, tol=1e-7, **options)

    history = selector.fit(X).objective_history_

    assert (np.diff(history) <= 1e-12 * history[0]).all()


# What must not matter


def test_labels_the_global_generator_and_an_earlier_fit_do_not_matter(
    selector, planted, fitted, X
):
    before = X.tobytes()
    X.setflags(write=False)
    other = planted(15, 17, seed=1, n_informative=4).X
    y = np.random.RandomState(0).randint(3, size=len(X))
    selector.fit(pd.DataFrame(other).add_prefix("column_"))
    np.random.seed(1)  # noqa: NPY002 - it must not matter

    assert_same_fit(fitted, selector.fit(X, y))
    assert X.tobytes() == before


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_X_is_unchanged_and_stays_sparse_in_a_transform(one_of_few, X, kind):
    sparse = sp.csr_array(X * (np.abs(X) > 1)).asformat(kind)
    before = sparse.copy()

    reduced = one_of_few.fit_transform(sparse)

    for part in ["data", "indices", "indptr"]:
        assert getattr(sparse, part).tobytes() == getattr(before, part).tobytes()
    assert sp.issparse(reduced)
    np.testing.assert_array_equal(
        reduced.toarray(), before.toarray()[:, one_of_few.get_support()]
    )


# How many


def test_number_of_features(one_of_few, planted):
    X = planted(30, 12, n_informative=6).X
    # A single column follows no other, so that AutoSelect keeps it only if told to.
    kept = 0 if one_of_few.get_params()["n_features_to_select"] == "auto" else 1
    assert one_of_few.fit(X[:, :1]).get_support().sum() == kept
    numbers = [(None, 6), (1, 1), (5, 5), (12, 12)]
    for wanted, expected in [*numbers, (0.3, 3), (0.25, 3), (1e-9, 1), (1.0, 12)]:
        one_of_few.set_params(n_features_to_select=wanted).fit(X)
        head = np.sort(one_of_few.order_[:expected])
        np.testing.assert_array_equal(one_of_few.get_support(indices=True), head)
    one_of_few.set_params(n_features_to_select=4)
    clusters = KMeans(3, n_init=1, random_state=0)
    pipeline = make_pipeline(StandardScaler(), one_of_few, clusters)
    assert pipeline.fit_predict(X).shape == (30,)
    assert pipeline[-1].n_features_in_ == 4


@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy"])
def test_output_frames_keep_names(one_of_few, planted, kind):
    polars = pytest.importorskip("polars")
    X = planted(15, 12).X
    names = [f"x{i}" if kind == "numpy" else f"gene {i}" for i in range(12)]
    frame = {
        "pandas": lambda: pd.DataFrame(X, columns=names),
        "polars": lambda: polars.DataFrame(X, schema=names),
        "numpy": lambda: X,
    }[kind]()

    first = one_of_few.set_output(transform="pandas").fit_transform(frame)
    second = one_of_few.set_output(transform="polars").transform(frame)

    kept = one_of_few.get_support(indices=True)
    chosen = [names[i] for i in kept]
    assert isinstance(first, pd.DataFrame)
    assert isinstance(second, polars.DataFrame)
    assert list(one_of_few.get_feature_names_out()) == chosen
    for result in (first, second):
        assert list(result.columns) == chosen
        np.testing.assert_array_equal(result.to_numpy(), X[:, kept])


def test_a_ranking_is_a_frame_with_what_was_learned(planted):
    X = planted(40, 12).X
    both = ufselect.Consensus([SCFS(), MaxVariance()], 3, random_state=0)
    around = {
        ufselect.AutoSelect(random_state=0): ["call", "explained", "q_value"],
        ufselect.StabilitySelection(MaxVariance(), n_subsamples=3): ["frequency"],
        both: ["rank by scfs", "rank by maxvariance"],
        MaxVariance(3): [],
    }
    for selector, more in around.items():
        selector.fit(pd.DataFrame(X).add_prefix("gene "))
        frame = selector.ranking()

        assert list(frame) == ["rank", "feature", "score", "selected", *more]
        assert frame["rank"].tolist() == list(range(1, 13))
        assert frame["score"].is_monotonic_decreasing
        assert set(frame["feature"][frame["selected"]]) == set(
            selector.get_feature_names_out()
        )
    calls = next(iter(around)).ranking().set_index("feature")["call"]
    assert calls["gene 5"] == next(iter(around)).calls_[5]
    assert MaxVariance().fit(X).ranking()["feature"][0].startswith("x")
    named = MaxVariance().fit(X).ranking(list("abcdefghijkl"))
    assert named["feature"].str.len().eq(1).all()
    with pytest.raises(NotFittedError):
        MaxVariance().ranking()
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, ax = plt.subplots()
    for selector in around:
        assert selector.plot(ax=ax) is ax
        assert ax.lines or ax.collections or ax.patches
    plt.close(figure)
    with pytest.raises(NotFittedError):
        MaxVariance().plot()


# Discovery


def test_every_selector_is_found_by_its_name():
    found = all_selectors()

    assert list(found) == sorted(found)
    assert UnsupervisedSelector not in found.values()
    for name, kind in found.items():
        assert type(ufselect.selector(name.lower(), random_state=0)) is kind
    assert ufselect.selector("MCFS", n_clusters=3).n_clusters == 3
    assert ufselect.selector("scfs", random_state=7).random_state == 7
    assert isinstance(ufselect.selector("autoselect"), ufselect.AutoSelect)


def test_a_wrong_name_gets_a_guess():
    for name, parameters, sentence in [
        ("mcf", {}, "no method 'mcf'; it could be MCFS"),
        ("", {}, "no method ''; it could be AutoSelect, Consensus, CPFS"),
        ("MaxVariance", {"n_clusters": 3}, "MaxVariance does not cluster the samples"),
        ("scfs", {"bta": 1}, "SCFS has no parameter 'bta'; it could be beta"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            ufselect.selector(name, **parameters)
    with pytest.raises(TypeError, match="given by its name, not as 3"):
        ufselect.selector(3)

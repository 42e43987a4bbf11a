"""Plots in Python: the numbers of the selector on the axes that were given."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib import pyplot
from sklearn.exceptions import NotFittedError

import ufselect
from ufselect import SCFS, AutoSelect, MaxVariance, StabilitySelection, pl
from ufselect.data import planted
from ufselect.report import Effort, selection_report

matplotlib.use("agg")


@pytest.fixture(scope="module")
def auto():
    X = planted("blobs").table
    return X, AutoSelect(random_state=0).fit(X)


@pytest.fixture
def ax():
    axes = pyplot.subplots()[1]
    yield axes
    pyplot.close("all")


def test_scores_with_the_cut_and_permuted_copies(auto, ax):
    _, selector = auto
    order = selector.order_
    same = pl.scores(selector, ax=ax)
    drawn = np.nansum([line.get_ydata() for line in ax.lines[:-1]], axis=0)
    other = pl.scores(selector, y="explained")

    assert same is ax
    assert drawn == pytest.approx(selector.scores_[order])
    assert set(ax.lines[-1].get_xdata()) == {selector.n_selected_ + 0.5}
    permuted = other.lines[0].get_ydata()
    assert permuted == pytest.approx(selector.permuted_explained_[order])
    assert other.figure is not ax.figure
    with pytest.raises(ValueError, match="y='explained' needs an AutoSelect, not Max"):
        pl.scores(MaxVariance(2).fit(auto[0]), y="explained")
    with pytest.raises(ValueError, match="y='rank' is not known"):
        pl.scores(selector, y="rank")


def test_heat_map_and_sample_map_are_those_of_the_report(auto, ax):
    X, selector = auto
    report = selection_report(X, selector, effort=Effort(0, 0, 0))
    expected = report.heatmap.plot().figure.axes[0].images[0].get_array()

    assert pl.heatmap(selector, X, ax=ax) is ax
    assert np.asarray(ax.images[0].get_array()) == pytest.approx(np.asarray(expected))
    words = {text.get_text() for text in ax.texts}
    assert words == {f"x{column}" for column in selector.order_[: selector.n_selected_]}
    labelled = pl.heatmap(selector, X, labels=np.arange(len(X)) % 2, n_features=4)
    assert [text.get_text() for text in labelled.get_legend().get_texts()] == ["0", "1"]
    assert labelled.images[0].get_array().shape == (4, len(X))
    axes = pl.samples(selector, X)
    points = np.vstack([line.get_xydata() for line in axes.lines])
    frame = report.planes.frame()
    assert np.sort(points[:, 0]) == pytest.approx(np.sort(frame["chosen 1"]))
    assert len(axes.lines) == selector.n_clusters_
    everything = pl.samples(selector, X, all_features=True, color=["a"] * len(X))
    assert everything.get_title().startswith("all features")


def test_stability_of_a_report_of_stability_selection_or_measured(auto, ax):
    X, _ = auto
    selector = MaxVariance(5).fit(X)
    report = selection_report(X, selector, effort=Effort(4, 0, 0))
    stable = StabilitySelection(MaxVariance(), 5, n_subsamples=4, random_state=0).fit(X)
    shares = [
        pl.stability(*given, ax=ax).lines[-2].get_ydata().tolist()
        for given in ((report,), (stable,), (selector, X))
    ]

    assert shares[0] == report.stability.frame()["frequency"].tolist()
    assert shares[1] == stable.frequency_[stable.order_[:5]].tolist()
    assert len(shares[2]) == 5
    with pytest.raises(ValueError, match="MaxVariance has no stability; give X"):
        pl.stability(selector)
    with pytest.raises(ValueError, match="has no stability; make it with more"):
        pl.stability(selection_report(X, selector, effort=Effort(0, 0, 0)))


def test_compare_has_the_share_in_common_of_each_pair(auto, ax):
    X, selector = auto
    both = {"auto": selector, "SCFS": SCFS(5, n_clusters=3, random_state=0).fit(X)}
    pl.compare(both, ax=ax)
    shared = np.isin(selector.order_[:5], both["SCFS"].order_[:5]).mean()
    words = [text.get_text() for text in ax.texts]

    assert words == ["1.00", f"{shared:.2f}", f"{shared:.2f}", "1.00"]
    assert ax.get_title() == "share of the best 5 in common"
    with pytest.raises(ValueError, match="two selectors or more"):
        pl.compare({"auto": selector})


def test_an_anndata_with_a_selection_needs_no_selector(auto, ax):
    anndata = pytest.importorskip("anndata")
    X, _ = auto
    adata = anndata.AnnData(X)
    adata.obs["kind"] = ["a", "b"] * (len(X) // 2)
    with pytest.raises(ValueError, match=r"run ufselect.tl.select first"):
        pl.scores(adata)
    ufselect.tl.select(adata, n_top_genes=6)
    pl.scores(adata, ax=ax)
    heat = pl.heatmap(adata, groups="kind")

    assert ax.texts[0].get_text() == "cut after 6"
    chosen = set(adata.var_names[adata.var["ufselect"]])
    assert {text.get_text() for text in heat.texts} == chosen
    assert len(pl.samples(adata, color="kind").lines) == 2
    with pytest.raises(ValueError, match=r"'sort' is not a column of adata.obs"):
        pl.samples(adata, color="sort")


def as_polars(X):
    return pytest.importorskip("polars").DataFrame(
        X, schema=[f"x{i}" for i in range(X.shape[1])]
    )


def as_anndata(X):
    adata = pytest.importorskip("anndata").AnnData(X)
    adata.var_names = [f"x{i}" for i in range(X.shape[1])]
    return adata


def as_dask(X):
    return pytest.importorskip("dask.array").from_array(X, chunks=(20, -1))


# Every function of pl, called in the one order that all have.
DRAW = {name: getattr(pl, name) for name in pl.__all__}
DRAW["compare"] = lambda selector, X=None: pl.compare({"a": selector, "b": selector})


def numbers_of(ax):
    """Return the numbers that axes show."""
    shown = [np.ravel(line.get_ydata()) for line in ax.lines]
    shown += [np.asarray(image.get_array()).ravel() for image in ax.images]
    return np.concatenate([*shown, [len(ax.texts)]])


@pytest.mark.parametrize("name", DRAW)
@pytest.mark.parametrize(
    "convert",
    [
        *(pd.DataFrame, as_polars, np.ndarray.tolist, sp.csr_matrix, sp.csc_array),
        *(as_anndata, as_dask),
    ],
)
def test_plots_take_the_tables_that_fit_takes(auto, convert, name):
    X, _ = auto
    table = convert(X)
    expected, selector = (
        SCFS(5, n_clusters=3, random_state=0).fit(each) for each in (X, table)
    )
    drawn = numbers_of(DRAW[name](selector, table))

    assert drawn == pytest.approx(numbers_of(DRAW[name](expected, X)), nan_ok=True)
    pyplot.close("all")


def test_names_on_a_heat_map_are_those_of_the_table(auto):
    X, _ = auto
    selector = MaxVariance(3).fit(X)
    for table in (pd.DataFrame(X).add_prefix("x"), as_polars(X), as_anndata(X)):
        drawn = pl.heatmap(selector, table)
        words = [text.get_text() for text in drawn.texts]
        assert words == [f"x{column}" for column in selector.order_[:3]]
    pyplot.close("all")


@pytest.mark.parametrize("draw", [*DRAW.values(), lambda s, X: s.plot()])
@pytest.mark.parametrize("X", [None, np.eye(3)], ids=["alone", "with a table"])
def test_a_selector_that_is_not_fitted_is_refused(draw, X):
    with pytest.raises(NotFittedError, match="MaxVariance instance is not fitted"):
        draw(MaxVariance(), X)


@pytest.mark.parametrize("name", DRAW)
def test_where_nothing_was_chosen_there_are_scores_or_one_sentence(name, ax):
    X = np.random.default_rng(0).normal(size=(60, 40))
    with pytest.warns(UserWarning, match="shows no groups"):
        selector = AutoSelect(random_state=0).fit(X)
    if name != "scores":
        with pytest.raises(ValueError, match="AutoSelect chose no feature") as refused:
            DRAW[name](selector, X)
        assert len(str(refused.value).splitlines()) == 1
        return
    pl.scores(selector, X, ax=ax)

    assert np.sort(ax.lines[0].get_ydata()) == pytest.approx(np.sort(selector.scores_))
    assert not ax.texts


@pytest.mark.parametrize("name", DRAW)
def test_the_selector_comes_first(auto, name):
    X, selector = auto
    with pytest.raises(TypeError, match="first argument is a fitted selector"):
        DRAW[name](X, selector)


@pytest.mark.parametrize("name", sorted({*DRAW} - {"scores", "compare"}))
def test_the_table_is_that_of_the_fit(auto, name):
    X, _ = auto
    selector = MaxVariance(3).fit(X)
    with pytest.raises(ValueError, match=r"Give X|give X after"):
        DRAW[name](selector)
    for other in (X[:, 1:], np.hstack([X, X]), as_dask(X[:, 1:])):
        with pytest.raises(ValueError, match="give the table of the fit"):
            DRAW[name](selector, other)


@pytest.mark.parametrize(
    ("draw", "complaint"),
    [
        (lambda X, s: pl.heatmap(s, X, feature_names=["a"]), "1 names for 40"),
        (lambda X, s: pl.heatmap(s, X, n_features=0), "must be >= 1"),
        (lambda X, s: pl.heatmap(s, X, groups=["a", "b"]), "for 90 samples"),
        (lambda X, s: pl.heatmap(s, X, labels=["a", "b"]), "for 90 samples"),
        (lambda X, s: pl.samples(s, X, color=["a", "b"]), "for 90 samples"),
        (
            lambda X, s: pl.compare({"a": s, "b": MaxVariance(2).fit(X[:, :9])}),
            "tables of 9 and 40 features",
        ),
        (lambda X, s: pl.compare([s, s]), "two selectors or more by name"),
        (lambda X, s: pl.compare({"a": s, "b": s}, n_features=41), "must be <= 40"),
    ],
)
def test_what_does_not_fit_together_is_refused_in_one_sentence(auto, draw, complaint):
    X, _ = auto
    with pytest.raises(ValueError, match=complaint) as refused:
        draw(X, MaxVariance(3).fit(X))

    assert len(str(refused.value).splitlines()) == 1

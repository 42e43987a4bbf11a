"""Plots in Python: the numbers of the selector on the axes that were given."""

import anndata
import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

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

    assert pl.heatmap(X, selector, ax=ax) is ax
    assert np.asarray(ax.images[0].get_array()) == pytest.approx(np.asarray(expected))
    words = {text.get_text() for text in ax.texts}
    assert words == {f"x{column}" for column in selector.order_[: selector.n_selected_]}
    labelled = pl.heatmap(X, selector, labels=np.arange(len(X)) % 2, n_features=4)
    assert [text.get_text() for text in labelled.get_legend().get_texts()] == ["0", "1"]
    assert labelled.images[0].get_array().shape == (4, len(X))
    axes = pl.samples(X, selector)
    points = np.vstack([line.get_xydata() for line in axes.lines])
    frame = report.planes.frame()
    assert np.sort(points[:, 0]) == pytest.approx(np.sort(frame["chosen 1"]))
    assert len(axes.lines) == selector.n_clusters_
    everything = pl.samples(X, selector, all_features=True, color=["a"] * len(X))
    assert everything.get_title().startswith("all features")
    with pytest.raises(ValueError, match="Give a fitted selector"):
        pl.heatmap(X)


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

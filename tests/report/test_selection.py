"""The report about one selection: complete, honest about what is missing, safe."""

import html
import json
import re
from datetime import date

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from svg_reading import words_of

import ufselect
from ufselect import SCFS, AutoSelect, LaplacianScore, MaxVariance, StabilitySelection
from ufselect.cli import select
from ufselect.data import planted as planted_table
from ufselect.evaluation import Verdict, redundancy, verdicts
from ufselect.registry import all_selectors
from ufselect.report import (
    Effort,
    SelectionReport,
    selection_measures,
    selection_report,
    selection_subject,
)
from ufselect.report.selection_measures import CRITERIA, corrected
from ufselect.report.selection_subject import EFFORTS, N_RANDOM
from ufselect.tuning import false_selections

FIGURES = [
    *("heatmap", "planes", "curve", "against_random", "by_chance", "stability"),
    *("sensitivity", "repetition", "pixels", "convergence"),
]
HOSTILE = "<script>alert(1)</script>"
LITTLE = Effort(n_subsamples=3, n_cluster_numbers=2, n_random=20)
EVERYTHING = LITTLE._replace(n_permuted_fits=2)
NOTHING = Effort(0, 0, 0)


def fitted(planted, *, n_samples=36, n_features=30, **parameters):
    data = planted(n_samples, n_features)
    given = {"n_features_to_select": 8, "n_clusters": 3, "random_state": 0}
    return data, SCFS(**{**given, **parameters}).fit(data.X)


@pytest.fixture(scope="module")
def full(planted):
    """Return a report with every part that there is."""
    data, selector = fitted(planted)
    names = [f"gene {place}" for place in range(29)] + [HOSTILE]
    names[selector.order_[0]], names[29] = HOSTILE, names[selector.order_[0]]
    return selection_report(
        data.X,
        selector,
        feature_names=names,
        labels=data.labels,
        image_shape=(5, 6),
        effort=EVERYTHING,
        command="ufselect select genes.csv",
        reading=["Column 'sex' is text & was left out."],
    )


@pytest.fixture(scope="module")
def page(full):
    return full.html()


def test_a_full_report_leaves_nothing_out(full):
    frames = full.frames()

    assert full.left_out == {}
    assert full.notes == {}
    assert set(frames) == {*FIGURES, "labels", "features", "parameters"}
    assert {name: len(frame) for name, frame in frames.items()} == {
        **{"features": 8, "curve": 30, "heatmap": 8, "planes": 36, "stability": 8},
        **{"against_random": 4, "by_chance": 30, "sensitivity": 1, "repetition": 8},
        **{"labels": 3, "pixels": 30, "convergence": len(frames["convergence"])},
        "parameters": len(full.parameters),
    }
    assert all(getattr(full, name).plot().svg.startswith("<svg") for name in FIGURES)
    assert repr(full) == (
        "<SelectionReport: SCFS chose 8 of 30 features of 36 samples. "
        f"{full.decision.headline}>"
    )


def test_the_report_has_its_sections_in_the_order_of_decisions(page):
    headings = [html.unescape(text) for text in re.findall("<h[23]>(.*?)</h", page)]
    words = html.unescape(re.search(r"<p>(SCFS chose.*?)</p>", page)[1])
    order = ["verdict ", "Clusters, and", "<p>To repeat it"]

    assert headings == [
        "Clusters, and the features that mark them",
        "The samples, by the chosen features and by all",
        "The chosen pixels",
        "The chosen features",
        "The ranking and the cut",
        "How far to trust it",
        "Better than random?",
        "Would other samples choose the same?",
        "How many are false discoveries?",
        "Does the number of clusters matter?",
        "Do the chosen features repeat one another?",
        "Compared with the labels",
        "Has the fit converged?",
        "Your table",
        "How it was done",
        "How to cite",
    ]
    assert page.count('<div class="wide"><svg') == len(FIGURES)
    assert page.count('class="download"') == len(FIGURES) + 2
    assert "could not be measured" not in page
    assert words.startswith("SCFS chose 8 of 30 features of 36 samples")
    assert all(
        word in words
        for word in ("kernel alignment", "false discoveries", "stability)")
    )
    assert sorted(map(page.index, order)) == list(map(page.index, order))
    assert "<li>Column &#39;sex&#39; is text &amp; was left out.</li>" in page
    assert "ufselect select genes.csv" in page


def test_hostile_names_are_text_everywhere(full, page):
    assert page.count("<script>") == 1
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 4
    assert full.features.frame()["feature"][0] == HOSTILE


def test_features_come_in_the_order_of_the_selector(planted, full):
    data, selector = fitted(planted)
    frame = full.features.frame()
    chosen = data.X[:, selector.order_[:8]]
    curve = full.curve.frame()

    assert frame["rank"].tolist() == list(range(1, 9))
    assert frame["column"].tolist() == selector.order_[:8].tolist()
    assert frame["score"].tolist() == selector.scores_[selector.order_[:8]].tolist()
    assert frame["mean"].tolist() == pytest.approx(chosen.mean(axis=0))
    assert frame["maximum"].tolist() == pytest.approx(chosen.max(axis=0))
    assert curve["score"].is_monotonic_decreasing
    assert curve["selected"].tolist() == [True] * 8 + [False] * 22


def test_features_mark_the_cluster_in_which_they_differ_most():
    X = np.random.default_rng(0).normal(size=(60, 12))
    clusters = np.repeat([0, 1, 2], 20)
    for cluster in (0, 1, 2):
        X[clusters == cluster, cluster] += 9 * (-1) ** cluster
    selector = MaxVariance(3).fit(X)
    selector.labels_ = clusters
    report = selection_report(X, selector, labels=clusters, effort=NOTHING)
    frame = report.features.frame().set_index("feature")
    heat = report.heatmap

    assert frame["marks cluster"].to_dict() == {
        **{"x0": "0 (high)", "x1": "1 (low)", "x2": "2 (high)"}
    }
    assert heat.facts["names"] == ["x0", "x1", "x2"]
    assert heat.facts["marks"] == [0, 1, 2]
    assert heat.facts["groups"].tolist() == sorted(clusters)
    assert heat.frame().iloc[0, 2:].tolist() == pytest.approx(X[:, 0], abs=1e-4)
    assert {"marks 0", "marks 1", "marks 2"} <= set(words_of(heat.plot().svg))
    assert report.clusters.tolist() == clusters.tolist()
    assert report.clusters.index[0] == "1"
    assert "median by cluster: 0 at" in report.features.shown["distribution"][0]
    selector.labels_ = np.minimum(clusters, 1)
    marks = selection_report(X, selector, effort=NOTHING).features.facts["marks"]
    assert {mark.split()[1] for mark in marks} == {"(high)"}
    assert list(heat.frame())[:3] == ["feature", "marks", "1"]


def test_numbers_are_those_of_evaluation_and_tuning(planted, full):
    data, selector = fitted(planted)
    frame, order = full.against_random.frame(), selector.order_[:8]
    false = false_selections(selector, data.X, n_repeats=2, random_state=0)
    shares = full.stability.frame()["frequency"]

    assert frame["criterion"].tolist() == [
        *(
            "kernel alignment",
            "explained variance",
            "neighbourhood preservation",
            "low redundancy",
        )
    ]
    assert frame["random sets"].tolist() == [20] * 4
    assert full.repetition.facts["mean"] == pytest.approx(redundancy(data.X[:, order]))
    assert (3 * shares % 1).abs().max() < 1e-9
    assert full.features.frame()["frequency"].tolist() == shares.tolist()
    assert full.stability.facts["n_subsamples"] == 3
    rates = full.by_chance.frame()["false discovery rate"]
    assert rates.tolist() == false.share.tolist()
    assert f"About {false.share[7]:.0%} of the 8 chosen features" in full.html()


def test_halves_are_pairs_that_split_no_group_and_the_first_one_is_judged(monkeypatch):
    X = np.random.default_rng(0).normal(size=(40, 12))
    patients = np.repeat([f"patient {place}" for place in range(10)], 4)
    seen, judged = [], []

    class Watched(MaxVariance):
        def _score_features(self, data):
            seen.append(data.raw[:, 0])
            return super()._score_features(data)

    def watched(data, columns, **more):
        judged.append((data.raw[:, 0], columns))
        return verdicts(data, columns, **more)

    monkeypatch.setattr(selection_measures, "verdicts", watched)
    selector = Watched(3).fit(X)
    given = {"effort": LITTLE, "groups": patients}
    report = selection_report(X, selector, **given)
    places = [set(np.flatnonzero(np.isin(X[:, 0], each))) for each in seen[1:]]

    assert [len(each) for each in places] == [20, 20, 20]
    assert places[0] | places[1] == set(range(40))
    assert all(
        {place // 4 for place in each}.isdisjoint(
            {place // 4 for place in set(range(40)) - each}
        )
        for each in places
    )
    assert set(np.flatnonzero(np.isin(X[:, 0], judged[0][0]))) == places[1]
    assert "never split a group" in report.html()
    assert "10 groups of samples" in " ".join(report.reading)
    with pytest.raises(ValueError, match="groups holds a single group"):
        selection_report(X, selector, groups=[1] * 40)


def test_p_values_are_valid_for_all_criteria_together():
    # Of noise, a set is as good as any other by every criterion.
    random = np.random.default_rng(0)
    smallest, single = [], []
    for _ in range(400):
        values = random.multivariate_normal(np.zeros(4), np.eye(4) / 2 + 0.5, 100).T
        found = [
            Verdict(
                *(name, own, others.mean(), others.std(), 0.0, None, (0.0, 1.0), ""),
                *(5, 20, "features", tuple(others)),
            )
            for name, (own, *rest) in zip(CRITERIA, values, strict=True)
            for others in [np.array(rest)]
        ]
        smallest.append(min(each.p_value for each in corrected(found)))
        single.append(min((1 + (row[1:] >= row[0]).sum()) / 100 for row in values))

    # 0.05 and three standard errors; uncorrected, twice as many.
    assert np.mean(np.array(smallest) < 0.05) < 0.083
    assert np.mean(np.array(single) < 0.05) > 0.083
    best = [each._replace(value=9.0) for each in found]
    worst = [each._replace(value=-9.0) for each in found]
    assert {each.p_value for each in corrected(best)} == {0.01}
    assert {each.p_value for each in corrected(worst)} == {0.99}
    assert "(p = 0.01, criterion 'kernel alignment')" in corrected(best)[0].sentence


def test_the_report_says_that_verdicts_are_on_samples_not_seen(page):
    words = html.unescape(page)

    assert "need no labels, on samples that the selection did not see" in words
    assert "Judged on 18 samples that the selection did not see, with features" in words
    assert "R2 on held-out samples; below 0 where means predict better" in words
    assert "k-means with features scaled to unit variance, mean over seeds" in words


def test_more_effort_costs_more_and_all_draw_as_many_random_sets():
    quick, default, thorough = EFFORTS.values()

    assert all(a <= b <= c for a, b, c in zip(quick, default, thorough, strict=True))
    assert {effort.n_random for effort in EFFORTS.values()} == {N_RANDOM}
    assert select.N_RANDOM == N_RANDOM


def test_a_selector_that_knows_its_stability_is_not_fitted_again(planted, monkeypatch):
    data = planted(30, 20)
    selector = StabilitySelection(MaxVariance(), 5, n_subsamples=7, random_state=1)
    selector.fit(data.X)
    monkeypatch.setattr(StabilitySelection, "fit", None)
    report = selection_report(data.X, selector, effort=LITTLE._replace(n_random=0))

    assert report.stability.facts["n_subsamples"] == 7
    assert report.stability.facts["index"] == selector.stability_
    assert "does not use a number of clusters" in report.left_out["sensitivity"]


def test_correlations_stand_like_beside_like():
    random = np.random.RandomState(0)
    base = random.standard_normal((40, 2))
    X = np.hstack([base + 0.01 * random.standard_normal((40, 2)) for _ in range(3)])
    X = np.hstack([X, random.standard_normal((40, 4))])
    selector = MaxVariance(6).fit(X * np.repeat([10, 1], [6, 4]))
    names = ["feature", "a", "a", "a 2", "b", "b", *"cdef"]
    report = selection_report(X, selector, feature_names=names, effort=NOTHING)
    part = report.repetition
    strong = np.abs(part.frame().to_numpy()[:, 1:].astype(float)) > 0.9

    assert strong[:3, :3].all()
    assert strong[3:, 3:].all()
    assert not strong[:3, 3:].any()
    assert part.frame().shape == (6, 7)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_units_of_any_size_and_constant_columns_have_a_report(planted, factor):
    X = planted(20, 12).X
    X[:, 2] = 1.0
    selector = MaxVariance(12).fit(X)
    report = selection_report(factor * X, selector, effort=NOTHING)
    part = report.repetition.frame().set_index("feature")
    plain = selection_report(X, selector, effort=NOTHING).repetition.frame()

    assert part.columns[part.loc["x2"] != 0].tolist() == ["x2"]
    assert part.to_numpy() == pytest.approx(plain.to_numpy()[:, 1:].astype(float))
    assert part.index.tolist() == plain["feature"].tolist()
    assert "Constant features, which are ranked last: 1." in " ".join(report.reading)
    assert "nan" not in report.heatmap.plot().svg


@pytest.mark.parametrize("order", ["rows", "columns"])
def test_pixels_lie_where_the_order_of_the_image_puts_them(planted, order):
    data = planted(20, 12)
    selector = MaxVariance(2).fit(data.X)
    shapes = {"image_shape": (3, 4), "image_order": order}
    report = selection_report(data.X, selector, effort=NOTHING, **shapes)
    other = selection_report(data.X, selector, image_shape=(4, 4), effort=NOTHING)
    flat = "C" if order == "rows" else "F"

    kept, mean = report.pixels.facts["kept"], report.pixels.facts["mean"]
    assert kept.shape == (3, 4)
    assert kept.ravel(flat).tolist() == selector.get_support().tolist()
    assert mean.ravel(flat) == pytest.approx(data.X.mean(axis=0))
    assert other.left_out["pixels"] == (
        "images of 4 x 4 have 16 pixels, but there are 12 features"
    )


def test_labels_change_colours_and_nothing_that_was_chosen(planted):
    data, selector = fitted(planted)
    plain = selection_report(data.X, selector, effort=LITTLE)
    words = np.array(["a", "b", None], dtype=object)[data.labels]
    told = selection_report(data.X, selector, labels=words, effort=LITTLE)

    assert plain.planes.facts["groups"] == selector.labels_.tolist()
    assert told.planes.frame()["cluster"].tolist() == selector.labels_.tolist()
    assert told.planes.frame()["label"].tolist() == [str(word) for word in words]
    assert sorted(told.heatmap.facts["labels"]) == sorted(map(str, words))
    assert told.labels.frame()["accuracy"][0] == 1.0
    for name in ("features", "against_random"):
        pd.testing.assert_frame_equal(told.frames()[name], plain.frames()[name])
    assert plain.labels is None
    assert "labels" not in plain.left_out


def test_the_same_seed_gives_the_same_report(planted):
    data, selector = fitted(planted)
    pages = [
        selection_report(data.X, selector, effort=LITTLE, random_state=seed).html()
        for seed in (1, 1, 2)
    ]

    assert pages[0] == pages[1]
    assert pages[0] != pages[2]


@pytest.mark.parametrize("name", ["CPFS", "MCFS", "NDFS", "RandomSelection", "SPEC"])
def test_methods_of_every_kind_have_a_report(name, planted):
    data = planted(24, 12)
    kind = all_selectors()[name]
    known = {"n_clusters": 3, "random_state": 0}
    given = {key: known[key] for key in known if key in kind().get_params()}
    selector = kind(4, **given).fit(data.X)
    report = selection_report(data.X, selector, effort=LITTLE)

    assert report.method == name
    assert set(report.left_out) <= {"sensitivity"}
    assert (report.convergence is None) != hasattr(selector, "objective_history_")
    assert len(report.features.frame()) == 4


@pytest.fixture(scope="module")
def auto():
    X = planted_table("blobs").table
    selector = AutoSelect(SCFS(), random_state=0).fit(X)
    return X, selector, selection_report(X, selector, effort=LITTLE, command="a < b")


def test_what_was_decided_is_said_and_used(auto):
    _, selector, report = auto
    page = report.html()

    assert report.left_out == {}
    assert report.method == "AutoSelect with SCFS"
    assert report.decisions == selector.reasons_
    assert all(html.escape(reason) in page for reason in selector.reasons_)
    assert report.planes.facts["groups"] == selector.labels_.tolist()
    assert report.n_selected == selector.n_selected_
    assert report.parameters["n_clusters"] == ("'auto'", "'auto'")
    assert set(report.features.facts["calls"]) == {"confirmed"}
    curve = report.curve.frame()
    assert curve["call"].tolist() == selector.calls_[selector.order_].tolist()
    permuted = selector.permuted_explained_[selector.order_]
    assert curve["largest of permuted copies"].tolist() == pytest.approx(
        permuted, abs=1e-6
    )
    assert "largest of its permuted copies" in words_of(report.curve.plot().svg)
    assert all(
        f"ufselect, version {ufselect.__version__}" in text
        for text in (report.citations[0], page)
    )
    assert "Ghassemi Parsa" in report.citations[1]
    assert date.today().isoformat() in page
    assert report.decision.level == "use"
    assert '<div class="verdict use">' in page


def test_the_python_lines_repeat_the_selection(auto):
    X, selector, report = auto
    scope = {"X": X}
    exec(report.code, scope)

    assert scope["selector"].order_.tolist() == selector.order_.tolist()
    assert scope["selected"].shape == (len(X), selector.n_selected_)


def test_text_and_json_say_what_the_report_says(auto):
    _, selector, report = auto
    text, data = report.text("genes.csv"), report.to_dict()
    rows = data["features"]

    assert text.startswith(
        "Use this selection.\n\ngenes.csv: AutoSelect with SCFS chose"
    )
    assert max(map(len, text.splitlines())) <= 80
    assert rows[0]["feature"] in text
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["method"] == "SCFS"
    assert data["decision"]["level"] == "use"
    assert data["n_clusters"] == selector.n_clusters_
    assert [row["column"] for row in rows] == report.features.frame()["column"].tolist()
    assert {"score", "call", "explained", "represents", "frequency"} <= set(rows[0])
    assert [each["criterion"] for each in data["against_random"]] == (
        report.against_random.frame()["criterion"].tolist()
    )


def test_noise_is_not_to_be_used():
    X = np.random.default_rng(1).normal(size=(60, 80))
    with pytest.warns(UserWarning, match="no groups"):
        selector = AutoSelect(random_state=0).fit(X)
    report = selection_report(X, selector, effort=LITTLE)
    page = report.html()

    assert report.decision.level == "stop"
    assert "This table shows no groups; do not use this selection." in page
    assert re.findall("<h2>(.*?)</h2>", page) == ["Your table", "How it was done"]
    assert report.text().startswith("This table shows no groups; do not use")
    assert report.to_dict()["features"] == []


def test_each_doubt_is_a_reason_for_care(full, planted):
    X = np.random.default_rng(0).normal(size=(40, 30))
    random = selection_report(X, LaplacianScore(5).fit(X), effort=LITTLE)
    copies = np.c_[X, X[:, :1] * 9 + 0.01 * X[:, 1:6]]
    repeated = selection_report(copies, MaxVariance(5).fit(copies), effort=NOTHING)
    data, selector = fitted(planted)
    selector.calls_ = np.full(30, "rejected", dtype="<U9")
    selector.calls_[selector.order_[0]] = "confirmed"
    rejected = selection_report(data.X, selector, effort=NOTHING)
    selector.calls_ = np.full(30, "tentative")
    tentative = selection_report(data.X, selector, effort=NOTHING)

    assert "do not clearly fit the structure of the table" in reasons_of(random)
    assert "(stability " in reasons_of(random)
    assert "they repeat one another" in reasons_of(repeated)
    assert "there is no comparison with random features" in reasons_of(repeated)
    assert "7 of the 8 chosen features are rejected" in reasons_of(rejected)
    assert "no feature is confirmed" in reasons_of(tentative)
    assert all(report.decision.next_steps for report in (random, repeated, tentative))
    assert '<div class="verdict care">' in random.html()
    headline, _, because = random.text(brief=True).split("\n\n")[0].partition("\n")
    assert headline == "Use this selection with care."
    said = "; ".join(random.decision.reasons[:2])
    assert " ".join(because.split()) == f"Because {said}."


def reasons_of(report):
    assert report.decision.level == "care"
    return "; ".join(report.decision.reasons)


def test_a_notebook_shows_the_report_in_a_frame(full):
    shown = full._repr_html_()

    assert shown.startswith("<iframe")
    assert "<script" not in shown
    assert "&lt;!DOCTYPE html&gt;" in shown


@pytest.mark.parametrize("convert", [sp.csr_array, sp.csc_matrix])
def test_sparse_tables_have_the_same_report(planted, convert):
    X = np.maximum(planted(30, 20).X, 0)
    selector = MaxVariance(5).fit(X)
    dense = selection_report(X, selector, effort=LITTLE)
    sparse = selection_report(convert(X), selector, effort=LITTLE)

    pd.testing.assert_frame_equal(sparse.features.shown, dense.features.shown)
    for name in ("planes", "repetition"):
        found, expected = sparse.frames()[name], dense.frames()[name]
        assert found.iloc[:, 1:].to_numpy() == pytest.approx(
            expected.iloc[:, 1:].to_numpy()
        )


def test_names_come_from_the_frame_that_was_fitted(planted):
    data = planted(20, 12)
    frame = pd.DataFrame(data.X, columns=list("abcdefghijkl"))
    named = selection_report(frame, MaxVariance(3).fit(frame), effort=NOTHING)
    plain = selection_report(data.X, MaxVariance(3).fit(data.X), effort=NOTHING)

    assert sorted(named.curve.frame()["feature"]) == list("abcdefghijkl")
    assert sorted(plain.curve.frame()["feature"]) == sorted(
        f"x{place}" for place in range(12)
    )


@pytest.mark.parametrize(
    ("n_samples", "n_features", "n_selected", "missing"),
    [
        (4, 12, 3, {"against_random"}),
        (30, 6, 6, {"against_random"}),
        (30, 12, 1, {"repetition"}),
        (30, 1, 1, {"against_random", "repetition"}),
    ],
)
def test_what_cannot_be_measured_is_left_out_with_a_reason(
    n_samples, n_features, n_selected, missing
):
    X = np.random.RandomState(0).standard_normal((n_samples, n_features))
    report = selection_report(X, MaxVariance(n_selected).fit(X), effort=LITTLE)
    page = report.html()
    listed = re.search(
        "<h3>What could not be measured</h3>\n<ul>(.*?)</ul>", page, re.S
    )[1]

    assert set(report.left_out) == missing | {"sensitivity"}
    assert report.clusters is None
    assert listed.count("<li>") == len(report.left_out)
    assert ".." not in re.sub("<(style|script)>.*?</", "", page, flags=re.S)


def test_subsamples_that_fail_are_noted(planted):
    X = planted(16, 12).X
    selector = SCFS(4, n_clusters=10, random_state=0).fit(X)
    report = selection_report(X, selector, effort=LITTLE)

    assert report.stability is None
    assert "n_clusters=10 but X has n_samples=8" in report.left_out["stability"]
    assert report.notes["sensitivity"]
    assert "Note: " in report.html()


def test_nothing_is_fitted_without_time_or_effort(planted):
    data, selector = fitted(planted)
    late = selection_report(data.X, selector, effort=LITTLE, time_budget=1e-9)
    lazy = selection_report(data.X, selector, effort=NOTHING)

    assert late.left_out["stability"] == "the time budget was used up"
    assert late.stability is late.sensitivity is None
    assert late.html()
    assert lazy.left_out == {}
    assert "could not be measured" not in lazy.html()
    assert "Would other samples choose the same?" not in lazy.html()


def test_progress_counts_to_the_end(planted):
    data, selector = fitted(planted)
    seen = []
    selection_report(
        data.X, selector, effort=LITTLE, progress=lambda *state: seen.append(state)
    )

    assert [done for done, _, _ in seen] == [0, 1, 2, 3, 4, 5, 8, 9, 10, 14]
    assert {total for _, total, _ in seen} == {14}
    assert seen[-1][2] == "done"
    assert all("_" not in what for _, _, what in seen)


def test_what_is_fitted_again_may_be_another_selector(planted):
    data, selector = fitted(planted)
    cheap = LaplacianScore()
    report = selection_report(data.X, selector, refitted=cheap, effort=LITTLE)
    other = selection_report(data.X, selector, effort=LITTLE)

    assert report.stability.facts["index"] != other.stability.facts["index"]
    assert "LaplacianScore does not use a number" in report.left_out["sensitivity"]


def test_parts_too_dear_are_left_out(planted, monkeypatch):
    data, selector = fitted(planted)
    reports = []
    for limit in (20 * 3.0 * 18**2 * 8, 10.0):
        for module in (selection_measures, selection_subject):
            monkeypatch.setattr(module, "MAX_PRODUCTS", limit)
        reports.append(selection_report(data.X, selector, effort=Effort(0, 0, 49)))
    some, none = reports

    assert some.against_random.frame()["criterion"].tolist() == [
        *("kernel alignment", "explained variance", "neighbourhood preservation")
    ]
    assert len(some.notes["against_random"]) == 1
    assert some.frames()["against_random"]["random sets"].tolist() == [20] * 3
    assert {"against_random", "representatives", "repetition"} <= set(none.left_out)
    assert "What features represent was left out" in none.html()


def test_of_many_features_the_first_are_listed_and_all_are_saved(planted):
    X = planted(20, 700).X
    report = selection_report(X, MaxVariance(350).fit(X), effort=NOTHING)
    listed = re.search(r"data-interactive.*?</figure>", report.html(), re.S)[0]

    assert listed.count("<tr>") == 1 + 300
    assert re.search("<template>(.*?)</template>", listed, re.S)[1].count("\n") == 351
    assert "The first 300 of 350 chosen features" in listed


def test_a_report_of_its_sure_parts_alone_can_be_read(full):
    bare = SelectionReport(
        "title",
        "SCFS",
        (36, 30),
        features=full.features,
        curve=full.curve,
        n_selected=8,
    )

    assert re.findall("<h2>(.*?)</h2>", bare.html())[0] == "The chosen features"
    assert set(bare.frames()) == {"features", "curve", "parameters"}
    assert "no comparison with random features" in " ".join(bare.text().split())


def test_bad_questions_are_refused(planted):
    data, selector = fitted(planted)

    with pytest.raises(TypeError, match="which is not a selector"):
        selection_report(data.X, "SCFS")
    with pytest.raises(ValueError, match="not fitted"):
        selection_report(data.X, SCFS())
    with pytest.raises(ValueError, match="X has 29 features but the selector was"):
        selection_report(data.X[:, 1:], selector)
    with pytest.raises(ValueError, match="labels has 2 entries but X needs 36"):
        selection_report(data.X, selector, labels=[0, 1])
    with pytest.raises(ValueError, match="feature_names has 1 entries but X needs 30"):
        selection_report(data.X, selector, feature_names=["a"])
    with pytest.raises(ValueError, match="sample_names has 1 entries"):
        selection_report(data.X, selector, sample_names=["a"])
    with pytest.raises(ValueError, match="effort='huge' is not known; use one"):
        selection_report(data.X, selector, effort="huge")


def test_names_are_neither_markup_nor_commands_to_a_terminal(planted):
    data = planted(24, 12)
    names = ["[red]a\x1b"] * 12
    selector = MaxVariance(3).fit(data.X)
    report = selection_report(
        data.X, selector, feature_names=names, labels=[0] * 24, effort=NOTHING
    )
    text = report.text("a\x1b.csv", "b\x1b", brief=True)

    assert "\x1b" not in text
    assert all(name in text for name in (r"[red]a\x1b  ", r"a\x1b.csv", r"b\\x1b"))
    assert "There is no comparison with the labels" in text


def test_very_long_names_are_cut_in_the_report_and_whole_in_the_file(planted):
    data = planted(24, 12)
    names = [f"{'n' * 5000}{column}" for column in range(12)]
    selector = MaxVariance(3).fit(data.X)
    report = selection_report(data.X, selector, feature_names=names, effort=LITTLE)
    cells = report.features.shown.drop(columns="distribution")

    assert report.features.frame()["feature"][0] == names[selector.order_[0]]
    assert cells.map(len).max(axis=None) < 500

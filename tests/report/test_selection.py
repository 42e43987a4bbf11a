"""The report about one selection: complete, honest about what is missing, safe."""

import html
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from svg_reading import words_of

import ufselect
from ufselect import SCFS, AutoSelect, LaplacianScore, MaxVariance, StabilitySelection
from ufselect.data import planted as planted_table
from ufselect.evaluation import Verdict, redundancy
from ufselect.evaluation.significance import CRITERION_NAMES
from ufselect.registry import all_selectors
from ufselect.report import Effort, measures, parts, selection_report
from ufselect.report.measures import corrected
from ufselect.report.rendering import Part
from ufselect.tuning import false_selections

FIGURES = [
    *("heatmap", "planes", "curve", "against_random", "by_chance", "stability"),
    *("sensitivity", "repetition", "pixels", "convergence"),
]
HEADINGS = [
    *("Clusters, and the features that mark them", "The features", "The chosen pixels"),
    *("The samples, by the chosen features and by all", "The ranking and the cut"),
    *("Better than random?", "Would other samples choose the same?"),
    "Do the chosen features repeat one another?",
    *("How many are false discoveries?", "Does the number of clusters matter?"),
    *("Compared with the labels", "Has the fit converged?", "Your table"),
    *("How it was done", "Parameters", "Versions", "How to cite"),
]
HOSTILE = "<script>alert(1)</script>"
LITTLE = Effort(n_subsamples=3, n_cluster_numbers=2, n_random=20)
EVERYTHING = LITTLE._replace(n_permuted_fits=2)
NOTHING = Effort(0, 0, 0)


def headings_of(page):
    return [html.unescape(text) for text in re.findall("<h2>(.*?)</h2>", page)]


def fitted(planted, *, n_samples=36, n_features=30, **parameters):
    data = planted(n_samples, n_features)
    given = {"n_features_to_select": 8, "n_clusters": 3, "random_state": 0}
    return data, SCFS(**{**given, **parameters}).fit(data.X)


@pytest.fixture(scope="module")
def full(planted):
    """Return a report with every part that there is."""
    data, selector = fitted(planted)
    names = [f"gene {place}" for place in range(30)]
    names[selector.order_[0]] = HOSTILE
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


def test_a_full_report_leaves_nothing_out(full, page):
    assert full.left_out == full.notes == {}
    assert {name: len(frame) for name, frame in full.frames().items()} == {
        **{"features": 8, "curve": 30, "heatmap": 8, "planes": 36, "stability": 8},
        **{"against_random": 4, "by_chance": 30, "sensitivity": 1, "repetition": 8},
        **{"labels": 3, "pixels": 30, "convergence": len(full.convergence.frame())},
        "parameters": len(full.parameters),
    }
    assert headings_of(page) == HEADINGS
    assert page.count('<div class="wide"><svg') == len(FIGURES)
    assert page.count("data-name=") == len(FIGURES) + 1
    assert repr(full) == (
        "<SelectionReport: SCFS chose 8 of 30 features of 36 samples. "
        f"{full.decision.headline}>"
    )
    assert "&lt;!DOCTYPE html&gt;" in full._repr_html_()


def test_the_first_lines_say_what_to_do_and_what_was_chosen(full, page):
    first = html.unescape(re.sub("<.*?>", "", page.split("<section")[0]))

    for words in (
        full.decision.headline,
        "SCFS chose 8 of 30 features of 36 samples",
        f"On samples that were not used, it is {full.against_random.facts['better']}.",
        "of them are false discoveries",
        f"Chosen: {HOSTILE}, gene ",
        " and 2 more.",
    ):
        assert words in first
    assert "<li>Column &#39;sex&#39; is text &amp; was left out.</li>" in page
    assert '<pre tabindex="0" id="command">ufselect select genes.csv</pre>' in page
    words = html.unescape(page)
    assert "on 18 samples that the selection did not see, with features" in words
    assert "k-means with features scaled to unit variance" in words
    assert page.count("<script>") == 1


def test_features_come_in_the_order_of_the_selector(planted, full):
    data, selector = fitted(planted)
    frame, curve = full.features.frame(), full.curve.frame()
    chosen = data.X[:, selector.order_[:8]]

    assert frame["column"].tolist() == selector.order_[:8].tolist()
    assert frame["score"].tolist() == selector.scores_[selector.order_[:8]].tolist()
    assert frame["mean"].tolist() == pytest.approx(chosen.mean(axis=0))
    assert curve["score"].is_monotonic_decreasing
    assert curve["selected"].tolist() == [True] * 8 + [False] * 22


def test_each_feature_says_why_it_is_not_chosen_and_what_represents_it():
    data = planted_table("blobs", n_samples=120, n_useful=20, n_noise=60)
    useful, noise = (np.flatnonzero(data.informative == is_so) for is_so in (1, 0))
    copy = data.table[:, useful[0]] + 0.01 * data.table[:, noise[0]]
    X = np.column_stack([data.table, copy, np.ones(120)])
    report = selection_report(X, AutoSelect(random_state=0).fit(X), effort=NOTHING)
    rows, features = report.curve.frame().set_index("feature"), report.features
    why, chosen = rows["not chosen because"], features.frame()["feature"].tolist()
    (owner,), (other,) = (
        [name for name in (f"x{useful[0]}", "x80") if (name in chosen) == is_chosen]
        for is_chosen in (True, False)
    )
    few = AutoSelect(n_features_to_select=2, random_state=0).fit(X)
    other_why = selection_report(X, few, effort=NOTHING).curve.frame()

    assert (why[rows["selected"]] == "").all()
    assert why[other] == f"redundant with {owner} (correlation 1.00)"
    assert rows.loc[other, "represented by"] == owner
    assert rows.loc[other, "its rank"] == rows.loc[owner, "rank"]
    assert rows.loc[other, "correlation"] > 0.99
    assert features.facts["groups"][chosen.index(owner)] == [other]
    assert why["x81"] == "constant"
    assert why[[f"x{place}" for place in noise]].str.contains("related").mean() > 0.9
    assert "below the cut of the ranking" in set(other_why["not chosen because"])


def test_features_mark_the_cluster_in_which_they_differ_most():
    X = np.random.default_rng(0).normal(size=(60, 12))
    clusters = np.repeat([0, 1, 2], 20)
    for cluster in (0, 1, 2):
        X[clusters == cluster, cluster] += 9 * (-1) ** cluster
    selector = MaxVariance(3).fit(X)
    selector.labels_ = clusters
    report = selection_report(X, selector, labels=clusters, effort=NOTHING)
    frame, heat = report.features.frame().set_index("feature"), report.heatmap

    assert frame["marks cluster"].to_dict() == {
        **{"x0": "0 (high)", "x1": "1 (low)", "x2": "2 (high)"}
    }
    assert heat.frame()["feature"].tolist() == ["x0", "x1", "x2"]
    assert heat.frame().iloc[0, 2:].tolist() == pytest.approx(X[:, 0], abs=1e-4)
    assert {"marks 0", "marks 1", "marks 2"} <= set(words_of(heat.plot().svg))
    assert report.clusters.tolist() == clusters.tolist()
    assert report.clusters.index[0] == "1"


def test_numbers_are_those_of_evaluation_and_tuning(planted, full):
    data, selector = fitted(planted)
    frame, order = full.against_random.frame(), selector.order_[:8]
    false = false_selections(selector, data.X, n_repeats=2, random_state=0)
    shares = full.stability.frame()["frequency"]

    assert tuple(frame["criterion"]) == CRITERION_NAMES
    assert frame["random sets"].tolist() == [20] * 4
    assert full.repetition.facts["mean"] == pytest.approx(redundancy(data.X[:, order]))
    assert (3 * shares % 1).abs().max() < 1e-9
    assert full.features.frame()["frequency"].tolist() == shares.tolist()
    rates = full.by_chance.frame()["false discovery rate"]
    assert rates.tolist() == false.share.tolist()
    assert f"about {false.share[7]:.0%} of the 8 chosen features" in full.html()


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
            for name, (own, *rest) in zip(CRITERION_NAMES, values, strict=True)
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


def test_a_selector_that_knows_its_stability_is_not_fitted_again(planted, monkeypatch):
    data = planted(30, 20)
    selector = StabilitySelection(MaxVariance(), 5, n_subsamples=7, random_state=1)
    selector.fit(data.X)
    monkeypatch.setattr(StabilitySelection, "fit", None)
    report = selection_report(data.X, selector, effort=LITTLE._replace(n_random=0))

    assert report.stability.facts["n_subsamples"] == 7
    assert report.stability.facts["index"] == selector.stability_
    assert "does not use a number of clusters" in report.left_out["sensitivity"]


def test_correlations_are_by_group_and_names_may_come_twice():
    random = np.random.RandomState(0)
    base = random.standard_normal((40, 2))
    X = np.hstack([base + 0.01 * random.standard_normal((40, 2)) for _ in range(3)])
    X = np.hstack([X, random.standard_normal((40, 4))])
    selector = MaxVariance(6).fit(X * np.repeat([10, 1], [6, 4]))
    names = ["feature", "a", "a", "a 2", "b", "b", *"cdef"]
    report = selection_report(X, selector, feature_names=names, effort=NOTHING)
    strong = np.abs(report.repetition.frame().to_numpy()[:, 1:].astype(float)) > 0.9

    assert strong[:3, :3].all()
    assert strong[3:, 3:].all()
    assert not strong[:3, 3:].any()


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

    assert told.planes.frame()["cluster"].tolist() == selector.labels_.tolist()
    assert told.planes.frame()["label"].tolist() == [str(word) for word in words]
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


def test_what_was_decided_is_said_and_can_be_repeated(auto):
    X, selector, report = auto
    page, curve, scope = report.html(), report.curve.frame(), {"X": X}
    exec(report.code, scope)

    assert scope["selector"].order_.tolist() == selector.order_.tolist()
    assert scope["selected"].shape == (len(X), selector.n_selected_)
    assert report.method == "AutoSelect with SCFS"
    assert all(html.escape(reason) in page for reason in selector.reasons_)
    assert curve["call"].tolist() == selector.calls_[selector.order_].tolist()
    permuted = selector.permuted_explained_[selector.order_]
    assert curve["largest of permuted copies"].tolist() == pytest.approx(
        permuted, rel=1e-3
    )
    assert f"ufselect, version {ufselect.__version__}" in page
    assert "Ghassemi Parsa" in report.citations[1]
    assert '<div class="verdict use">' in page


def test_text_and_json_say_what_the_report_says(auto):
    _, selector, report = auto
    text, data = report.text("genes.csv"), report.to_dict()
    rows = data["features"]

    assert text.startswith(
        "Use this selection.\n\ngenes.csv: AutoSelect with SCFS chose"
    )
    assert max(map(len, text.splitlines())) <= 80
    assert rows[0]["feature"] in text
    assert report.against_random.facts["description"] in " ".join(text.split())
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["method"] == "SCFS"
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
    assert headings_of(page) == HEADINGS[-5:]
    assert report.text().startswith("This table shows no groups; do not use")
    assert report.to_dict()["features"] == []


def test_each_doubt_is_a_reason_for_care(full):
    X = np.random.default_rng(0).normal(size=(40, 30))
    random = selection_report(X, LaplacianScore(5).fit(X), effort=LITTLE)
    copies = np.c_[X, X[:, :1] * 9 + 0.01 * X[:, 1:6]]
    repeated = selection_report(copies, MaxVariance(5).fit(copies), effort=NOTHING)
    rejected, tentative = (
        replace(full, features=Part(full.features.data, facts=facts))
        for calls in (["confirmed", *["rejected"] * 7], ["tentative"] * 8)
        for facts in [{"calls": np.array(calls), "groups": None}]
    )

    assert "do not clearly fit the structure of the table" in reasons_of(random)
    assert "(stability " in reasons_of(random)
    assert "they repeat one another" in reasons_of(repeated)
    assert "there is no comparison with random features" in reasons_of(repeated)
    assert "7 of the 8 chosen features are rejected" in reasons_of(rejected)
    assert "no feature is confirmed" in reasons_of(tentative)
    assert all(report.decision.next_steps for report in (random, repeated, tentative))
    assert '<div class="verdict care">' in random.html()
    said = " ".join(random.text(brief=True).split("\n\n")[0].split())
    because = "; ".join(random.decision.reasons[:2])
    assert said == f"Use this selection with care. Because {because}."


def reasons_of(report):
    assert report.decision.level == "care"
    return "; ".join(report.decision.reasons)


@pytest.mark.parametrize("convert", [sp.csr_array, sp.csc_matrix])
def test_sparse_tables_have_the_same_report(planted, convert):
    X = np.maximum(planted(30, 20).X, 0)
    selector = MaxVariance(5).fit(X)
    dense = selection_report(X, selector, effort=LITTLE).frames()
    sparse = selection_report(convert(X), selector, effort=LITTLE).frames()

    for name in ("features", "planes", "repetition"):
        pd.testing.assert_frame_equal(sparse[name], dense[name])


@pytest.mark.parametrize(
    ("n_samples", "n_features", "n_selected", "missing"),
    [
        pytest.param(4, 12, 3, {"against_random"}, id="four samples"),
        pytest.param(30, 6, 6, {"against_random"}, id="all features"),
        pytest.param(30, 12, 1, {"repetition"}, id="one of twelve"),
        pytest.param(30, 1, 1, {"against_random", "repetition"}, id="one of one"),
    ],
)
def test_what_cannot_be_measured_is_left_out_with_a_reason(
    n_samples, n_features, n_selected, missing
):
    X = np.random.RandomState(0).standard_normal((n_samples, n_features))
    report = selection_report(X, MaxVariance(n_selected).fit(X), effort=LITTLE)
    page = report.html()
    listed = page.split("<h2>What could not be measured</h2>")[1].split("</ul>")[0]

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
    assert "What represents" not in late.html()
    assert lazy.left_out == {}
    assert not {HEADINGS[5], "What could not be measured"} & {*headings_of(lazy.html())}


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


def test_parts_too_dear_are_left_out(planted, monkeypatch):
    data, selector = fitted(planted)
    reports = []
    for limit in (20 * 3.0 * 18**2 * 8, 10.0):
        for module in (measures, parts):
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
    assert "The first 300 of 350; the file has all." in listed


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": [0, 1]}, "labels has 2 entries but X needs 36"),
        ({"feature_names": ["a"]}, "There are 1 names for 30 features"),
        ({"sample_names": ["a"]}, "sample_names has 1 entries"),
        ({"groups": [1] * 36}, "groups holds a single group"),
        ({"effort": "huge"}, "effort='huge' is not known; use one"),
        ({"selector": SCFS()}, "not fitted"),
        ({"X": np.ones((36, 29))}, "X has 29 features but the selector was"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_bad_questions_are_refused(planted, given, message):
    data, selector = fitted(planted)

    with pytest.raises(ValueError, match=message):
        selection_report(**{"X": data.X, "selector": selector, **given})
    with pytest.raises(TypeError, match="which is not a selector"):
        selection_report(data.X, "SCFS")


def test_names_are_neither_commands_to_a_terminal_nor_too_long(planted):
    data = planted(24, 12)
    names = [f"[red]a\x1b{'n' * 5000}{column}" for column in range(12)]
    selector = MaxVariance(3).fit(data.X)
    report = selection_report(
        data.X, selector, feature_names=names, labels=[0] * 24, effort=NOTHING
    )
    text = report.text("a\x1b.csv", "b\x1b", brief=True)
    cells = re.findall("<td.*?>(.*?)</td>", report.html())

    assert "\x1b" not in text
    assert all(name in text for name in (r"[red]a\x1bn", r"a\x1b.csv", r"b\\x1b"))
    assert "There is no comparison with the labels" in text
    assert report.features.frame()["feature"][0] == names[selector.order_[0]]
    assert max(map(len, cells)) < 500

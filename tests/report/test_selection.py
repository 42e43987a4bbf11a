"""The report about one selection: complete, honest about what is missing, safe."""

import html
import json
import re
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect import SCFS, AutoSelect, LaplacianScore, MaxVariance, StabilitySelection
from ufselect.cli import select
from ufselect.data import planted as planted_table
from ufselect.evaluation import redundancy, verdicts
from ufselect.report import Effort, SelectionReport, selection_report
from ufselect.report.selection_subject import EFFORTS, N_RANDOM
from ufselect.selectors import all_selectors
from ufselect.tuning import false_selections

FIGURES = [
    "curve",
    "against_random",
    "by_chance",
    "stability",
    "sensitivity",
    "convergence",
    "planes",
    "repetition",
    "pixels",
]
HOSTILE = "<script>alert(1)</script>"
LITTLE = Effort(n_subsamples=3, n_cluster_numbers=2, n_random=19)
EVERYTHING = LITTLE._replace(n_decoy_fits=2)


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
    )


@pytest.fixture(scope="module")
def page(full):
    pytest.importorskip("matplotlib")
    return full.html()


def test_a_full_report_leaves_nothing_out(full):
    assert full.left_out == {}
    assert full.notes == {}
    assert all(getattr(full, name) is not None for name in [*FIGURES, "labels"])


def test_every_frame_has_columns_of_one_length_and_makes_a_table(full):
    pandas = pytest.importorskip("pandas")
    frames = full.frames()
    tables = {name: pandas.DataFrame(frame) for name, frame in frames.items()}

    assert set(frames) == {*FIGURES, "labels", "features", "parameters"}
    assert len(tables["features"]) == 8
    assert len(tables["curve"]) == 30
    assert len(tables["planes"]) == 36
    assert len(tables["against_random"]) == 4
    assert not any(table.columns.duplicated().any() for table in tables.values())


def test_frames_are_plain_enough_for_json(full):
    frames = full.frames()

    assert json.loads(json.dumps(frames)) == frames


@pytest.mark.parametrize("name", FIGURES)
def test_every_part_draws_itself(full, name):
    pytest.importorskip("matplotlib")

    assert getattr(full, name).plot().svg.startswith("<svg")


def test_the_page_has_every_section_and_figure(page):
    headings = re.findall("<h2>(.*?)</h2>", page)

    assert len(headings) == 13
    assert len(set(headings)) == 13
    assert page.count('<div class="wide"><svg') == len(FIGURES)
    assert page.count('class="download"') == len(FIGURES) + 2
    assert "left out" not in page


def test_the_summary_names_the_facts(page):
    words = re.search("<p>(.*?)</p>", page)[1]

    assert words.startswith("SCFS chose 8 of 30 features of 36 samples")
    assert "structure" in words
    assert "by chance" in words
    assert "distinctness" in words
    assert "stability)" in words


def test_a_hostile_name_is_text_everywhere(full, page):

    assert page.count("<script>") == 1
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 4
    assert full.features.frame()["feature"][0] == HOSTILE


def test_features_come_in_the_order_of_the_selector(planted, full):
    data, selector = fitted(planted)
    frame = full.features.frame()
    chosen = data.X[:, selector.order_[:8]]

    assert frame["rank"] == list(range(1, 9))
    assert frame["column"] == selector.order_[:8].tolist()
    assert frame["score"] == selector.scores_[selector.order_[:8]].tolist()
    assert frame["mean"] == pytest.approx(chosen.mean(axis=0))
    assert frame["maximum"] == pytest.approx(chosen.max(axis=0))
    assert [str(cell) for cell in full.features.sparklines[:1]] == [
        f"from {chosen[:, 0].min():.4g} to {chosen[:, 0].max():.4g}, "
        f"median {np.median(chosen[:, 0]):.4g}"
    ]


def test_the_curve_falls_and_marks_what_was_chosen(full):
    frame = full.curve.frame()

    assert frame["score"] == sorted(frame["score"], reverse=True)
    assert frame["chosen"] == [True] * 8 + [False] * 22


def test_verdicts_are_those_of_the_evaluation(planted, full):
    data, selector = fitted(planted)
    frame = full.against_random.frame()
    by_hand = verdicts(data.X, selector, n_random=19, random_state=0)
    kept = data.X[:, selector.get_support()]

    assert frame["criterion"] == [
        "structure",
        "reconstruction",
        "neighbours",
        "distinctness",
    ]
    assert frame["chosen"] == pytest.approx([each.value for each in by_hand])
    assert frame["p value"] == [each.p_value for each in by_hand]
    assert frame["random sets"] == [19] * 4
    assert full.repetition.mean == pytest.approx(redundancy(kept))


def test_the_report_says_that_verdicts_are_on_samples_not_seen(page):
    words = html.unescape(page)

    assert "judged on samples that the selection did not see" in words
    assert "Judged on 18 samples that the selection did not see, with features" in words
    assert "R2 on held-out samples; below 0 where means predict better" in words
    assert "k-means with features scaled to unit variance, mean over seeds" in words


def test_a_selection_of_all_features_is_not_compared_with_random_ones(planted):
    X = planted(30, 12).X
    report = selection_report(X, MaxVariance(12).fit(X), effort=Effort(0, 0, 19))

    assert report.against_random is None
    assert "selects all 12 columns" in report.left_out["against_random"]


def test_every_report_and_the_terminal_draw_as_many_random_sets():
    assert {effort.n_random for effort in EFFORTS.values()} == {N_RANDOM}
    assert select.N_RANDOM == N_RANDOM


def test_frequencies_are_those_of_stability_selection(planted, full):
    data, selector = fitted(planted)
    by_hand = StabilitySelection(selector, 8, n_subsamples=3, random_state=0).fit(
        data.X
    )

    expected = by_hand.frequency_[selector.order_[:8]]

    assert full.stability.frequency.tolist() == expected.tolist()
    assert full.features.frame()["frequency"] == expected.tolist()
    assert full.stability.index == by_hand.stability_


def test_the_share_by_chance_is_that_of_decoys(planted, full):
    data, selector = fitted(planted)
    by_hand = false_selections(selector, data.X, n_repeats=2, random_state=0)
    frame = full.by_chance.frame()

    assert frame["features"] == list(range(1, 31))
    assert frame["share by chance"] == by_hand.share.tolist()
    assert f"About {by_hand.share[7]:.0%} of the 8 chosen features" in full.html()


def test_a_selector_that_knows_its_stability_is_not_fitted_again(planted, monkeypatch):
    data = planted(30, 20)
    selector = StabilitySelection(MaxVariance(), 5, n_subsamples=7, random_state=1)
    selector.fit(data.X)
    monkeypatch.setattr(StabilitySelection, "fit", None)
    report = selection_report(data.X, selector, effort=LITTLE._replace(n_random=0))

    assert report.stability.n_subsamples == 7
    assert report.stability.index == selector.stability_
    assert "asks for no number of clusters" in report.left_out["sensitivity"]


def test_equal_names_are_told_apart_in_the_frame_of_correlations(planted):
    X = planted(20, 12).X
    names = ["feature", "a", "a", "a 2"] * 3
    part = selection_report(
        X, MaxVariance(12).fit(X), feature_names=names, effort=Effort(0, 0, 0)
    ).repetition

    assert len(part.frame()) == 13


def test_correlations_stand_like_beside_like():
    random = np.random.RandomState(0)
    base = random.standard_normal((40, 2))
    X = np.hstack([base + 0.01 * random.standard_normal((40, 2)) for _ in range(3)])
    X = np.hstack([X, random.standard_normal((40, 4))])
    selector = MaxVariance(6).fit(X * np.repeat([10, 1], [6, 4]))
    part = selection_report(X, selector, effort=LITTLE).repetition
    strong = np.abs(part.correlations) > 0.9

    assert strong[:3, :3].all()
    assert strong[3:, 3:].all()
    assert not strong[:3, 3:].any()
    expected = np.corrcoef(X[:, [int(name[1:]) for name in part.names]], rowvar=False)
    assert part.correlations == pytest.approx(expected)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_units_of_any_size_and_constant_columns_have_correlations(planted, factor):
    X = planted(20, 12).X
    X[:, 2] = 1.0
    selector = MaxVariance(12).fit(X)
    part = selection_report(factor * X, selector, effort=Effort(0, 0, 0)).repetition
    place = list(part.names).index("x2")
    plain = selection_report(X, selector, effort=Effort(0, 0, 0)).repetition

    assert np.flatnonzero(part.correlations[place]).tolist() == [place]
    assert part.correlations == pytest.approx(plain.correlations)
    assert part.names == plain.names


@pytest.mark.parametrize("order", ["rows", "columns"])
def test_pixels_lie_where_the_order_of_the_image_puts_them(planted, order):
    data = planted(20, 12)
    selector = MaxVariance(2).fit(data.X)
    report = selection_report(
        data.X, selector, image_shape=(3, 4), image_order=order, effort=LITTLE
    )
    flat = "C" if order == "rows" else "F"

    assert report.pixels.kept.shape == (3, 4)
    assert report.pixels.kept.ravel(flat).tolist() == selector.get_support().tolist()
    assert report.pixels.mean.ravel(flat) == pytest.approx(data.X.mean(axis=0))


def test_labels_change_colours_and_nothing_that_was_chosen(planted):
    data, selector = fitted(planted)
    plain = selection_report(data.X, selector, effort=LITTLE)
    words = np.array(["a", "b", None], dtype=object)[data.labels]
    told = selection_report(data.X, selector, labels=words, effort=LITTLE)

    assert plain.planes.grouped_by == "cluster"
    assert plain.planes.groups == selector.labels_.tolist()
    assert told.planes.groups == [str(word) for word in words]
    assert told.labels.accuracy[0] == 1.0
    assert told.features.frame() == plain.features.frame()
    assert told.frames()["against_random"] == plain.frames()["against_random"]
    assert plain.labels is None
    assert "labels" not in plain.left_out


def test_the_same_seed_gives_the_same_page(planted):
    data, selector = fitted(planted)
    pages = [
        selection_report(data.X, selector, effort=LITTLE, random_state=seed).html()
        for seed in (1, 1, 2)
    ]

    assert pages[0] == pages[1]
    assert pages[0] != pages[2]


@pytest.mark.parametrize("name", all_selectors())
def test_every_method_has_a_report(name, planted):
    data = planted(24, 12)
    kind = all_selectors()[name]
    known = {"n_clusters": 3, "random_state": 0}
    given = {key: known[key] for key in known if key in kind().get_params()}
    selector = kind(4, **given).fit(data.X)
    report = selection_report(data.X, selector, effort=LITTLE)

    assert report.method == name
    assert set(report.left_out) <= {"sensitivity"}
    assert (report.convergence is None) != hasattr(selector, "objective_history_")
    assert len(report.features.frame()["feature"]) == 4


def test_what_was_decided_is_said_and_used():
    X = planted_table("blobs").table
    selector = AutoSelect(random_state=0).fit(X)
    report = selection_report(X, selector, effort=LITTLE)

    assert report.left_out == {}
    assert report.method == "AutoSelect"
    assert report.decisions == selector.reasons_
    assert all(html.escape(reason) in report.html() for reason in selector.reasons_)
    assert report.planes.groups == selector.labels_.tolist()
    assert report.curve.n_selected == selector.n_selected_
    assert report.parameters["n_clusters"] == ("'auto'", "'auto'")


@pytest.mark.parametrize("convert", [sp.csr_array, sp.csc_matrix])
def test_sparse_tables_have_the_same_report(planted, convert):
    X = np.maximum(planted(30, 20).X, 0)
    selector = MaxVariance(5).fit(X)
    dense = selection_report(X, selector, effort=LITTLE)
    sparse = selection_report(convert(X), selector, effort=LITTLE)

    assert sparse.features.rows(5)[1] == dense.features.rows(5)[1]
    assert sparse.planes.every.points == pytest.approx(dense.planes.every.points)
    assert sparse.repetition.mean == pytest.approx(dense.repetition.mean)


def test_names_come_from_the_frame_that_was_fitted(planted):
    pandas = pytest.importorskip("pandas")
    data = planted(20, 12)
    frame = pandas.DataFrame(data.X, columns=list("abcdefghijkl"))
    named = selection_report(frame, MaxVariance(3).fit(frame), effort=LITTLE)
    plain = selection_report(data.X, MaxVariance(3).fit(data.X), effort=LITTLE)

    assert sorted(named.curve.names) == list("abcdefghijkl")
    assert sorted(plain.curve.names) == sorted(f"x{place}" for place in range(12))


@pytest.mark.parametrize(
    ("n_samples", "n_features", "n_selected", "missing"),
    [
        (4, 12, 3, {"against_random"}),
        (30, 6, 6, {"against_random"}),
        (30, 12, 1, {"repetition"}),
        (30, 1, 1, {"against_random", "repetition"}),
    ],
)
def test_what_cannot_be_had_is_left_out_with_a_reason(
    planted, n_samples, n_features, n_selected, missing
):
    X = np.random.RandomState(0).standard_normal((n_samples, n_features))
    report = selection_report(X, MaxVariance(n_selected).fit(X), effort=LITTLE)
    page = report.html()

    assert set(report.left_out) == missing | {"sensitivity"}
    assert page.count("This part is left out: ") == len(report.left_out)
    assert ".." not in re.sub("<(style|script)>.*?</", "", page, flags=re.S)


def test_subsamples_that_fail_are_noted(planted):
    X = planted(16, 12).X
    selector = SCFS(4, n_clusters=10, random_state=0).fit(X)
    report = selection_report(X, selector, effort=LITTLE)

    assert report.stability is None
    assert "n_clusters=10 but X has n_samples=8" in report.left_out["stability"]
    assert report.notes["sensitivity"]
    assert "Note: " in report.html()


def test_nothing_is_fitted_when_there_is_no_time(planted):
    data, selector = fitted(planted)
    report = selection_report(data.X, selector, effort=LITTLE, time_budget=1e-9)

    assert report.left_out["stability"] == "there was no time left for it"
    assert report.stability is None
    assert report.sensitivity is None
    assert report.html()


def test_effort_of_zero_leaves_out_the_fits(planted):
    data, selector = fitted(planted)
    report = selection_report(data.X, selector, effort=Effort(0, 0, 0))

    assert set(report.left_out) == {"against_random", "stability", "sensitivity"}
    assert all("not asked for" in reason for reason in report.left_out.values())


def test_progress_counts_to_the_end(planted):
    data, selector = fitted(planted)
    seen = []
    selection_report(
        data.X, selector, effort=LITTLE, progress=lambda *state: seen.append(state)
    )

    assert [done for done, _, _ in seen] == [0, 1, 2, 3, 4, 5, 8, 12]
    assert {total for _, total, _ in seen} == {12}
    assert seen[-1][2] == "done"
    assert all("_" not in what for _, _, what in seen)


def test_what_is_fitted_again_may_be_another_selector(planted):
    data, selector = fitted(planted)
    cheap = LaplacianScore()
    report = selection_report(data.X, selector, refitted=cheap, effort=LITTLE)
    by_hand = StabilitySelection(cheap, 8, n_subsamples=3, random_state=0).fit(data.X)

    assert report.stability.index == by_hand.stability_
    assert "LaplacianScore asks for no number" in report.left_out["sensitivity"]


def test_parts_too_dear_are_left_out(planted, monkeypatch):
    data, selector = fitted(planted)
    modules = "ufselect.report.selection_subject", "ufselect.report.selection_fits"
    for module in modules:
        monkeypatch.setattr(f"{module}.MOST_PRODUCTS", 19 * 3.0 * 18**2 * 8)
    some = selection_report(data.X, selector, effort=Effort(0, 0, 49))
    for module in modules:
        monkeypatch.setattr(f"{module}.MOST_PRODUCTS", 10.0)
    none = selection_report(data.X, selector, effort=Effort(0, 0, 49))

    assert [each.criterion for each in some.against_random.verdicts] == [
        "structure",
        "reconstruction",
        "neighbours",
    ]
    assert len(some.notes["against_random"]) == 1
    assert some.frames()["against_random"]["random sets"] == [19] * 3
    assert {"against_random", "stand-ins", "repetition"} <= set(none.left_out)
    assert "What features stand for was left out" in none.html()


def test_of_many_features_the_first_are_listed_and_all_are_saved(planted):
    X = planted(20, 700).X
    report = selection_report(X, MaxVariance(350).fit(X), effort=Effort(0, 0, 0))
    page = report.html()
    listed, saved = (
        re.search(r"<tbody>(.*?)</tbody>", page, re.S)[1],
        re.search("<template>(.*?)</template>", page, re.S)[1],
    )

    assert listed.count("<tr>") == 300
    assert saved.count("\n") == 351
    assert "The first 300 of 350 chosen features" in page


def test_a_report_of_its_sure_parts_alone_has_a_page(full):
    bare = SelectionReport(
        "title", "SCFS", (36, 30), features=full.features, curve=full.curve
    )
    page = bare.html()

    assert re.findall("<h2>(.*?)</h2>", page)[1] == "The chosen features"
    assert set(bare.frames()) == {"features", "curve", "parameters"}


def test_without_matplotlib_there_is_a_page_with_tables(full, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = full.html()

    assert page.count("pip install &#x27;ufselect[report]&#x27;") == len(FIGURES) - 1
    assert page.count('<div class="wide"><svg') == 1
    assert "data-interactive" in page


def test_bad_questions_are_refused(planted):
    data, selector = fitted(planted)

    with pytest.raises(TypeError, match="which is no selector"):
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


def test_an_image_of_another_shape_is_left_out(planted):
    data, selector = fitted(planted)
    report = selection_report(data.X, selector, image_shape=(4, 4), effort=LITTLE)

    assert report.left_out == {
        "pixels": "images of 4 x 4 have 16 pixels, but there are 30 features"
    }


def test_more_effort_costs_more():
    quick, default, thorough = EFFORTS.values()

    assert all(a <= b for a, b in zip(quick, default, strict=True))
    assert all(a <= b for a, b in zip(default, thorough, strict=True))


def test_very_long_names_are_cut_on_the_page_and_whole_in_the_file(planted):
    data = planted(24, 12)
    names = [f"{'n' * 5000}{column}" for column in range(12)]
    selector = MaxVariance(3).fit(data.X)
    report = selection_report(data.X, selector, feature_names=names, effort=LITTLE)
    header, rows = report.features.rows(3)
    cells = [row[header.index(title)] for row in rows for title in header[:-1]]

    assert report.features.frame()["feature"][0] == names[selector.order_[0]]
    assert max(map(len, cells)) < 500

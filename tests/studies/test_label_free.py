"""The study of choosing without labels: its tables, its sums, and that it runs."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from small_experiments import planted_sets

from studies import label_free, noise, quality, rankings
from studies import planted as planting
from studies.__main__ import main
from ufselect import MaxVariance


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Write two small sets, one for each half, and return their folder."""
    planted_sets(tmp_path, ("lung_small", "lymphoma"), n_columns=110, n_useful=6)
    monkeypatch.setenv("UFSELECT_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("kind", noise.KINDS)
def test_noise_is_of_the_promised_size_and_the_same_for_a_seed(kind, data, monkeypatch):
    monkeypatch.setattr(noise, "COLUMNS", (50, 100))
    tables = [noise.noise_table(kind, seed) for seed in (3, 3, 4)]

    np.testing.assert_array_equal(tables[0], tables[1])
    assert not np.array_equal(tables[0], tables[2])
    n, p = tables[0].shape
    assert 60 <= n <= 300 or kind == "permuted real"
    assert 50 <= p <= 100


@pytest.mark.parametrize("name", planting.DESIGNS)
def test_planted_columns_are_those_of_the_design_and_could_be_found(name):
    design = planting.DESIGNS[name]
    data, again = (planting.planted_table(name, 0) for _ in range(2))
    best = np.argsort(-planting.f_classif(data.table, data.groups)[0])

    np.testing.assert_array_equal(data.table, again.table)
    assert data.table.shape == (design.n_samples, design.n_columns)
    assert data.planted.sum() == design.n_planted
    assert planting.found_first(best, data.planted) > 0.9


def test_gains_are_paired_count_wins_and_meet_targets():
    random = {"random": np.array([1.0, 2.0, 5.0])}
    results = {
        "a": {"mine": np.array([3.0, 1.0, 5.0]), **random},
        "b": {"mine": np.array([5.0, 5.0, 6.0]), **random},
        "c": random,
    }
    found = quality.gains(results, ["a", "b", "c"], "mine", "random")
    answers = [
        rankings.at_least("wins", (90, 92), np.array([91.0, 92.0, 0.0])),
        rankings.at_least("gain", (1.5, 3.0), np.array([1.5, 2.9]), "{:+.1f}"),
        rankings.at_most("noise", [6], [6.5]),
        rankings.at_most("nothing", [6], None),
    ]

    assert found.names == ("a", "b")
    np.testing.assert_allclose(found.wins, [100, 50, 50])
    assert quality.shown_gain(found) == "+3.0 ± 1.0 / +1.0 ± 2.0 / +0.5 ± 0.5"
    assert quality.shown(found.wins, "{:.0f}") == "100 / 50 / 50"
    assert quality.shown_worst(found) == "+2.0 a / -1.0 a"
    # One set has no standard error.
    one = quality.gains(results, ["a"], "mine", "random")
    assert quality.shown_gain(one) == "+2.0 / -1.0 / +0.0"
    assert quality.gains(results, ["c"], "mine", "random") is None
    assert quality.gains(results, ["a"], "mine", "mine") is None
    assert [answer.met for answer in answers] == [True, False, False, None]
    table = rankings.table_of_answers(answers)
    assert "| wins | at least 90 % / 92 % | 91 % / 92 % | yes |" in table


class Greedy(MaxVariance):
    """Takes more time, or more memory, than any limit; or refuses the table."""

    def __init__(self, wants="time"):
        self.wants = wants
        super().__init__()

    def fit(self, X, y=None):
        kept = []
        if self.wants == "nothing":
            return super().fit(X, y)
        if self.wants == "an error":
            raise ValueError("not this table")
        if self.wants == "death":
            os._exit(1)
        while True:
            if self.wants == "memory":
                kept.append(np.ones(10**6))


@pytest.mark.parametrize(
    ("wants", "reason"),
    [
        ("nothing", ""),
        ("time", "time"),
        ("memory", "memory"),
        ("death", "its process died"),
        ("an error", "refused: not this table"),
    ],
)
def test_a_fit_ends_at_its_limits(wants, reason, monkeypatch):
    monkeypatch.setattr(rankings, "MEMORY", 10**9)
    table = np.random.default_rng(0).normal(size=(10, 4))
    found = rankings.limited_ranking(Greedy(wants), table, 5 if wants != "time" else 1)

    assert found.stopped == reason
    if wants == "nothing":
        np.testing.assert_array_equal(found.order, MaxVariance().fit(table).order_)
    else:
        assert len(found.order) == len(found.chosen) == 0


def test_a_ranking_is_computed_once_and_a_longer_limit_asks_again(data, monkeypatch):
    path, fits = data / "lymphoma.mat", []
    table = np.random.default_rng(0).normal(size=(10, 4))

    def counted(unfitted, table, seconds):
        fits.append(seconds)
        return rankings.ranking_by(unfitted, table)

    monkeypatch.setattr(rankings, "limited_ranking", counted)
    found = [
        rankings.ranked(data / "cache", path, table, "MaxVariance", seconds=seconds)
        for seconds in (2, 2, 10)
    ]

    assert fits == [2, 10]
    assert all(len(each.order) == 4 for each in found)


def test_methods_are_compared_on_the_sets_that_they_finish():
    nothing = rankings.no_ranking("time")
    done = rankings.Ranking(np.arange(3), np.arange(2), 1.0)
    others = dict.fromkeys(quality.METHODS, nothing) | {"AutoSelect": done}
    kept = {"a": others | {"SCFS": done}, "b": others}
    base = {"random": np.full(3, 20.0), quality.ALL: np.full(3, 30.0)}
    auto = {"AutoSelect": np.full(3, 50.0)}
    results = {"a": base | auto | {"SCFS": np.full(3, 25.0)}, "b": base | auto}
    rows = quality.table_of_gains(results, kept, ["a", "b"]).splitlines()
    means = quality.table_of_means(results, ["a", "b"])

    assert [row.split(" | ")[:2] for row in rows[2:]] == [
        ["| AutoSelect", "2"],
        ["| all features", "2"],
        ["| SCFS", "1"],
    ]
    assert rows[4].split(" | ")[5:] == [
        "-5.0 / -5.0 / -5.0",
        "+25.0 / +25.0 / +25.0",
        "1.00 |",
    ]
    assert "the 1 sets" in means
    assert "| SCFS | 25.0 | 25.0 | 25.0 |" in means
    assert "UDFS" not in means.splitlines()[2:]
    assert "- SCFS, time: b" in quality.unfinished(kept)


def test_uniformity_and_exponents_are_what_they_are_called():
    grid = np.arange(1, 101) / 100

    assert noise.grid_of(grid) == 100
    assert noise.grid_of(np.random.default_rng(0).random(50)) is None
    assert noise.uniformity(np.repeat(grid, 4)) > 0.5
    assert noise.uniformity(np.repeat(grid[:50], 8)) < 0.001
    assert label_free.exponent([10, 100, 1000], [2, 20, 200]) == pytest.approx(1)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_stand_in_counts_as_the_column_itself(form):
    random = np.random.default_rng(0)
    table = random.normal(size=(50, 40))
    table[:, 20:] = -2 * table[:, :20] + 0.1 * random.normal(size=(50, 20))
    first, twins, others = np.arange(5), np.arange(20, 25), np.arange(5, 10)

    assert label_free.overlap(first, first, 40) == 1
    assert label_free.overlap(first, twins, 40) < 0
    assert label_free.stand_in_overlap(form(table), first, twins) == 1
    assert label_free.stand_in_overlap(form(table), first, others) < 0


def test_the_study_runs_and_ends_with_its_targets(data, monkeypatch, capsys):
    few = {"blobs": planting.DESIGNS["blobs"]}
    monkeypatch.setattr(planting, "DESIGNS", few)
    monkeypatch.setattr(noise, "SAMPLES", (60, 70))
    monkeypatch.setattr(noise, "COLUMNS", (60, 100))
    monkeypatch.setattr(noise, "VERDICT_RANDOM", 9)
    monkeypatch.setattr(quality, "METHODS", ["AutoSelect", "SCFS", "NDFS"])
    monkeypatch.setattr(rankings, "DRAWS", range(1))
    monkeypatch.setattr(rankings, "SEEDS", range(1))
    options = ["--quick", "--jobs", "1", "--cache", str(data / "cache")]
    options += ["--values", "100"]
    page = data / "page.md"

    assert main(["label_free", *options, "--markdown", str(page)]) == 0
    printed = capsys.readouterr().out
    for title in ("Quality", "Noise", "Planted columns", "Stability", "Cost"):
        assert f"## {title}" in printed
    assert "NDFS |" not in printed
    assert "label_free --values 100 --markdown" in page.read_text("utf-8")
    assert "## Targets" in page.read_text("utf-8")
    with pytest.raises(SystemExit):
        main(["label_free", "--parts", "quality,speed"])
    assert "'speed'" in capsys.readouterr().err

"""The study of choosing without labels: its tables, its sums, and that it runs."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import savemat

from studies import runner
from studies.quality import (
    label_free_noise,
    label_free_planted,
    label_free_sets,
)
from studies.quality.label_free import exponent
from studies.quality.label_free_noise import (
    grid_of,
    structure_found,
    structure_p,
    uniformity,
)
from studies.quality.label_free_quality import (
    gains,
    shown_gain,
    shown_wins,
    shown_worst,
)
from studies.quality.label_free_sets import at_least, at_most, table_of_answers
from studies.quality.label_free_stability import overlap, stand_in_overlap
from ufselect import MaxVariance


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Write two small sets, one for each half, and return their folder."""
    for seed, name in enumerate(("lung_small", "lymphoma")):
        random = np.random.default_rng(seed)
        classes = np.repeat([1, 2, 3], 10)
        table = random.normal(size=(30, 110))
        table[:, :6] += 4 * random.normal(size=(3, 6))[classes - 1]
        savemat(tmp_path / f"{name}.mat", {"X": table, "Y": classes[:, np.newaxis]})
    monkeypatch.setenv("UFSELECT_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("kind", label_free_noise.KINDS)
def test_noise_is_of_the_promised_size_and_the_same_for_a_seed(kind, data, monkeypatch):
    monkeypatch.setattr(label_free_noise, "COLUMNS", (50, 100))
    tables = [label_free_noise.noise_table(kind, seed) for seed in (3, 3, 4)]

    np.testing.assert_array_equal(tables[0], tables[1])
    assert not np.array_equal(tables[0], tables[2])
    n, p = tables[0].shape
    assert 60 <= n <= 300 or kind == "permuted real"
    assert 50 <= p <= 100


def test_permuted_columns_keep_their_values(data, monkeypatch):
    real = label_free_noise.read_labelled(data / "lymphoma.mat").table
    monkeypatch.setattr(
        label_free_noise, "paths_of_halves", lambda: {"": [data / "lymphoma.mat"]}
    )

    table = label_free_noise.permuted(np.random.default_rng(0), 30, 110)

    assert not np.array_equal(np.sort(table, axis=1), np.sort(real, axis=1))
    mine, theirs = (
        np.sort(np.sort(each, axis=0).sum(axis=0)) for each in (table, real)
    )
    np.testing.assert_allclose(mine, theirs)


@pytest.mark.parametrize("name", label_free_planted.DESIGNS)
def test_label_free_planted_are_of_their_design_and_the_same_for_a_seed(name):
    design = label_free_planted.DESIGNS[name]
    first, again = (label_free_planted.planted_table(name, 1) for _ in range(2))

    assert first.table.shape == (design.n_samples, design.n_columns)
    assert first.planted.sum() == design.n_planted
    np.testing.assert_array_equal(first.table, again.table)


@pytest.mark.parametrize("name", label_free_planted.DESIGNS)
def test_whoever_knew_the_groups_would_find_the_planted_columns(name):
    data = label_free_planted.planted_table(name, 0)
    best = np.argsort(-label_free_planted.f_classif(data.table, data.groups)[0])

    assert label_free_planted.found_first(best, data.planted) > 0.9


def test_gains_are_paired_and_count_wins():
    results = {
        "a": {"mine": np.array([3.0, 1.0, 5.0]), "random": np.array([1.0, 2.0, 5.0])},
        "b": {"mine": np.array([5.0, 5.0, 6.0]), "random": np.array([1.0, 2.0, 5.0])},
        "c": {"random": np.array([0.0, 0.0, 0.0])},
    }

    found = gains(results, ["a", "b", "c"], "mine", "random")

    assert found.names == ("a", "b")
    np.testing.assert_allclose(found.mean, [3, 1, 0.5])
    np.testing.assert_allclose(found.error, [1, 2, 0.5])
    np.testing.assert_allclose(found.wins, [100, 50, 50])
    assert shown_gain(found) == "+3.0 ± 1.0 / +1.0 ± 2.0 / +0.5 ± 0.5"
    assert shown_wins(found) == "100 / 50 / 50"
    assert shown_worst(found) == "+2.0 a / -1.0 a"
    assert gains(results, ["c"], "mine", "random") is None
    assert gains(results, ["a"], "mine", "mine") is None


def test_one_set_has_no_standard_error():
    results = {"a": {"mine": np.array([3.0]), "random": np.array([1.0])}}

    assert shown_gain(gains(results, ["a"], "mine", "random")) == "+2.0"


def test_targets_are_met_by_all_of_their_values_or_not():
    answers = [
        at_least("wins", (90, 92), np.array([91.0, 92.0, 0.0])),
        at_least("gain", (1.5, 3.0), np.array([1.5, 2.9]), "{:+.1f}"),
        at_most("noise", [6], [6.5]),
        at_most("nothing", [6], None),
    ]

    assert [answer.met for answer in answers] == [True, False, False, None]
    assert "| wins | at least 90 % / 92 % | 91 % / 92 % | yes |" in table_of_answers(
        answers
    )


def test_p_values_of_a_permutation_test_are_uniform_on_their_grid():
    grid = np.arange(1, 101) / 100

    assert grid_of(grid) == 100
    assert uniformity(np.repeat(grid, 4)) > 0.5
    assert uniformity(np.repeat(grid[:50], 8)) < 0.001
    assert grid_of(np.random.default_rng(0).random(50)) is None


def test_what_a_selector_says_of_structure_is_read():
    calls = np.array(["rejected", "confirmed", "tentative"])
    says = SimpleNamespace(
        structure_found_=False, structure_=SimpleNamespace(p_value=0.4), calls_=calls
    )

    assert not structure_found(says)
    assert structure_p(says) == 0.4
    np.testing.assert_array_equal(label_free_planted.confirmed_by(says), [1])


def test_a_selector_without_a_test_finds_structure_and_confirms_what_it_selects():
    silent = MaxVariance(1).fit([[0.0, 0.0], [0.0, 1.0], [1.0, 5.0]])

    assert structure_found(silent)
    assert np.isnan(structure_p(silent))
    np.testing.assert_array_equal(label_free_planted.confirmed_by(silent), [1])


def test_overlap_is_one_for_the_same_and_nought_for_chance():
    columns = np.arange(10)

    assert overlap(columns, columns, 100) == 1
    assert overlap(columns, np.arange(9, 19), 100) == pytest.approx(0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_stand_in_counts_as_the_column_itself(form):
    random = np.random.default_rng(0)
    table = random.normal(size=(50, 40))
    table[:, 20:] = -2 * table[:, :20] + 0.1 * random.normal(size=(50, 20))
    first, twins, others = np.arange(5), np.arange(20, 25), np.arange(5, 10)

    assert overlap(first, twins, 40) < 0
    assert stand_in_overlap(form(table), first, twins) == 1
    assert stand_in_overlap(form(table), first, others) < 0


def test_the_exponent_is_the_power():
    assert exponent([10, 100, 1000], [2, 20, 200]) == pytest.approx(1)
    assert exponent([10, 100], [1, 100]) == pytest.approx(2)


def test_the_rankings_of_the_first_version_are_there():
    with np.load(label_free_sets.KEPT) as kept:
        assert len(kept["names"]) == 46
        assert kept["orders"].shape == (46, 300)
        names = set(kept["names"].tolist())
    found = label_free_sets.first_version("lung_small", 325)

    assert names == set(label_free_sets.DOMAIN_OF)
    assert len(set(found.order)) == 300
    assert len(found.chosen) == 160
    assert label_free_sets.first_version("lung_small", 110) is None


def test_a_ranking_is_fitted_once(data, tmp_path, monkeypatch):
    path = data / "lymphoma.mat"
    table = label_free_sets.read_labelled(path).table
    first = label_free_sets.ranked(tmp_path / "cache", path, table, MaxVariance())

    monkeypatch.setattr(label_free_sets, "fitted", None)
    again = label_free_sets.ranked(tmp_path / "cache", path, table, MaxVariance())

    np.testing.assert_array_equal(first.order, again.order)
    np.testing.assert_array_equal(first.chosen, again.chosen)


def test_scores_are_kept_for_the_next_run(data, tmp_path, monkeypatch):
    judge = label_free_sets.Judge(data / "lymphoma.mat", tmp_path / "cache")
    good, bad = judge.score(range(6)), judge.score(range(50, 56))
    judge.save()

    monkeypatch.setattr(label_free_sets, "judge_by_k_means", None)
    again = label_free_sets.Judge(data / "lymphoma.mat", tmp_path / "cache")

    assert (good > bad).all()
    np.testing.assert_array_equal(again.score(range(6)[::-1]), good)


def test_the_study_runs_and_ends_with_its_targets(data, monkeypatch, capsys):
    few = {"blobs": label_free_planted.DESIGNS["blobs"]}
    monkeypatch.setattr(label_free_planted, "DESIGNS", few)
    monkeypatch.setattr(label_free_noise, "SAMPLES", (60, 70))
    monkeypatch.setattr(label_free_noise, "COLUMNS", (60, 100))
    monkeypatch.setattr(label_free_noise, "VERDICT_RANDOM", 9)
    monkeypatch.setattr(label_free_sets, "DRAWS", range(1))
    monkeypatch.setattr(label_free_sets, "SEEDS", range(1))
    options = ["--quick", "--jobs", "1", "--cache", str(data / "cache")]
    page = data / "page.md"

    assert runner.main(["label_free", *options, "--markdown", str(page)]) == 0

    printed = capsys.readouterr().out
    for title in ("Quality", "Noise", "Planted columns", "Stability", "Cost"):
        assert f"## {title}" in printed
    assert "Labels: every figure" in printed
    assert "## It must show" in page.read_text("utf-8")


def test_an_unknown_part_is_named(capsys):
    with pytest.raises(SystemExit):
        runner.main(["label_free", "--parts", "quality,speed"])

    assert "'speed'" in capsys.readouterr().err

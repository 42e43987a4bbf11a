"""A store keeps what was written, and is never misread or overwritten."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from small_experiments import change, content, query, small_plan

from ufselect.experiments.results import read_experiment
from ufselect.experiments.run import run_plan
from ufselect.experiments.runs import PlannedRun
from ufselect.experiments.store import Store, reading, set_aside_if_damaged
from ufselect.experiments.work import Outcome, Ranking, Score

RUN = PlannedRun("lung", "abc", "none", "SCFS", "{}", 0)
ORDER = np.array([2, 0, 1], dtype=np.int32)
RANKING = Ranking(ORDER, np.array([2.0, 1.5]), 0.1, 1000)
OUTCOME = Outcome(RANKING, (Score(2, "accuracy", 0, 0.75), Score(2, "nmi", 1, 0.5)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def full(path, calm):
    """Return the copy of a store with results."""
    return Path(shutil.copy(calm, path))


def test_what_was_saved_is_there_after_opening_again(path):
    with Store(path) as store:
        store.save(RUN, "judge", OUTCOME)

    with Store(path) as store:
        found = store.ranking_of(RUN.key())
        assert store.keys("judge") == {RUN.key()}
        assert found.order.tolist() == [2, 0, 1]
        assert found.history.tolist() == [2.0, 1.5]
        assert found[2:] == (0.1, 1000)
    scores = query(path, "SELECT features, metric, repetition, value FROM scores")
    assert scores == list(OUTCOME.scores)


def test_a_ranking_is_kept_however_another_judge_fares(path):
    with Store(path) as store:
        store.save(RUN, "judge", OUTCOME)
        store.save(RUN, "other", Outcome(RANKING, reason="ValueError: too few"))
        assert store.keys("other") == set()
        assert store.keys("other", failed=True) == store.keys("judge") == {RUN.key()}
        store.save(RUN, "other", Outcome(RANKING, (Score(3, "accuracy", 0, 1.0),)))
        assert store.keys("other") == {RUN.key()}
    counts = "SELECT judge, count(*) FROM scores GROUP BY judge"
    assert query(path, counts) == [("judge", 2), ("other", 1)]


def test_a_run_is_written_whole_and_a_missing_folder_is_named(path):
    half = OUTCOME._replace(scores=(Score(2, "accuracy", 0, None),))
    with Store(path) as store:
        with pytest.raises(ValueError, match="NOT NULL"):
            store.save(RUN, "judge", half)
        assert store.ranking_of(RUN.key()) is None
    with pytest.raises(ValueError, match=r"nowhere.* cannot be used"):
        Store(path.parent / "nowhere" / "store.sqlite")


def test_without_space_nothing_is_lost_and_the_remedy_is_said(path):
    big = Outcome(Ranking(np.arange(100_000)))
    with Store(path) as store:
        store.save(RUN, "judge", OUTCOME)
        store._connection.execute("PRAGMA max_page_count = 20")
        with pytest.raises(ValueError, match=r"no space left for the store .* free"):
            store.save(RUN, "other", big)

        assert store.keys("judge") == {RUN.key()}
        store._connection.execute("PRAGMA max_page_count = 1000")
        store.save(RUN, "other", big)
    assert list(path.parent.iterdir()) == [path]


def test_reading_changes_nothing_and_does_not_stop_a_run(full):
    before = full.read_bytes()
    read_experiment(full)
    assert full.read_bytes() == before
    assert list(full.parent.iterdir()) == [full]

    count = "SELECT count(*) FROM runs"
    with Store(full) as store, reading(full) as connection:
        before = connection.execute(count).fetchone()
        # A second run on the same store computes the same, and harms nothing.
        with Store(full) as other:
            store.save(RUN, "judge", OUTCOME)
            other.save(RUN, "judge", OUTCOME)
        assert connection.execute(count).fetchone() == before
        assert query(full, count) != [before]


def cut(share):
    return lambda path: os.truncate(path, int(share * path.stat().st_size))


def overwrite(path):
    """Put noise in the place of a page of scores, past the first page."""
    damaged = bytearray(path.read_bytes())
    damaged[8192:12288] = np.random.default_rng(0).bytes(4096)
    path.write_bytes(damaged)


@pytest.mark.parametrize(
    "damage",
    [cut(0.5), cut(0.9), cut(0.999), overwrite],
    ids=["half", "most", "almost all", "one page"],
)
def test_a_damaged_store_is_named_kept_and_computed_anew(
    full, calm, plan, located, damage
):
    (full.parent / "store.sqlite.damaged-1").touch()
    damage(full)
    damaged = full.read_bytes()
    for use in (read_experiment, Store):
        with pytest.raises(ValueError, match=r"store\.sqlite is damaged") as error:
            use(full)
        assert "\n" not in str(error.value)

    kept = set_aside_if_damaged(full)
    run_plan(plan, full, located)

    assert kept.name == "store.sqlite.damaged-2"
    assert kept.read_bytes() == damaged
    assert content(full) == content(calm)
    assert set_aside_if_damaged(full) is None


def another_program(path):
    path.unlink()
    change(path, "CREATE TABLE theirs (a)")


def damaged_file_of_another_program(path):
    another_program(path)
    change(path, *(f"INSERT INTO theirs VALUES ('{'x' * 4000}')" for _ in range(9)))
    cut(0.5)(path)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.write_text("a,b\n" * 1000), "cannot be used"),
        (another_program, "is a database of another program"),
        (damaged_file_of_another_program, "is"),
        (
            lambda path: change(path, "PRAGMA user_version = 3"),
            "has version 3 of the store and this ufselect knows version 4",
        ),
    ],
    ids=["text", "another program", "damaged", "version"],
)
def test_what_is_no_store_of_ours_is_refused_and_stays(full, make, sentence):
    full = full.rename(full.with_name("odd 100% #1.sqlite"))
    make(full)
    before = full.read_bytes()

    for use in (read_experiment, Store, set_aside_if_damaged):
        with pytest.raises(ValueError, match=f"odd 100% #1.sqlite {sentence}") as error:
            use(full)
        assert "\n" not in str(error.value)
    assert full.read_bytes() == before
    assert list(full.parent.iterdir()) == [full]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (Path.unlink, "does not exist; name a store that ufselect run has made"),
        (lambda path: path.write_text(""), "is empty; fill it with ufselect run"),
        (lambda path: (path.unlink(), path.mkdir()), "is a folder; name a store"),
        (lambda path: change(path, "DELETE FROM plans"), "is empty; fill it with"),
    ],
    ids=["missing", "empty", "folder", "no plan"],
)
def test_a_report_needs_a_store_with_a_plan(full, make, sentence):
    make(full)
    with pytest.raises(ValueError, match=sentence):
        read_experiment(full)


def test_several_plans_share_a_store_and_the_last_one_is_read(full, plan, located):
    other = small_plan(name="other", sets=["one"])
    run_plan(other, full, located)
    newest, named = read_experiment(full), read_experiment(full, "small")
    run_plan(plan, full, located)

    assert (newest.plan, newest.others) == (other, ["small"])
    assert (named.plan, named.others) == (plan, ["other"])
    assert newest.count().missing == named.count().missing == 0
    assert read_experiment(full).plan == plan
    with pytest.raises(ValueError, match="no plan 'third'; it has other, small"):
        read_experiment(full, "third")

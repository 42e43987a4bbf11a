"""An experiment is read from its store alone; what is no store is refused."""

import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from small_experiments import change, planted_sets, query, small_plan, stored_experiment

from ufselect._version import versions_here
from ufselect.experiments import cells, stored
from ufselect.experiments.cells import (
    FIXED,
    GRID,
    Record,
    judge_key,
    record_from,
    record_of,
    roles_of,
)
from ufselect.experiments.plan import plan_names, plan_path, read_plan
from ufselect.experiments.protocol import Score
from ufselect.experiments.runner import run_plan
from ufselect.experiments.store import DONE, FAILED, STOPPED, Outcome, Store
from ufselect.experiments.stored import NOT_BEGUN, ORACLE, Count, read_experiment

# Nine cells of SCFS and its fellows for each set: 4 + 2, 1, 10, 1, 1.
PER_SET = 19


@pytest.fixture
def path(calm, tmp_path):
    """Return a copy, to be changed."""
    path = tmp_path / "store.sqlite"
    path.write_bytes(calm.read_bytes())
    return path


def test_a_finished_experiment_is_read_from_its_store_alone(calm):
    experiment = read_experiment(calm)
    reading = experiment.readings(FIXED, "accuracy").loc["SCFS", "one"]

    assert experiment.plan == small_plan()
    assert experiment.count() == Count(2 * PER_SET, 2 * PER_SET, 0, 0)
    assert experiment.count("one") == Count(PER_SET, PER_SET, 0, 0)
    assert 0 < reading["mean"] <= 1
    assert experiment.versions[0]["ufselect"] == cells.RELEASE
    assert experiment.others == []


def test_cells_that_are_not_there_are_counted(path):
    change(
        path,
        *(
            f"DELETE FROM {table} WHERE ranking IN "
            "(SELECT key FROM rankings WHERE set_name = 'two')"
            for table in ("scores", "judgements")
        ),
        "DELETE FROM rankings WHERE set_name = 'two' AND selector != 'SCFS'",
        "UPDATE rankings SET status = 'failed', reason = 'ValueError: W = 0' "
        "WHERE set_name = 'two' AND parameters LIKE '%0.01%'",
    )
    experiment = read_experiment(path)

    # Four of SCFS are ranked and wait for their judgement, the rest is not there.
    assert experiment.count("two") == Count(PER_SET, 0, 2, PER_SET - 2)
    assert experiment.count("one").missing == 0


def test_a_store_without_a_plan_that_can_be_read_needs_one(path):
    for statement in ("UPDATE plans SET content = '{}'", "DELETE FROM plans"):
        change(path, statement)
        with pytest.raises(ValueError, match="name the plan with --plan PLAN"):
            read_experiment(path)
        assert read_experiment(path, small_plan()).count().ranked == 2 * PER_SET
    experiment = read_experiment(path, small_plan(sets=["one", "three"]))

    assert experiment.record.absent == {"three": NOT_BEGUN}
    assert experiment.count().cells == PER_SET


def test_a_store_without_a_cell_of_the_plan_is_refused(path):
    other = small_plan(name="other", sets=["somewhere"])
    with pytest.raises(ValueError, match="holds no cell of the plan other; compute"):
        read_experiment(path, other)
    # Of data that have changed, the newest content is known.
    newest = "(SELECT max(rowid) FROM rankings WHERE set_name = 'one')"
    change(path, f"UPDATE rankings SET fingerprint = 'newer' WHERE rowid = {newest}")
    change(path, "DELETE FROM plans")
    with pytest.raises(ValueError, match="holds no cell of the plan small; compute"):
        read_experiment(path, small_plan(sets=["one"]))


def test_a_store_of_another_version_is_read_with_the_keys_of_that(
    tmp_path, monkeypatch
):
    path, plan, sets = tmp_path / "store.sqlite", small_plan(), {"one": "a"}
    done = Outcome(
        DONE, order=np.arange(3, dtype=np.int32), scores=(Score(3, "accuracy", 0, 0.5),)
    )
    with monkeypatch.context() as older:
        older.setattr(cells, "RELEASE", "0.0.9")
        with Store(path, judge_key(plan.judge, "0.0.9")) as store:
            store.save_record(Record(plan, sets, {}, {"ufselect": "0.0.9"}))
            first, second, third, *_ = roles_of(plan, sets)
            store.save(first.cell, done)
            store.save(second.cell, Outcome(FAILED, reason="MemoryError: "))
            store.save(third.cell, Outcome(STOPPED, reason="it took longer than 5 s"))
    experiment = read_experiment(path)

    assert experiment.count() == Count(PER_SET, 1, 2, PER_SET - 3)
    assert experiment.curves(GRID, "accuracy").tolist() == [0.5]
    assert experiment.failures() == [
        "SCFS, 1 cell (one 1): MemoryError:",
        "SCFS, 1 cell (one 1): it took longer than 5 s",
    ]


def test_records_are_kept_once_and_the_newest_is_taken(path):
    first = read_experiment(path).record
    other = replace(first, plan=small_plan(name="other", sets=["one"]))
    with Store(path, "judge") as store:
        for numpy in ("1.26", "1.26", "2.0"):
            versions = {**first.versions, "numpy": numpy}
            store.save_record(replace(first, versions=versions))
        store.save_record(other)
        named = read_experiment(path, small_plan())
        newest = read_experiment(path)
        # The same record again becomes the newest.
        store.save_record(first)
        again = read_experiment(path)

    assert (newest.plan, newest.others) == (other.plan, ["small"])
    assert (named.plan, named.others) == (small_plan(), ["other"])
    assert again.record == first
    assert [one["numpy"] for one in again.versions] == [
        *("1.26", "2.0", first.versions["numpy"])
    ]


def test_the_objective_of_the_fixed_setting_comes_before_those_of_the_grid(path):
    def histories(experiment, reading):
        cells = experiment.cells.query("method == 'SCFS' and `data set` == 'one'")
        return cells[cells["reading"] == reading]["history"].tolist()

    experiment = read_experiment(path)

    assert experiment.history_of("SCFS", "one") is histories(experiment, FIXED)[0]
    assert experiment.history_of("random", "one") is None

    change(
        path, "UPDATE rankings SET history = NULL WHERE parameters NOT LIKE '%alpha%'"
    )
    again = read_experiment(path)

    assert again.history_of("SCFS", "one") is histories(again, GRID)[2]


@pytest.mark.parametrize(
    ("metric", "reading", "values", "expected"),
    [
        # The best point of the grid at every number of features.
        (
            "accuracy",
            ORACLE,
            {0: [[0.1, 0.3], [0.9, 0.9]], 1: [[0.6, 0.4], [0.2, 0.4]]},
            (0.7, 0.2),
        ),
        # The lowest where lower is better; the other rankings failed.
        ("redundancy", ORACLE, {0: [[0.1], [0.9]], 1: [[0.6], [0.3]]}, (0.2, 0.1)),
        ("accuracy", ORACLE, {3: [[0.1], [0.5]]}, (0.3, 0.2)),
        # The mean over the seeds of the fixed setting, which follows the grid.
        ("accuracy", FIXED, {4: [[0.1], [0.5]], 5: [[0.3], [0.9]]}, (0.45, 0.25)),
        # Without a grid that has scores, both readings are the same.
        ("accuracy", ORACLE, {4: [[0.1], [0.5]], 5: [[0.3], [0.9]]}, (0.45, 0.25)),
        # One number of features is read over its repetitions.
        ("accuracy", FIXED, {4: [[0.2, 0.4]]}, (0.3, 0.1)),
    ],
)
def test_readings_are_taken_over_the_numbers_of_features(
    metric, reading, values, expected
):
    found = stored_experiment()
    for place, by_size in values.items():
        for size, repetitions in enumerate(by_size):
            for value in repetitions:
                row = [found.cells["key"][place], size, metric, value]
                found.scores.loc[len(found.scores)] = row

    readings = found.readings(reading, metric)

    assert readings.loc["SCFS", "one"].tolist() == pytest.approx(expected)
    assert len(readings) == 1
    assert found.readings(reading, "purity").empty


def test_a_run_keeps_its_plan_before_its_cells(tmp_path):
    path = tmp_path / "store.sqlite"
    located = replace(planted_sets(tmp_path), absent={"three": "nowhere"})
    plan = small_plan(sets=["one", "three"])
    seen = []

    def look(progress):
        seen.append(query(path, "SELECT content FROM plans"))

    run_plan(plan, path, located, report=look)
    kept = record_from(seen[0][0][0])

    assert kept == record_of(plan, located)
    assert kept.absent == {"three": "nowhere"}
    assert kept.version == cells.RELEASE
    assert all(rows == seen[0] for rows in seen)


def test_reading_changes_nothing_and_does_not_stop_a_run(path):
    before = path.read_bytes()
    read_experiment(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]

    with stored._reading(path) as connection, Store(path, "judge") as store:
        query = "SELECT count(*) FROM rankings"
        before = connection.execute(query).fetchone()
        another = cells.Cell("one", "a", "none", "SCFS", "{}", 2)
        store.save(another, Outcome(FAILED, "ValueError"))
        after = connection.execute(query).fetchone()

        assert before == after == (2 * PER_SET,)


def test_a_store_in_a_folder_that_nobody_may_write_to_is_read(path):
    if os.name != "posix" or os.geteuid() == 0:
        pytest.skip("may write everywhere")
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        assert read_experiment(path).count().missing == 0
    finally:
        path.parent.chmod(0o755)


def without_list_of_tables(path):
    content = bytearray(path.read_bytes())
    content[103:105] = bytes(2)  # The number of rows on the first page.
    path.write_bytes(content)


def database_of_another_program(path):
    path.unlink()
    change(path, "CREATE TABLE theirs (a)")


@pytest.mark.parametrize(
    ("make", "sentence", "is_said_by_runs"),
    [
        (Path.unlink, "does not exist; name a store that ufselect run has", False),
        (lambda path: path.write_text(""), "is empty; fill it with ufselect", False),
        (lambda path: path.write_text("a,b\n" * 1000), "cannot be", True),
        (database_of_another_program, "is a database of another program", True),
        (
            lambda path: change(path, "PRAGMA user_version = 99"),
            "has version 99 of the store and this ufselect knows version",
            True,
        ),
        (lambda path: os.truncate(path, path.stat().st_size // 2), "cannot be", True),
        (without_list_of_tables, "cannot be", True),
        (lambda path: (path.unlink(), path.mkdir()), "is a folder; name a", False),
    ],
)
def test_what_is_no_store_is_answered_in_one_sentence(
    path, make, sentence, is_said_by_runs
):
    path = path.rename(path.with_name("odd 100% #1.sqlite"))
    make(path)
    before = path.read_bytes() if path.is_file() else None

    uses = [read_experiment, lambda path: Store(path, "judge")]
    for use in uses[: 1 + is_said_by_runs]:
        with pytest.raises(ValueError, match=f"odd 100% #1.sqlite {sentence}") as error:
            use(path)
        assert "\n" not in str(error.value)
    assert before is None or path.read_bytes() == before


FINGERPRINTS = {"one": "a", "two": "b"}


def test_keys_are_those_of_stores_that_are_being_filled():
    plan, version = small_plan(), "0.1.0.dev0"
    keys = [role.cell.key_in(version) for role in roles_of(plan, FINGERPRINTS)]
    cell = next(roles_of(plan, FINGERPRINTS)).cell

    # Another value would make every store of that version worthless.
    assert cells.digest(keys) == "0222864b028250f487556aba376948ef"
    assert judge_key(plan.judge, version) == "0da3bac4cb1a0515f891009ae08901a3"
    assert cell.key == cell.key_in(cells.RELEASE) != cell.key_in("another")
    assert judge_key(plan.judge) == judge_key(plan.judge, cells.RELEASE)
    for content in ("{", "{}", json.dumps({"plan": {"name": "small"}, "unknown": 1})):
        with pytest.raises(ValueError, match="name the plan with --plan PLAN"):
            record_from(content)


@pytest.mark.parametrize("name", plan_names())
def test_a_record_is_read_as_it_was_written_and_knows_its_plan(name):
    plan = read_plan(plan_path(name))
    before = Record(plan, FINGERPRINTS, {"three": "nowhere"}, versions_here())
    after = record_from(json.dumps(asdict(before)))
    sets = {name: name for name in plan.sets}

    assert after == before
    assert list(roles_of(after.plan, sets)) == list(roles_of(plan, sets))
    # A parameter of another type makes another plan.
    whole, real = (
        small_plan(methods=[{"selector": "SCFS", "grid": {"alpha": [value]}}])
        for value in (1, 1.0)
    )
    assert whole == real
    assert replace(before, plan=whole).is_of(whole)
    assert not replace(before, plan=whole).is_of(real)

"""An experiment is read from its store alone; what is no store is refused."""

import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from small_experiments import change, planted_sets, query, small_plan

from ufselect.experiments import cells, stored
from ufselect.experiments.cells import (
    FIXED,
    Record,
    judge_key,
    record_from,
    record_of,
    roles_of,
    versions_here,
)
from ufselect.experiments.plan import plan_names, plan_path, read_plan
from ufselect.experiments.protocol import Score
from ufselect.experiments.readings import Place
from ufselect.experiments.runner import run_plan
from ufselect.experiments.store import DONE, FAILED, STOPPED, Outcome, Store
from ufselect.experiments.stored import NOT_BEGUN, Count, read_experiment

# Nine cells of SCFS and its fellows for each set: 4 + 2, 1, 10, 1, 1.
PER_SET = 19


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    folder = tmp_path_factory.mktemp("complete")
    path = folder / "store.sqlite"
    run_plan(small_plan(), path, planted_sets(folder))
    return path


@pytest.fixture
def path(complete, tmp_path):
    """Return a copy, to be changed."""
    path = tmp_path / "store.sqlite"
    path.write_bytes(complete.read_bytes())
    return path


def test_a_finished_experiment_is_read_from_its_store_alone(complete):
    experiment = read_experiment(complete)
    place = Place("one", "none", "SCFS")
    reading = experiment.results.reading(place, FIXED, "accuracy")

    assert experiment.plan == small_plan()
    assert experiment.count() == Count(2 * PER_SET, 2 * PER_SET, 0, 0)
    assert experiment.count("one") == Count(PER_SET, PER_SET, 0, 0)
    assert reading.n_rankings == 2
    assert 0 < reading.mean <= 1
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
    tables = ("scores", "judgements", "rankings")
    change(path, *(f"DELETE FROM {table}" for table in tables))
    with pytest.raises(ValueError, match="holds no cell of the plan small; compute"):
        read_experiment(path)


def test_the_plan_that_was_run_last_is_taken_unless_one_is_named(path, tmp_path):
    located = planted_sets(tmp_path)
    other = small_plan(name="other", sets=["one"])
    run_plan(other, path, located)
    newest, named = read_experiment(path), read_experiment(path, small_plan())

    assert newest.plan == other
    assert newest.others == ["small"]
    assert named.plan == small_plan()
    assert named.others == ["other"]


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
            first, second, *_ = roles_of(plan, sets)
            store.save(first.cell, done)
            store.save(second.cell, Outcome(FAILED, reason="MemoryError: "))
    experiment = read_experiment(path)

    assert experiment.count() == Count(PER_SET, 1, 1, PER_SET - 2)
    assert experiment.reasons() == {second.cell.key: "MemoryError: "}
    assert experiment.results.score_of(first, "accuracy") == {3: 0.5}


def test_a_cell_that_was_stopped_is_reported_with_its_reason(tmp_path):
    path, plan, sets = tmp_path / "store.sqlite", small_plan(), {"one": "a"}
    first = next(roles_of(plan, sets)).cell
    with Store(path, judge_key(plan.judge)) as store:
        store.save_record(Record(plan, sets, {}, {"ufselect": cells.RELEASE}))
        store.save(first, Outcome(STOPPED, reason="it took longer than 5 s"))
    experiment = read_experiment(path)

    assert experiment.count() == Count(PER_SET, 0, 1, PER_SET - 1)
    assert experiment.reasons() == {first.key: "it took longer than 5 s"}


def test_every_different_set_of_versions_is_named_once(path):
    with Store(path, "judge") as store:
        record = read_experiment(path).record
        for numpy in ("1.26", "1.26", "2.0"):
            versions = {**record.versions, "numpy": numpy}
            store.save_record(Record(record.plan, record.fingerprints, {}, versions))
    versions = [one["numpy"] for one in read_experiment(path).versions]

    assert versions == [record.versions["numpy"], "1.26", "2.0"]


def test_the_objective_of_the_fixed_setting_comes_before_those_of_the_grid(path):
    place = Place("one", "none", "SCFS")
    experiment = read_experiment(path)
    fixed = experiment.results.roles(place, FIXED)[0].cell.key

    assert experiment.history_at(place) is experiment.fits[fixed].history
    assert experiment.history_at(Place("one", "none", "random")) is None

    change(
        path,
        "UPDATE rankings SET history = NULL WHERE parameters NOT LIKE '%alpha%'",
    )
    again = read_experiment(path)
    middle = again.results.roles(place, "grid")[2].cell.key

    assert again.history_at(place) is again.fits[middle].history


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


def test_the_same_record_again_becomes_the_newest(path):
    other = small_plan(name="other", sets=["one"])
    first = read_experiment(path).record
    for record in (replace(first, plan=other), first):
        with Store(path, "judge") as store:
            store.save_record(record)

    assert read_experiment(path).record == first
    assert read_experiment(path).others == ["other"]


def test_data_that_changed_are_known_by_their_newest_content(path):
    change(
        path,
        "DELETE FROM plans",
        "UPDATE rankings SET fingerprint = 'newer' "
        "WHERE rowid = (SELECT max(rowid) FROM rankings WHERE set_name = 'one')",
    )
    with pytest.raises(ValueError, match="holds no cell of the plan small"):
        read_experiment(path, small_plan(sets=["one"]))


def test_reading_leaves_the_file_and_its_folder_as_they_were(path):
    before = path.read_bytes()
    read_experiment(path)

    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_reading_and_running_do_not_stop_each_other(path):
    with stored._reading(path) as connection, Store(path, "judge") as store:
        query = "SELECT count(*) FROM rankings"
        before = connection.execute(query).fetchone()
        another = cells.Cell("one", "a", "none", "SCFS", "{}", 2)
        store.save(another, Outcome(FAILED, "ValueError"))
        after = connection.execute(query).fetchone()

        assert before == after == (2 * PER_SET,)


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="may write everywhere"
)
def test_a_store_in_a_folder_that_nobody_may_write_to_is_read(path):
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        experiment = read_experiment(path)
    finally:
        path.parent.chmod(0o755)

    assert experiment.count().missing == 0


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
        (
            lambda path: change(path, "PRAGMA user_version = 1"),
            "has version 1 of the store and this ufselect knows version",
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
def test_a_record_is_read_as_it_was_written(name):
    plan = read_plan(plan_path(name))
    before = Record(plan, FINGERPRINTS, {"three": "nowhere"}, versions_here())
    after = record_from(json.dumps(asdict(before)))
    sets = {name: name for name in plan.sets}

    assert after == before
    assert list(roles_of(after.plan, sets)) == list(roles_of(plan, sets))


def test_a_parameter_of_another_type_is_another_plan():
    whole, real = (
        small_plan(methods=[{"selector": "SCFS", "grid": {"alpha": [value]}}])
        for value in (1, 1.0)
    )
    record = Record(whole, FINGERPRINTS, {}, versions_here())

    assert whole == real
    assert record.is_of(whole)
    assert not record.is_of(real)

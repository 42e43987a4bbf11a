import sqlite3

import numpy as np
import pytest
from small_experiments import planted_sets, small_plan

from reliability.old_stores import make_version_1
from ufselect.experiments import cells
from ufselect.experiments.cells import FIXED, digest, judge_key, roles_of
from ufselect.experiments.judging import Score
from ufselect.experiments.readings import Place
from ufselect.experiments.records import Record
from ufselect.experiments.runner import run_plan
from ufselect.experiments.seals import seal_everything
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


def change(path, *statements):
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
        seal_everything(connection)
    connection.close()


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


def test_a_store_from_before_needs_its_plan(path):
    make_version_1(path, plans=False)

    with pytest.raises(ValueError, match="name the plan with --plan PLAN"):
        read_experiment(path)

    assert read_experiment(path, small_plan()).count().ranked == 2 * PER_SET


def test_a_set_without_a_cell_is_absent_where_the_store_does_not_say_why(path):
    make_version_1(path, plans=False)
    experiment = read_experiment(path, small_plan(sets=["one", "three"]))

    assert experiment.record.absent == {"three": NOT_BEGUN}
    assert experiment.count().cells == PER_SET


def test_the_plan_that_was_run_last_is_taken_unless_one_is_named(path, tmp_path):
    located = planted_sets(tmp_path)
    other = small_plan(name="other", sets=["one"])
    run_plan(other, path, located)
    newest, named = read_experiment(path), read_experiment(path, small_plan())

    assert newest.plan == other
    assert newest.others == ["small"]
    assert named.plan == small_plan()
    assert named.others == ["other"]


def test_another_plan_is_refused_with_its_name(complete):
    other = small_plan(name="other", sets=["somewhere"])

    with pytest.raises(ValueError, match="holds no cell of the plan other; compute"):
        read_experiment(complete, other)


def test_a_store_without_a_cell_is_refused(path):
    tables = ("scores", "judgements", "rankings")
    change(path, *(f"DELETE FROM {table}" for table in tables))

    with pytest.raises(ValueError, match="holds no cell of the plan small; compute"):
        read_experiment(path)


def test_a_plan_that_cannot_be_read_is_no_trouble_if_it_is_given(path):
    change(path, f"UPDATE plans SET content = '{{}}', key = '{digest(['{}'])}'")

    with pytest.raises(ValueError, match="name the plan with --plan PLAN"):
        read_experiment(path)

    assert read_experiment(path, small_plan()).count().ranked == 2 * PER_SET


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

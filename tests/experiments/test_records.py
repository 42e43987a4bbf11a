import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from small_experiments import small_plan

from reliability.old_stores import make_version_1
from ufselect._version import RELEASE
from ufselect.experiments.cells import digest, judge_key, roles_of
from ufselect.experiments.plan import read_plan
from ufselect.experiments.plan_files import plan_names, plan_path
from ufselect.experiments.records import (
    Record,
    record_from,
    versions_here,
    write_record,
)
from ufselect.experiments.runner import run_plan

FINGERPRINTS = {"one": "a", "two": "b"}


def record(plan):
    return Record(plan, FINGERPRINTS, {"three": "nowhere"}, versions_here())


def written(one):
    connection = sqlite3.connect(":memory:")
    write_record(connection, one)
    ((content,),) = connection.execute("SELECT content FROM plans")
    connection.close()
    return content


def test_keys_are_those_of_stores_that_are_being_filled():
    plan = small_plan()
    version = "0.1.0.dev0"
    keys = [role.cell.key_in(version) for role in roles_of(plan, FINGERPRINTS)]

    # Another value would make every store of that version worthless.
    assert digest(keys) == "0222864b028250f487556aba376948ef"
    assert judge_key(plan.judge, version) == "0da3bac4cb1a0515f891009ae08901a3"


def test_keys_of_this_version_are_the_default():
    plan = small_plan()
    cell = next(roles_of(plan, FINGERPRINTS)).cell

    assert cell.key == cell.key_in(RELEASE) != cell.key_in("another")
    assert judge_key(plan.judge) == judge_key(plan.judge, RELEASE)


@pytest.mark.parametrize("name", plan_names())
def test_a_record_is_read_as_it_was_written(name):
    plan = read_plan(plan_path(name))
    before = record(plan)
    after = record_from(written(before))
    sets = {name: name for name in plan.sets}

    assert after == before
    assert list(roles_of(after.plan, sets)) == list(roles_of(plan, sets))


def test_a_parameter_of_another_type_is_another_plan():
    whole, real = (
        small_plan(methods=[{"selector": "SCFS", "grid": {"alpha": [value]}}])
        for value in (1, 1.0)
    )

    assert whole == real
    assert record(whole).is_of(whole)
    assert not record(whole).is_of(real)


def test_the_same_record_again_becomes_the_newest():
    first, second = record(small_plan()), record(small_plan(name="other"))
    connection = sqlite3.connect(":memory:")
    for one in (first, second, first):
        write_record(connection, one)
    rows = connection.execute("SELECT content FROM plans ORDER BY rowid").fetchall()
    connection.close()

    assert [record_from(content) for (content,) in rows] == [second, first]


@pytest.mark.parametrize(
    "content", ["{", "{}", json.dumps({"plan": {"name": "small"}, "unknown": 1})]
)
def test_a_record_that_makes_no_sense_is_answered_with_the_remedy(content):
    with pytest.raises(ValueError, match="name the plan with --plan PLAN"):
        record_from(content)


def test_a_run_keeps_its_plan_before_its_cells(tmp_path, located):
    path = tmp_path / "store.sqlite"
    absent = replace(located, absent={"three": "nowhere"})
    seen = []

    def look(progress):
        connection = sqlite3.connect(path)
        seen.append(connection.execute("SELECT content FROM plans").fetchall())
        connection.close()

    plan = small_plan(sets=["one", "three"])
    run_plan(plan, path, absent, report=look)
    kept = record_from(seen[0][0][0])

    assert kept.plan == plan
    assert kept.fingerprints == located.fingerprints()
    assert kept.absent == {"three": "nowhere"}
    assert kept.version == RELEASE
    assert all(rows == seen[0] for rows in seen)


def test_a_store_from_before_is_gone_on_with_and_gets_its_plan(tmp_path, located):
    path = Path(tmp_path, "store.sqlite")
    first = run_plan(small_plan(), path, located)
    make_version_1(path, plans=False)

    again = run_plan(small_plan(), path, located)
    connection = sqlite3.connect(path)
    records = connection.execute("SELECT content FROM plans").fetchall()
    connection.close()

    assert again.known == first.total
    assert again.computed == 0
    assert len(records) == 1

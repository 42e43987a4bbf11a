import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from one_sentence import refused
from signals import heed_signals
from small_experiments import change, planted_sets, query

from ufselect.cli import main
from ufselect.experiments.plan import find_plan, plan_path

PLAN = """
name = "tiny"
description = "Two planted sets."
sets = ["one", "two"]
features = [3, 6]
clusters = "classes"

[judge]
repetitions = 2
restarts = 2

[[methods]]
selector = "SCFS"
grid = { alpha = [1.0], beta = [0.01, 1e9] }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    planted_sets(tmp_path)
    (tmp_path / "tiny.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


RUN = ["run", "tiny.toml", "--data", ".", "--jobs", "1"]


def run(*more):
    return main([*RUN, *more])


def test_tables_show_both_readings_and_the_same_command_goes_on(folder, capsys):
    code = run("--store", "kept.sqlite")
    out, err = capsys.readouterr()
    again = run("--store", "kept.sqlite", "--quiet")

    assert code == 0
    assert "accuracy, oracle: labels chose the best point of the grid" in out
    assert "accuracy, fixed: one setting, fixed before any label was seen" in out
    for label in ("SCFS", "random", "variance", "all features"):
        # Three metrics in two readings, and the costs in two tables.
        assert out.count(f"\n{label} ") >= 6
    assert "Methods are told the number of classes" in out
    assert "No statistics: 2 sets" in out
    # On a busy machine there are lines between.
    assert err.startswith("0/30 cells\n")
    assert err.endswith("30/30 cells\n")
    assert "SCFS, 2 cells (one 1, two 1): ValueError: beta=1e+09 leaves no" in out
    assert again == 0
    assert capsys.readouterr() == (out, "")
    run("--store", "kept.sqlite", "--quiet", "--json", "--markdown", "tables.md")
    content = json.loads(capsys.readouterr().out)
    tables = {(table["metric"], table["reading"]): table for table in content["tables"]}
    assert tables["accuracy", "oracle"]["labels_chose_parameters"]
    assert not tables["accuracy", "fixed"]["labels_chose_parameters"]
    assert 0 < tables["accuracy", "fixed"]["means"]["SCFS"]["one"] <= 1
    assert "| method | one | two | mean |" in (folder / "tables.md").read_text()


def test_a_bad_plan_is_answered_in_one_sentence(folder, capsys):
    for edit, sentence in [
        (("features =", "feature ="), "unknown key feature; it could be features"),
        (('"one"', '"won"'), "won"),
        (("sets = [", "sets = [["), "is not valid TOML"),
    ]:
        (folder / "tiny.toml").write_text(PLAN.replace(*edit))
        assert sentence in refused(capsys, *RUN)


def test_a_corrupt_store_and_limits_on_a_cluster_are_one_sentence(folder, capsys):
    damaged = "the store tiny.sqlite cannot be used, being damaged"
    (folder / "tiny.sqlite").write_bytes(b"not a database" * 100)

    assert damaged in refused(capsys, *RUN)
    on_cluster = ["--dask", "tcp://127.0.0.1:1", "--cell-timeout", "5"]
    (folder / "tiny.sqlite").unlink()
    said = refused(capsys, *RUN, *on_cluster)
    assert "can be limited on this machine only" in said


def test_what_can_be_read_of_a_damaged_store_is_gone_on_with_on_request(folder, capsys):
    run("--quiet")
    first = capsys.readouterr().out
    run("--quiet", "--recover")
    assert capsys.readouterr().err == "ufselect: tiny.sqlite is not damaged\n"
    store = folder / "tiny.sqlite"
    gone = "SELECT key FROM rankings WHERE set_name = 'two'"
    change(
        store,
        f"DELETE FROM scores WHERE ranking IN ({gone})",
        f"DELETE FROM judgements WHERE ranking IN ({gone})",
        "DELETE FROM rankings WHERE set_name = 'two'",
    )
    where = "SELECT rootpage FROM sqlite_master WHERE name = 'claims'"
    ((page,),) = query(store, where)
    content = bytearray(store.read_bytes())
    content[4096 * (page - 1)] ^= 0xFF
    store.write_bytes(content)
    damaged = store.read_bytes()
    complaint = refused(capsys, *RUN, "--quiet")
    code = run("--quiet", "--recover")
    out, err = capsys.readouterr()

    assert "keep what can be read with ufselect run PLAN --recover" in complaint
    assert code == 0
    assert "recovered 15 cells, 14 of them with scores; the damaged" in err
    # One of them had failed.
    assert "computed now: SCFS on one (1), SCFS on two (3), Random" in err
    # But for times and memory, at the end.
    assert out.split("seconds")[0] == first.split("seconds")[0]
    assert (folder / "tiny.sqlite.damaged").read_bytes() == damaged


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_termination_end_with_what_was_kept(folder, number):
    plan = PLAN.replace("repetitions = 2", "repetitions = 200")
    (folder / "tiny.toml").write_text(plan)
    command = [sys.executable, "-m", "ufselect", "run", "tiny.toml"]
    process = subprocess.Popen(
        [*command, "--data", ".", "--jobs", "2"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    )
    first_line = process.stderr.readline()
    process.send_signal(number)
    err = process.communicate(timeout=60)[1]

    assert first_line == "0/30 cells\n"
    assert process.returncode == 130
    assert "cells are kept in tiny.sqlite, and the same command continues" in err
    assert "Traceback" not in err


def test_a_plan_is_known_by_its_name_or_answered_with_those_that_there_are(
    folder, capsys
):
    unknown = "qick does not exist; name a plan in TOML, or one that comes with"
    for arguments, sentence in [
        (
            ["report", "none.sqlite", "--plan", "quick"],
            "none.sqlite does not exist; na",
        ),
        (["report", "none.sqlite", "--plan", "qick"], unknown),
        (["run", "qick"], unknown),
    ]:
        assert refused(capsys, *arguments).startswith(f"ufselect: {sentence}")
    assert find_plan(Path("quick")) == plan_path("quick")

"""``ufselect run``: a plan, its store, and what goes wrong."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from one_sentence import refused
from signals import heed_signals
from small_experiments import planted_sets, query

from ufselect.cli import main

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
RUN = ["run", "tiny.toml", "--data", ".", "--jobs", "1"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    planted_sets(tmp_path)
    (tmp_path / "tiny.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*more):
    return main([*RUN, *more])


@pytest.mark.slow
def test_tables_say_what_was_averaged_and_what_labels_told(folder, capsys):
    code = run("--store", "kept.sqlite", "--latex", "t.tex", "--csv", "t.csv")
    out, _ = capsys.readouterr()
    again = run("--store", "kept.sqlite", "--quiet")

    assert code == again == 0
    assert capsys.readouterr() == (out, "")
    words = " ".join(out.split())
    for sentence in (
        "accuracy in percent, oracle: labels chose the best point of the grid at every "
        "number of features",
        "accuracy in percent, fixed: one setting, fixed before any label was seen",
        "Mean over 3, 6 features (all features: all at once) ± standard "
        "deviation over repetitions: 2 seeds of k-means.",
        "repetitions: 2 seeds of k-means for each seed of the method.",
        "No statistics: 2 sets",
        "SCFS, 2 runs (one 1, two 1): ValueError: beta=1e+09 leaves no",
    ):
        assert sentence in words
    for label in ("SCFS", "random", "variance", "all features"):
        # Three metrics in two readings.
        assert out.count(f"\n{label} ") >= 6
    assert out.count("setting, number of classes") == 3
    scores = pd.read_csv("t.csv").set_index(["metric", "reading", "method", "data set"])
    mean, deviation = scores.loc[("accuracy", "fixed", "random", "one")][:2]
    shown = f"{100 * mean:.1f} ±{100 * deviation:.1f}"
    assert shown in out
    assert scores.loc[("accuracy", "fixed", "random", "one"), "repetitions"] == 2 * 10
    latex = Path("t.tex").read_text()
    assert latex.count(r"\begin{tabular}") == 6
    assert shown.replace("±", r"$\pm$") in latex


def test_bad_input_is_answered_in_one_sentence(folder, capsys):
    for edit, sentence in [
        (("features =", "feature ="), "unknown key feature; it could be features"),
        (('"one"', '"won"'), "won"),
        (("sets = [", "sets = [["), "is not valid TOML"),
    ]:
        (folder / "tiny.toml").write_text(PLAN.replace(*edit))
        assert sentence in refused(capsys, *RUN)
    (folder / "tiny.toml").write_text(PLAN)
    (folder / "tiny.sqlite").write_bytes(b"not a database" * 100)
    assert "the store tiny.sqlite cannot be used" in refused(capsys, *RUN)
    unknown = "qick does not exist; name a plan in TOML, or one that comes with"
    assert unknown in refused(capsys, "run", "qick")
    for options, code, sentence in [
        (["--csv", "no/a.csv"], 1, "the folder no does not exist"),
        (["--html", "tiny.toml"], 2, "tiny.toml is a file that this command reads"),
        (["--latex", "a", "--csv", "a"], 2, "a and a are the same file"),
    ]:
        assert sentence in refused(capsys, *RUN, *options, code=code)


@pytest.mark.slow
def test_a_damaged_store_is_named_kept_and_computed_anew(folder, capsys):
    run("--quiet", "--json")
    first = json.loads(capsys.readouterr().out)
    store = folder / "tiny.sqlite"
    os.truncate(store, store.stat().st_size // 2)
    damaged = store.read_bytes()
    code = run("--quiet", "--json")
    out, err = capsys.readouterr()

    assert code == 0
    assert err == (
        "ufselect: tiny.sqlite is damaged: it is kept as tiny.sqlite.damaged-1, and "
        "all is computed anew\n"
    )
    assert json.loads(out)["scores"] == first["scores"]
    assert Path("tiny.sqlite.damaged-1").read_bytes() == damaged


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads memory as Linux shows it")
def test_runs_beyond_a_limit_fail_and_the_exit_code_says_if_all_did(folder, capsys):
    one_seed = '[[methods]]\nselector = "RandomSelection"\nlabel = "random"\n'
    plan = PLAN.replace('"one", "two"', '"one"') + one_seed
    # A run that ends before anyone looks at its memory is done.
    plan = plan.replace("repetitions = 2", "repetitions = 100")
    (folder / "tiny.toml").write_text(plan)
    code = run("--quiet", "--json", "--run-memory", "0.01")
    failed = json.loads(capsys.readouterr().out)
    retried = run("--quiet", "--json", "--retry", "--run-timeout", "600")
    content = json.loads(capsys.readouterr().out)

    assert code == 1
    assert failed["runs"] == {"runs": 6, "done": 0, "failed": 6, "missing": 0}
    assert "it took more than the 0.01 GB that a run may take" in failed["failures"][0]
    assert retried == 0
    assert content["runs"] == {"runs": 6, "done": 5, "failed": 1, "missing": 0}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("busy", [True, False], ids=["at work", "loading"])
def test_ctrl_c_and_termination_end_with_what_was_kept(folder, number, busy):
    plan = PLAN.replace("repetitions = 2", "repetitions = 200")
    (folder / "tiny.toml").write_text(plan)
    process = subprocess.Popen(
        [sys.executable, "-m", "ufselect", *RUN[:-1], "2"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
        start_new_session=True,
    )
    table = "runs" if busy else "plans"
    while not Path("tiny.sqlite").exists() or not rows_of(table):
        assert process.poll() is None
        time.sleep(0.02)
    # As a terminal does, to every process.
    os.killpg(process.pid, number)
    err = process.communicate(timeout=60)[1]

    assert process.returncode == 130
    assert "runs are kept in tiny.sqlite, and the same command continues" in err
    assert "Traceback" not in err


def rows_of(table):
    try:
        return query("tiny.sqlite", f"SELECT * FROM {table}")
    except Exception:  # noqa: BLE001 - it is being created
        return []

"""Samples of the attacks that studies make by thousands, and that a loss is noticed."""

import ast
import ctypes
import os
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("resource")
pytest.importorskip("anndata")
pytest.importorskip("openpyxl")
pytest.importorskip("polars")
pytest.importorskip("zarr")

import ufselect
from studies.reliability import hostile_files as hostile
from studies.reliability import odd_inputs, security
from studies.reliability.watched import Trial, counted, verdicts

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it needs its limits")


@pytest.mark.parametrize("name", hostile.KINDS)
def test_what_is_whole_is_answered_and_damage_is_refused_or_harmless(tmp_path, name):
    kind, path = hostile.KINDS[name], tmp_path / name
    (kind.write or hostile.SEEDS[name])(path)
    (verdict,) = verdicts([Trial(name, partial(kind.read, path), kind.refusals)])
    outcome = hostile.of_damaged(name, 6, np.random.default_rng(0))

    assert verdict.kind == "answered", verdict
    assert (outcome.tried, outcome.all_lost) == (6, 0), outcome


@pytest.mark.parametrize("what", sorted(set(hostile.ATTACKS) - hostile.SLOW))
def test_attacks_come_to_nothing(what):
    outcome = counted(what, hostile.of_attack(what))

    assert (outcome.tried, outcome.all_lost) == (1, 0), outcome


# In a process of its own: a fork after a test that used polars inherits the locks of
# its threads, but not the threads.
ODD_INPUTS = """
from studies.reliability import odd_inputs
from studies.reliability.watched import counted, verdicts

tried = list(odd_inputs.trials(["MaxVariance", "SCFS"], odd_inputs.INPUTS))
outcome = counted("odd inputs", verdicts(tried, foreign=False))
print(outcome.answered, outcome.all_lost, outcome.note)
"""


def test_odd_inputs_are_ranked_or_refused():
    done = subprocess.run(
        [sys.executable, "-c", ODD_INPUTS],
        capture_output=True,
        check=True,
        cwd=Path(__file__).parents[2],
        text=True,
    )
    answered, lost, note = done.stdout.split(" ", 2)

    assert len(odd_inputs.INPUTS) >= 195
    assert len(odd_inputs.CLASSES) >= 21
    assert int(answered) > 150
    assert int(lost) == 0, note


def say_two_lines():
    raise ValueError("one\ntwo")


def compute_for_ever():
    while True:
        pass


@pytest.mark.parametrize(
    ("work", "kind"),
    [
        ({}.popitem, "lost"),
        (say_two_lines, "lost"),
        (partial(socket.create_connection, ("127.0.0.1", 9)), "lost"),
        (partial(os.system, "true"), "lost"),
        (partial(np.ones, 2**29), "lost"),
        (partial(ctypes.string_at, 0), "crashed"),
        (compute_for_ever, "hung"),
    ],
)
def test_the_watch_notices(work, kind):
    tried = list(verdicts([Trial("it", work, (ValueError,), seconds=1)]))
    outcome = counted("it", tried)

    assert [verdict.kind for verdict in tried] == [kind]
    assert outcome.all_lost == 1


def test_what_is_wrong_with_an_odd_input_is_noticed():
    fit = partial(odd_inputs.fit, "MaxVariance")
    table, gaps = (odd_inputs.Odd("", X, None, False) for X in ("T", "[[None]]"))

    with pytest.raises(AssertionError, match="must be refused"):
        fit(table, odd_inputs.NO)
    with pytest.raises(AssertionError, match="apart"):
        fit(table, np.arange(5.0))
    with pytest.raises(AssertionError, match="it is refused"):
        fit(gaps, np.arange(5.0))


def test_names_are_text_on_pages_and_in_spreadsheets_and_only_https_is_fetched():
    careless = "<p title='{0}'>{0}</p><script>{0}</script>".format

    assert all(security.shown(security.plain_page))
    assert not all(security.shown(careless))
    assert all(security.formulas())
    assert all(security.addresses())


def test_nothing_of_a_file_is_unpickled_or_run():
    harmful = ("pickle.load", "pickle.loads", "joblib.load", "eval", "exec")
    arrays = ("np.load", "np.lib.format.read_array")
    found = []
    for path in Path(ufselect.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name in arrays and "allow_pickle=False" in ast.unparse(node):
                continue
            if name in (*harmful, *arrays) or "read_pickle" in name:
                found.append((path.name, name))

    # What processes send one another that we started.
    second = ("second_process.py", "pickle.load")
    ours = [("isolation.py", "pickle.load"), second, second]
    assert sorted(found) == ours

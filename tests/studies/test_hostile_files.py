"""A few of the files that `python -m studies hostile_files` reads by thousands."""

import sys

import numpy as np
import pytest

pytest.importorskip("resource")
pytest.importorskip("h5py")
pytest.importorskip("openpyxl")
pytest.importorskip("pyarrow")

from studies.reliability import hostile_files as hostile
from studies.reliability.watched import Trial, verdicts

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it needs its limits")


@pytest.mark.parametrize("name", hostile.KINDS)
def test_nothing_wrong_is_answered_and_damage_is_refused_or_harmless(tmp_path, name):
    kind = hostile.KINDS[name]
    (kind.write or hostile.SEEDS[name])(tmp_path / name)
    whole = Trial(name, tmp_path / name, kind.read, kind.refusals)
    (verdict,) = verdicts([whole])
    tried = hostile._of_damaged(name, kind, 6, np.random.default_rng(0))
    outcome = hostile._outcome(name, tried)

    assert verdict.kind == "answered", verdict
    assert (outcome.tried, outcome.lost) == (6, 0), outcome


@pytest.mark.parametrize("what", sorted(set(hostile.ATTACKS) - hostile.SLOW))
def test_attacks_come_to_nothing(what):
    tried = hostile._of_attack(what, *hostile.ATTACKS[what])
    outcome = hostile._outcome(what, tried, what in hostile.HONEST)

    assert (outcome.tried, outcome.lost) == (1, 0), outcome


def raise_something(path):
    raise KeyError(path)


def open_a_connection(path):
    import socket

    socket.create_connection(("127.0.0.1", 9))


def run_a_program(path):
    import os

    os.system("true")


def take_memory(path):
    return np.ones(2**28)


@pytest.mark.parametrize(
    "read", [raise_something, open_a_connection, run_a_program, take_memory]
)
def test_the_watch_notices(tmp_path, read):
    (verdict,) = verdicts([Trial("it", tmp_path, read, (ValueError,))])

    assert verdict.kind == "lost"

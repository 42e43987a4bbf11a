import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from small_experiments import query

from ufselect.experiments.cells import Cell
from ufselect.experiments.protocol import Score
from ufselect.experiments.store import (
    DONE,
    FAILED,
    STOPPED,
    Outcome,
    RunLock,
    Store,
    is_running,
)

CELL = Cell("lung", "abc", "none", "SCFS", "{}", 0)
OTHER = Cell("lung", "abc", "none", "SCFS", "{}", 1)
OUTCOME = Outcome(
    DONE,
    order=np.array([2, 0, 1], dtype=np.int32),
    history=np.array([2.0, 1.5]),
    seconds=0.1,
    peak_memory=1000,
    scores=(Score(2, "accuracy", 0, 0.75), Score(2, "accuracy", 1, 0.5)),
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


def test_what_was_saved_is_there_after_opening_again(path):
    with Store(path, "judge") as store:
        store.save(CELL, OUTCOME)

    with Store(path, "judge") as store:
        assert store.finished() == {CELL.key}
        assert store.order_of(CELL.key).tolist() == [2, 0, 1]
    assert query(path, "SELECT history, seconds, peak_memory FROM rankings") == [
        (np.array([2.0, 1.5]).tobytes(), 0.1, 1000)
    ]
    scores = query(path, "SELECT features, metric, repetition, value FROM scores")
    assert scores == list(OUTCOME.scores)


def test_a_ranking_is_kept_however_another_judge_fares(path):
    reason = "SELECT reason FROM judgements WHERE judge = 'other judge'"
    with Store(path, "judge") as store:
        store.save(CELL, OUTCOME)
    with Store(path, "other judge") as store:
        assert store.finished() == set()
        assert store.claim(CELL.key)
        store.save(CELL, Outcome(FAILED, "ValueError: too few"), only_judged=True)
        assert query(path, reason) == [("ValueError: too few",)]
        assert store.finished() == set()
        judged = Outcome(DONE, scores=(Score(3, "accuracy", 0, 1.0),))
        store.save(CELL, judged, only_judged=True)
        assert store.finished() == {CELL.key}
    with Store(path, "judge") as store:
        assert store.finished() == {CELL.key}
        assert store.order_of(CELL.key).tolist() == [2, 0, 1]
    counts = "SELECT judge, n_scores FROM judgements ORDER BY judge"
    assert query(path, counts) == [("judge", 2), ("other judge", 1)]


def test_a_failure_keeps_its_reason_and_one_that_was_stopped_waits(path):
    stopped = Outcome(STOPPED, reason="it took longer")
    with Store(path, "judge") as store:
        store.save(CELL, Outcome(FAILED, reason="ValueError: W = 0"))
        assert query(path, "SELECT reason FROM rankings") == [("ValueError: W = 0",)]
        assert store.finished() == set()
        assert store.claim(CELL.key)
        store.save(CELL, OUTCOME)
        store.save(OTHER, stopped)
    with Store(path, "other judge") as store:
        store.save(CELL, stopped, only_judged=True)
        assert store.stopped() == {CELL.key, OTHER.key}


def test_a_cell_is_claimed_once_and_not_when_it_is_finished(path):
    with Store(path, "judge") as first, Store(path, "judge") as second:
        assert first.claim(CELL.key)
        assert not second.claim(CELL.key)
        assert second.claim(OTHER.key)
        assert second.claimed_by_others() == {CELL.key}
        first.save(CELL, OUTCOME)
        assert not second.claim(CELL.key)
    # Closing gives back what was claimed and not finished.
    with Store(path, "judge") as third:
        assert third.claim(OTHER.key)


def test_claims_die_with_the_process_that_made_them(path):
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from ufselect.experiments.store import Store\n"
        "store = Store(Path(sys.argv[1]), 'judge')\n"
        f"store.claim({CELL.key!r})\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)

    left_over = list(path.parent.glob("*.lock"))
    with Store(path, "judge") as store:
        assert len(left_over) == 1
        assert not left_over[0].exists()
        assert store.claim(CELL.key)
    path.unlink()
    # A run is alive until its lock is closed.
    lock = RunLock(path)
    alive = is_running(path, lock.name)
    lock.close()

    assert alive
    assert not is_running(path, lock.name)
    assert list(path.parent.iterdir()) == []


def test_a_cell_is_written_whole_and_a_missing_folder_is_named(path):
    half = OUTCOME._replace(scores=(Score(2, "accuracy", 0, None),))
    with Store(path, "judge") as store:
        with pytest.raises(ValueError, match="NOT NULL"):
            store.save(CELL, half)
        assert store.order_of(CELL.key) is None
    with pytest.raises(ValueError, match="nowhere does not exist"):
        Store(path.parent / "nowhere" / "store.sqlite", "judge")


def test_without_space_nothing_is_lost_and_the_remedy_is_said(path):
    big = OUTCOME._replace(order=np.arange(100_000, dtype=np.int32))
    with Store(path, "judge") as store:
        store.save(CELL, OUTCOME)
        store.claim(OTHER.key)
        store._connection.execute("PRAGMA max_page_count = 20")
        with pytest.raises(
            ValueError, match=r"no space left for the store .* free some"
        ):
            store.save(OTHER, big)

        # The store goes on as if nothing had happened.
        assert store.finished() == {CELL.key}
        store._connection.execute("PRAGMA max_page_count = 1000")
        store.save(OTHER, big)
        assert store.finished() == {CELL.key, OTHER.key}
        # Where nothing can be written, closing frees the claims all the same.
        third = replace(CELL, seed=2)
        store.claim(third.key)
        store._connection.execute("PRAGMA query_only = ON")
    assert list(path.parent.iterdir()) == [path]
    with Store(path, "judge") as store:
        assert store.claim(third.key)

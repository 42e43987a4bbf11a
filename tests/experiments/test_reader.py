import os
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from ufselect.experiments.cells import Cell
from ufselect.experiments.judging import Score
from ufselect.experiments.reader import StoreReader
from ufselect.experiments.store import DONE, FAILED, Outcome, Store

CELL = Cell("lung", "abc", "none", "SCFS", "{}", 0)
OTHER = Cell("lung", "abd", "none", "SCFS", "{}", 1)
OUTCOME = Outcome(
    DONE,
    order=np.array([2, 0, 1], dtype=np.int32),
    history=np.array([2.0, 1.5]),
    seconds=0.1,
    peak_memory=1000,
    scores=(Score(2, "accuracy", 0, 0.75),),
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "store.sqlite"
    with Store(path, "judge") as store:
        store.save(CELL, OUTCOME)
        store.save(OTHER, Outcome(FAILED, reason="ValueError: W = 0"))
    return path


def test_everything_that_was_saved_is_read(path):
    with StoreReader(path) as reader:
        fits = reader.fits()

        assert fits[CELL.key][:4] == (DONE, None, 0.1, 1000)
        assert fits[CELL.key].history.tolist() == [2.0, 1.5]
        assert fits[OTHER.key] == (FAILED, "ValueError: W = 0", None, None, None)
        assert list(reader.scores("judge")) == [(CELL.key, OUTCOME.scores[0])]
        assert list(reader.scores("another")) == []
        assert reader.records() == []


def test_data_that_changed_is_known_by_its_newest_content(path):
    with StoreReader(path) as reader:
        assert reader.fingerprints() == {"lung": "abd"}


def test_reading_leaves_the_file_and_its_folder_as_they_were(path):
    before = path.read_bytes()
    with StoreReader(path) as reader:
        reader.fits()

    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_store_is_read_as_it_was_at_first_while_a_run_fills_it(path):
    later = Cell("lung", "abd", "none", "SCFS", "{}", 2)
    with Store(path, "judge") as store, StoreReader(path) as reader:
        before = len(reader.fits())
        store.save(later, OUTCOME)
        after = len(reader.fits())

        assert before == after == 2
    with StoreReader(path) as reader:
        assert len(reader.fits()) == 3


def test_a_reader_does_not_stop_a_run(path):
    with StoreReader(path) as reader:
        reader.fits()
        with Store(path, "judge") as store:
            assert store.claim(OTHER.key)


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="may write everywhere"
)
def test_a_store_in_a_folder_that_nobody_may_write_to_is_read(path):
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        with StoreReader(path) as reader:
            fits = reader.fits()
    finally:
        path.parent.chmod(0o755)

    assert len(fits) == 2


def database_of_another_program(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()


def store_of_another_version(path):
    Store(path, "judge").close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def half_a_store(path):
    with Store(path, "judge") as store:
        for seed in range(50):
            store.save(Cell("lung", "abc", "none", "SCFS", "{}", seed), OUTCOME)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: None, "does not exist; name a store that ufselect run has made"),
        (Path.mkdir, "is a folder; name a store that ufselect run has made"),
        (lambda path: path.write_text("a,b\n" * 1000), "cannot be read as a store"),
        (Path.touch, "is empty; fill it with ufselect run PLAN"),
        (database_of_another_program, "is a database of another program"),
        (
            store_of_another_version,
            "has version 99 of the store and this ufselect knows those up to",
        ),
        (half_a_store, "cannot be read as a store .* restore it from a copy"),
    ],
)
def test_what_is_no_store_is_answered_in_one_sentence(tmp_path, make, sentence):
    path = tmp_path / "odd 100% #1.sqlite"
    make(path)

    with (
        pytest.raises(ValueError, match=f"odd 100% #1.sqlite {sentence}") as error,
        StoreReader(path) as reader,
    ):
        reader.fits()

    assert "\n" not in str(error.value)

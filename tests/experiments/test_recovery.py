"""A damaged store is noticed, never overwritten, and what can be read of it is kept."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from small_experiments import change, content, query, small_plan

from ufselect.experiments.recovery import recover
from ufselect.experiments.runner import run_plan
from ufselect.experiments.store import RunLock, Store
from ufselect.experiments.stored import read_experiment

# Enough rankings and scores for several pages each.
PLAN = small_plan(
    sets=["one"],
    methods=[{"selector": "RandomSelection", "label": "random", "seeds": 60}],
    judge={"repetitions": 4, "restarts": 1},
)
PAGE = 4096


@pytest.fixture(scope="module")
def whole(tmp_path_factory, located):
    path = tmp_path_factory.mktemp("whole") / "store.sqlite"
    run_plan(PLAN, path, located)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path, whole):
    path = tmp_path / "store.sqlite"
    path.write_bytes(whole)
    return path


def kept_in(path):
    """Return the rankings and the scores of a store."""
    rankings, scores, _ = content(path)
    return set(rankings), set(scores)


def pages_of(path, table):
    """Return the pages of a table or index that hold rows."""
    pages = "SELECT pageno FROM dbstat WHERE pagetype = 'leaf' AND name = "
    try:
        return [page for (page,) in query(path, f"{pages} '{table}'")]
    except sqlite3.OperationalError:
        pytest.skip("this SQLite does not say where pages are")


def overwrite(path, page):
    """Put noise in the place of a page."""
    damaged = bytearray(path.read_bytes())
    noise = np.random.default_rng(page).bytes(PAGE)
    damaged[(page - 1) * PAGE : page * PAGE] = noise
    path.write_bytes(damaged)


def check_recovery(path, located, whole, least):
    """Recover a store and complete it; at least so many rankings must be kept."""
    damaged = path.read_bytes()
    for use in (read_experiment, lambda path: Store(path, "judge")):
        with pytest.raises(ValueError, match=r"store\.sqlite cannot be .*--recover"):
            use(path)
    assert path.read_bytes() == damaged

    recovered = recover(path)
    kept = kept_in(path)
    progress = run_plan(PLAN, path, located)
    completed = kept_in(path)

    assert recovered.damaged.read_bytes() == damaged
    assert least <= recovered.rankings == len(kept[0])
    assert progress.known == recovered.judgements
    assert progress.computed == progress.total - progress.known
    path.write_bytes(whole)
    everything = kept_in(path)
    assert kept[0] <= everything[0]
    assert kept[1] <= everything[1]
    assert completed == everything


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_a_store_that_was_cut_gives_what_is_left(path, whole, located, share):
    path.write_bytes(whole[: int(share * len(whole))])

    check_recovery(path, located, whole, least=1)


@pytest.mark.parametrize("table", ["rankings", "scores", "judgements"])
@pytest.mark.parametrize("place", [0, 1, -1])
def test_an_overwritten_page_costs_what_was_on_it(path, located, whole, table, place):
    pages = pages_of(path, table)
    overwrite(path, pages[min(place, len(pages) - 1)])

    # A page holds fewer than thirty rankings.
    check_recovery(path, located, whole, least=62 - 30)


def test_an_order_that_is_none_is_computed_again(path, located, whole):
    change(path, "UPDATE rankings SET feature_order = zeroblob(48) WHERE rowid = 3")
    overwrite(path, pages_of(path, "sqlite_autoindex_rankings_1")[0])

    check_recovery(path, located, whole, least=61)


def test_what_a_killed_run_left_in_the_journal_is_kept(tmp_path, path, whole, located):
    killed = tmp_path / "killed.sqlite"
    Store(killed, "judge").close()
    with closing(sqlite3.connect(killed)) as reader:
        # Keeps the journal from being written back.
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM rankings").fetchone()
        run_plan(PLAN, killed, located)
        path.write_bytes(killed.read_bytes())
        journal = (tmp_path / "killed.sqlite-wal").read_bytes()
    (tmp_path / "store.sqlite-wal").write_bytes(journal)

    assert recover(path) is None
    assert (tmp_path / "store.sqlite-wal").read_bytes() == journal
    assert read_experiment(path).count().missing == 0


def another_program(path):
    path.unlink()
    change(path, "CREATE TABLE theirs (a)")


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda path: path.write_text("a,b\n" * 1000), "nothing can be recovered from"),
        (lambda path: overwrite(path, 1), "nothing can be recovered from"),
        (another_program, "nothing can be recovered from"),
        (
            lambda path: change(path, "PRAGMA user_version = 99"),
            "has version 99 of the store",
        ),
    ],
)
def test_what_cannot_be_recovered_stays_as_it_is(path, spoil, sentence):
    spoil(path)
    before = path.read_bytes()

    with pytest.raises(ValueError, match=sentence) as error:
        recover(path)

    assert "\n" not in str(error.value)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_nothing_is_recovered_under_a_run_or_from_nothing(path, tmp_path):
    with closing(RunLock(path)), pytest.raises(ValueError, match="a run is using"):
        recover(path)
    with pytest.raises(ValueError, match="does not exist; there is nothing to recover"):
        recover(tmp_path / "none.sqlite")


def test_a_whole_store_stays_as_it_is_and_a_second_recovery_overwrites_nothing(
    path, whole
):
    assert recover(path) is None
    assert path.read_bytes() == whole
    assert list(path.parent.iterdir()) == [path]
    kept = []
    for _ in range(2):
        overwrite(path, pages_of(path, "scores")[0])
        kept.append(recover(path).damaged.name)

    assert kept == ["store.sqlite.damaged", "store.sqlite.damaged1"]

"""A damaged store is noticed, never overwritten, and what is intact of it is kept."""

import sqlite3
import struct
from contextlib import closing

import numpy as np
import pytest
from small_experiments import planted_sets, small_plan

from reliability.old_stores import make_version_1
from ufselect.experiments.owners import Owner
from ufselect.experiments.recovery import recover
from ufselect.experiments.runner import run_plan
from ufselect.experiments.store import Store
from ufselect.experiments.stored import read_experiment

METHODS = {"sets": ["one"], "methods": [{"selector": "LaplacianScore"}]}


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    return planted_sets(tmp_path_factory.mktemp("sets"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory, sets):
    path = tmp_path_factory.mktemp("whole") / "store.sqlite"
    run_plan(small_plan(**METHODS), path, sets)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path, whole):
    path = tmp_path / "store.sqlite"
    path.write_bytes(whole)
    return path


def rows(path, table):
    with closing(sqlite3.connect(path)) as connection:
        return set(connection.execute(f"SELECT * FROM {table}").fetchall())


def change(path, statement):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def flip(path, place, bits=0xFF):
    content = bytearray(path.read_bytes())
    content[place] ^= bits
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE scores SET value = value + 1e-9", "scores are not what was written"),
        ("UPDATE rankings SET seed = seed + 1", "a ranking of"),
        ("UPDATE rankings SET feature_order = zeroblob(48)", "a ranking of"),
        ("DELETE FROM scores", "some scores are missing"),
        ("DELETE FROM judgements", "scores are not what was written"),
        ("UPDATE plans SET content = ' ' || content", "a plan is not"),
        ("UPDATE rankings SET parameters = CAST(x'80' AS TEXT)", "a text is not"),
    ],
)
def test_a_value_that_is_not_what_was_written_is_noticed(path, statement, what):
    change(path, statement)
    before = path.read_bytes()

    with pytest.raises(ValueError, match=rf"damaged \(.*{what}.*\); restore it from"):
        Store(path, "judge")
    with pytest.raises(ValueError, match=rf"\(.*{what}.*\); name one that"):
        read_experiment(path)

    assert path.read_bytes() == before


def test_what_is_intact_is_kept_and_the_rest_computed_again(path, sets):
    rankings, scores = rows(path, "rankings"), rows(path, "scores")
    change(path, "UPDATE scores SET value = 0.5 WHERE ranking LIKE 'a%'")
    change(path, "UPDATE rankings SET seed = 1 WHERE selector = 'LaplacianScore'")
    damaged = path.read_bytes()

    recovered = recover(path)
    progress = run_plan(small_plan(**METHODS), path, sets)

    assert recovered.rankings == 12
    assert progress.known == recovered.judgements
    assert {row[:-4] for row in rows(path, "rankings")} == {
        row[:-4] for row in rankings
    }
    assert rows(path, "scores") == scores
    assert recovered.damaged.read_bytes() == damaged


def test_a_store_with_flipped_bytes_is_as_it_was_or_refused(path, whole, tmp_path):
    random = np.random.default_rng(0)
    rankings, scores = rows(path, "rankings"), rows(path, "scores")
    refused, rescued = [], []
    for place in random.integers(0, len(whole), 60):
        path.write_bytes(whole)
        flip(path, place, int(random.integers(1, 256)))
        try:
            Store(path, "judge").close()
        except ValueError as error:
            refused.append(str(error))
            try:
                rescued.append(recover(path).rankings)
            except ValueError:
                continue
        assert rows(path, "rankings") <= rankings
        assert rows(path, "scores") <= scores

    assert len(refused) > 10
    assert not any("\n" in sentence for sentence in refused)
    # One byte harms few cells.
    assert np.median(rescued) >= 10


def ends_of(content, path):
    """Return where the last byte is of every ranking, and of every judgement."""
    ends = {row[0]: end_of(content, row[-1]) for row in rows(path, "rankings")}
    judged = {row[0]: end_of(content, row[-1]) for row in rows(path, "judgements")}
    for key in judged:
        of_it = [row for row in rows(path, "scores") if row[0] == key]
        places = [end_of(content, *as_written(row)) for row in of_it]
        judged[key] = max([ends[key], judged[key], *places])
    return ends, judged


def as_written(score):
    """Return the values of a score as they stand in the file; 0 and 1 take no byte."""
    key, judge, features, metric, repetition, value = score
    numbers = [bytes([each]) if each > 1 else b"" for each in (features, repetition)]
    number = b"" if value in (0, 1) else struct.pack(">d", value)
    return key, judge, numbers[0], metric, numbers[1], number


def end_of(content, *values):
    written = b"".join(v.encode() if isinstance(v, str) else v for v in values)
    return content.rindex(written) + len(written)


def test_all_that_is_whole_in_a_store_that_was_cut_comes_back(path, whole):
    ends, judged = ends_of(whole, path)
    rankings, scores = rows(path, "rankings"), rows(path, "scores")
    kept = []
    for length in range(len(whole) - 1, 0, -len(whole) // 30):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="cannot be used, being damaged"):
            Store(path, "judge")
        try:
            recover(path)
        except ValueError:
            assert path.read_bytes() == whole[:length]
            assert min(ends.values()) > length
            continue
        kept.append(len(rows(path, "rankings")))
        assert {key for key, end in ends.items() if end <= length} <= {
            row[0] for row in rows(path, "rankings")
        }
        assert {key for key, end in judged.items() if end <= length} <= {
            row[0] for row in rows(path, "judgements")
        }
        assert rows(path, "rankings") <= rankings
        assert rows(path, "scores") <= scores

    assert kept[0] == len(rankings)
    assert min(kept) < len(rankings)


@pytest.mark.parametrize(
    ("place", "content"),
    [
        (0, bytes(100)),  # The header of the file.
        (0, bytes(4096)),  # Also the list of tables.
        (16, b"\x20\0"),  # Another size of pages.
        (68, b"beef"),  # The mark by which our files are known.
    ],
)
def test_a_store_whose_beginning_is_gone_gives_all_its_cells(
    path, whole, place, content
):
    everything = [rows(path, table) for table in ("rankings", "scores", "plans")]
    path.write_bytes(whole[:place] + content + whole[place + len(content) :])

    recover(path)

    tables = [rows(path, table) for table in ("rankings", "scores", "plans")]
    assert tables == everything
    assert read_experiment(path).count().missing == 0


@pytest.fixture(scope="module")
def with_journal(tmp_path_factory, sets):
    """Return a store, and the files of one that was killed when all was finished."""
    path = tmp_path_factory.mktemp("killed") / "store.sqlite"
    Store(path, "judge").close()
    with closing(sqlite3.connect(path)) as reader:
        # Keeps the journal from being written back.
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM rankings").fetchone()
        run_plan(small_plan(**METHODS), path, sets)
        files = [path.with_name(name).read_bytes() for name in KILLED]
    return path, files


KILLED = ("store.sqlite", "store.sqlite-wal")


@pytest.fixture
def killed(tmp_path, with_journal):
    for name, content in zip(KILLED, with_journal[1], strict=True):
        (tmp_path / name).write_bytes(content)
    return tmp_path / KILLED[0]


def test_what_is_in_a_whole_journal_only_is_read(killed):
    assert read_experiment(killed).count().missing == 0


@pytest.mark.parametrize("use", [read_experiment, lambda path: Store(path, "j")])
@pytest.mark.parametrize("place", [3, 20, 40, 50, 60, 10_000, 50_000])
def test_damage_in_a_journal_does_not_hide_what_comes_after(
    killed, with_journal, place, use
):
    journal = killed.with_name(KILLED[1])
    flip(journal, place)
    before = journal.read_bytes()

    with pytest.raises(ValueError, match=r"damage in its journal hides .*--recover"):
        use(killed)
    assert journal.read_bytes() == before
    recovered = recover(killed)

    assert rows(killed, "rankings") <= rows(with_journal[0], "rankings")
    # One byte harms one cell at most, and those in older pages are left.
    assert recovered.rankings >= 12
    assert recovered.judgements >= 12


def test_a_journal_that_ends_in_a_transaction_is_no_damage(killed):
    journal = killed.with_name(KILLED[1])
    journal.write_bytes(journal.read_bytes()[:-1])

    Store(killed, "judge").close()

    assert len(rows(killed, "rankings")) >= 12


@pytest.mark.parametrize("use", [read_experiment, lambda path: Store(path, "j")])
def test_damage_that_is_no_text_even_in_its_message_is_told_with_the_remedy(
    path, whole, use
):
    place = whole.index(b"CREATE TABLE rankings")
    path.write_bytes(whole[:place] + b"CREATE \xffABLE" + whole[place + 12 :])

    with pytest.raises(ValueError, match=r"store\.sqlite cannot be .*--recover"):
        use(path)

    assert recover(path).rankings == 13


def test_a_store_whose_list_of_tables_is_gone_is_not_begun_anew(path, whole):
    # The number of cells of the first page, which lists the tables.
    content = bytearray(whole)
    content[103:105] = b"\0\0"
    path.write_bytes(content)

    with pytest.raises(ValueError, match="its list of tables is gone"):
        Store(path, "judge")

    assert path.read_bytes() == content


@pytest.mark.parametrize("use", [read_experiment, lambda path: Store(path, "j")])
def test_damage_that_has_line_breaks_is_told_in_one_line(path, whole, use):
    place = whole.index(b"CREATE TABLE rankings")
    path.write_bytes(whole[:place] + b"CREATE\nTABEL\n" + whole[place + 13 :])

    with pytest.raises(ValueError, match="TABEL") as error:
        use(path)

    assert "\n" not in str(error.value)


def test_what_is_no_store_cannot_be_recovered_and_stays(path):
    path.write_text("a,b\n1,2\n" * 1000)

    with pytest.raises(ValueError, match="nothing can be recovered from"):
        recover(path)

    assert path.read_text().startswith("a,b")
    assert list(path.parent.iterdir()) == [path]


def test_a_store_that_is_not_damaged_stays_as_it_is(path, whole):
    assert recover(path) is None
    assert path.read_bytes() == whole
    assert list(path.parent.iterdir()) == [path]


def test_a_store_that_is_not_there_is_not_recovered(tmp_path):
    with pytest.raises(ValueError, match="does not exist; there is nothing to recover"):
        recover(tmp_path / "none.sqlite")


def test_nothing_is_recovered_under_a_run(path):
    owner = Owner(path)
    with pytest.raises(ValueError, match="a run is at work on"):
        recover(path)
    owner.close()


def test_a_second_recovery_overwrites_nothing(path):
    kept = []
    for seed in (1, 2):
        change(path, f"UPDATE rankings SET seed = {seed} WHERE rowid = {seed}")
        kept.append(recover(path).damaged.name)

    assert kept == ["store.sqlite.damaged", "store.sqlite.damaged1"]


def test_a_store_of_the_first_version_is_migrated_with_all_it_has(path, sets):
    rankings, scores = rows(path, "rankings"), rows(path, "scores")
    make_version_1(path)
    before = read_experiment(path).count()

    progress = run_plan(small_plan(**METHODS), path, sets)

    assert before.ranked == before.cells
    assert (progress.known, progress.computed) == (progress.total, 0)
    assert rows(path, "rankings") == rankings
    assert rows(path, "scores") == scores


def test_a_damaged_store_of_the_first_version_gives_what_makes_sense(path, sets):
    make_version_1(path)
    change(path, "UPDATE rankings SET seed = 1 WHERE selector = 'LaplacianScore'")
    # SQLite itself notices this one, a page that is no page.
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'claims'"
        (page,) = connection.execute(query).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    flip(path, (page - 1) * size)

    recovered = recover(path)
    progress = run_plan(small_plan(**METHODS), path, sets)

    assert recovered[:2] == (12, 12)
    assert (progress.known, progress.computed) == (12, 1)


@pytest.mark.parametrize(
    ("selector", "missing"),
    [
        ("LaplacianScore", "repetition = 0"),
        ("LaplacianScore", "features = 3"),
        ("RandomSelection", "repetition = 1"),
        ("RandomSelection", "metric = 'nmi_max'"),
        ("all features", "repetition = 1"),
    ],
)
def test_scores_without_a_seal_are_not_believed_if_one_is_missing(
    path, selector, missing
):
    make_version_1(path)
    key = min(row[0] for row in rows(path, "rankings") if row[4] == selector)
    change(path, f"DELETE FROM scores WHERE ranking = '{key}' AND {missing}")
    flip(path, 100)

    recovered = recover(path)

    assert recovered[:2] == (13, 12)
    assert key not in {row[0] for row in rows(path, "scores")}

"""A checkpoint is whole, belongs to its owner, and is never taken for another."""

import numpy as np
import pytest

from ufselect.data.checkpoints import Checkpoint, fingerprint


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.npz"


def test_what_was_written_last_is_read(path):
    place = Checkpoint(path, [1])

    place.write({"reached": np.arange(3.0)})
    place.write({"reached": np.arange(2.0), "more": np.array(0.5)})
    found = place.read()

    assert found.keys() == {"reached", "more"}
    np.testing.assert_array_equal(found["reached"], [0, 1])


def test_without_a_file_there_is_nothing(path):
    assert Checkpoint(path, [1]).read() is None


def test_removing_leaves_nothing_behind(path):
    place = Checkpoint(path, [1])
    place.write({"reached": np.arange(3.0)})

    place.remove()
    place.remove()

    assert list(path.parent.iterdir()) == []


def test_a_write_that_fails_leaves_what_was_there(path, monkeypatch):
    place = Checkpoint(path, [1])
    place.write({"reached": np.arange(3.0)})

    def full(stream, **arrays):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        place.write({"reached": np.zeros(9)})

    np.testing.assert_array_equal(place.read()["reached"], [0, 1, 2])
    assert [each.name for each in path.parent.iterdir()] == ["fit.npz"]


def test_the_file_of_another_work_is_refused(path):
    Checkpoint(path, [1, np.zeros(3)]).write({"reached": np.arange(3.0)})

    with pytest.raises(ValueError, match=r"belongs to another fit.*delete it"):
        Checkpoint(path, [1, np.ones(3)]).read()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_broken_file_is_refused(path, share):
    place = Checkpoint(path, [1])
    place.write({"reached": np.arange(300.0)})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])

    with pytest.raises(ValueError, match=r"cannot be read .*delete it"):
        place.read()


def test_a_file_with_pickles_is_refused(path):
    np.savez(path, belongs_to=np.array(fingerprint([1])), reached=np.array([{}]))

    with pytest.raises(ValueError, match=r"cannot be read .*delete it"):
        Checkpoint(path, [1]).read()


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"folder that does not exist; make .*nowhere"):
        Checkpoint(tmp_path / "nowhere" / "fit.npz", [1])


@pytest.mark.parametrize(
    "others",
    [[1, "ab"], ["1", "a"], [1, "a", "b"], [np.ones(1), "a"], [1.0, "a"], ["1a"]],
)
def test_fingerprints_differ_with_the_inputs(others):
    assert fingerprint([1, "a"]) != fingerprint(others)


def test_fingerprints_tell_arrays_apart_by_shape_and_type():
    arrays = [
        np.zeros(4),
        np.zeros((2, 2)),
        np.zeros(8, dtype=np.float32),
        np.zeros(4, dtype=np.int64),
    ]

    assert len({fingerprint([array]) for array in arrays}) == 4

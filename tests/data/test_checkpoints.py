"""A checkpoint is whole, belongs to its owner, and is never taken for another."""

import hashlib
import io
import os
import zipfile

import numpy as np
import pytest

from ufselect.data.checkpoints import OPENING, Checkpoint, fingerprint


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.npz"


def test_what_was_written_last_is_read_until_it_is_removed(path):
    place = Checkpoint(path, [1])
    assert place.read() is None

    place.write({"reached": np.arange(3.0)})
    place.write({"reached": np.arange(2.0), "more": np.array(0.5)})
    found = place.read()

    assert found.keys() == {"reached", "more"}
    np.testing.assert_array_equal(found["reached"], [0, 1])
    place.remove()
    place.remove()
    assert list(path.parent.iterdir()) == []


def refused(place, message):
    with pytest.raises(ValueError, match=message):
        place.read()


def test_a_file_of_other_work_or_without_an_entry_is_refused(path):
    Checkpoint(path, [1, np.zeros(3)]).write({"reached": np.arange(3.0)})
    other = Checkpoint(path, [1, np.ones(3)])
    refused(other, r"belongs to a fit with another X.*delete it")
    place = Checkpoint(path, [1], ["reached", "most", "more"])
    place.write({"reached": np.arange(3.0)})
    refused(place, r"it has no more, most\); delete it")


def test_no_changed_byte_and_no_part_of_a_file_is_accepted(path):
    place = Checkpoint(path, [1])
    place.write({"reached": np.arange(30.0), "more": np.array(0.5)})
    whole = path.read_bytes()
    for share in (0.0, 0.3, 0.9):
        path.write_bytes(whole[: int(share * len(whole))])
        refused(place, r"cannot be read .*delete it")
    for where in range(0, len(whole), 7):
        content = bytearray(whole)
        content[where] ^= 1 << where % 8
        path.write_bytes(content)
        refused(place, r"cannot be read .*delete it")


def forge(path, save=np.savez, **arrays):
    """Write a file with the right owner and digest, and any content."""
    content = io.BytesIO()
    save(content, belongs_to=np.array(fingerprint([1])), **arrays)
    digest = hashlib.sha256(content.getvalue()).hexdigest().encode()
    path.write_bytes(OPENING + digest + b"\n" + content.getvalue())


def more_than_there_is(stream, **arrays):
    inner = io.BytesIO()
    np.save(inner, np.zeros(7))
    wide = inner.getvalue().replace(b"(7,), }" + b" " * 10, b"(70000000000,), }")
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("X.npy", wide)


class Program:
    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


def test_files_with_pickles_bombs_or_no_digest_are_refused(path):
    place = Checkpoint(path, [1])
    forge(path, reached=np.array([Program()], dtype=object))
    refused(place, r"cannot be read .*Python objects .*delete it")
    forge(path, np.savez_compressed, reached=np.zeros(10**6))
    refused(place, r"'belongs_to.npy' is compressed.*delete it")
    forge(path, more_than_there_is)
    refused(place, r"which is more than it holds.*delete it")
    with path.open("wb") as stream:
        np.savez(stream, belongs_to=np.array(fingerprint([1])), reached=np.zeros(3))
    refused(place, r"does not begin with 'ufselect checkpoint.*delete it")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
def test_a_pipe_is_not_waited_for_and_a_missing_folder_is_named(path):
    os.mkfifo(path)
    refused(Checkpoint(path, [1]), r"it is not a file\); delete it")
    with pytest.raises(ValueError, match=r"does not exist; create .*nowhere"):
        Checkpoint(path.parent / "nowhere" / "fit.npz", [1])


def test_fingerprints_differ_with_the_inputs():
    others = [[1, "a"], [1, "ab"], ["1", "a"], [1, "a", "b"], [np.ones(1), "a"]]
    others += [[1.0, "a"], ["1a"], [np.zeros(4)], [np.zeros((2, 2))]]
    others += [[np.zeros(8, dtype=np.float32)], [np.zeros(4, dtype=np.int64)]]

    assert len({fingerprint(inputs) for inputs in others}) == len(others)

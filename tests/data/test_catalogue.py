"""The catalogue itself, and the checksums that it gives."""

import re
import subprocess
from urllib.parse import urlsplit

import numpy as np
import pytest

from ufselect.data import catalogued_sets, read_labelled
from ufselect.data.catalogue import has_checksum, unknown_name

SETS = catalogued_sets()
CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}|git-blob:[0-9a-f]{40}")


@pytest.mark.parametrize("name", list(SETS))
def test_entry_is_complete(name):
    entry = SETS[name]

    assert entry.name == name
    assert entry.domain
    assert 1 < entry.n_classes < entry.n_samples
    assert CHECKSUM.fullmatch(entry.checksum)
    assert urlsplit(entry.source).scheme == "https"
    assert all(urlsplit(address).scheme == "https" for address in entry.addresses)
    assert len(set(entry.addresses)) == len(entry.addresses)


def test_data_of_the_paper_can_be_downloaded():
    paper = ["lung", "lymphoma", "Prostate-GE", "ORL", "Isolet", "BASEHOCK"]
    lung = SETS["lung"]

    assert all(SETS[name].addresses for name in paper)
    assert lung.checksum == "git-blob:becb82c675f788b040d5ced741955e19b94ce9b8"
    assert lung[2:5] == (203, 3312, 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SETS if name != "lung"])
def test_entry_describes_the_file(name, data_folder):
    entry = SETS[name]
    path = data_folder / entry.file_name
    if not path.is_file():
        pytest.skip(f"{data_folder} has no {entry.file_name}")
    data = read_labelled(path)
    n_classes = len(np.unique(data.classes))

    assert data.table.shape == (entry.n_samples, entry.n_features)
    assert n_classes == entry.n_classes
    assert path.stat().st_size == entry.size
    assert has_checksum(path, entry.checksum)


def test_sha256_is_that_of_the_standard(tmp_path):
    path = tmp_path / "abc"
    path.write_bytes(b"abc")
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    assert has_checksum(path, f"sha256:{digest}")
    assert not has_checksum(path, f"sha256:{'0' * 64}")


def test_unknown_name_is_answered_with_near_names_or_the_command_that_lists():
    near = {"Lung": "lung", "prostate_ge": "Prostate-GE", "minee": "mine"}
    for name, other in near.items():
        message = str(unknown_name(name, ["mine"]))
        assert f"there is no data set {name!r}; did you mean {other}" in message
    assert "ufselect datasets lists" in str(unknown_name("xyzzy"))


def test_git_blob_id_is_that_of_git(tmp_path):
    path = tmp_path / "abc"
    # More than one block of reading.
    path.write_bytes(b"abc" * 500_000)
    command = ["git", "hash-object", "--no-filters", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        pytest.skip("git is not installed")

    assert has_checksum(path, f"git-blob:{done.stdout.strip()}")

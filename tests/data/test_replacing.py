"""Writing: links, modes, pipes, devices, full disks; whole or not at all."""

import errno
import os
import stat
import threading
from pathlib import Path

import numpy as np
import pytest

from ufselect import LaplacianScore, save_selector
from ufselect.data import read_table, write_table
from ufselect.data.replacing import replacing, write_whole


def table(folder):
    np.save(folder / "source.npy", np.arange(6.0).reshape(3, 2))
    return read_table(folder / "source.npy")


WRITERS = {
    "text": lambda folder, path: write_whole(path, "new, and longer than before"),
    "table": lambda folder, path: write_table(table(folder), [0], path),
    "model": lambda folder, path: save_selector(LaplacianScore(), path),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_links_and_modes_are_kept(tmp_path, kind):
    file, link, twin = (tmp_path / name for name in ("a.csv", "link.csv", "twin.csv"))
    file.write_text("old")
    file.chmod(0o600)
    link.symlink_to(file.name)
    WRITERS[kind](tmp_path, link)

    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    content = file.read_bytes()
    assert len(content) > len(b"old")
    os.link(file, twin)
    file.write_text("older" * 1000)
    WRITERS[kind](tmp_path, file)
    assert file.samefile(twin)
    assert twin.read_bytes()[:20] == content[:20]
    assert len(twin.read_bytes()) == len(content)
    assert not list(tmp_path.glob(".*"))


def test_what_is_no_file_is_written_through_or_refused(tmp_path):
    pipe, received = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "through")
    reader.join(timeout=10)
    device = tmp_path / "null"
    device.symlink_to("/dev/null")
    write_table(table(tmp_path), [0], device)

    reading, writing = os.pipe()
    write_whole(Path(f"/dev/fd/{writing}"), "also")
    os.close(writing)
    with os.fdopen(reading) as stream:
        received.append(stream.read())

    assert received == ["through", "also"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert stat.S_ISCHR(device.stat().st_mode)
    with pytest.raises(ValueError, match=r"full cannot be written \(No space left"):
        write_whole(Path("/dev/full"), "x")
    with pytest.raises(ValueError, match="it is a folder"):
        write_whole(tmp_path, "x")


def test_a_new_file_gets_the_usual_mode_and_nothing_is_replaced_unless_told(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", "first", overwrite=False)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    with pytest.raises(ValueError, match=r"a cannot be written \(it exists\)"):
        write_whole(tmp_path / "a", "second", overwrite=False)
    with (  # noqa: PT012
        pytest.raises(FileExistsError),
        replacing(tmp_path / "b", overwrite=False) as part,
    ):
        part.write_text("mine")
        (tmp_path / "b").write_text("of somebody who was faster")
    assert (tmp_path / "a").read_text() == "first"
    assert (tmp_path / "b").read_text().startswith("of somebody")
    write_whole(tmp_path / ("long" * 62), "a name of 248 letters")
    (tmp_path / "dangling").symlink_to("target")
    write_whole(tmp_path / "dangling", b"made")
    assert (tmp_path / "target").read_bytes() == b"made"


@pytest.mark.parametrize("linked", [True, False])
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, linked):
    file = tmp_path / "a"
    file.write_text("old")
    if linked:
        os.link(file, tmp_path / "b")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left"), replacing(file) as part:  # noqa: PT012
        part.write_text("new, and longer")
        if not linked:
            full()
    assert file.read_text() == "old"
    assert not list(tmp_path.glob(".*"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_files_stay(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o400)
    with pytest.raises(ValueError, match="you have no permission"):
        write_whole(tmp_path / "a", "new")

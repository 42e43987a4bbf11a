"""Say what is wrong with a file; write files completely or not at all."""

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

Names = TypeVar("Names")
# Files that the running command reads, by device and number: whatever links lead to
# them, none is written.
IS_READ = "it is a file that this command reads"
_inputs: ContextVar[frozenset[tuple[int, int]]] = ContextVar("_inputs")


def file_problem(path: Path) -> str | None:
    """Return why a path cannot be read as a file, or None if it can.

    Examples
    --------
    >>> file_problem(Path("absent.csv"))
    'there is no file absent.csv; check the name and the folder'
    """
    try:
        kind = path.stat().st_mode
    except (FileNotFoundError, ValueError):  # a name with a NUL
        return f"there is no file {path}; check the name and the folder"
    except OSError as error:
        return (
            f"{path} cannot be opened ({error.strerror}); check the name and the folder"
        )
    if stat.S_ISDIR(kind):
        return f"{path} is a folder; give the file in it that has the table"
    if not stat.S_ISREG(kind):
        return f"{path} is a pipe or a device; give a file, or - for standard input"
    if not os.access(path, os.R_OK):
        return f"you may not read {path}; ask its owner for permission"
    return None


def protect(*files: Path | int) -> None:
    """Refuse, in this context, to write to files under any name.

    Parameters
    ----------
    *files : path or int
        Paths, or descriptors of open files. What is not there needs no protection.
    """
    found = set(_inputs.get(frozenset()))
    for file in files:
        with suppress(OSError):
            found.add(_identity(os.stat(file)))  # noqa: PTH116 - or a descriptor
    _inputs.set(frozenset(found))


def is_protected(file: Path | int) -> bool:
    """Tell whether a path, or the descriptor of an open file, is an input."""
    try:
        found = os.stat(file)  # noqa: PTH116 - or a descriptor
    except (OSError, ValueError):  # a name with a NUL
        return False
    return stat.S_ISREG(found.st_mode) and _identity(found) in _inputs.get(frozenset())


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


@contextmanager
def replacing(path: Path, *, overwrite: bool = True) -> Iterator[Path]:
    """Yield a path to write to; the file there then replaces the one at ``path``.

    If writing fails or is interrupted, an existing file stays as it was. Links are
    followed. A file that is replaced keeps its mode, its owner and its hard links.
    Pipes and terminals are written to; disks, folders and sockets are refused.

    Parameters
    ----------
    path : Path
    overwrite : bool
        Whether a file that is there may be replaced.

    Raises
    ------
    OSError
        FileExistsError without ``overwrite``, otherwise the error of the system.
        PermissionError if the file is an input.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "a.txt")) as part:
    ...         _ = part.write_text("all of it")
    ...     [path.name for path in Path(folder).iterdir()]
    ['a.txt']
    """
    before = path.stat() if path.exists() else None
    # /dev/stdout may be a pipe, which has no path.
    named = before is None or stat.S_ISREG(before.st_mode)
    target = Path(os.path.realpath(path)) if named else path
    if before is None:
        with _part_beside(target) as part:
            yield part
            _give_name(part, target, overwrite)
        return
    if not overwrite:
        raise FileExistsError(17, "it exists")
    if is_protected(path):
        raise PermissionError(13, IS_READ)
    kind = before.st_mode
    through = stat.S_ISFIFO(kind) or stat.S_ISCHR(kind)
    if not (stat.S_ISREG(kind) or through):
        what = "a folder" if stat.S_ISDIR(kind) else "a disk or a socket"
        raise OSError(22, f"it is {what}")
    if not os.access(target, os.W_OK):
        raise PermissionError(13, "you have no permission")
    # A file with several hard links keeps them only if it is written in place.
    in_place = through or before.st_nlink > 1 or not os.access(target.parent, os.W_OK)
    if in_place:
        with tempfile.TemporaryDirectory(prefix="ufselect-") as folder:
            part = Path(folder, "part")
            yield part
            _copy_over(part, target, through)
        return
    with _part_beside(target) as part:
        # Others may not read a private file, not even while it is being written.
        os.close(os.open(part, os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR))
        yield part
        with suppress(PermissionError):  # only root gives files away
            os.chown(part, before.st_uid, before.st_gid)
        part.chmod(stat.S_IMODE(kind))
        part.replace(target)


def write_whole(path: Path, content: str | bytes, *, overwrite: bool = True) -> None:
    """Write a file completely or not at all; ValueError says why it failed.

    Parameters
    ----------
    path : Path
    content : str or bytes
        Text is written in UTF-8, with its line ends as they are.
    overwrite : bool
        Whether a file that is there may be replaced.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        with replacing(path, overwrite=overwrite) as part:
            part.write_bytes(data)
    except OSError as error:
        raise ValueError(not_written(path, error)) from error


def save_unused(names: Iterable[Names], save: Callable[[Names], None]) -> Names:
    """Save under the first names that are not taken, and return them.

    Parameters
    ----------
    names : iterable
        As many as may be needed.
    save : callable
        It takes one of the names. If another process took it meanwhile, it raises a
        ValueError whose cause is a FileExistsError.
    """
    for each in names:
        try:
            save(each)
        except ValueError as error:
            if not isinstance(error.__cause__, FileExistsError):
                raise
        else:
            return each
    raise ValueError("all names are taken")


def not_written(path: Path | str, error: OSError) -> str:
    """Return the message for a file that cannot be written."""
    return f"{path} cannot be written ({error.strerror or error}); choose another place"


@contextmanager
def _part_beside(target: Path) -> Iterator[Path]:
    # Short even if the name is long; libraries expect an ending.
    part = target.with_name(f".ufselect-{secrets.token_hex(6)}.part")
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def _give_name(part: Path, target: Path, overwrite: bool) -> None:
    """Rename a file; another process may have taken the name by now."""
    if overwrite:
        part.replace(target)
        return
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        os.close(os.open(target, os.O_CREAT | os.O_EXCL))
        part.replace(target)


def _copy_over(part: Path, target: Path, through: bool) -> None:
    """Write into an existing file, after checking that there is space for it."""
    with (
        part.open("rb") as source,
        os.fdopen(os.open(target, os.O_WRONLY), "wb") as sink,
    ):
        if is_protected(sink.fileno()):  # the link was made after the first look
            raise PermissionError(13, IS_READ)
        if not through:
            size, former = part.stat().st_size, target.stat().st_size
            if size > former and hasattr(os, "posix_fallocate"):
                try:
                    os.posix_fallocate(sink.fileno(), former, size - former)
                except OSError:
                    sink.truncate(former)
                    raise
        shutil.copyfileobj(source, sink)
        sink.flush()
        if not through:
            sink.truncate()

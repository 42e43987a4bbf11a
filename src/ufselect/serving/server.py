"""The server, on the loopback address of this machine."""

import contextlib
import errno
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ADDRESS = "127.0.0.1"
# For answers under way when the server ends.
SECONDS_TO_FINISH = 2
# Looks that are kept, and other runs; a new one replaces the oldest of its kind.
MAX_RUNS = 20
GIGABYTE = 10**9
PREFIX = "ufselect-serve-"


@dataclass(frozen=True)
class Settings:
    """What a server offers, and how much it takes.

    Attributes
    ----------
    file : path, optional
        A table to offer at once. It is read where it is.
    port : int
        0 is any that is free.
    max_upload : int
        Bytes of all uploaded tables together.
    n_jobs : int
        Number of parallel jobs; other runs wait.

    Examples
    --------
    >>> Settings(max_upload=10**6).n_jobs
    2
    """

    file: Path | None = None
    port: int = 0
    max_upload: int = 2 * GIGABYTE
    n_jobs: int = 2


def serve(settings: Settings, announce: Callable[[str], None]) -> int:
    """Serve the page until Ctrl-C or SIGTERM; then end runs and delete their files.

    The number of runs that were cut short is returned.

    Parameters
    ----------
    settings : Settings
        What is offered.
    announce : callable
        Gets the address of the page as soon as it can be opened.
    """
    try:
        import python_multipart  # noqa: F401 - Starlette reads forms with it
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise ImportError(
            f"the web page needs {error.name}; pip install 'ufselect[serve]' "
            "installs it"
        ) from error
    from ufselect.serving.application import Application

    token = secrets.token_urlsafe(32)
    with listening(settings.port) as listener, private_folder(settings.file) as folder:
        port = listener.getsockname()[1]
        application = Application(settings, folder)
        server = uvicorn.Server(
            uvicorn.Config(
                application.at(token, port),
                access_log=False,
                lifespan="on",
                log_level="critical",
                loop="asyncio",
                server_header=False,
                timeout_graceful_shutdown=SECONDS_TO_FINISH,
                ws="none",
            )
        )
        _end_when_asked()
        # Ctrl-C ends it, also before it runs and while it ends.
        with contextlib.suppress(KeyboardInterrupt):
            announce(f"http://{ADDRESS}:{port}/{token}/")
            server.run(sockets=[listener])
    return application.n_ended


@contextlib.contextmanager
def private_folder(given: Path | None = None) -> Iterator[Path]:
    """Make a private folder; remove those of killed servers, but not a given table."""
    in_use = [] if given is None else given.resolve().parents
    place = Path(tempfile.gettempdir())
    # Runs are processes of their own, and inherit this.
    mask = os.umask(0o077)
    made = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=place))
    with _locked(made):
        for left in place.glob(f"{PREFIX}*"):
            with _locked(left) as is_left:
                if is_left and left.resolve() not in in_use:
                    shutil.rmtree(left, ignore_errors=True)
        # Other servers may remove it under this name, so it is locked first.
        folder = made.rename(place / made.name.removeprefix("."))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os.umask(mask)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Lock a folder until this process ends; yield whether it is locked and ours."""
    if sys.platform == "win32":
        yield False
        return
    import fcntl

    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        yield False
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_locked = os.fstat(handle).st_uid == os.getuid()
    except OSError:
        is_locked = False
    try:
        yield is_locked
    finally:
        os.close(handle)


def listening(port: int) -> socket.socket:
    """Return a socket to which only this machine can connect.

    Examples
    --------
    >>> with listening(0) as found:
    ...     found.getsockname()[0]
    '127.0.0.1'
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind((ADDRESS, port))
        listener.listen()
    except OSError as error:
        listener.close()
        taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        reason = "is in use or not allowed" if taken else f"cannot be used ({error})"
        raise OSError(
            f"port {port} {reason}; choose another, or leave --port out for any that "
            "is free"
        ) from error
    return listener


def _end_when_asked() -> None:
    """Clean up before SIGTERM, or a closed terminal, ends the process."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, end)
    # With nohup, a server ignores this and outlives its terminal.
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is signal.SIG_DFL:
        signal.signal(hangup, lambda *_: signal.raise_signal(signal.SIGTERM))

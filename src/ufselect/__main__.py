"""The process of ``ufselect``, also of ``python -m ufselect``.

This file and what it imports at once stay small: until the first line of `program` has
run, Ctrl-C prints a traceback.
"""

import gc
import os
import signal
import sys
from types import FrameType


def program() -> int:
    """Run the command of this process; return its exit code."""
    _open_closed_streams()
    handler = signal.getsignal(signal.SIGINT)
    # If the shell ignores Ctrl-C, it stays ignored.
    interruptible = handler is signal.default_int_handler
    if interruptible:
        signal.signal(signal.SIGINT, _leave)

    def loaded() -> None:
        if interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    # Many objects are made once and kept: frequent collection gains nothing.
    gc.set_threshold(100_000, 20, 20)
    try:
        from ufselect.cli.main import main

        code = main(loaded=loaded)
    except KeyboardInterrupt:
        _leave()
    # The work is done: no further collection is needed.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    return code


def _open_closed_streams() -> None:
    # Otherwise the first opened file would take the place of the stream.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _leave(number: int = signal.SIGINT, frame: FrameType | None = None) -> None:
    # No exception: an import may swallow it, with a traceback.
    os.write(2, b"ufselect: interrupted; nothing was written\n")
    os._exit(130)


if __name__ == "__main__":
    raise SystemExit(program())

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
    _open_what_is_closed()
    handler = signal.getsignal(signal.SIGINT)
    # One that the shell set to be ignored stays so.
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    # Many objects are made once and kept: looking through them often is for nothing.
    gc.set_threshold(100_000, 20, 20)
    try:
        code = _run(handler)
    except KeyboardInterrupt:
        _leave()
    # The work is done, and what is kept now need not be looked through again.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    return code


def _open_what_is_closed() -> None:
    # Otherwise the first file to be opened would take the place of the stream.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _run(handler: object) -> int:
    from ufselect.cli.main import carry_out, load, parse

    options = parse()
    load(options)
    signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]
    return carry_out(options)


def _leave(number: int = signal.SIGINT, frame: FrameType | None = None) -> None:
    # No exception: in the midst of an import some are swallowed, with a traceback.
    os.write(2, b"ufselect: interrupted; nothing was written\n")
    os._exit(130)


if __name__ == "__main__":
    raise SystemExit(program())

"""Signals as a program has them that a user starts in a terminal.

Under ``nohup``, or after ``&`` in a script, a program ignores some signals, and so does
whatever it starts.
"""

import contextlib
import os
import signal


def heed_signals():
    """Restore the defaults: ``Popen(..., preexec_fn=heed_signals)``."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.name == "posix":
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextlib.contextmanager
def heeding_ctrl_c():
    """Let Ctrl-C raise ``KeyboardInterrupt`` in this process for a while."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

"""Make one method fail in every interpreter with this folder first on its path.

Python imports a module of this name at start; UFSELECT_FAULT names the fault.
"""

import ctypes
import os
import sys
import time
from typing import Any

FAULT = os.environ.get("UFSELECT_FAULT")


def hang(*arguments: Any) -> None:
    while True:
        time.sleep(1)


def spin(*arguments: Any) -> None:
    while True:
        pass


def exit_at_once(*arguments: Any) -> None:
    os._exit(3)


def crash(*arguments: Any) -> None:
    ctypes.string_at(0)


def abort(*arguments: Any) -> None:
    os.abort()


def leave(*arguments: Any) -> None:
    sys.exit("no more")


def eat_slowly(*arguments: Any) -> None:
    import numpy as np

    eaten = []
    while True:
        eaten.append(np.ones(1_000_000))


def eat_at_once(*arguments: Any) -> None:
    import numpy as np

    np.ones(500_000_000)
    hang()


if FAULT:
    from ufselect import LaplacianScore

    LaplacianScore._score_features = globals()[FAULT]

"""Memory that runs out in one process, and not on the whole machine."""

import sys

import numpy as np
import pytest

from ufselect.data.tables.isolation import available_bytes, isolated, within_memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="others do not say")


def take(n_bytes, most):
    with within_memory(most):
        return len(np.ones(n_bytes, dtype=np.uint8))


def test_the_machine_says_what_it_has():
    assert available_bytes() > 10**6


# In a process of its own, for how much of its memory is unused nobody knows.


def test_more_than_there_is_is_an_error():
    with pytest.raises(MemoryError):
        isolated(take, 4 * 10**8, 10**8)


def test_less_is_none():
    assert isolated(take, 10**7, 10**8) == 10**7


def test_the_limit_is_for_the_time_of_reading_only():
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    with within_memory():
        during = resource.getrlimit(resource.RLIMIT_DATA)

    assert during[0] < 2**60
    assert resource.getrlimit(resource.RLIMIT_DATA) == before

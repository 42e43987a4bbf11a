"""What a fit needs is gone with its selector: loops that last a weekend do not grow."""

import gc
from weakref import ref

import numpy as np
import psutil
import pytest
from quick_selectors import made

from ufselect import all_selectors

pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", all_selectors())
def test_fits_in_a_loop_leave_no_selector_file_thread_or_process(name):
    process = psutil.Process()
    random, fitted, held = np.random.default_rng(0), [], []
    for _ in range(6):
        selector = made(all_selectors()[name], max_iter=5)
        fitted.append(ref(selector.fit(random.random((20, 10)))))
        del selector
        held.append((process.num_fds(), process.num_threads(), len(process.children())))
    gc.collect()

    assert [reference() for reference in fitted] == [None] * 6
    assert held[1:] == [held[1]] * 5

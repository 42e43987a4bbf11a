"""Memory: a text table takes little more than its numbers."""

import subprocess
import sys

import numpy as np
import pytest

CODE = """
import re, sys
from pathlib import Path
import ufselect.data

def peak():  # the one of getrusage begins with that of the process before
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status)[1])

ufselect.data.read_table(sys.argv[2])
before = peak()
table = ufselect.data.read_table(sys.argv[1])
print((peak() - before) / table.values.nbytes)
"""


def write_rows(path, random, n_rows, n_columns):
    with path.open("w") as stream:
        stream.write(",".join(f"g{place}" for place in range(n_columns)) + "\n")
        for _ in range(n_rows):
            row = random.standard_normal(n_columns).tolist()
            stream.write(",".join(map(repr, row)) + "\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
@pytest.mark.parametrize("shape", [(6000, 600), (200, 20_000), (300_000, 12)])
def test_text_is_read_within_twice_its_numbers(tmp_path, shape):
    random = np.random.default_rng(0)
    write_rows(tmp_path / "large.csv", random, *shape)
    write_rows(tmp_path / "small.csv", random, 300, 600)
    done = subprocess.run(
        [sys.executable, "-c", CODE, tmp_path / "large.csv", tmp_path / "small.csv"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert 0.9 < float(done.stdout) < 2

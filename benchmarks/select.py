"""`ufselect select` as users run it, in a process of its own."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.guard import used

READ_AND_FIT = """
import sys, warnings
import pandas
from ufselect import AutoSelect
warnings.simplefilter("ignore")
AutoSelect(random_state=0).fit(pandas.read_csv(sys.argv[1]))
"""


class Command:
    """The command with table and report, without files, on a table with a missing
    value (an error), and a process that reads with pandas and fits AutoSelect once.
    """

    timer = staticmethod(used)
    params = ["100 x 2,000", "2,000 x 500"]
    param_names = ["table"]
    timeout = 600

    def setup(self, shape):
        n, p = (int(word.replace(",", "")) for word in shape.split(" x "))
        random = np.random.default_rng(0)
        X = random.standard_normal((n, p))
        useful = min(p // 10, 200)
        centres = 2 * random.standard_normal((4, useful))
        X[:, :useful] += centres[random.integers(4, size=n)]
        frame = pd.DataFrame(X, columns=[f"g{place}" for place in range(p)])
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "table.csv")
        frame.to_csv(self.path, index=False)
        self.incomplete = Path(self.folder.name, "incomplete.csv")
        frame.head(100).mask(frame > 3).to_csv(self.incomplete, index=False)

    def teardown(self, shape):
        self.folder.cleanup()

    def run(self, *arguments, code=0):
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=self.folder.name,
            capture_output=True,
            check=False,
        )
        if done.returncode != code:
            raise RuntimeError(done.stderr.decode())

    def time_select_with_report(self, shape):
        self.run("-m", "ufselect", "select", self.path)

    def time_select_without_files(self, shape):
        self.run("-m", "ufselect", "select", self.path, "--no-files")

    def time_an_error(self, shape):
        self.run("-m", "ufselect", "select", self.incomplete, code=1)

    def time_pandas_and_one_fit(self, shape):
        self.run("-c", READ_AND_FIT, self.path)

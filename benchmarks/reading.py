"""Reading tables."""

import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from ufselect.data import read_table


class Formats:
    """A table read by ufselect and by the usual library (pandas, NumPy)."""

    timer = time.process_time
    params = (["csv", "csv.gz", "parquet", "npy"], ["200 x 5,000", "5,000 x 200"])
    param_names = ["format", "table"]

    def setup(self, ending, shape):
        n, p = (int(word.replace(",", "")) for word in shape.split(" x "))
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, f"table.{ending}")
        values = np.random.default_rng(0).standard_normal((n, p)).round(6)
        frame = pd.DataFrame(values, columns=[f"g{place}" for place in range(p)])
        if ending == "npy":
            np.save(self.path, values)
        elif ending == "parquet":
            frame.to_parquet(self.path)
        else:
            frame.to_csv(self.path, index=False)
        # What either imports is not measured.
        self.time_ufselect(ending, shape)
        self.time_usual_library(ending, shape)

    def teardown(self, ending, shape):
        self.folder.cleanup()

    def time_ufselect(self, ending, shape):
        np.asarray(read_table(self.path).values).sum()

    def time_usual_library(self, ending, shape):
        readers = {"npy": np.load, "parquet": pd.read_parquet}
        np.asarray(readers.get(ending, pd.read_csv)(self.path)).sum()

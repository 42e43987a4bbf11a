"""A small table with three informative columns, written by other libraries."""

import gzip

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp

from ufselect.cli.demo import SAMPLE

NAMES = [f"g{place}" for place in range(12)]
CHOSEN = ["g2", "g5", "g9"]


def small_frame(n_samples=24):
    """Return two clusters that differ only in the chosen columns, ids and labels."""
    random = np.random.RandomState(0)
    clusters = np.arange(n_samples) % 2
    values = random.standard_normal((n_samples, len(NAMES)))
    for name in CHOSEN:
        values[:, NAMES.index(name)] += 10 * clusters - 5
    frame = pd.DataFrame(values.round(3), columns=NAMES)
    frame.insert(0, "id", [f"s{sample}" for sample in range(n_samples)])
    frame["kind"] = np.where(clusters, "tall", "short")
    return frame


def genes_table():
    """Return the text of genes.csv, the example of the documentation."""
    return gzip.decompress(SAMPLE.read_bytes()).decode()


def users_table():
    """Return the text of a smaller table: names, labels, genes."""
    random = np.random.default_rng(0)
    lines = ["sample,diagnosis," + ",".join(f"gene_{index}" for index in range(20))]
    for row in range(30):
        genes = random.normal(size=20)
        genes[:8] += 4 * (row % 2)
        cells = ",".join(f"{number:.4f}" for number in genes)
        lines.append(f"s{row},{'sick' if row % 2 else 'well'},{cells}")
    return "\n".join(lines)


def write_frame(path, frame):
    """Write a table in the format of the file name; some have no column names."""
    numbers = frame.drop(columns=["id", "kind"]).to_numpy()
    writers = {
        ".csv": lambda: frame.to_csv(path, index=False),
        ".tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
        ".gz": lambda: frame.to_csv(path, index=False),
        ".bz2": lambda: frame.to_csv(path, index=False),
        ".xz": lambda: frame.to_csv(path, index=False),
        ".parquet": lambda: frame.to_parquet(path),
        ".feather": lambda: frame.to_feather(path),
        ".xlsx": lambda: frame.to_excel(path, index=False),
        ".npy": lambda: np.save(path, numbers),
        ".npz": lambda: np.savez(path, X=numbers),
        ".mat": lambda: scipy.io.savemat(path, {"X": numbers}),
        ".mtx": lambda: scipy.io.mmwrite(path, sp.coo_array(numbers)),
        ".h5ad": lambda: write_anndata(path, numbers),
    }
    writers[path.suffix]()
    return path


def write_anndata(path, numbers):
    """Write an AnnData file of cells s0, s1, ... and genes g0, g1, ..."""
    import anndata  # takes a second

    data = anndata.AnnData(numbers)
    data.obs_names = [f"s{place}" for place in range(data.n_obs)]
    data.var_names = [f"g{place}" for place in range(data.n_vars)]
    data.write_h5ad(path)

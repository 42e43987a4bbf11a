"""Reference results of all methods, written by one command and compared by a test.

    python tests/golden.py

writes ``golden.json`` beside this file: the final objective, the scores and the first
50 features of every method on a few small tables, planted ones and, where the folder
``UFSELECT_DATA`` has them, research data; dense, sparse, float32, memory-mapped and on
Dask. Write it only after a change that is meant to change results, and say so in the
message of the commit.
"""

import json
import tempfile
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from quick_selectors import made
from sklearn.exceptions import ConvergenceWarning

from ufselect import all_selectors
from ufselect.data import data_folder, planted, read_labelled

FILE = Path(__file__).with_name("golden.json")

PLANTED = {
    "blobs": {"geometry": "blobs", "n_samples": 70, "n_noise": 30},
    "wide blobs": {"geometry": "blobs", "n_samples": 40, "n_noise": 110},
    "counts": {"geometry": "counts", "n_samples": 50, "n_noise": 50},
}
# A set, and the step by which its columns are thinned out.
RESEARCH = {"lung_small": 3, "colon": 20, "Yale": 16}

LAYOUTS = ("dense", "sparse", "float32", "mapped", "dask")

# Where stopping early would make much of a little difference.
LATE = {
    "CPFS": {"tol": 1e-7, "max_iter": 30_000},
    "SPFS": {"tol": 1e-9, "max_iter": 1_000},
}

# What SCFS has beside its defaults.
VARIANTS = {
    "SCFS paper": {"solver": "paper", "init": "fuzzy"},
    "SCFS random": {"init": "random", "n_init": 2},
    "SCFS no intercept": {"fit_intercept": False, "alpha": 0.5, "beta": 0.02},
}


def table(name):
    """Return a table by its name; None where its file is not at hand."""
    if name in PLANTED:
        return planted(**PLANTED[name]).table.astype(np.float64)
    folder = data_folder()
    path = None if folder is None else folder / f"{name}.mat"
    if path is None or not path.is_file():
        return None
    X = read_labelled(path).table[:, :: RESEARCH[name]]
    return np.ascontiguousarray(X, dtype=np.float64)


def selectors():
    """Return selectors with a seed and three clusters, by their names."""
    methods = all_selectors()
    found = {
        name: made(method).set_params(**LATE.get(name, {}))
        for name, method in methods.items()
    }
    variants = {name: made(methods["SCFS"], **more) for name, more in VARIANTS.items()}
    return found | variants


def cases(tables):
    """Yield names of tables, layouts and selectors."""
    for name in tables:
        for method, selector in selectors().items():
            for layout in LAYOUTS if name in PLANTED else LAYOUTS[:1]:
                paper = getattr(selector, "solver", "") == "paper"
                if layout != "dask" or (selector.READS_OUT_OF_CORE and not paper):
                    yield name, layout, method


def laid_out(X, layout, folder):
    if layout == "sparse":
        return sp.csr_array(X)
    if layout == "float32":
        return X.astype(np.float32)
    if layout == "mapped":
        path = Path(folder, "X.npy")
        np.save(path, X)
        return np.load(path, mmap_mode="r")
    if layout == "dask":
        import dask.array as da

        return da.from_array(X, chunks=(len(X) // 3, X.shape[1]))
    return X


def result(X, layout, method):
    """Return what one method finds, with as many digits as are compared."""
    selector = selectors()[method]
    scheduler = nullcontext()
    if layout == "dask":
        import dask

        scheduler = dask.config.set(scheduler="synchronous")
    with (
        tempfile.TemporaryDirectory() as folder,
        scheduler,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)
        selector.fit(laid_out(X, layout, folder))
    history = getattr(selector, "objective_history_", [])
    return {
        "objective": float(f"{history[-1]:.10g}") if len(history) else None,
        "order": selector.order_[:50].tolist(),
        "scores": [float(f"{score:.6g}") for score in selector.scores_],
    }


def main():
    golden = {}
    for name in (*PLANTED, *RESEARCH):
        X = table(name)
        if X is None:
            raise SystemExit(f"{name}.mat is missing; set UFSELECT_DATA to its folder.")
        for key in cases([name]):
            golden[" / ".join(key)] = result(X, *key[1:])
    lines = [f"{json.dumps(key)}: {json.dumps(golden[key])}" for key in golden]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(golden)} results in {FILE}, {FILE.stat().st_size / 1e3:.0f} kB")  # noqa: T201


if __name__ == "__main__":
    main()

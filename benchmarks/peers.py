"""The same methods in other packages, where these are installed.

pip install skfeature-chappers ITMO_FS fastcan
"""

import importlib
import time
import warnings

import numpy as np

from ufselect import MCFS, NDFS, SPEC, UDFS, LaplacianScore

N_SELECTED, N_CLUSTERS = 100, 5


def skfeature(name):
    kind = "similarity_based" if name in ("lap_score", "SPEC") else None
    folder = kind or "sparse_learning_based"
    return importlib.import_module(f"skfeature.function.{folder}.{name}")


def itmo(name):
    return getattr(importlib.import_module("ITMO_FS.filters.sparse"), name)


CALLS = {
    "LS": {
        "ufselect": lambda X: LaplacianScore(N_SELECTED).fit(X),
        "skfeature": lambda X: skfeature("lap_score").lap_score(X, mode="raw"),
    },
    "SPEC": {
        "ufselect": lambda X: SPEC(N_SELECTED).fit(X),
        "skfeature": lambda X: skfeature("SPEC").spec(X, mode="raw"),
        "ITMO_FS": lambda X: itmo("SPEC")(N_SELECTED, k=N_CLUSTERS).run(X),
    },
    "MCFS": {
        "ufselect": lambda X: MCFS(N_SELECTED, n_clusters=N_CLUSTERS).fit(X),
        "skfeature": lambda X: skfeature("MCFS").mcfs(
            X, n_selected_features=N_SELECTED, mode="raw", n_clusters=N_CLUSTERS
        ),
        "ITMO_FS": lambda X: itmo("MCFS")(N_SELECTED, k=N_CLUSTERS).run(X),
    },
    "UDFS": {
        "ufselect": lambda X: UDFS(N_SELECTED, n_clusters=N_CLUSTERS).fit(X),
        "skfeature": lambda X: skfeature("UDFS").udfs(
            X, mode="raw", n_clusters=N_CLUSTERS
        ),
        "ITMO_FS": lambda X: itmo("UDFS")(N_SELECTED, c=N_CLUSTERS).run(X),
    },
    "NDFS": {
        "ufselect": lambda X: NDFS(
            N_SELECTED, n_clusters=N_CLUSTERS, random_state=0
        ).fit(X),
        "skfeature": lambda X: skfeature("NDFS").ndfs(
            X, mode="raw", n_clusters=N_CLUSTERS
        ),
        "ITMO_FS": lambda X: itmo("NDFS")(N_SELECTED, c=N_CLUSTERS).run(X),
    },
}


class Packages:
    """A ranking of 300 columns of 200 samples in five groups, with defaults."""

    timer = time.process_time
    params = (list(CALLS), ["ufselect", "skfeature", "ITMO_FS"])
    param_names = ["method", "package"]
    timeout = 120

    def setup(self, method, package):
        if package not in CALLS[method]:
            raise NotImplementedError("the package does not have the method")
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise NotImplementedError("the package is not installed") from error
        random = np.random.default_rng(0)
        self.X = random.standard_normal((200, 300))
        self.X[:, :30] += 3 * random.standard_normal((5, 30))[np.arange(200) % 5]

    def time_ranking(self, method, package):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            CALLS[method][package](self.X.copy())

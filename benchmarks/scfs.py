"""SCFS next to scikit-learn's k-means."""

import time

import numpy as np
from sklearn.cluster import KMeans

from ufselect import SCFS

N_CLUSTERS = 8


class Fit:
    """One fit of SCFS and ten runs of k-means, standard normal X, 8 clusters."""

    timer = time.process_time
    params = [
        "100 x 1,000",
        "100 x 20,000",
        "1,000 x 100",
        "20,000 x 100",
    ]
    param_names = ["X"]

    def setup(self, shape):
        n, p = (int(word.replace(",", "")) for word in shape.split(" x "))
        self.X = np.random.default_rng(0).standard_normal((n, p))
        self.single = self.X.astype(np.float32)

    def time_scfs(self, shape):
        SCFS(n_clusters=N_CLUSTERS, random_state=0).fit(self.X)

    def time_scfs_float32(self, shape):
        SCFS(n_clusters=N_CLUSTERS, random_state=0).fit(self.single)

    def time_k_means_10_runs(self, shape):
        KMeans(N_CLUSTERS, n_init=10, random_state=0).fit(self.X)


class Path:
    """25 pairs of weights by `SCFS.path`, and one fit, X of 100 x 1,000, 8 clusters."""

    timer = time.process_time

    def setup(self):
        self.X = np.random.default_rng(0).standard_normal((100, 1_000))
        self.selector = SCFS(n_clusters=N_CLUSTERS, random_state=0)

    def time_one_fit(self):
        self.selector.fit(self.X)

    def time_path_of_25_pairs(self):
        assert len(list(self.selector.path(self.X))) == 25


class Memory:
    """Highest memory of a process that makes X and fits SCFS, or only makes X."""

    timer = time.process_time
    params = ["100 x 100,000", "100,000 x 100"]
    param_names = ["X"]

    def setup(self, shape):
        n, p = (int(word.replace(",", "")) for word in shape.split(" x "))
        self.X = np.random.default_rng(0).standard_normal((n, p))

    def peakmem_X_alone(self, shape):
        assert self.X.any()

    def peakmem_scfs(self, shape):
        SCFS(n_clusters=N_CLUSTERS, max_iter=5, random_state=0).fit(self.X)

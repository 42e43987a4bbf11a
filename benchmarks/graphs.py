"""Methods with a neighbour graph, by the number of samples."""

import time
import warnings

import numpy as np
from sklearn.neighbors import kneighbors_graph

from ufselect import selector
from ufselect.solvers.neighbours import neighbour_recall

N_COLUMNS, N_NEIGHBOURS = 100, 5


def factors(n_samples):
    """Return ten factors with loadings on all columns, and some noise."""
    random = np.random.default_rng(0)
    loadings = random.standard_normal((10, N_COLUMNS)) / np.sqrt(10)
    signal = random.standard_normal((n_samples, 10)) @ loadings
    return signal + 0.3 * random.standard_normal((n_samples, N_COLUMNS))


class Growth:
    """A fit of each method, X of ten factors in 100 columns, 20 features."""

    timer = time.process_time
    params = (
        ["LaplacianScore", "SPEC", "MCFS", "NDFS", "GraphEnergy", "AutoSelect"],
        [2_000, 20_000],
    )
    param_names = ["method", "samples"]

    def setup(self, method, n_samples):
        self.X = factors(n_samples)
        self.selector = selector(method)
        self.selector.set_params(n_features_to_select=20)
        if "random_state" in self.selector.get_params():
            self.selector.set_params(random_state=0)

    def time_fit(self, method, n_samples):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.selector.fit(self.X)


class Neighbours:
    """Five neighbours of each sample: the Laplacian score as a whole, against
    scikit-learn's exact search, and the share of the exact neighbours that are found.
    """

    timer = time.process_time
    params = [5_000, 20_000]
    param_names = ["samples"]

    def setup(self, n_samples):
        self.X = factors(n_samples)

    def time_laplacian_score(self, n_samples):
        selector("LaplacianScore").fit(self.X)

    def time_scikit_learn_neighbours(self, n_samples):
        kneighbors_graph(self.X, N_NEIGHBOURS)

    def track_share_found(self, n_samples):
        return neighbour_recall(self.X, N_NEIGHBOURS)

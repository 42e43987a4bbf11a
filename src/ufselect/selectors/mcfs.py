"""MCFS: multi-cluster feature selection."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from ufselect._sklearn_compat import COUNT, POSITIVE, Interval, StrOptions
from ufselect.matrix import DataMatrix, Float, Index
from ufselect.matrix.base import BLOCK_BYTES
from ufselect.selectors.base import (
    MemoryNeed,
    Properties,
    UnsupervisedSelector,
    graph_bytes,
    square_arrays,
)
from ufselect.solvers.graphs import neighbour_graph
from ufselect.solvers.landmarks import (
    find_landmarks,
    in_memory_if_few,
    interpolated,
    is_not_an_array,
    landmark_embedding,
    landmark_sums,
    n_searched,
)
from ufselect.solvers.lars import (
    PathPoint,
    elastic_net_points_from_sums,
    max_root_columns,
)
from ufselect.solvers.preparation import Prepared, preparation_kind, prepare
from ufselect.solvers.ridge import ranked_below
from ufselect.solvers.screened_paths import screened_bytes, screened_points
from ufselect.solvers.spectral import spectral_embedding, unit_columns


class MCFS(UnsupervisedSelector):
    """Multi-cluster feature selection.

    Embeds the samples by the smoothest functions on their neighbour graph, and
    predicts each of these from as many features as are wanted::

        L y_k = lambda_k D y_k             the K smallest, without the constant
        minimise over a_k  |y_k - X a_k|^2 + ridge |a_k|^2 + beta_k |a_k|_1

    with beta_k so small that a_k has the number of features wanted and one more is
    about to enter. The score of feature j is the largest ``|a_kj| / |a_k|`` over k.
    docs/methods/mcfs.md says what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half. The regressions
        depend on it: another number is another fit.
    n_clusters : int, default=8
        Number K of functions, usually that of the clusters; n - 1 at most are used.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph.
    sigma : float or None, default=None
        Bandwidth of the heat kernel ``exp(-d^2 / (2 sigma^2))``, in units of X as
        prepared. None is the median distance to a neighbour.
    ridge : float, default=1e-3
        Weight of the ridge, in units where columns have a mean square norm of one.
        Without it no more features than samples could enter.
    standardize : {"auto", "features", "samples"} or bool, default="auto"
        Preparation of X: features to unit variance ("features" or True), samples to
        unit length ("samples"), or neither (False). "auto" decides as :class:`SCFS`.
    n_landmarks : int, default=500
        Number of landmarks that connect the samples of a Dask collection, a Zarr array
        or an HDF5 data set, if these are more than the landmarks.
    max_memory : float, default=2e9
        About how many bytes the fit may use. A fit that needs more is refused.
    verbose : bool, default=False
        Print, before the fit starts, how much memory it needs.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        The scores. Features that are in no regression are below all others, the
        higher the sooner they would enter.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    embedding_ : ndarray or dask.array.Array of shape (n, K)
        The functions y_k; the largest entry of each (out-of-core, at a landmark) is
        positive.
    coef_ : ndarray of shape (p, K)
        The regressions, each of unit length, for X as prepared.
    standardize_ : {"features", "samples", "none"}
        The preparation used.

    References
    ----------
    D. Cai, C. Zhang, X. He. Unsupervised feature selection for multi-cluster data.
    KDD 2010, 333-342.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import MCFS
    >>> X = load_iris(as_frame=True).data
    >>> selector = MCFS(n_features_to_select=2, n_clusters=3)
    >>> selector.set_output(transform="pandas").fit_transform(X).shape
    (150, 2)
    """

    PROPERTIES = Properties(similarity="explicit", regression=True, regularisation=True)
    READS_OUT_OF_CORE = True
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {"n_neighbors": [5]}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **UnsupervisedSelector._parameter_constraints,
        "n_clusters": [COUNT],
        "n_neighbors": [COUNT],
        "sigma": [None, POSITIVE],
        "ridge": [POSITIVE],
        "standardize": ["boolean", StrOptions({"auto", "features", "samples"})],
        "n_landmarks": [Interval(Integral, 2, None, closed="left")],
        "max_memory": [POSITIVE],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 8,
        n_neighbors: int = 5,
        sigma: float | None = None,
        ridge: float = 1e-3,
        standardize: bool | str = "auto",
        n_landmarks: int = 500,
        max_memory: float = 2e9,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.ridge = ridge
        self.standardize = standardize
        self.n_landmarks = n_landmarks
        self.max_memory = max_memory
        self.verbose = verbose

    def _suited(self, matrix: DataMatrix) -> DataMatrix:
        return in_memory_if_few(matrix, self.n_landmarks)

    def _memory_needed(self, data: DataMatrix) -> MemoryNeed:
        if is_not_an_array(data):
            return self._memory_needed_here(data)
        n_samples, n_wanted = data.shape[0], self.n_selected_
        graph = 8 * n_samples * (12 * self.n_neighbors + 6 * self.n_clusters)
        # Columns in a regression, twice while one enters, and the inverse of their
        # Gram matrix.
        order = min(max_root_columns(n_samples), n_wanted)
        columns = 16 * n_samples * n_wanted + 24 * order**2
        columns += screened_bytes(data, n_wanted)
        return MemoryNeed(
            graph_bytes(data) + graph + columns,
            f"a graph of {n_samples} samples and {n_wanted} dense columns of X",
        )

    def _memory_needed_here(self, data: DataMatrix) -> MemoryNeed:
        """Return the need for sums over samples that are out-of-core."""
        n_samples, n_features = data.shape
        landmarks = 32 * self.n_landmarks * (n_features + self.n_landmarks)
        landmarks += 32 * n_searched(data, self.n_landmarks) * n_features
        # Distances to landmarks, a block of samples at a time.
        landmarks += 6 * BLOCK_BYTES
        paths = 16 * n_features * self.n_selected_ * self.n_clusters
        embedding = 0 if data.scattered else 8 * n_samples * self.n_clusters
        return square_arrays(5, n_features, landmarks + paths + embedding)

    def _score_features(self, data: DataMatrix) -> Float:
        n_samples, n_features = data.shape
        self._check_n_clusters(self.n_clusters, n_samples)
        self.standardize_ = preparation_kind(self.standardize, data)
        varying = np.flatnonzero(~data.summary().constant)
        # Columns of unit norm on average.
        prepared = prepare(data, self.standardize_, float(len(varying)))
        find_points = (
            self._points_by_landmarks if is_not_an_array(data) else self._points
        )
        with data.limited_threads():
            points = find_points(prepared, varying)
        coef = unit_columns(np.column_stack([point.coef for point in points]))
        entry = np.max([point.entry for point in points], axis=0)
        self.coef_ = np.zeros((n_features, len(points)))
        self.coef_[varying] = coef
        scores = np.zeros(n_features)
        scores[varying] = ranked_below(np.abs(coef).max(axis=1), entry)
        return scores

    def _points(self, prepared: Prepared, varying: Index) -> list[PathPoint]:
        self.embedding_ = self._embedding(prepared.centred, prepared.unit)
        # Prepared once and for all, rather than in each of many products.
        matrix = prepared.centred.take(varying)
        n_nonzero = min(self.n_selected_, len(varying))
        return screened_points(matrix, self.embedding_, n_nonzero, self.ridge)

    def _points_by_landmarks(
        self, prepared: Prepared, varying: Index
    ) -> list[PathPoint]:
        matrix = prepared.centred
        # With heat weights a sample far from others would keep to its own landmark.
        bandwidth = np.inf if self.sigma is None else self.sigma * prepared.unit
        landmarks = find_landmarks(
            matrix, self.n_landmarks, self.n_neighbors, bandwidth=bandwidth
        )
        sums = landmark_sums(matrix, landmarks, gram=True)
        functions = landmark_embedding(sums, self.n_clusters)
        carried = interpolated(matrix, landmarks, functions)
        self.embedding_ = matrix.as_array(carried)
        return elastic_net_points_from_sums(
            sums.gram[np.ix_(varying, varying)],
            sums.cross[:, varying].T @ functions,
            min(self.n_selected_, len(varying)),
            self.ridge,
        )

    def _embedding(self, matrix: DataMatrix, unit: float) -> Float:
        bandwidth = None if self.sigma is None else self.sigma * unit
        graph = neighbour_graph(
            matrix.points(), self.n_neighbors, weights="heat", bandwidth=bandwidth
        )
        return spectral_embedding(graph, self.n_clusters)

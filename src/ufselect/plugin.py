"""What the author of a method needs, in one place.

A method derives from `UnsupervisedSelector`, from `IterativeSelector` if it iterates,
or from `RegressionSelector` if it fits ``|X W - F|^2 + |W|_21`` on a structure of the
samples. It declares the ranges of its parameters and turns a `DataMatrix` into one
score per feature. :doc:`/add-a-method` shows one in full.

Ranges of parameters, for ``_parameter_constraints``:

``COUNT``, ``POSITIVE``, ``NOT_NEGATIVE``
    Whole numbers from 1 on; numbers above 0; numbers from 0 on.
``ITERATIONS``
    The ranges of ``max_iter``, ``tol`` and ``verbose``, to unpack into a dict.
``Interval``, ``StrOptions``
    Scikit-learn's classes for other ranges and for sets of words.

Types, for annotations:

``Float``, ``Index``
    Arrays of floats, and of places of features or samples.
"""

from ufselect._sklearn_compat import (
    COUNT,
    ITERATIONS,
    NOT_NEGATIVE,
    POSITIVE,
    Interval,
    StrOptions,
)
from ufselect.matrix import DataMatrix, Float, Index, as_matrix
from ufselect.selectors.base import (
    IterativeSelector,
    MemoryNeed,
    Properties,
    UnsupervisedSelector,
    graph_bytes,
    prepared_bytes,
    square_arrays,
)
from ufselect.selectors.regression import Iterate, Problem, RegressionSelector
from ufselect.solvers.graphs import neighbour_graph, normalised_laplacian
from ufselect.solvers.iterations import Iterations
from ufselect.solvers.preparation import (
    Prepared,
    preparation_kind,
    prepare,
    steady_points,
)
from ufselect.solvers.ridge import ReweightedRidge, ranked_below, row_norms
from ufselect.solvers.spectral import smoothest_vectors, spectral_embedding

__all__ = [
    "COUNT",
    "ITERATIONS",
    "NOT_NEGATIVE",
    "POSITIVE",
    "DataMatrix",
    "Float",
    "Index",
    "Interval",
    "Iterate",
    "Iterations",
    "IterativeSelector",
    "MemoryNeed",
    "Prepared",
    "Problem",
    "Properties",
    "RegressionSelector",
    "ReweightedRidge",
    "StrOptions",
    "UnsupervisedSelector",
    "as_matrix",
    "graph_bytes",
    "neighbour_graph",
    "normalised_laplacian",
    "preparation_kind",
    "prepare",
    "prepared_bytes",
    "ranked_below",
    "row_norms",
    "smoothest_vectors",
    "spectral_embedding",
    "square_arrays",
    "steady_points",
]

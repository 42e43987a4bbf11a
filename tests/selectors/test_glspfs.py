"""GLSPFS: reference numbers, its formulas written out, and its properties."""

import numpy as np
import pytest
from oracle_files import all_runs, inputs, read
from regression_properties import (
    assert_close,
    iterates,
    objectives,
    row_norms,
    weight_in,
)
from sklearn.linear_model import MultiTaskLasso
from structured_formulas import (
    ConvexProperties,
    heat_laplacian,
    ranked,
    reweighted,
    unit_size,
)

from ufselect import GLSPFS
from ufselect.matrix import as_matrix
from ufselect.solvers.graphs import (
    centred_kernel,
    gaussian_kernel,
    kernel_root,
    local_linear_matrix,
    tangent_alignment_matrix,
)
from ufselect.solvers.structured_ridge import structured_problem

LOCAL = {
    "neighbours": heat_laplacian,
    "lle": lambda X: local_linear_matrix(X, 5),
    "ltsa": lambda X: tangent_alignment_matrix(X, 5, n_components=3),
}


@pytest.mark.parametrize(("name", "run"), list(all_runs("glspfs")))
def test_iterations_are_the_numbers_of_the_public_code(name, run):
    given, settings, values = inputs(name), run["parameters"], run["values"]
    lle = read(f"lle_{name}")["outputs"]["runs"][0]["values"]["L_LLE"]
    L = given["L"] if settings["L"] == "L" else np.array(lle)
    X, Y = given[settings["X"]], kernel_root(given["K"])
    problem = structured_problem(as_matrix(X), Y, L, settings["r2"])

    steps = iterates(GLSPFS(), X, problem, settings["r1"], values["n_iterations"])

    np.testing.assert_allclose(objectives(steps), values["objective"], rtol=1e-6)
    assert_close(row_norms(steps[-1].W), np.array(values["row_norms"]))


def kernel_of(X):
    """Return the root of the centred kernel, without its smallest part."""
    squared = np.sum((X[:, np.newaxis] - X) ** 2, axis=2)
    return kernel_root(centred_kernel(gaussian_kernel(squared)), share=0.999)


class TestGLSPFS(ConvexProperties):
    METHOD = GLSPFS
    RHO = "r2"
    SETTINGS = (
        *(
            {"local": local, "n_components": 3, "r2": 0.5, "standardize": False}
            for local in LOCAL
        ),
        {"r1": 0.01, "standardize": False},
    )

    def written_out(self, fitted, X):
        unit = np.sqrt(len(X)) / np.linalg.norm(X - X.mean(axis=0))
        X, r1 = unit_size(X, len(X)), weight_in(fitted, "r1") * unit
        problem = X, kernel_of(X), LOCAL[fitted.local](X), fitted.r2, r1
        W, history = reweighted(*problem, fitted.n_iter_)
        return unit * ranked(*problem, W), history

    def multi_task_lasso(self, X, r1):
        X = X - X.mean(axis=0)
        peer = MultiTaskLasso(
            r1 / (2 * len(X)), fit_intercept=False, tol=1e-10, max_iter=100_000
        )
        return peer.fit(X, kernel_of(unit_size(X, len(X)))).coef_.T

    def test_scores_are_the_row_norms_of_the_coefficients(self, X):
        fitted = self.fitted(X)
        norms = row_norms(fitted.coef_)

        inside = norms > 0
        np.testing.assert_allclose(fitted.scores_[inside], norms[inside], rtol=1e-12)
        assert fitted.scores_[~inside].max(initial=0) < norms[inside].min()

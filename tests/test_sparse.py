"""Damaged sparse matrices of every form are refused before they are used."""

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect._sparse import check_sparse

DENSE = np.array([[1.0, 0, 2, 0], [0, np.nan, 0, 0], [0, 0, 3, 4], [5, 0, 0, 6]])
FORMS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


def changed(form, part, place, value):
    matrix = sp.csr_array(DENSE).asformat(form)
    if form == "bsr":
        matrix = sp.csr_array(DENSE).tobsr((2, 2))
    getattr(matrix, part)[place] = value
    return matrix


def shortened(form, part):
    matrix = sp.csr_array(DENSE).asformat(form)
    setattr(matrix, part, getattr(matrix, part)[:-1])
    return matrix


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_sound_matrices_of_every_form_pass(form, kind):
    check_sparse(kind(DENSE).asformat(form), "X")
    check_sparse(kind((0, 4)).asformat(form), "X")


@pytest.mark.parametrize(
    "matrix",
    [
        *[
            changed(form, part, place, value)
            for form in ("csr", "csc", "bsr")
            for part, place, value in [
                *(("indices", 0, -1), ("indices", 0, 4), ("indices", 0, 2**31 - 1)),
                *(("indptr", 0, 1), ("indptr", 1, -5), ("indptr", -1, 10**6)),
            ]
        ],
        changed("coo", "row", 0, 9),
        changed("coo", "col", 0, -1),
        changed("dia", "offsets", 0, 0),
        changed("lil", "rows", 0, [0, 9]),
        changed("lil", "rows", 0, [0]),
        shortened("csr", "indptr"),
        shortened("coo", "data"),
    ],
)
def test_damaged_matrices_are_refused_in_one_sentence(matrix):
    with pytest.raises(ValueError, match=r"^genes\.npz is a damaged sparse matrix: "):
        check_sparse(matrix, "genes.npz")

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
    ("matrix", "words"),
    [
        *[
            (changed(form, "indices", 0, value), f"outside its {size}")
            for form, size in [("csr", 4), ("csc", 4), ("bsr", 2)]
            for value in (-1, 4, 77, 10**6, 2**31 - 1)
        ],
        *[
            (changed(form, "indptr", place, value), words)
            for form in ("csr", "csc", "bsr")
            for place, value, words in [
                (0, 1, "does not rise from 0"),
                (1, -5, "does not rise from 0"),
                (-1, 10**6, "points beyond its entries"),
            ]
        ],
        (changed("coo", "row", 0, 9), "outside its 4 rows"),
        (changed("coo", "row", 0, 77), "outside its 4 rows"),
        (changed("coo", "col", 0, -1), "outside its 4 columns"),
        (changed("dia", "offsets", 0, 0), "an offset twice"),
        (changed("lil", "rows", 0, [0, 9]), "outside its 4 columns"),
        (changed("lil", "rows", 0, [0]), "more indices than values"),
        (shortened("csr", "indptr"), "indptr does not fit"),
        (shortened("coo", "data"), "more indices than values"),
    ],
)
def test_damaged_matrices_are_refused_in_one_sentence(matrix, words):
    with pytest.raises(ValueError, match=words) as caught:
        check_sparse(matrix, "genes.npz")

    assert str(caught.value).startswith("genes.npz is a damaged sparse matrix: ")

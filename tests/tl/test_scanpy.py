"""A pipeline of scanpy goes on with the selected genes, as its page shows."""

import numpy as np
import pytest
from document_blocks import ROOT, fenced

# Of its half gigabyte of packages, some warn about each other.
pytestmark = pytest.mark.filterwarnings("ignore")
PAGE = ROOT / "docs" / "scverse.md"


@pytest.fixture(scope="module")
def page():
    """Run the first block of the page and the one about scanpy; return the names."""
    pytest.importorskip("scanpy")
    names = {}
    first, *others = fenced(PAGE, "python")
    (pipeline,) = (block for block in others if "import scanpy" in block)
    for code in (first, pipeline):
        exec(compile(code, PAGE.name, "exec"), names)
    return names


def share_of_the_same_kind(cells):
    first, second = cells.obsp["connectivities"].nonzero()
    kind = cells.obs["kind"].to_numpy()
    return np.mean(kind[first] == kind[second])


def test_neighbours_among_selected_genes_are_of_the_same_kind(page):
    assert page["cells"].n_vars == 20
    assert share_of_the_same_kind(page["cells"]) > 0.95


def test_neighbours_among_the_other_genes_are_not(page):
    others = page["counts"][:, ~page["counts"].var.ufselect].copy()
    page["sc"].pp.pca(others, n_comps=5)
    page["sc"].pp.neighbors(others, n_neighbors=10)

    assert share_of_the_same_kind(others) < 0.7


def test_a_mask_of_the_principal_components(page):
    counts = page["counts"].copy()
    page["sc"].pp.pca(counts, n_comps=5, mask_var="ufselect")
    loadings = counts.varm["PCs"]

    assert not loadings[~counts.var.ufselect].any()
    assert loadings[counts.var.ufselect].any()

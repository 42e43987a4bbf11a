"""A pipeline of scanpy goes on with the selected genes, as its page shows."""

import numpy as np
import pytest
from document_blocks import ROOT, fenced

import ufselect

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
    sc, counts = page["sc"], page["counts"]
    others = counts[:, ~counts.var.ufselect].copy()
    sc.pp.pca(others, n_comps=5)
    sc.pp.neighbors(others, n_neighbors=10)

    assert page["cells"].n_vars == 20
    assert share_of_the_same_kind(page["cells"]) > 0.95
    assert share_of_the_same_kind(others) < 0.7


def test_it_takes_the_place_of_highly_variable_genes(page):
    sc, counts = page["sc"], page["counts"].copy()
    sc.pp.pca(counts, n_comps=5, mask_var="ufselect")
    loadings = counts.varm["PCs"]
    counts.raw = counts
    asked = {"n_top_genes": 20, "batch_key": "donor", "inplace": False}
    theirs = sc.pp.highly_variable_genes(counts, **asked)
    ours = ufselect.tl.select(counts, n_clusters=3, use_raw=True, **asked)
    sc.pp.highly_variable_genes(counts, n_top_genes=20, subset=True)
    cut = page["counts"].copy()
    ufselect.tl.select(cut, n_clusters=3, n_top_genes=20, subset=True)

    assert not loadings[~counts.raw.to_adata().var.ufselect].any()
    assert type(ours) is type(theirs)
    assert ours.index.equals(theirs.index)
    assert ours["ufselect"].equals(page["counts"].var["ufselect"])
    assert cut.shape == counts.shape
    assert set(cut.var_names) <= {f"gene_{place}" for place in range(20)}
    sc.pp.pca(cut, n_comps=5)


def test_counts_of_scanpy_are_warned_of(page):
    counts = page["counts"].copy()
    counts.X = np.random.default_rng(0).poisson(2.0, size=counts.shape)

    with pytest.warns(UserWarning, match="look like raw counts"):
        ufselect.tl.select(counts, "maxvariance", 5)

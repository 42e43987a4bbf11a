"""A pipeline of scanpy goes on with the selected genes, as its page shows."""

import re
from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    # Of its half gigabyte of packages, some warn about each other.
    pytest.mark.filterwarnings("ignore"),
]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "scverse.md"


@pytest.fixture(scope="module")
def page():
    """Run the first block of the page and the one about scanpy; return the names."""
    pytest.importorskip("scanpy")
    text = PAGE.read_text("utf-8")
    start = re.search(r"```python\n(.*?)```", text, re.S)[1]
    pipeline = text.split("## With scanpy")[1].split("highly variable ones:\n")[1]
    lines = pipeline.split("\nor, ")[0].splitlines()
    names = {}
    for code in (start, "\n".join(line[4:] for line in lines)):
        exec(compile(code, "scverse.md", "exec"), names)
    return names


def test_neighbours_among_selected_genes_are_of_the_same_kind(page):
    cells = page["cells"]
    first, second = cells.obsp["connectivities"].nonzero()
    kind = cells.obs["kind"].to_numpy()

    assert cells.n_vars == 20
    assert np.mean(kind[first] == kind[second]) > 0.95


def test_neighbours_among_all_genes_are_not(page):
    counts = page["counts"].copy()
    page["sc"].pp.pca(counts, n_comps=5)
    page["sc"].pp.neighbors(counts, n_neighbors=10)
    first, second = counts.obsp["connectivities"].nonzero()
    kind = counts.obs["kind"].to_numpy()

    assert np.mean(kind[first] == kind[second]) < 0.95


def test_a_mask_of_the_principal_components(page):
    counts = page["counts"].copy()
    page["sc"].pp.pca(counts, n_comps=5, mask_var="ufselect")
    loadings = counts.varm["PCs"]

    assert not loadings[~counts.var.ufselect].any()
    assert loadings[counts.var.ufselect].any()

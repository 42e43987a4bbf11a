"""A small AnnData that is ranked fast."""

import numpy as np
import pytest


def cells():
    """Return 45 cells of three batches with 12 genes, and half of X as a layer."""
    anndata = pytest.importorskip("anndata")
    random = np.random.default_rng(0)
    values = random.normal(size=(45, 12)) * np.linspace(1, 3, 12)
    values[::3, :4] += 6.0
    adata = anndata.AnnData(values)
    adata.obs_names = [f"cell {place}" for place in range(45)]
    adata.var_names = [f"gene {place}" for place in range(12)]
    adata.obs["batch"] = np.repeat(["a", "b", "c"], 15).astype(object)
    adata.layers["half"] = values / 2
    return adata

"""
Single cells in AnnData
=======================

Cells by genes, mostly zeros, with names on both sides. The selector takes the sparse
matrix as it is, and what it finds goes into ``adata.var``, where tools of scverse look.
"""

# %%
# Counts of 200 genes in 300 cells of three kinds; 20 genes are markers.

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD

import ufselect
from ufselect.data import planted
from ufselect.report import sample_scatter

data = planted("counts", n_samples=300, n_useful=20, n_noise=180)
genes = pd.DataFrame({"marker": data.informative}, index=[f"G{i}" for i in range(200)])
cells = pd.DataFrame({"kind": data.classes}, index=[f"C{i}" for i in range(300)])
adata = anndata.AnnData(sp.csr_matrix(np.log1p(data.table)), obs=cells, var=genes)
print(adata)

# %%
# Scores, ranks (1 is best) and the choice, beside the genes they belong to.

ufselect.tl.select(adata, n_features=20, n_clusters=3, random_state=0)
print(adata.var.sort_values("ufselect_rank").head())
markers = adata.var.loc[adata.var["ufselect"], "marker"]
print(f"{markers.sum()} of {len(markers)} chosen genes are markers")

# %%
# ``batch_key=`` ranks every batch by itself, and an AnnData that is backed by its file
# is read in blocks. The cells, by all genes and by the chosen ones:

small = adata[:, adata.var["ufselect"]]
planes = {
    title: TruncatedSVD(2, random_state=0).fit_transform(each.X)
    for title, each in {"all genes": adata, "chosen genes": small}.items()
}
plot = sample_scatter(planes, groups=[f"kind {kind + 1}" for kind in data.classes])

"""
Single cells in AnnData
=======================

``ufselect.tl.select`` takes the sparse matrix of an AnnData as it is and writes the
result into ``adata.var``, where the tools of scverse look for it.
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
# ``adata.var`` gets the score and the rank (1 is best) of each gene, and the choice.

ufselect.tl.select(adata, n_features=20, n_clusters=3, random_state=0)
print(adata.var.sort_values("ufselect_rank").head())
markers = adata.var.loc[adata.var["ufselect"], "marker"]
print(f"{markers.sum()} of {len(markers)} chosen genes are markers")

# %%
# ``batch_key=`` ranks each batch on its own, and backed AnnData is read in blocks. The
# cells, by all genes and by the chosen ones:

small = adata[:, adata.var["ufselect"]]
planes = {
    title: TruncatedSVD(2, random_state=0).fit_transform(each.X)
    for title, each in {"all genes": adata, "chosen genes": small}.items()
}
plot = sample_scatter(planes, groups=[f"kind {kind + 1}" for kind in data.classes])

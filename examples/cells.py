"""
Single cells in AnnData
=======================

Cells by genes, mostly zeros, with names on both sides. The selector takes the sparse
matrix as it is, and what it finds goes into ``adata.var``, where scverse tools look for
it.
"""

# %%
# Counts of 200 genes in 300 cells of three kinds; 20 genes are markers.

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD

from ufselect import SCFS
from ufselect.data import planted
from ufselect.report import sample_scatter

data = planted("counts", n_samples=300, n_useful=20, n_noise=180)
genes = pd.DataFrame({"marker": data.informative}, index=[f"G{i}" for i in range(200)])
cells = pd.DataFrame({"kind": data.classes}, index=[f"C{i}" for i in range(300)])
adata = anndata.AnnData(sp.csr_matrix(np.log1p(data.table)), obs=cells, var=genes)
print(adata)

# %%
# Scores, ranks (1 is best) and the choice, beside the genes they belong to.

selector = SCFS(n_features_to_select=20, n_clusters=3, random_state=0).fit(adata.X)
adata.var["score"] = selector.scores_
adata.var["rank"] = 1 + np.argsort(selector.order_)
adata.var["selected"] = selector.get_support()
print(adata.var.sort_values("rank").head())
print(
    f"{adata.var.loc[adata.var['selected'], 'marker'].sum()} of 20 chosen are markers"
)

# %%
# A file that is too big stays closed: ``anndata.read_h5ad(path, backed="r").X`` can be
# fitted in place of ``adata.X``. The cells, by all genes and by the chosen ones:

small = adata[:, adata.var["selected"]]
planes = {
    title: TruncatedSVD(2, random_state=0).fit_transform(each.X)
    for title, each in {"all genes": adata, "chosen genes": small}.items()
}
plot = sample_scatter(planes, groups=[f"kind {kind + 1}" for kind in data.classes])

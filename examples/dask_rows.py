"""
Rows on a Dask cluster
======================

Data that do not fit into memory stay on the cluster. Each pass over the rows returns
sums of a few thousand numbers. The result is that of the fit in memory, up to rounding.
"""

# %%
# Use chunks of whole rows. On a cluster its workers read them, for instance from Zarr;
# here the threads of this process do the work.

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from ufselect import SCFS
from ufselect.data import planted

data = planted("blobs", n_samples=600, n_useful=15, n_noise=45)
rows = da.from_array(data.table, chunks=(150, -1))
print(rows)

# %%
# The call is the same, and so is the result.

selector = SCFS(n_features_to_select=15, n_clusters=3, random_state=0)
far = selector.fit(rows)
order, scores = far.order_, far.scores_
near = SCFS(n_features_to_select=15, n_clusters=3, random_state=0).fit(data.table)
print("the same order:", np.array_equal(order, near.order_))
print(f"scores differ by {np.abs(scores - near.scores_).max():.0e}")

# %%
# Results with one row per sample stay on Dask.

print(far.transform(rows))
print(far.memberships_)

# %%
# All features lie on the diagonal: the scores are the same.

figure, axes = plt.subplots(figsize=(4, 3.6), layout="constrained")
colours = np.where(data.informative, "tab:orange", "tab:blue")
axes.scatter(near.scores_, scores, s=18, c=colours)
axes.axline((0, 0), slope=1, color="0.7", zorder=0)
axes.set(xlabel="score in memory", ylabel="score on Dask, useful features in orange")

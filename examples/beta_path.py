"""
A path over beta
================

``beta`` is the penalty for a feature in the model. As it decreases, features enter one
after another. The dashed line marks the default, 0.05 of the largest useful beta.
"""

# %%
# ``beta_`` of a default fit gives the scale. ``path`` prepares X once and starts every
# fit from the one before, so sixteen fits take the time of a few.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from ufselect import SCFS

table = load_wine(as_frame=True).data
default = SCFS(n_clusters=3, standardize="features", random_state=0).fit(table)
largest = default.beta_ / 0.05
betas = largest * np.geomspace(0.8, 0.005, 16)
path = default.path(table, alphas=[default.alpha_], betas=betas)
norms = np.array([np.linalg.norm(fitted.coef_, axis=1) for fitted in path])

# %%
# The measurement that separates the groups of wines best enters first.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for feature in default.order_:
    axes.plot(betas / largest, norms[:, feature], label=table.columns[feature])
axes.axvline(0.05, color="0.5", linestyle="--")
axes.set(xscale="log", xlabel="beta, as a share of the largest", ylabel="row norm of W")
axes.invert_xaxis()
axes.legend(fontsize=6, ncols=2)

# %%
# The number of features in the model along the path:

print(*np.count_nonzero(norms, axis=1))

# %%
# The ranking of the default fit is almost the order in which features enter.

entered = np.argmax(norms > 0, axis=0)
print(*table.columns[np.argsort(entered, kind="stable")][:5], sep=", ")
print(*table.columns[default.order_[:5]], sep=", ")

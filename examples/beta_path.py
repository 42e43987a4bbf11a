"""
A path over beta
================

``beta`` says how much a feature in the model costs. From large to small, features enter
one after another, and each fit starts where the last one ended. The picture shows what
the default, 0.05 of the largest useful beta, is a point of.
"""

# %%
# ``beta_`` of a default fit tells the scale. ``path`` prepares X once and starts every
# fit from the one before, which makes sixteen fits cost a few.

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
# The best measurement for telling groups of wines apart enters first.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for feature in default.order_:
    axes.plot(betas / largest, norms[:, feature], label=table.columns[feature])
axes.axvline(0.05, color="0.5", linestyle="--")
axes.set(xscale="log", xlabel="beta, as a share of the largest", ylabel="row norm of W")
axes.invert_xaxis()
axes.legend(fontsize=6, ncols=2)

# %%
# How many features are in the model along the path?

print(*np.count_nonzero(norms, axis=1))

# %%
# The ranking of the default fit is nearly the order in which features enter.

entered = np.argmax(norms > 0, axis=0)
print(*table.columns[np.argsort(entered, kind="stable")][:5], sep=", ")
print(*table.columns[default.order_[:5]], sep=", ")

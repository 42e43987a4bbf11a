"""
Which pixels tell digits apart?
===============================

Every pixel is a feature, and no label is used. The chosen pixels lie where the strokes
of digits differ. Pixels of the margin, which are the same in all drawings, are left
out.
"""

# %%
# Pixels share one unit, so ``standardize=False`` is right. Scaled to unit variance, a
# pixel that is black in one drawing of a thousand would count as much as any other.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from ufselect import SCFS

X, digits = load_digits(return_X_y=True)
selector = SCFS(20, n_clusters=10, standardize=False, random_state=0).fit(X)
print(selector.order_[:20])

# %%
# The score of each pixel at its place. Rings mark the chosen pixels.

figure, (scores, mean) = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
scores.imshow(selector.scores_.reshape(8, 8), cmap="viridis")
scores.set_title("score of each pixel")
mean.imshow(X.mean(axis=0).reshape(8, 8), cmap="gray_r")
mean.set_title("mean drawing, 20 pixels chosen")
rows, columns = np.divmod(selector.get_support(indices=True), 8)
mean.scatter(columns, rows, s=130, facecolors="none", edgecolors="tab:red")
for axes in (scores, mean):
    axes.set_axis_off()

# %%
# Only now use the labels, to judge: how well do clusters by 20 chosen pixels agree with
# the digits, compared with clusters by all 64 and by 20 random pixels?

drawn = np.random.default_rng(0).choice(64, 20, replace=False)
tables = {"20 chosen": selector.transform(X), "all 64": X, "20 random": X[:, drawn]}
for name, table in tables.items():
    clusters = KMeans(10, n_init=3, random_state=0).fit_predict(table)
    print(f"{name:10} {adjusted_rand_score(digits, clusters):.2f}")

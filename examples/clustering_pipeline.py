"""
In a pipeline, before clustering
================================

A selector is a step of a scikit-learn pipeline. Here it stands between scaling and
k-means, and removes features of noise that hide the clusters of wines.
"""

# %%
# Thirteen measurements of 178 wines, and 87 features of noise.

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ufselect import SCFS
from ufselect.report import sample_scatter

wine, growers = load_wine(return_X_y=True)
noise = np.random.default_rng(0).normal(size=(len(wine), 87))
X = StandardScaler().fit_transform(np.hstack([wine, noise]))

k_means = KMeans(3, n_init=10, random_state=0)
selector = SCFS(n_features_to_select=13, n_clusters=3, random_state=0)
pipeline = make_pipeline(StandardScaler(), selector, k_means)
clusters = pipeline.fit_predict(X)
chosen = pipeline[1].get_support(indices=True)
print(f"{np.sum(chosen < 13)} of 13 chosen are measurements")

# %%
# The pipeline never saw the growers. Compare the clusters with them:

for name, found in {"chosen": clusters, "all": k_means.fit_predict(X)}.items():
    print(f"{name:7} {adjusted_rand_score(growers, found):.2f}")

# %%
# The wines in the plane of their first two principal components: by all hundred
# features, and by the thirteen chosen ones.

planes = {
    title: PCA(2, random_state=0).fit_transform(table)
    for title, table in {"all": X, "chosen": pipeline[:2].transform(X)}.items()
}
plot = sample_scatter(planes, groups=[f"grower {grower + 1}" for grower in growers])

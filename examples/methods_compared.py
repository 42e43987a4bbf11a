"""
Methods side by side
====================

All methods have the same interface, so you can compare them in a loop. What a method
finds depends on the shape of the groups. Methods that do equally well need not choose
the same features.
"""

# %%
# The useful features form clusters, rings around a common centre, or counts. Each
# method selects as many features as are useful.

import numpy as np
from sklearn.preprocessing import StandardScaler

from ufselect import all_selectors
from ufselect.data import planted
from ufselect.report import agreement_maps, bar_chart

names = ["SCFS", "MCFS", "LaplacianScore", "SPEC", "NDFS"]
baselines = ["MaxVariance", "RandomSelection"]


def fitted(name, X):
    """Return a fit of 15 columns, with three clusters where a method has any."""
    selector = all_selectors()[name](n_features_to_select=15)
    known = {"n_clusters": 3, "random_state": 0}
    own = {key: known[key] for key in known if key in selector.get_params()}
    return selector.set_params(**own).fit(X)


shares, chosen = {}, {}
for geometry in ("blobs", "rings", "counts"):
    data = planted(geometry, n_samples=120, n_useful=15, n_noise=105, seed=1)
    X = (
        data.table
        if geometry == "counts"
        else StandardScaler().fit_transform(data.table)
    )
    chosen[geometry] = {
        name: fitted(name, X).get_support() for name in names + baselines
    }
    shares[geometry] = {
        name: 100 * data.informative[mask].mean()
        for name, mask in chosen[geometry].items()
    }

# %%
# The share of useful features among the chosen ones. All standardised features have the
# same variance, so the highest variance says nothing about them.

plot = bar_chart(shares, label="useful columns found (%)", baselines=baselines)

# %%
# How many of the 15 features do two methods share if the groups are rings?

masks = np.array([chosen["rings"][name] for name in names], dtype=float)
overlap = agreement_maps(names, {"share of columns in common": masks @ masks.T / 15})

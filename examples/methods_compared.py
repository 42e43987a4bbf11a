"""
Methods side by side
====================

Every method takes the same table and gives the same things back, so that comparing them
is a loop. Two lessons: what a method finds depends on the shape of the groups, and
methods that do equally well need not choose the same columns.
"""

# %%
# Useful columns are planted in three ways: as clusters, as rings around a common
# centre, and as counts. A method is asked for as many columns as are useful.

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
# The share of useful columns among the chosen ones. On standardised columns variance
# has nothing to go by.

plot = bar_chart(shares, label="useful columns found (%)", baselines=baselines)

# %%
# How many of the 15 columns do two methods share, where the groups are rings?

masks = np.array([chosen["rings"][name] for name in names], dtype=float)
overlap = agreement_maps(names, {"share of columns in common": masks @ masks.T / 15})

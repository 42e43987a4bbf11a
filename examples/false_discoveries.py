"""
How many are false discoveries?
===============================

Every ranking has a first feature, even a ranking of noise. Features with permuted
values have the same distribution as the others and no relation to them. The number of
permuted features among the best k estimates how many of the k are false discoveries.
"""

# %%
# Twenty of a hundred features are useful.

from ufselect import SCFS
from ufselect.data import planted
from ufselect.report import false_share_curve
from ufselect.tuning import false_selections

data = planted("blobs", n_samples=120, n_useful=20, n_noise=80)
found = false_selections(
    SCFS(n_clusters=3), data.table, n_repeats=5, target=0.1, random_state=0
)
print(f"up to {found.largest_k} features with at most 10 % false discoveries")

# %%
# The estimate stays near zero up to the number of useful features, then rises.

plot = false_share_curve(found.share, found.lower, found.upper, found.largest_k)

# %%
# The table is made up, so the truth is known: how many of these features are useful?

order = SCFS(n_clusters=3, random_state=0).fit(data.table).order_
print(f"{data.informative[order[: found.largest_k]].sum()} of {found.largest_k}")

# %%
# In a table of noise, no feature stands out.

noise = data.table[:, ~data.informative]
nothing = false_selections(SCFS(n_clusters=3), noise, n_repeats=5, random_state=0)
print(f"in noise, up to {nothing.largest_k} features")

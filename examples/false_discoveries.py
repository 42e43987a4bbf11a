"""
How many are there by chance?
=============================

Every ranking has a top, even that of pure noise. Decoys tell how deep to go: columns
whose values are shuffled among the samples look like the others one by one, and belong
to nothing. As many decoys as come among the best k, so many of the k are there by
chance.
"""

# %%
# Twenty useful columns among a hundred.

from ufselect import SCFS
from ufselect.data import planted
from ufselect.report import false_share_curve
from ufselect.tuning import false_selections

data = planted("blobs", n_samples=120, n_useful=20, n_noise=80)
found = false_selections(
    SCFS(n_clusters=3), data.table, n_repeats=5, target=0.1, random_state=0
)
print(f"up to {found.largest_k} columns, at most a tenth is expected to be chance")

# %%
# The estimate stays near zero while useful columns last, and climbs beyond.

plot = false_share_curve(found.share, found.lower, found.upper, found.largest_k)

# %%
# The truth, which is known here: how many of these columns are useful?

order = SCFS(n_clusters=3, random_state=0).fit(data.table).order_
print(f"{data.informative[order[: found.largest_k]].sum()} of {found.largest_k}")

# %%
# The same question about nothing but noise. An honest answer is that no column stands
# out.

noise = data.table[:, ~data.informative]
nothing = false_selections(SCFS(n_clusters=3), noise, n_repeats=5, random_state=0)
print(f"among noise, up to {nothing.largest_k} columns")

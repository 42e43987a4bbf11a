"""
A few useful genes among hundreds
=================================

A wide table as laboratories have it: ninety samples, five hundred genes, of which
twenty follow three hidden groups of samples. Nobody says how many groups there are, nor
how many genes to keep; ``AutoSelect`` decides both, and says why.
"""

# %%
# The table is made, so that the answer is known. The units of the columns differ by up
# to a hundred to one, as they do where columns are measured in different ways.

import pandas as pd

from ufselect import AutoSelect, MaxVariance
from ufselect.data import planted
from ufselect.report import score_curve

data = planted("blobs", n_samples=90, n_useful=20, n_noise=480, unequal_scales=True)
genes = pd.DataFrame(data.table, columns=[f"gene_{index}" for index in range(500)])
selector = AutoSelect(random_state=0).set_output(transform="pandas")
chosen = selector.fit_transform(genes)
print(*selector.reasons_, sep="\n")

# %%
# What was chosen keeps its names. How many of it are useful ones?

print(list(chosen.columns[:5]), "and so on")
found = data.informative[selector.get_support(indices=True)]
print(f"{found.sum()} of {len(found)} chosen genes are useful")

# %%
# Where the scores fall, the cut belongs.

plot = score_curve(selector.scores_[selector.order_], len(found))

# %%
# Highest variance, the usual first thing to do, finds the columns with the largest
# unit.

variance = MaxVariance(n_features_to_select=len(found)).fit(genes)
by_variance = data.informative[variance.get_support(indices=True)]
print(f"{by_variance.sum()} of {len(found)} genes of highest variance are useful")

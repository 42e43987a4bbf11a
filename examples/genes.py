"""
A few useful genes among hundreds
=================================

The table has ninety samples and five hundred genes, of which twenty follow three hidden
groups of samples. ``AutoSelect`` decides how many groups there are and how many genes
to keep, and gives its reasons.
"""

# %%
# The table is made up, so the answer is known. The units of the genes differ by up to
# a hundred to one.

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
# The chosen genes keep their names. How many of them are useful?

print(list(chosen.columns[:5]), "and so on")
found = data.informative[selector.get_support(indices=True)]
print(f"{found.sum()} of {len(found)} chosen genes are useful")

# %%
# The cut is where the scores fall.

plot = score_curve(selector.scores_[selector.order_], len(found))

# %%
# Selecting by highest variance finds the genes with the largest unit.

variance = MaxVariance(n_features_to_select=len(found)).fit(genes)
by_variance = data.informative[variance.get_support(indices=True)]
print(f"{by_variance.sum()} of {len(found)} genes of highest variance are useful")

"""
Critical difference diagram
===========================

Is one method better than others over many data sets, or does it only look so? The
diagram of Demšar (2006) shows the average rank of each method, and joins those whose
difference may be luck. The package scikit-posthocs draws it.
"""

# %%
# The accuracies that the SCFS paper prints for six data sets. For your own experiment,
# use ``read_experiment(store).table("fixed", "accuracy")["mean"].unstack(0)``.

import matplotlib.pyplot as plt
import pandas as pd
import scikit_posthocs as posthocs
from scipy.stats import friedmanchisquare

from ufselect.experiments.scfs_2020 import published

printed = published().accuracy
accuracy = pd.DataFrame(
    {
        method: {name: cell.mean for name, cell in cells.items()}
        for method, cells in printed.items()
        if method != "Baseline"
    }
)
print(accuracy)

# %%
# Friedman's test asks whether all methods are alike.

print(f"p = {friedmanchisquare(*accuracy.to_numpy().T).pvalue:.4f}")

# %%
# Nemenyi's test compares every pair. A bar joins methods that it does not tell apart:
# six data sets are few, so SCFS is told apart from some methods only.

ranks = accuracy.rank(axis=1, ascending=False).mean()
p_values = posthocs.posthoc_nemenyi_friedman(accuracy)
figure, axes = plt.subplots(figsize=(7, 2.6))
posthocs.critical_difference_diagram(ranks, p_values, ax=axes)
figure.tight_layout()

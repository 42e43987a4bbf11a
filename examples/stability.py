"""
Would other samples choose the same?
====================================

If a selection changes with the sample, do not trust it. ``StabilitySelection`` fits a
selector to many random halves of the samples and counts how often each feature is
selected.
"""

# %%
# Thirty measurements of tumour cells. Many correlate, so one can stand for another,
# and which one is selected depends on the samples.

from sklearn.datasets import load_breast_cancer

from ufselect import SCFS, StabilitySelection
from ufselect.evaluation import representatives
from ufselect.report import selection_frequencies

table = load_breast_cancer(as_frame=True).data
asked = SCFS(n_clusters=2)
selector = StabilitySelection(
    asked, n_features_to_select=8, n_subsamples=20, random_state=0
).fit(table)
for feature in selector.order_[:10]:
    print(f"{selector.frequency_[feature]:4.0%}  {table.columns[feature]}")

# %%
# The index of Nogueira and others is one number: 1 if all halves select the same
# features, 0 if they select random ones.

index = selector.stability_
print(f"stability {index.value:.2f}, between {index.lower:.2f} and {index.upper:.2f}")
plot = selection_frequencies(
    selector.frequency_[selector.order_[:8]],
    chance=8 / table.shape[1],
    stability=(index.value, index.lower, index.upper),
)

# %%
# Each chosen feature has stand-ins: features that correlate with it.

for each in representatives(table, selector.get_support()):
    others = ", ".join(table.columns[each.represents]) or "nothing else"
    print(f"{table.columns[each.column]} stands for {others}")

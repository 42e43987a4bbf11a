"""
The words that make subjects
============================

Documents about three subjects share most of their words. The table of documents by
words is sparse and stays sparse. You need no list of stop words.
"""

# %%
# Short random documents: a third of the words of each belong to its subject.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from ufselect import SCFS

subjects = {
    "kitchen": "oven flour butter dough sugar pan spice recipe salt onion",
    "harbour": "anchor sail tide mast harbour deck rudder crew wind keel",
    "court": "judge witness appeal verdict law jury sentence trial oath claim",
}
common = (
    "the and with after before many some every first last day time people place "
    "made found said long new old good small great again never often"
)
random = np.random.default_rng(0)
truth = random.choice(list(subjects), size=150)
documents = [
    " ".join(
        [*random.choice(subjects[each].split(), 10), *random.choice(common.split(), 20)]
    )
    for each in truth
]
vectorizer = TfidfVectorizer()
X = vectorizer.fit_transform(documents)
print(
    f"{X.shape[0]} documents, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.0%} filled"
)

# %%
# ``standardize="auto"`` sees that the features are mostly zero. It scales documents to
# unit length, because scaling words to unit variance would give rare words too much
# weight.

selector = SCFS(n_features_to_select=30, n_clusters=3, random_state=0).fit(X)
words = vectorizer.get_feature_names_out()
print("prepared by scaling", selector.standardize_)
print(*words[selector.order_[:12]])

# %%
# Each bar is a word, in the colour of its subject. The common words (grey) come last,
# although they are the most frequent ones.

colours = {
    word: f"C{place}"
    for place, vocabulary in enumerate(subjects.values())
    for word in vocabulary.split()
}
order = selector.order_
figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
axes.bar(
    words[order],
    selector.scores_[order],
    color=[colours.get(word, "0.7") for word in words[order]],
)
axes.tick_params(axis="x", rotation=90, labelsize=7)
axes.set_ylabel("score")

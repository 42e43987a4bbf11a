"""Every metric, score and criterion as a question about a random table.

A question draws its other arguments and returns a function without arguments, which can
be called more than once. Its result consists of numbers, which must be finite unless
their documentation says otherwise.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ufselect import evaluation
from ufselect.evaluation.criteria import CRITERIA
from ufselect.selectors import SPEC, MaxVariance
from ufselect.solvers import rankings
from ufselect.tuning import false_selections, sensitivity_to_clusters

Asked = Callable[[], Any]
Question = Callable[[Any, Any], Asked]

# Ratios whose documentation says that they are infinite where nothing ever varies.
MAY_BE_INFINITE = {"friedman", "stability_difference", "verdict"}
LABEL_SCORES = ["clustering_accuracy", "mutual_information", "adjusted_rand", "purity"]


def some_columns(draw: Any, n_features: int) -> Any:
    """Return a mask, or indices of columns, of which some may not exist."""
    if draw(st.booleans()):
        return draw(st.lists(st.booleans(), min_size=n_features, max_size=n_features))
    return draw(st.lists(st.integers(-1, n_features), min_size=1, unique=True))


def good_columns(draw: Any, n_features: int) -> Any:
    """Return indices of columns that there are."""
    places = st.integers(0, n_features - 1)
    return sorted(draw(st.lists(places, min_size=1, max_size=4, unique=True)))


def columns_of(draw: Any, X: Any) -> Any:
    """Return a selection, mostly a good one."""
    chosen = some_columns if draw(st.integers(0, 4)) == 4 else good_columns
    return chosen(draw, X.shape[1])


def classes_of(draw: Any, X: Any) -> Any:
    """Return a class for each sample: numbers or words, few or many."""
    most = draw(st.sampled_from([0, 1, 2, 20]))
    numbers = st.lists(st.integers(0, most), min_size=X.shape[0], max_size=X.shape[0])
    words = draw(st.booleans())
    return [f"class {n}" if words else n for n in draw(numbers)]


def ask_agreement(draw: Any, X: Any) -> Asked:
    """All agreements of two labellings at once."""
    clusters = st.lists(st.integers(0, 3), min_size=X.shape[0], max_size=X.shape[0])
    labellings = [draw(clusters), draw(clusters)]
    return partial(evaluation.agreement, classes_of(draw, X), labellings)


def of_labels(name: str) -> Question:
    """Return the question for a score of two labellings."""
    score = getattr(evaluation, name)
    return lambda draw, X: partial(score, classes_of(draw, X), classes_of(draw, X))


def of_table(name: str) -> Question:
    """Return the question for a metric of a table alone."""
    return lambda draw, X: partial(getattr(evaluation, name), X)


def of_columns(name: str, *numbers: tuple[int, int], **others: Any) -> Question:
    """Return the question for a metric of a table, a selection and some numbers."""
    metric = getattr(evaluation, name)

    def ask(draw: Any, X: Any) -> Asked:
        drawn = [draw(st.integers(*limits)) for limits in numbers]
        return partial(metric, X, columns_of(draw, X), *drawn, **others)

    return ask


def ask_stability(draw: Any, X: Any) -> Asked:
    """Stability of some selections."""
    selections = [columns_of(draw, X) for _ in range(draw(st.integers(1, 5)))]
    return partial(evaluation.selection_stability, selections, X.shape[1])


def ask_stability_difference(draw: Any, X: Any) -> Asked:
    """Two stabilities against each other."""
    p = X.shape[1] + 1
    both = [[good_columns(draw, p) for _ in range(3)] for _ in range(2)]

    def ask() -> Any:
        first, second = (evaluation.selection_stability(each, p) for each in both)
        return evaluation.stability_difference(first, second)

    return ask


def ask_skip(draw: Any, X: Any) -> Asked:
    """Columns that are no near-duplicates."""
    order = np.arange(X.shape[1])[::-1]
    wanted = draw(st.integers(1, X.shape[1]))
    most = draw(st.sampled_from([0.0, 0.5, 0.95, 1.0]))
    return partial(evaluation.skip_near_duplicates, X, order, wanted, most)


def ask_k_means(draw: Any, X: Any) -> Asked:
    """Labels and inertias of repeated k-means."""
    count = draw(st.integers(1, 5))
    return partial(evaluation.repeated_k_means, X, count, seeds=[0, 1], n_init=2)


def ask_judge(draw: Any, X: Any) -> Asked:
    """Scores of k-means on columns."""
    classes = classes_of(draw, X)
    return partial(evaluation.judge_by_k_means, X, classes, seeds=[0], n_init=2)


def ask_judge_ranking(draw: Any, X: Any) -> Asked:
    """Scores of the head of a ranking."""
    order, sizes = np.arange(X.shape[1]), [draw(st.integers(0, 3))]
    judge = partial(evaluation.judge_ranking, seeds=[0], n_init=2, sizes=sizes)
    return partial(judge, X, order, classes_of(draw, X))


def ask_classification(draw: Any, X: Any) -> Asked:
    """Accuracies of two classifiers."""
    judge = partial(evaluation.judge_by_classification, n_splits=2, seeds=[0])
    return partial(judge, X, classes_of(draw, X))


def ask_wilcoxon(draw: Any, X: Any) -> Asked:
    """Tests against a method that there may not be."""
    reference = draw(st.integers(0, X.shape[0]))
    return partial(evaluation.wilcoxon_against, X, reference)


def ask_groups(draw: Any, X: Any) -> Asked:
    """Groups of methods by their average ranks."""

    def ask() -> Any:
        distance = evaluation.nemenyi_critical_difference(*X.shape)
        ranks = evaluation.average_ranks(X)
        return evaluation.indistinguishable_groups(ranks, distance)

    return ask


def ask_rank_aggregation(draw: Any, X: Any) -> Asked:
    """One ranking of several, and how far these agree; rows are scores."""
    table = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    # Scores are finite: that much selectors promise.
    ranks = rankings.ranks_of(np.nan_to_num(table))
    combine = draw(st.sampled_from(sorted(rankings.COMBINATIONS)))
    best = draw(st.integers(1, X.shape[1]))
    return lambda: (
        rankings.combined_scores(ranks, combine),
        rankings.rank_agreement(ranks),
        rankings.top_overlap(ranks, best),
    )


def ask_decoys(draw: Any, X: Any) -> Asked:
    """Shares of false features."""
    return partial(false_selections, MaxVariance(), X, n_repeats=2, random_state=0)


def ask_sensitivity(draw: Any, X: Any) -> Asked:
    """Agreement of rankings between numbers of clusters."""
    return partial(sensitivity_to_clusters, SPEC(phi=3), X, (2, 3), random_state=0)


def ask_view(draw: Any, X: Any) -> Asked:
    """Places of samples in a plane."""
    selected = None if draw(st.booleans()) else columns_of(draw, X)
    return partial(evaluation.sample_view, X, selected)


QUESTIONS: dict[str, Question] = {
    "agreement": ask_agreement,
    **{name: of_labels(name) for name in LABEL_SCORES},
    "average_ranks": of_table("average_ranks"),
    "friedman": of_table("friedman"),
    "wilcoxon_against": ask_wilcoxon,
    "indistinguishable_groups": ask_groups,
    "selection_stability": ask_stability,
    "stability_difference": ask_stability_difference,
    "redundancy": of_table("redundancy"),
    "neighbourhood_agreement": of_columns("neighbourhood_agreement", (0, 6)),
    "clustering_agreement": of_columns(
        "clustering_agreement", (1, 4), seeds=[0], n_init=2
    ),
    "reconstruction_error": of_columns("reconstruction_error"),
    "held_out_reconstruction_error": of_columns("held_out_reconstruction_error"),
    "stand_ins": of_columns("stand_ins"),
    "skip_near_duplicates": ask_skip,
    "repeated_k_means": ask_k_means,
    "judge_by_k_means": ask_judge,
    "judge_ranking": ask_judge_ranking,
    "judge_by_classification": ask_classification,
    "sample_view": ask_view,
    **{
        f"verdict by {name}": of_columns(
            "verdict", criterion=name, n_random=5, random_state=0
        )
        for name in CRITERIA
    },
    "rank aggregation": ask_rank_aggregation,
    "false_selections": ask_decoys,
    "sensitivity_to_clusters": ask_sensitivity,
}

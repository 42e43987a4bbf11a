"""Parts of a report that come from fits and draws repeated: how much was chance."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from ufselect.evaluation import judge_by_k_means
from ufselect.evaluation.split_half import N_PERMUTED, preparation_of
from ufselect.evaluation.tables import UNITS, in_units
from ufselect.evaluation.verdict import (
    CRITERION_NAMES,
    MOST_SAMPLES,
    CriterionName,
    verdicts,
)
from ufselect.matrix import Float, Index
from ufselect.report.selection_parts import (
    AgainstRandom,
    ByChance,
    ClusterSensitivity,
    LabelScores,
    Stable,
)
from ufselect.report.selection_subject import (
    MOST_PRODUCTS,
    Subject,
    learned,
    refuse_beyond,
    refuse_zero,
)
from ufselect.tuning import (
    StabilitySelection,
    false_selections,
    sensitivity_to_clusters,
)

# Fewer random sets could not show any difference at the level of 5 %.
FEWEST_RANDOM = 19
# Sets of random columns that are clustered beside the chosen ones.
N_RANDOM_CLUSTERED = 5
# Starts, steps and seeds of k-means, as a factor to its cost.
K_MEANS_STEPS = 1000
# Of more samples, so many are drawn to be clustered.
MOST_CLUSTERED = 1000


def measure_against_random(subject: Subject) -> AgainstRandom:
    """Select on half of the samples and judge on the others, by every criterion."""
    wanted = subject.effort.n_random
    refuse_zero(wanted)
    costs = _costs(subject)
    dear = {name: cost for name, cost in costs.items() if not _affordable(cost)}
    if len(dear) == len(costs):
        refuse_beyond(FEWEST_RANDOM * min(dear.values()))
    for name in dear:
        message = f"so many features are not judged by {name}, which would take long."
        warnings.warn(message, UserWarning, stacklevel=2)
    asked = [name for name in costs if name not in dear]
    affordable = MOST_PRODUCTS // max(costs[name] for name in asked)
    found = verdicts(
        subject.table,
        _to_refit(subject),
        criteria=asked,
        n_random=int(min(wanted, affordable)),
        random_state=subject.seed,
        n_jobs=subject.n_jobs,
    )
    if found[0].p_value is None:
        raise ValueError(found[0].sentence)
    return AgainstRandom(found)


def _to_refit(subject: Subject) -> Any:
    """Return who selects on half of the samples: as many features as were chosen."""
    if subject.refitted is subject.selector:
        return subject.selector
    return clone(subject.refitted).set_params(n_features_to_select=len(subject.chosen))


def _costs(subject: Subject) -> dict[CriterionName, float]:
    """Return the multiplications that each criterion takes for one set."""
    n_samples = min((subject.table.shape[0] + 1) // 2, MOST_SAMPLES)
    count = len(subject.chosen)
    by_samples = float(n_samples**2 * count)
    # Each pair is held, made absolute and summed too.
    by_pairs = {"distinctness": 3.0 * n_samples * count**2}
    # A single feature has no pair to agree or to be distinct.
    names = CRITERION_NAMES if count > 1 else CRITERION_NAMES[1:3]
    return {name: (1 + N_PERMUTED) * by_pairs.get(name, by_samples) for name in names}


def _affordable(cost: float) -> bool:
    return FEWEST_RANDOM * cost <= MOST_PRODUCTS


def measure_stability(subject: Subject) -> Stable:
    """Fit to halves of the samples, unless the selector has done so itself."""
    selector: Any = subject.selector
    n_selected = len(subject.chosen)
    if not hasattr(selector, "frequency_"):
        refuse_zero(subject.effort.n_subsamples)
        selector = StabilitySelection(
            subject.refitted,
            n_selected,
            n_subsamples=subject.effort.n_subsamples,
            n_jobs=subject.n_jobs,
            time_budget=subject.seconds_left,
            random_state=subject.seed,
        ).fit(subject.table)
    return Stable(
        [subject.names[column] for column in subject.chosen],
        selector.frequency_[subject.chosen],
        int(selector.n_subsamples_),
        n_selected / subject.table.shape[1],
        selector.stability_,
    )


def measure_sensitivity(subject: Subject) -> ClusterSensitivity:
    """Fit with fewer and with more clusters."""
    refuse_zero(subject.effort.n_cluster_numbers)
    parameters = subject.refitted.get_params(deep=False)
    if "n_clusters" not in parameters:
        name = type(subject.refitted).__name__
        raise ValueError(f"{name} asks for no number of clusters")
    number = parameters["n_clusters"]
    if isinstance(number, str):
        number = learned(subject.selector, "n_clusters_")
    found = sensitivity_to_clusters(
        subject.refitted,
        subject.table,
        numbers_around(number, subject.effort.n_cluster_numbers),
        n_features=len(subject.chosen),
        n_jobs=subject.n_jobs,
        time_budget=subject.seconds_left,
        random_state=subject.seed,
    )
    return ClusterSensitivity(found)


def measure_by_chance(subject: Subject) -> ByChance:
    """Fit with permuted columns among the features."""
    found = false_selections(
        subject.refitted,
        subject.table,
        n_repeats=subject.effort.n_decoy_fits,
        n_jobs=subject.n_jobs,
        time_budget=subject.seconds_left,
        random_state=subject.seed,
    )
    return ByChance(found, len(subject.chosen))


def numbers_around(number: Any, count: int) -> list[int]:
    """Return numbers of clusters from half of one to twice as many.

    Examples
    --------
    >>> numbers_around(8, 3), numbers_around(None, 3), numbers_around(2, 5)
    ([4, 8, 16], [4, 8, 16], [2, 3, 4])
    """
    middle = int(number) if isinstance(number, int | np.integer) else 8
    spread = np.geomspace(middle / 2, middle * 2, count).round().astype(int)
    return sorted({max(2, int(each)) for each in spread})


def measure_labels(subject: Subject, labels: Any) -> LabelScores:
    """Cluster by chosen, random and all features and compare with the labels."""
    random = np.random.RandomState(subject.seed)
    table, labels = _some_samples(subject.table, labels, random)
    n_samples, n_features = table.shape
    n_classes = len(np.unique(labels))
    if not 2 <= n_classes <= n_samples / 2:
        raise ValueError(
            f"{n_classes} different labels of {n_samples} samples are not to be "
            "compared with clusters"
        )
    refuse_beyond(K_MEANS_STEPS * n_samples * n_features * n_classes)
    table, kind = in_units(table, preparation_of(subject.selector))
    size = len(subject.chosen)
    draws = [random.choice(n_features, size, False) for _ in range(N_RANDOM_CLUSTERED)]
    sets = {
        "chosen features": [subject.chosen],
        f"random features (mean of {N_RANDOM_CLUSTERED})": draws,
        "all features": [np.arange(n_features)],
    }
    scores = {
        name: np.mean([_found(table, labels, each) for each in several], axis=0)
        for name, several in sets.items()
    }
    accuracy, information = np.array(list(scores.values())).T.tolist()
    return LabelScores(list(scores), accuracy, information, UNITS[kind])


def _some_samples(
    table: Any, labels: Any, random: np.random.RandomState
) -> tuple[Any, Any]:
    if table.shape[0] <= MOST_CLUSTERED:
        return table, labels
    rows = np.sort(random.choice(table.shape[0], MOST_CLUSTERED, False))
    return table[rows], labels[rows]


def _found(table: Any, labels: Any, columns: Index) -> Float:
    part = table[:, np.sort(columns)]
    return judge_by_k_means(part, labels, seeds=range(3), n_init=5).mean(axis=0)

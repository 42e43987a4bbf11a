"""What a report about a selection measures with further fits and random sets."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ufselect._warn import warn
from ufselect.evaluation import Verdict, selection_stability, verdicts
from ufselect.evaluation.significance import (
    CRITERION_NAMES,
    MAX_SAMPLES,
    SIGNIFICANT,
    sentence_of,
)
from ufselect.evaluation.subsamples import MIN_SAMPLES, N_PERMUTED, preparation_of
from ufselect.matrix import as_matrix
from ufselect.matrix.base import few_threads
from ufselect.plotting.fitted import learned
from ufselect.report.decision import comparison_in_words, listed, stability_word
from ufselect.report.features import (
    curve_part,
    features_part,
    measure_representatives,
)
from ufselect.report.halves import N_SUBSAMPLES
from ufselect.report.parts import (
    MAX_PRODUCTS,
    Progress,
    Subject,
    check_cost,
    measure_convergence,
    measure_heat_map,
    measure_pixels,
    measure_planes,
    measure_repetition,
)
from ufselect.report.rendering import Part, figure_of
from ufselect.solvers.preparation import UNITS, in_units
from ufselect.tuning.fits import user_warnings

# With fewer random sets no p value could be below 5 %.
MIN_RANDOM = 20
# Sets of random features that are clustered beside the chosen ones.
N_RANDOM_CLUSTERED = 5
K_MEANS: dict[str, Any] = {"seeds": range(3), "n_init": 5}
# Starts, steps and seeds of k-means, as a factor to its cost.
K_MEANS_STEPS = 1000
# Samples that are clustered; of more, some are drawn at random.
MAX_CLUSTERED = 1000

# The interval of a stability assumes that there are many selections.
MIN_SUBSAMPLES_FOR_INTERVAL = 20


# Columns of the comparison with random features.
COLUMNS_OF_VERDICTS = [
    *("criterion", "chosen", "random mean", "random 5 %", "random 95 %"),
    *("effect size", "p value", "random sets"),
]


class Measured(NamedTuple):
    """The parts by name, and why others are left out or what was warned of."""

    parts: dict[str, Any]
    left_out: dict[str, str]
    notes: dict[str, list[str]]


def measure(subject: Subject, progress: Progress | None = None) -> Measured:
    """Return all parts of a report; what is sure and cheap comes first.

    A part that cannot be measured is None, with its reason in ``left_out``. Progress is
    counted in fits, which take most of the time; a part without any counts as one.
    """
    parts, left_out, notes = found = Measured({}, {}, {})
    tasks = _tasks(subject) if len(subject.chosen) else {}
    done, total = 0, sum(work for _, work, _ in tasks.values())
    for name, (what, work, task) in tasks.items():
        if progress is not None:
            progress(done, total, what)
        done += work
        parts[name] = None
        if subject.seconds_left == 0:
            left_out[name] = "the time budget was used up"
            continue
        with few_threads(float(np.prod(subject.table.shape))), user_warnings() as said:
            try:
                parts[name] = task(subject)
            except (ArithmeticError, MemoryError, ValueError) as error:
                left_out[name] = str(error).rstrip(".")
        if said:
            notes["stability" if name == "halves" else name] = said
    if progress is not None:
        progress(done, total, "done")
    for each in (parts, left_out):
        each.pop("halves", None)
    nearest, stable = parts.pop("representatives", None), parts.get("stability")
    frequency = None if stable is None else stable.facts["frequency"]
    parts["features"] = features_part(subject, nearest, frequency)
    parts["curve"] = curve_part(subject, nearest)
    return found


Tasks = dict[str, tuple[str, int, Callable[[Subject], Any]]]


def _tasks(subject: Subject) -> Tasks:
    """Return what progress says of each part, its work in fits, and what measures it.

    Fits to all samples take longer than those to half of them.
    """
    effort, selector = subject.effort, subject.selector
    has_history = learned(selector, "objective_history_") is not None
    judged, stable = min(1, effort.n_random), min(1, effort.n_subsamples)
    n_halves = max(effort.n_subsamples, judged)
    if hasattr(selector, "frequency_"):
        n_halves, stable = judged, 1
    n_clustered, n_permuted = 2 * effort.n_cluster_numbers, 2 * effort.n_permuted_fits
    tasks: Tasks = {
        "heatmap": ("heat map", 1, measure_heat_map),
        "planes": ("view of the samples", 1, measure_planes),
        "repetition": ("correlations", 1, measure_repetition),
        "representatives": ("representatives", 1, measure_representatives),
        "convergence": ("objective", int(has_history), measure_convergence),
        "pixels": ("pixels", int(subject.image_shape is not None), measure_pixels),
        "labels": ("labels", int(subject.labels is not None), measure_labels),
        "halves": ("halves of the samples", n_halves, attrgetter("split")),
        "stability": ("stability", stable, measure_stability),
        "against_random": ("random features", judged, measure_against_random),
        "sensitivity": ("numbers of clusters", n_clustered, measure_sensitivity),
        "by_chance": ("permuted copies", n_permuted, measure_by_chance),
    }
    return {name: each for name, each in tasks.items() if each[1]}


def _on_half(subject: Subject) -> str:
    """Return what AutoSelect does on a half, if that differs."""
    selector: Any = subject.selector
    by_consensus = hasattr(selector, "structure_") and selector.selector is None
    words = f"On a half, AutoSelect ranks {N_SUBSAMPLES} subsamples instead of 6."
    return words if by_consensus else ""


def measure_stability(subject: Subject) -> Part:
    """Count how often features are chosen again, unless the selector has done so."""
    selector: Any = subject.selector
    count, n_features = len(subject.chosen), subject.table.shape[1]
    if hasattr(selector, "frequency_"):
        share, n_fits = selector.frequency_, int(selector.n_subsamples_)
        index = selector.stability_
    else:
        best = list(subject.split.best(count))
        n_fits, index = len(best), None
        share = np.bincount(np.concatenate(best), minlength=n_features) / n_fits
        if n_fits > 1 and count < n_features:
            index = selection_stability(best, n_features)
    frequency = share[subject.chosen]
    chance = count / n_features
    interval = None
    if index is not None:
        many = n_fits >= MIN_SUBSAMPLES_FOR_INTERVAL
        ends = (index.lower, index.upper) if many else (index.value, index.value)
        interval = (index.value, *ends)
    names = [subject.names[column] for column in subject.chosen]
    data = {"rank": range(1, count + 1), "feature": names, "frequency": frequency}
    return Part(
        pd.DataFrame(data),
        figure_of(
            "selection_frequencies", frequency, chance=chance, stability=interval
        ),
        facts={
            "index": index,
            "word": stability_word(index),
            "frequency": frequency,
            "n_subsamples": n_fits,
            "chance": chance,
            "grouped": subject.groups is not None,
            "on_half": _on_half(subject),
        },
    )


def measure_against_random(subject: Subject) -> Part:
    """Judge what was selected on a half on the other samples, by every criterion."""
    count, n_samples = len(subject.chosen), subject.table.shape[0]
    if n_samples < 2 * MIN_SAMPLES:
        raise ValueError(
            f"X has {n_samples} samples but a verdict needs {2 * MIN_SAMPLES}: half "
            "of them to select on, and half to judge on. Give more samples."
        )
    n_judged = min((n_samples + 1) // 2, MAX_SAMPLES)
    # Multiplications for one set; each pair is held, made absolute and summed too.
    by_samples, by_pairs = float(n_judged**2 * count), 3.0 * n_judged * count**2
    # A single feature has no pair to agree or to be distinct.
    names = CRITERION_NAMES if count > 1 else CRITERION_NAMES[1:3]
    costs = {
        name: (1 + N_PERMUTED) * (by_pairs if name == "low redundancy" else by_samples)
        for name in names
    }
    asked = [name for name in names if MIN_RANDOM * costs[name] <= MAX_PRODUCTS]
    if not asked:
        check_cost(MIN_RANDOM * min(costs.values()))
    for name in set(names) - set(asked):
        message = f"Not judged by {name}: with so many features it would take too long."
        warn(message)
    affordable = MAX_PRODUCTS // max(costs[name] for name in asked)
    rows, best = subject.split.rows[0], subject.split.best(count)[0]
    unseen = np.setdiff1d(np.arange(n_samples), rows)
    found = verdicts(
        subject.table.take_rows(unseen),
        np.sort(best),
        criteria=asked,
        standardize=preparation_of(subject.selector),
        n_random=int(min(subject.effort.n_random, affordable)),
        random_state=subject.seed,
        n_jobs=subject.n_jobs,
    )
    if found[0].p_value is None:
        raise ValueError(
            f"On half of the samples the selector selects all {count} columns that "
            "vary, so that there is nothing to compare with random sets and no p value"
        )
    found = corrected(found)
    table = pd.DataFrame(found)
    names, p_values = table["criterion"], table["p_value"]
    draw = figure_of(
        "random_bands",
        dict(zip(names, table["value"], strict=True)),
        dict(zip(names, table["random_values"], strict=True)),
        dict(zip(names, p_values.map("p = {:.2g}".format), strict=True)),
    )
    table["random 5 %"], table["random 95 %"] = zip(*table["band"], strict=True)
    table["random sets"] = table["random_values"].map(len)
    table = table.rename(columns={"value": "chosen"})
    data = table.rename(columns=lambda name: name.replace("_", " "))
    better, description = comparison_in_words(found)
    said = {"verdicts": found, "better": better, "description": description}
    facts = {"units": UNITS[found[0].standardize], "on_half": _on_half(subject)}
    return Part(data[COLUMNS_OF_VERDICTS], draw, said | facts)


def measure_sensitivity(subject: Subject) -> Part:
    """Fit with fewer and with more clusters."""
    from ufselect.tuning import sensitivity_to_clusters

    parameters = subject.selector.get_params(deep=False)
    if "n_clusters" not in parameters:
        name = type(subject.selector).__name__
        raise ValueError(f"{name} does not use a number of clusters")
    number = parameters["n_clusters"]
    if isinstance(number, str):
        number = learned(subject.selector, "n_clusters_")
    found = sensitivity_to_clusters(
        subject.selector,
        subject.table,
        numbers_around(number, subject.effort.n_cluster_numbers),
        n_features=len(subject.chosen),
        n_jobs=subject.n_jobs,
        time_budget=subject.seconds_left,
        random_state=subject.seed,
    )
    numbers = np.asarray(found.n_clusters)
    words = [str(each) for each in found.n_clusters]
    first, second = np.triu_indices(len(numbers), k=1)
    maps = {"rank correlation": found.correlation, "overlap of chosen": found.overlap}
    data = {"n_clusters": numbers[first], "other n_clusters": numbers[second]}
    data |= {title: table[first, second] for title, table in maps.items()}
    return Part(
        pd.DataFrame(data),
        figure_of("agreement_maps", words, maps, label="number of clusters"),
        facts={"found": found, "numbers": listed(words)},
    )


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


def measure_by_chance(subject: Subject) -> Part:
    """Fit with permuted columns among the features."""
    from ufselect.tuning import false_selections

    found = false_selections(
        subject.selector,
        subject.table,
        n_repeats=subject.effort.n_permuted_fits,
        n_jobs=subject.n_jobs,
        time_budget=subject.seconds_left,
        random_state=subject.seed,
    )
    estimate = {"share": found.share, "lower": found.lower, "upper": found.upper}
    data = pd.DataFrame({"features": range(1, len(found.share) + 1), **estimate})
    count = len(subject.chosen)
    facts = {name: float(values[count - 1]) for name, values in estimate.items()}
    return Part(
        data.rename(columns={"share": "false discovery rate"}),
        figure_of("false_share_curve", *estimate.values(), count),
        {**facts, "n_repeats": found.n_repeats},
    )


def measure_labels(subject: Subject) -> Part:
    """Cluster by chosen, random and all features and compare with the labels."""
    from ufselect.evaluation import judge_by_k_means

    random = np.random.RandomState(subject.seed)
    table, labels = subject.table, subject.labels
    if table.shape[0] > MAX_CLUSTERED:
        rows = np.sort(random.choice(table.shape[0], MAX_CLUSTERED, False))
        table, labels = table.take_rows(rows), labels[rows]
    n_samples, n_features = table.shape
    n_classes = len(np.unique(labels))
    if not 2 <= n_classes <= n_samples / 2:
        raise ValueError(
            f"{n_classes} different labels of {n_samples} samples cannot be compared "
            "with clusters"
        )
    check_cost(K_MEANS_STEPS * n_samples * n_features * n_classes)
    table, kind = in_units(table, preparation_of(subject.selector))
    size = len(subject.chosen)
    draws = [random.choice(n_features, size, False) for _ in range(N_RANDOM_CLUSTERED)]
    sets = {
        "chosen features": [subject.chosen],
        f"random features (mean of {N_RANDOM_CLUSTERED})": draws,
        "all features": [np.arange(n_features)],
    }
    scores = []
    for several in sets.values():
        judged = [
            judge_by_k_means(as_matrix(table.raw[:, np.sort(each)]), labels, **K_MEANS)
            for each in several
        ]
        scores.append(np.mean([each.mean(axis=0) for each in judged], axis=0))
    data = pd.DataFrame(scores, columns=["accuracy", "normalised mutual information"])
    data.insert(0, "columns", list(sets))
    return Part(data, facts={"units": UNITS[kind]})


def corrected(found: Sequence[Verdict]) -> list[Verdict]:
    """Return verdicts whose p values are valid for all criteria together.

    A criterion is compared with the largest standardized criterion of each random set
    (the single-step method of Westfall and Young). Below 0.95 a p value says how often
    random sets do as well by any criterion; above, how rarely they do as badly.

    Examples
    --------
    >>> from ufselect import LaplacianScore
    >>> from ufselect.data import planted
    >>> from ufselect.evaluation import verdicts
    >>> X = planted("blobs", n_samples=80, n_noise=90).table
    >>> found = verdicts(X, LaplacianScore(10), n_random=19, random_state=0)
    >>> [each.p_value for each in corrected(found)]
    [0.05, 0.95, 0.35, 0.95]
    """
    # The selection among the random sets: in noise any of them could be in its place.
    values = np.array([[each.value, *each.random_values] for each in found])
    deviation = values.std(axis=1, keepdims=True)
    scaled = (values - values.mean(axis=1, keepdims=True)) / np.where(
        deviation > 0, deviation, 1.0
    )
    result = []
    for place, each in enumerate(found):
        above, below = (
            (1 + np.count_nonzero(most[1:] >= own)) / len(most)
            for most, own in (
                (scaled.max(axis=0), scaled[place, 0]),
                (-scaled.min(axis=0), -scaled[place, 0]),
            )
        )
        p = 1 - below if below < SIGNIFICANT else min(above, 1 - SIGNIFICANT)
        each = each._replace(p_value=float(p))
        result.append(each._replace(sentence=sentence_of(each, 1, beforehand=False)))
    return result

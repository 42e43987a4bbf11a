"""The words of a report about one selection."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ufselect.evaluation.verdict_words import SIGNIFICANT
from ufselect.report.selection_parts import (
    ByChance,
    ClusterSensitivity,
    SamplePlanes,
    ScoreCurve,
    Stable,
)

if TYPE_CHECKING:
    from ufselect.report.selection import SelectionReport

# What a table without structure is answered with.
NO_STRUCTURE = "This table shows no groups; do not use this selection."
HEADINGS = {
    "curve": "Scores and the cut",
    "against_random": "Better than random?",
    "by_chance": "How many are there by chance?",
    "stability": "Would other samples choose the same?",
    "sensitivity": "Does the number of clusters matter?",
    "planes": "The samples, by the chosen features and by all",
    "labels": "Compared with the labels",
    "repetition": "Do the chosen features repeat one another?",
    "pixels": "The chosen pixels",
    "convergence": "Convergence",
}
# What is being done, for those who wait.
TASKS = {
    "convergence": "objective",
    "planes": "view of the samples",
    "repetition": "correlations",
    "pixels": "pixels",
    "stand-ins": "stand-ins",
    "against_random": "random features",
    "labels": "labels",
    "stability": "subsamples",
    "by_chance": "decoys",
    "sensitivity": "numbers of clusters",
}
ABOUT = {
    "features": "Scores are in the units of the method, higher is better; they can be "
    "compared with one another and not between methods.",
    "frequency": "Frequency is the share of random halves of the samples on which the "
    "feature is chosen again.",
    "stand-ins": "A feature stands for those that were not chosen and correlate with "
    "it, and with no other chosen one more, at 0.8 or above in absolute value. The "
    "nearest one that was not chosen could be measured in its place.",
    "curve": "A cut at a steep place is a natural one; on a flat stretch, a few more "
    "or fewer features would have done as well.",
    "against_random": "The method was fitted again to one half of the samples. Four "
    "questions that need no labels are asked of what it chose there and of as many "
    "features drawn at random, all judged on samples that the selection did not see. "
    "So of twenty tables of noise, about one has a p value below 0.05.",
    "criteria": "No criterion is enough alone: copies of one feature do well by "
    "structure, noise does well by distinctness, and representatives of groups do well "
    "by reconstruction and not by structure. Since there are several, the smallest p "
    "value is too optimistic.",
    "by_chance": "The method was fitted again with decoys among the features: columns "
    "whose values were permuted, and which have nothing to do with the others.",
    "stability": "The method was fitted again to random halves of the samples.",
    "sensitivity": "The method was fitted again with fewer and with more clusters.",
    "planes": "Principal components of the samples. Groups that are apart on the left "
    "and not on the right were hidden by the features that were not chosen.",
    "labels": "The labels took no part in the selection. k-means was run on the "
    "columns, with as many clusters as there are labels, and compared with them.",
    "repetition": "Features that say the same need not all be measured.",
    "pixels": "Each feature is a pixel.",
    "convergence": "A curve that has become flat has converged.",
}
CRITERIA = {
    "structure": "Do they agree which samples are alike?",
    "reconstruction": "Do they predict all features? (R2 on held-out samples; below 0 "
    "where means predict better)",
    "neighbours": "Do samples keep their neighbours?",
    "distinctness": "Do they differ? (1 minus mean absolute correlation)",
}
# From here on a stability is called by these words, after Nogueira and others.
STABILITIES = ((0.75, "excellent"), (0.4, "intermediate"), (float("-inf"), "poor"))
FEW_SUBSAMPLES = 20


def summary_of(report: "SelectionReport") -> str:
    """Return what was done and what came of it, in two sentences."""
    n_samples, n_features = report.shape
    sentences = [
        f"{report.method} chose {report.curve.n_selected} of {n_features} features of "
        f"{n_samples} samples, without looking at any label."
    ]
    findings = [
        *_verdict_words(report),
        *_chance_words(report),
        *_stability_words(report),
    ]
    if findings:
        text = "; ".join(findings)
        sentences.append(f"{text[0].upper()}{text[1:]}.")
    return " ".join(sentences)


def _verdict_words(report: "SelectionReport") -> list[str]:
    if report.against_random is None:
        return []
    groups: dict[str, list[str]] = {}
    for each in report.against_random.verdicts:
        words = answer(each.p_value, SIGNIFICANT)
        groups.setdefault(words, []).append(each.criterion)
    parts = [f"{words} by {listed(names)}" for words, names in groups.items()]
    return [
        "judged on samples that the selection did not see, features chosen in this way "
        f"are {', '.join(parts)} than random ones"
    ]


def _chance_words(report: "SelectionReport") -> list[str]:
    part = report.by_chance
    if part is None:
        return []
    share = part.found.share[part.n_selected - 1]
    return [f"about {share:.0%} of them are there by chance"]


def _stability_words(report: "SelectionReport") -> list[str]:
    part = report.stability
    if part is None or part.index is None:
        return []
    return [
        f"fitted to halves of the samples, the method chooses them again "
        f"{part.frequency.mean():.0%} of the time ({_word(part.index.value)} stability)"
    ]


def answer(p_value: float | None, level: float) -> str:
    """Return what a p value says about the chosen features.

    Examples
    --------
    >>> [answer(p, 0.05) for p in (0.01, 0.3, 0.99, None)]
    ['better', 'not clearly better', 'worse', 'not tested']
    """
    if p_value is None:
        return "not tested"
    if p_value < level:
        return "better"
    return "worse" if p_value > 1 - level else "not clearly better"


def chance_sentence(part: ByChance) -> str:
    """Return in words how many of the chosen features are there by chance."""
    place = part.n_selected - 1
    return (
        f"About {part.found.share[place]:.0%} of the {part.n_selected} chosen features "
        f"are there by chance (between {part.found.lower[place]:.0%} and "
        f"{part.found.upper[place]:.0%} in nine of ten cases)."
    )


def stability_sentence(part: Stable) -> str:
    """Return the stability in words."""
    text = (
        f"On {part.n_subsamples} random halves a chosen feature is chosen again "
        f"{part.frequency.mean():.0%} of the time, where chance would give "
        f"{part.chance:.1%}."
    )
    if part.index is None:
        return text
    text += (
        f" The stability of the choice is {part.index.value:.2f} "
        f"({_word(part.index.value)}; 1 is always the same, 0 is chance)."
    )
    if part.n_subsamples < FEW_SUBSAMPLES:
        text += " With so few halves its interval is too narrow."
    return text


def sensitivity_sentence(part: ClusterSensitivity, curve: ScoreCurve) -> str:
    """Return the sensitivity in words."""
    found = part.found
    chance = curve.n_selected / len(curve.names)
    numbers = listed([str(number) for number in found.n_clusters])
    return (
        f"Between {numbers} clusters, {found.mean_overlap:.0%} of the chosen features "
        f"stay on average, where chance would keep {chance:.1%}; the rank correlation "
        f"of all features is {found.mean_correlation:.2f}."
    )


def caption_of_planes(part: SamplePlanes, n_samples: int) -> str:
    """Return what the points are."""
    shown = len(part.sample_names)
    which = f"{shown} of {n_samples} samples" if shown < n_samples else "All samples"
    if part.groups is None:
        return f"{which}."
    count = len(set(part.groups))
    return f"{which}; colour and shape tell {count} {part.grouped_by}s apart."


def listed(words: Iterable[str]) -> str:
    """Return words as a list with an and.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def _word(stability: float) -> str:
    return next(word for least, word in STABILITIES if stability >= least)

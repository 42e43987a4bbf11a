"""The sentence of a verdict."""

from typing import Any

from ufselect.evaluation.tables import UNITS

SIGNIFICANT = 0.05

# What a good value of each criterion means, and its opposite. A sentence claims no
# more than what was tested.
CLAIMS = {
    "structure": ("agree", "with one another", "more", "less"),
    "reconstruction": ("predict", "all columns", "better", "worse"),
    "neighbours": ("keep", "the neighbours of samples", "better", "worse"),
    "distinctness": ("repeat", "one another", "less", "more"),
}

# A high value of structure has a dull explanation too.
COPIES = " Copies of one column would do so too: look at their redundancy."

CHOSEN_BEFOREHAND = (
    " The p value is valid only if these columns were chosen on other samples, or by "
    "knowledge; give the selector if they were chosen on X."
)


def sentence_of(found: Any, n_splits: int, beforehand: bool) -> str:
    """Return what a verdict says, for people.

    Parameters
    ----------
    found : Verdict
        With everything but its sentence.
    n_splits : int
        How often the samples were split.
    beforehand : bool
        Whether columns were judged that were given, and not selected on a half.
    """
    said = found.p_value
    if n_splits > 1:
        # Twice a median, however large, does not say that a selection is worse.
        said = min(said, 1 - SIGNIFICANT)
    lower, upper = found.band
    halves = f", over {n_splits} splits" if n_splits > 1 else ""
    seen = "" if beforehand else " that the selection did not see"
    sentence = (
        f"{_opinion(found.criterion, found.n_features, said)} (p = "
        f"{found.p_value:.3g}, criterion {found.criterion!r}{halves}): "
        f"{found.value:.3g}, which is {abs(found.effect_size):.1f} standard deviations "
        f"{'above' if found.effect_size >= 0 else 'below'} the mean of "
        f"{len(found.random_values)} random sets, of which nine in ten lie between "
        f"{lower:.3g} and {upper:.3g}. Judged on {found.n_samples} samples{seen}, "
        f"{UNITS[found.standardize]}."
    )
    if found.criterion == "structure" and found.p_value < SIGNIFICANT:
        sentence += COPIES
    return sentence + CHOSEN_BEFOREHAND if beforehand else sentence


def _opinion(name: str, n_selected: int, p_value: float) -> str:
    verb, what, more, less = CLAIMS[name]
    if p_value < SIGNIFICANT:
        compared = more
    else:
        compared = less if p_value > 1 - SIGNIFICANT else f"not clearly {more}"
    if n_selected == 1:
        return f"The selected column {verb}s {what} {compared} than a random one"
    return (
        f"The {n_selected} selected columns {verb} {what} {compared} than random ones"
    )

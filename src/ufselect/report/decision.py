"""What to do with a selection, and the plain words for its numbers."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from ufselect.evaluation import Verdict
from ufselect.evaluation.significance import CLAIMS, SIGNIFICANT
from ufselect.evaluation.subsamples import Stability

if TYPE_CHECKING:
    from ufselect.report.content import SelectionReport

# From here on a stability is called by these words, after Nogueira and others.
STABILITIES = ((0.75, "excellent"), (0.4, "intermediate"), (float("-inf"), "poor"))
# Noise has low redundancy too, so that this criterion only describes a selection.
DESCRIBING = {"low redundancy"}
# Below this stability, and above these shares and correlations, care is needed.
POOR_STABILITY = 0.4
MAX_FALSE_SHARE = 0.2
MUCH_REPETITION = 0.7
# What to do next about a doubt.
SAMPLES = "Do not rely on single features; collect more samples."
FEWER = "Select fewer features, or use more samples, to compare it."
COMPARE = (
    "Compare other methods (ufselect compare), and check whether clusters make sense."
)


class Decision(NamedTuple):
    """What to do with a selection.

    Attributes
    ----------
    level : {"use", "care", "stop"}
    headline : str
        What to do, in one sentence.
    reasons : list of str
        Why not simply use it.
    next_steps : list of str
        What to do next.
    """

    level: Literal["use", "care", "stop"]
    headline: str
    reasons: list[str]
    next_steps: list[str]


def decide(report: "SelectionReport") -> Decision:
    """Return whether to use the selection, why not, and what to do next."""
    if report.structure is not None and not report.structure.found:
        headline = "This table shows no groups; do not use this selection."
        step = (
            "Check that the right rows and columns were read, and in which units; more "
            "samples may show groups that these do not."
        )
        return Decision("stop", headline, [], [step])
    if not report.n_selected:
        return Decision("stop", "No feature was selected.", [], [])
    doubts = list(_doubts(report))
    if not doubts:
        step = "Look at the clusters, then work with the chosen features."
        return Decision("use", "Use this selection.", [], [step])
    steps = list(dict.fromkeys(step for _, step in doubts))
    reasons = [reason for reason, _ in doubts]
    return Decision("care", "Use this selection with care.", reasons, steps)


def _doubts(report: "SelectionReport") -> Iterator[tuple[str, str]]:
    """Yield each reason for care, and what to do about it."""
    calls = report.features.facts["calls"]
    if calls is not None and not (calls == "confirmed").any():
        yield "no feature is confirmed at a false discovery rate of 5 %", SAMPLES
    elif calls is not None and (rejected := int((calls == "rejected").sum())):
        yield (
            f"{rejected} of the {report.n_selected} chosen features are rejected: they "
            "follow the structure of the others no more than permuted copies do",
            "Leave the number of features out, or ask for fewer.",
        )
    if report.against_random is None:
        why = report.left_out.get("against_random", "")
        reason = f"there is no comparison with random features{why and f': {why}'}"
        yield reason, FEWER
    # Features that mark clusters need not predict the others, so that being worse by
    # one criterion is no reason for doubt.
    elif not better_by(report.against_random.facts["verdicts"]):
        yield (
            "features chosen in this way do not clearly fit the structure of the table "
            "better than random ones",
            COMPARE,
        )
    index = report.stability and report.stability.facts["index"]
    if index and index.value < POOR_STABILITY:
        value = f"{index.value:.2f}"
        yield f"other samples would choose others (stability {value})", SAMPLES
    share = report.by_chance.facts["share"] if report.by_chance else 0.0
    if share > MAX_FALSE_SHARE:
        reason = f"about {share:.0%} of them are false discoveries"
        yield reason, "Ask for fewer features."
    mean = report.repetition.facts["mean"] if report.repetition else 0.0
    if mean > MUCH_REPETITION:
        yield (
            f"they repeat one another (redundancy {mean:.2f})",
            "Skip features that nearly repeat a better one (--max-correlation).",
        )


def better_by(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the criteria that decide, and by which the features are better."""
    return [
        each.criterion
        for each in verdicts
        if each.criterion not in DESCRIBING and answer(each.p_value) == "better"
    ]


def comparison_in_words(verdicts: Sequence[Verdict]) -> tuple[str, str]:
    """Return by what the features are better, and a sentence about the other criteria.

    Examples
    --------
    >>> from ufselect.data import planted
    >>> from ufselect.evaluation import verdicts
    >>> data = planted("blobs", n_noise=90)
    >>> found = verdicts(data.table, data.informative, n_random=99, random_state=0)
    >>> better, description = comparison_in_words(found)
    >>> better
    'better than random features by kernel alignment'
    >>> description
    'Compared with random features, they predict all features about as well, keep ...'
    """
    better = better_by(verdicts)
    by = f" by {listed(better)}" if better else " by any criterion that decides"
    decides = f"{'' if better else 'not clearly '}better than random features{by}"
    described = []
    for each in verdicts:
        if each.criterion not in better:
            verb, what, more, less = CLAIMS[each.criterion]
            about = "about as well" if more == "better" else "about as much"
            degree = {"better": more, "worse": less}.get(answer(each.p_value), about)
            described.append(f"{verb} {what.replace('columns', 'features')} {degree}")
    if not described:
        return decides, ""
    return decides, f"Compared with random features, they {listed(described)}."


def answer(p_value: float | None) -> str:
    """Return what a p value says about the chosen features.

    Examples
    --------
    >>> [answer(p) for p in (0.01, 0.3, 0.99, None)]
    ['better', 'not clearly better', 'worse', 'not tested']
    """
    if p_value is None:
        return "not tested"
    if p_value < SIGNIFICANT:
        return "better"
    return "worse" if p_value > 1 - SIGNIFICANT else "not clearly better"


def stability_word(index: Stability | None) -> str:
    """Return excellent, intermediate or poor, or nothing."""
    if index is None:
        return ""
    return next(word for least, word in STABILITIES if index.value >= least)


def listed(words: Iterable[str]) -> str:
    """Return words as a list with an and.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last

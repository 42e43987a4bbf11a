"""What a report says of a selection: parts, the table of features, and the words.

HTML, terminal text and JSON are all made from these.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ufselect.evaluation import Verdict
from ufselect.evaluation.comparison import Stability
from ufselect.evaluation.significance import SIGNIFICANT, sentence_of
from ufselect.matrix import Float
from ufselect.report.drawing import Plot, begin_to_draw, shortened

# Names of features that one stands for: in a cell of the report, and in its file.
MOST_NAMES = 3
MOST_SAVED_NAMES = 50
# Letters of a name in a cell; the file has all of them.
LONGEST_NAME = 100
# From here on a stability is called by these words, after Nogueira and others.
STABILITIES = ((0.75, "excellent"), (0.4, "intermediate"), (float("-inf"), "poor"))
# The interval of a stability assumes that there are many selections.
MIN_SUBSAMPLES_FOR_INTERVAL = 20
# What each criterion asks.
CRITERIA = {
    "structure": "Do they agree which samples are alike?",
    "reconstruction": "Do they predict all features? (R2 on held-out samples; below 0 "
    "where means predict better)",
    "neighbours": "Do samples keep their neighbours?",
    "distinctness": "Do they differ? (1 minus redundancy)",
}
ABOUT_CRITERIA = (
    "No criterion is enough alone: copies of one feature do well by structure, noise "
    "does well by distinctness, and representatives of groups do well by "
    "reconstruction and not by structure. The p values are corrected for the number of "
    "criteria (largest statistic of each random set, after Westfall and Young): of "
    "twenty tables of noise, about one has any p value below 0.05."
)


@dataclass(frozen=True)
class Part:
    """One question that a report answers.

    Attributes
    ----------
    title : str
        The question.
    sentence : str
        The answer, in words.
    data : DataFrame
        The numbers.
    draw : callable, optional
        Returns their figure.
    caption : str
        What the figure or the table shows.
    shown : DataFrame, optional
        The numbers as text, for a table that is shown.
    facts : mapping of str to object
        What decisions and JSON need of it.
    """

    title: str
    sentence: str
    data: pd.DataFrame
    draw: Callable[[], Plot] | None = None
    caption: str = ""
    shown: pd.DataFrame | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin to draw, if another process does so."""
        if self.draw is not None:
            object.__setattr__(self, "_begun", begin_to_draw(self.draw))

    def frame(self) -> pd.DataFrame:
        """Return the numbers."""
        return self.data

    def plot(self) -> Plot:
        """Return their figure, which is drawn once."""
        return self._plot

    @cached_property
    def _plot(self) -> Plot:
        if self.draw is None:
            raise ValueError(f"'{self.title}' has no figure; frame() has its numbers")
        begun: Future[str | None] | None = getattr(self, "_begun", None)
        svg = None if begun is None else begun.result()
        return self.draw() if svg is None else Plot(svg)


def features_part(
    subject: Any, found: Sequence[Any] | None, frequency: Float | None, most: int
) -> Part:
    """Return the chosen features by rank, with what is known of each."""
    names, chosen, selector = subject.names, subject.chosen, subject.selector
    count = len(chosen)
    calls, explained = (
        None
        if (values := getattr(selector, name, None)) is None
        else np.asarray(values)[chosen]
        for name in ("calls_", "explained_")
    )
    marks = None
    if count and subject.marks is not None:
        marks = [f"{kind} ({'high' if up else 'low'})" for kind, up in subject.marks]
        marks += [""] * (count - len(marks))

    def named(columns: Iterable[int], longest: int | None = None) -> list[str]:
        every = [names[column] for column in columns]
        return every if longest is None else [shortened(n, longest) for n in every]

    def other(each: Any) -> str:
        if each.alternative is None:
            return ""
        correlation = f"{each.alternative_correlation:.2f}"
        (name,) = named([each.alternative], LONGEST_NAME)
        return f"{name} ({correlation.replace('-', chr(0x2212))})"

    def like(each: Any) -> str:
        few = ", ".join(named(each.stands_for[:MOST_NAMES], LONGEST_NAME))
        rest = len(each.stands_for) - MOST_NAMES
        return few + (f" and {rest} more" if rest > 0 else "")

    data: dict[str, Any] = {
        "rank": range(1, count + 1),
        "feature": named(chosen),
        "column": chosen,
        "score": selector.scores_[chosen],
        "call": calls,
        "explained": explained,
        "marks cluster": marks,
        "frequency": frequency,
    }
    shown: dict[str, Any] = {
        "rank": [str(rank) for rank in range(1, count + 1)],
        "feature": named(chosen, LONGEST_NAME),
        "call": calls,
        "score": [f"{score:.4g}" for score in selector.scores_[chosen]],
        "explained": _percent(explained),
        "stability": _percent(frequency),
        "marks cluster": marks,
        "distribution": [*subject.distributions, *[""] * count][:count],
    }
    if found is not None:
        lone = [each.alternative is None for each in found]
        data |= {
            "stands for": [len(each.stands_for) for each in found],
            "such as": [
                "; ".join(named(each.stands_for[:MOST_SAVED_NAMES])) for each in found
            ],
            "nearest not chosen": [
                None if alone else names[each.alternative]
                for each, alone in zip(found, lone, strict=True)
            ],
            "its correlation": [
                np.nan if alone else each.alternative_correlation
                for each, alone in zip(found, lone, strict=True)
            ],
        }
        shown["stands for"] = [like(each) for each in found]
        shown["nearest not chosen"] = [other(each) for each in found]
    summary = subject.matrix.summary()._asdict()
    data |= {name: values[chosen] for name, values in summary.items()}
    frames = [
        pd.DataFrame({k: v for k, v in columns.items() if v is not None})
        for columns in (data, shown)
    ]
    caption = f"{count} chosen features, the best first."
    if count > most:
        caption = f"The first {most} of {caption} The file has all of them."
    return Part(
        "The chosen features",
        "",
        frames[0],
        caption=caption,
        shown=frames[1].iloc[:most].astype(object),
        facts={"calls": calls, "marks": marks, "stand_ins": found, "names": names},
    )


def _percent(shares: Float | None) -> list[str] | None:
    return None if shares is None else [f"{share:.0%}" for share in shares]


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


def answer(p_value: float | None, level: float = SIGNIFICANT) -> str:
    """Return what a p value says about the chosen features.

    Examples
    --------
    >>> [answer(p) for p in (0.01, 0.3, 0.99, None)]
    ['better', 'not clearly better', 'worse', 'not tested']
    """
    if p_value is None:
        return "not tested"
    if p_value < level:
        return "better"
    return "worse" if p_value > 1 - level else "not clearly better"


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

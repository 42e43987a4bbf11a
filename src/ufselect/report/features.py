"""The features in a report: the chosen ones, their groups, and why others are not."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ufselect.evaluation import representatives
from ufselect.evaluation.criteria import Representative
from ufselect.matrix import Float, Index
from ufselect.report.parts import MAX_LISTED, Subject, check_cost
from ufselect.report.rendering import Part, figure_of
from ufselect.solvers.rankings import ROUNDING
from ufselect.tuning.auto_select import CONFIRMED_FDR, MAX_CORRELATION, TENTATIVE_FDR

# Of the other chosen features, those with which one correlates most.
N_NEAREST = 5
# From this absolute correlation on, one feature represents another.
REPRESENTED = 0.8


def measure_representatives(subject: Subject) -> list[Representative]:
    """Return the features nearest to each chosen one, by rank."""
    n_samples, n_features = subject.table.shape
    check_cost(n_samples * n_features * len(subject.chosen))
    limit = max_correlation(subject.selector)
    least = REPRESENTED if limit is None else min(limit, REPRESENTED)
    found = representatives(subject.table, subject.chosen, threshold=least)
    places = {each.column: each for each in found}
    return [places[column] for column in subject.chosen.tolist()]


def features_part(
    subject: Subject, found: Sequence[Representative] | None, frequency: Float | None
) -> Part:
    """Return the chosen features by rank, with what is known of each."""
    chosen, names = subject.chosen, subject.names
    count = len(chosen)
    data = subject.selector.ranking(names).head(count)
    data = data.filter(["rank", "feature", "score", "call", "explained"])
    data.insert(2, "column", chosen)
    if count and subject.marks is not None:
        marks = [f"{kind} ({'high' if up else 'low'})" for kind, up in subject.marks]
        data["marks cluster"] = marks + [""] * (count - len(marks))
    if frequency is not None:
        data["frequency"] = frequency
    groups: list[list[str]] | None = None
    if found is not None:
        groups = [[names[column] for column in represented(each)] for each in found]
        others = [each.alternative for each in found]
        data["represents"] = list(map(len, groups))
        data["nearest not chosen"] = [None if o is None else names[o] for o in others]
        data["its correlation"] = [
            np.nan if each.alternative is None else each.alternative_correlation
            for each in found
        ]
    if 1 < count <= MAX_LISTED:
        data["correlates with"] = _nearest_chosen(subject)
    for name, values in subject.matrix.summary()._asdict().items():
        data[name] = values[chosen]
    calls = data["call"].to_numpy() if "call" in data else None
    return Part(data, facts={"calls": calls, "groups": groups})


def max_correlation(selector: Any) -> float | None:
    """Return the correlation with a better feature that AutoSelect does not allow."""
    limit: float | str | None = getattr(selector, "max_correlation", None)
    if limit == "auto":
        limit = MAX_CORRELATION if selector.selector is None else None
    return None if limit is None else float(limit)


def represented(found: Representative) -> Index:
    """Return the columns that a chosen one represents."""
    return found.represents[np.abs(found.correlations) >= REPRESENTED - ROUNDING]


def _nearest_chosen(subject: Subject) -> list[str]:
    """Return the chosen features with which each correlates most, with signs."""
    table, names = subject.correlations, [subject.names[j] for j in subject.chosen]
    # Its own correlation is the last.
    sizes = np.abs(table) - 2 * np.eye(len(table))
    best = np.argsort(-sizes, axis=1, kind="stable")[:, :-1][:, :N_NEAREST]
    return [
        "; ".join(f"{names[other]} ({table[one, other]:.2f})" for other in row)
        for one, row in enumerate(best)
    ]


def curve_part(subject: Subject, found: Sequence[Representative] | None) -> Part:
    """Return all features by rank, the cut, and why a feature is not chosen."""
    selector, count = subject.selector, len(subject.chosen)
    order = selector.order_
    data = selector.ranking(subject.names)
    calls, explained = (
        data[name].to_numpy() if name in data else None
        for name in ("call", "explained")
    )
    permuted = getattr(selector, "permuted_explained_", None)
    if permuted is not None:
        permuted = permuted[order]
        data["largest of permuted copies"] = permuted
        # All digits would make the report of a wide table twice as long.
        few = ["explained", "q_value", "largest of permuted copies"]
        data[few] = data[few].map(lambda value: float(f"{value:.4g}"))
        permuted = permuted if permuted.any() else None
    n_features = len(order)
    nearest, correlation = np.full(n_features, -1), np.full(n_features, np.nan)
    for each in found or ():
        nearest[each.represents] = each.column
        correlation[each.represents] = each.correlations
    if found is not None:
        names = [None if each < 0 else subject.names[each] for each in nearest[order]]
        ranks = np.append(np.argsort(order) + 1.0, np.nan)
        data["represented by"] = names
        data["its rank"] = pd.array(ranks[nearest[order]], dtype="Int64")
        data["correlation"] = correlation[order].round(4)
    data["not chosen because"] = _why_not_chosen(subject, nearest, correlation)[order]
    draw = figure_of(
        "score_curve",
        data["score"].to_numpy(),
        count,
        calls=calls,
        explained=explained,
        permuted=permuted,
    )
    return Part(data, draw, facts={"permuted": permuted is not None})


def _why_not_chosen(
    subject: Subject, nearest: Index, correlation: Float
) -> NDArray[np.object_]:
    """Return for every feature why it is not chosen; nothing for the chosen ones."""
    selector: Any = subject.selector
    constant = subject.matrix.summary().constant
    limit = max_correlation(selector)
    q_values = np.zeros(len(constant))
    # A given number of features of a given selector does not depend on them.
    if hasattr(selector, "q_values_") and (
        selector.selector is None or selector.n_features_to_select == "auto"
    ):
        q_values = selector.q_values_
    redundant = np.abs(correlation) > (2.0 if limit is None else limit)
    why = np.full(len(constant), "below the cut of the ranking", dtype=object)
    rules = {
        "not clearly related to the structure": q_values > CONFIRMED_FDR,
        "not related to the structure": q_values > TENTATIVE_FDR,
        "constant": constant,
    }
    for column in np.flatnonzero(redundant).tolist():
        name, r = subject.names[nearest[column]], correlation[column]
        why[column] = f"redundant with {name} (correlation {r:.2f})"
    for words, applies in rules.items():
        why[applies] = words
    why[subject.chosen] = ""
    return why

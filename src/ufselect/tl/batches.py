"""Every batch of cells is ranked by itself, and the rankings are made into one."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ufselect.experiments.plan_checks import nearest_words
from ufselect.matrix import Float, Index, is_elsewhere, rows_elsewhere
from ufselect.selectors import UnsupervisedSelector
from ufselect.solvers.rankings import frequency_scores


class Batch(NamedTuple):
    """A name, and the places of the cells that have it."""

    name: str
    cells: Index


def batches_of(obs: Any, key: str) -> list[Batch]:
    """Return the batches that a column of ``adata.obs`` names."""
    if key not in obs.columns:
        meant = nearest_words(key, map(str, obs.columns))
        there = f"it could be {meant}" if meant else "there are none"
        raise ValueError(f"batch_key={key!r} is no column of adata.obs; {there}.")
    codes, names = obs[key].factorize()
    n_without = int(np.count_nonzero(codes < 0))
    if n_without:
        raise ValueError(
            f"{n_without} of {len(codes)} cells have no value in adata.obs[{key!r}]; "
            "name their batch or leave them out."
        )
    batches = [
        Batch(str(name), np.flatnonzero(codes == code))
        for code, name in enumerate(names)
    ]
    _refuse_single_cells(batches, key)
    return batches


def _refuse_single_cells(batches: list[Batch], key: str) -> None:
    small = [batch.name for batch in batches if len(batch.cells) < 2]
    if small:
        raise ValueError(
            f"Batch {small[0]!r} of adata.obs[{key!r}] has a single cell, which ranks "
            "nothing; merge such batches or leave them out."
        )


def fit_by_batch(
    selector: UnsupervisedSelector, X: Any, batches: list[Batch]
) -> tuple[NDArray[np.bool_], Float, NDArray[np.intp]]:
    """Return which features are chosen, their scores, and in how many batches each is.

    A selector that decides the number of features may do so for every batch; the
    median of these numbers is chosen in the end.
    """
    fitted = [_fitted(selector, X, batch) for batch in batches]
    times = np.sum([each.get_support() for each in fitted], axis=0)
    scores = frequency_scores(np.array([each.scores_ for each in fitted]), times)
    number = int(np.median([each.n_selected_ for each in fitted]))
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[np.argsort(-scores, kind="stable")[:number]] = True
    return chosen, scores, times


def _fitted(
    selector: UnsupervisedSelector, X: Any, batch: Batch
) -> UnsupervisedSelector:
    cells = batch.cells
    piece = rows_elsewhere(X, cells) if is_elsewhere(X) else X[cells]
    try:
        return clone(selector).fit(piece)
    except ValueError as error:
        raise ValueError(f"Batch {batch.name!r}: {error}") from error

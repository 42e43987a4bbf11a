"""Genes of an AnnData are selected, and the answer is written beside them.

AnnData is never imported: whoever has one has the package.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ufselect.matrix import Float
from ufselect.selectors import UnsupervisedSelector
from ufselect.tl.batches import Batch, batches_of, fit_by_batch
from ufselect.tl.inputs import (
    chosen_selector,
    matrix_of,
    refuse_non_finite,
    refuse_other_than_anndata,
)
from ufselect.tl.parameters import storable


class Selection(NamedTuple):
    """What is written about the features, in the order of ``adata.var``."""

    chosen: NDArray[np.bool_]
    scores: Float
    n_batches: NDArray[np.intp] | None = None


def select(
    adata: Any,
    method: str | UnsupervisedSelector = "autoselect",
    n_features: int | float | None = None,
    *,
    batch_key: str | None = None,
    layer: str | None = None,
    key_added: str = "ufselect",
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Select features of an AnnData and write to ``adata.var`` which they are.

    Parameters
    ----------
    adata : AnnData
        Cells in rows, in memory or backed. Backed data stay in their file for the
        methods that read such data.
    method : str or selector, default="autoselect"
        Name of a method, upper or lower case, or an instance such as ``SCFS()``. The
        default selects as the command line does.
    n_features : int, float or None, default=None
        Number of features or fraction of them; None leaves it to the selector:
        ``AutoSelect`` decides, the others take half of them.
    batch_key : str or None, default=None
        Column of ``adata.obs``. Every batch is ranked by itself; features chosen in
        more batches come first, and equals are told apart by the geometric mean of
        their ranks. One batch at a time is read into memory.
    layer : str or None, default=None
        Layer to rank instead of ``adata.X``.
    key_added : str, default="ufselect"
        Name of the columns of ``adata.var``, see below, and of the entry of
        ``adata.uns``.
    copy : bool, default=False
        Leave ``adata`` as it is and return a copy with the result.
    **parameters
        Parameters of the selector, such as ``n_clusters`` and ``random_state``.

    Returns
    -------
    adata : AnnData or None
        The copy, if there is one. In ``var`` there are ``ufselect``, whether a feature
        is selected, ``ufselect_score``, higher is better, ``ufselect_rank``, 1 is the
        best, and with batches ``ufselect_n_batches``, in how many it was chosen.
        ``uns["ufselect"]`` says how it was done.

    Examples
    --------
    >>> import anndata
    >>> import ufselect
    >>> from ufselect.data import planted
    >>> adata = anndata.AnnData(planted("blobs", n_useful=20, n_noise=80).table)
    >>> ufselect.tl.select(adata, n_features=20, random_state=0)
    >>> adata[:, adata.var.ufselect].n_vars
    20
    >>> adata.uns["ufselect"]["method"]
    'AutoSelect'
    """
    refuse_other_than_anndata(adata, copy=copy)
    X = matrix_of(adata, layer)
    batches = None if batch_key is None else batches_of(adata.obs, batch_key)
    selector = chosen_selector(method, n_features, parameters)
    refuse_non_finite(selector, X, adata.var_names)
    selection = _selection(selector, X, batches)
    result = adata.copy() if copy else adata
    _write(result, key_added, selection)
    result.uns[key_added] = storable(
        method=type(selector).__name__,
        parameters=selector.get_params(deep=False),
        batch_key=batch_key,
        layer=layer,
    )
    return result if copy else None


def _selection(
    selector: UnsupervisedSelector, X: Any, batches: list[Batch] | None
) -> Selection:
    if batches is not None:
        return Selection(*fit_by_batch(selector, X, batches))
    fitted = clone(selector).fit(X)
    return Selection(fitted.get_support(), fitted.scores_)


def _write(adata: Any, key: str, selection: Selection) -> None:
    """Replace the columns of an earlier selection by those of this one."""
    scores = selection.scores
    ranks = np.empty(len(scores), dtype=np.intp)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    columns = {key: selection.chosen, f"{key}_rank": ranks, f"{key}_score": scores}
    number = f"{key}_n_batches"
    if selection.n_batches is not None:
        columns[number] = selection.n_batches
    # All at once: a view becomes an AnnData of its own with the first change.
    adata.var = adata.var.drop(columns=number, errors="ignore").assign(**columns)

"""Genes of an AnnData are selected, and the answer is written beside them.

AnnData is never imported: whoever has one has the package.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ufselect._version import __version__
from ufselect.experiments.plan import nearest_words
from ufselect.matrix import Float, Index, is_out_of_core, out_of_core_rows
from ufselect.selectors import UnsupervisedSelector, all_selectors
from ufselect.solvers.rankings import frequency_scores
from ufselect.tuning import AutoSelect
from ufselect.tuning.fits import checked_selector


def storable(**entries: Any) -> dict[str, Any]:
    """Return the entries and the version; what is None is left out.

    Anything but text, numbers and tables of them is told in the words of Python.

    Examples
    --------
    >>> entries = storable(method="SCFS", layer=None, parameters={"n_clusters": [2, 3]})
    >>> entries["method"], entries["parameters"], "layer" in entries
    ('SCFS', {'n_clusters': '[2, 3]'}, False)
    """
    return {**_plain(entries), "version": __version__}


def _plain(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _plain(value) if isinstance(value, Mapping) else _word(value)
        for name, value in entries.items()
        if value is not None
    }


def _word(value: Any) -> str | int | float | bool:
    return value if isinstance(value, str | int | float | bool) else repr(value)


def refuse_other_than_anndata(adata: Any, *, copy: bool) -> None:
    """Raise an error unless this is an AnnData, and one to be copied if need be."""
    if not all(hasattr(adata, each) for each in ("obs", "var", "uns", "layers")):
        raise TypeError(
            f"tl.select needs an AnnData but was given {type(adata).__name__}; for a "
            "table use a selector, such as SCFS().fit(X)."
        )
    if copy and adata.isbacked:
        raise ValueError(
            "copy=True would need a second file for the backed adata; leave it out, "
            "or give adata.to_memory()."
        )


def matrix_of(adata: Any, layer: str | None) -> Any:
    """Return the numbers to rank."""
    if layer is not None and layer not in adata.layers:
        meant = nearest_words(layer, adata.layers)
        there = f"it could be {meant}" if meant else "there are none"
        raise ValueError(f"layer={layer!r} is not in adata.layers; {there}.")
    X = adata.X if layer is None else adata.layers[layer]
    if X is None:
        raise ValueError("adata.X is empty; give it values or name a layer.")
    return X


def chosen_selector(
    method: str | UnsupervisedSelector,
    n_features: int | float | None,
    parameters: Mapping[str, Any],
) -> UnsupervisedSelector:
    """Return the selector of this name, or a copy of this one, with parameters."""
    selector = _named(method) if isinstance(method, str) else method
    checked_selector(selector, "tl.select")
    known = selector.get_params()
    for name in parameters:
        if name not in known:
            raise TypeError(
                f"{type(selector).__name__} has no parameter {name!r}; it could be "
                f"{nearest_words(name, known)}."
            )
    wanted = dict(parameters)
    if n_features is not None:
        wanted["n_features_to_select"] = n_features
    return checked_selector(clone(selector).set_params(**wanted), "tl.select")


def _named(name: str) -> UnsupervisedSelector:
    methods: dict[str, type[UnsupervisedSelector]] = {
        each.lower(): kind for each, kind in all_selectors().items()
    }
    methods["autoselect"] = AutoSelect
    if name.lower() not in methods:
        raise ValueError(
            f"There is no method {name!r}; it could be "
            f"{nearest_words(name.lower(), methods)}."
        )
    return methods[name.lower()]()


def refuse_non_finite(selector: UnsupervisedSelector, X: Any, names: Any) -> None:
    """Raise an error that names the first feature with a NaN or an infinity.

    The selector would refuse it too, but arrays have no names for their columns. What
    is not in memory is for the selector to look at, in its own pass.
    """
    if is_out_of_core(X) or X.dtype.kind != "f":
        return
    named = clone(selector)
    named.feature_names_in_ = np.asarray(names, dtype=object)
    named._refuse_non_finite(X)


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
    piece = out_of_core_rows(X, cells) if is_out_of_core(X) else X[cells]
    try:
        return clone(selector).fit(piece)
    except ValueError as error:
        raise ValueError(f"Batch {batch.name!r}: {error}") from error


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

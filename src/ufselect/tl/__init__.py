"""Select features of an AnnData, and write the result to it.

This module never imports anndata.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone

from ufselect._names import nearest_words
from ufselect._version import __version__
from ufselect._warn import warn
from ufselect.matrix import Index, is_out_of_core, out_of_core_rows
from ufselect.matrix.checks import checked_matrix
from ufselect.registry import selector as selector_of
from ufselect.selectors import UnsupervisedSelector
from ufselect.solvers.rankings import frequency_scores
from ufselect.tuning import AutoSelect
from ufselect.tuning.fits import checked_selector

__all__ = ["select"]

# Cells that tell whether the values are counts.
N_LOOKED_AT = 500
# Values of 0 and 1 alone are not counts to take logarithms of.
MIN_COUNT = 2


def select(
    adata: Any,
    method: str | UnsupervisedSelector = "autoselect",
    n_features: int | float | None = None,
    *,
    n_top_genes: int | float | None = None,
    layer: str | None = None,
    use_raw: bool = False,
    batch_key: str | None = None,
    subset: bool = False,
    inplace: bool = True,
    copy: bool = False,
    key_added: str = "ufselect",
    random_state: int | np.random.RandomState | None = 0,
    **parameters: Any,
) -> Any:
    """Select features of an AnnData and write to ``adata.var`` which they are.

    Parameters
    ----------
    adata : AnnData
        Cells in rows, in memory or backed. Values should be normalised logarithms, as
        for PCA; raw counts get a warning.
    method : str or selector, default="autoselect"
        Name of a method, upper or lower case: it selects as ``ufselect select
        --method`` does. An instance such as ``SCFS(50)`` is used as it is.
    n_features : int, float or None, default=None
        Number of features or fraction of them. None decides it from the data; an
        instance decides it by its own parameter.
    n_top_genes : int, float or None, default=None
        The same, as scanpy calls it.
    layer : str or None, default=None
        Layer to rank instead of ``adata.X``.
    use_raw : bool, default=False
        Rank the values of ``adata.raw`` instead of ``adata.X``.
    batch_key : str or None, default=None
        Column of ``adata.obs``. Every batch is ranked separately; features chosen in
        more batches come first, ties are broken by the geometric mean of their ranks.
        One batch at a time is read into memory.
    subset : bool, default=False
        Keep the selected features only.
    inplace : bool, default=True
        Write to ``adata``; otherwise return a DataFrame and leave ``adata`` as it is.
    copy : bool, default=False
        Leave ``adata`` as it is and return a copy with the result.
    key_added : str, default="ufselect"
        Name of the columns of ``adata.var``, see below, and of the entry of
        ``adata.uns``.
    random_state : int, RandomState instance or None, default=0
        Seed, unless ``method`` is an instance.
    **parameters
        Parameters of the method, such as ``n_clusters``.

    Returns
    -------
    result : AnnData, DataFrame or None
        The copy, or the columns, if one was asked for. In ``var`` there are
        ``ufselect``, whether a feature is selected, ``ufselect_rank``, 1 is the best,
        ``ufselect_score``, higher is better, and with batches ``ufselect_n_batches``,
        in how many it was chosen. ``uns["ufselect"]`` says how it was done.

    Examples
    --------
    >>> import anndata
    >>> import ufselect
    >>> from ufselect.data import planted
    >>> adata = anndata.AnnData(planted("blobs", n_useful=20, n_noise=80).table)
    >>> ufselect.tl.select(adata, n_top_genes=20)
    >>> adata[:, adata.var.ufselect].n_vars
    20
    >>> adata.uns["ufselect"]["method"]
    'AutoSelect'
    """
    if not all(hasattr(adata, each) for each in ("obs", "var", "uns", "layers")):
        raise TypeError(
            f"tl.select needs an AnnData but was given {type(adata).__name__}; for a "
            "table use a selector, such as SCFS().fit(X)."
        )
    if copy and not inplace:
        raise ValueError("copy=True returns an AnnData, inplace=False a DataFrame.")
    if adata.isbacked and (copy or (subset and inplace)):
        wanted = "copy" if copy else "subset"
        raise ValueError(
            f"{wanted}=True would need a second file for the backed adata; leave it "
            "out, or give adata.to_memory()."
        )
    if n_features is not None and n_top_genes is not None:
        raise TypeError("n_features and n_top_genes mean the same; give one of them.")
    number = n_top_genes if n_features is None else n_features
    X = _matrix_of(adata, layer, use_raw=use_raw)
    batches = None if batch_key is None else _batches_of(adata.obs, batch_key)
    selector = _selector(method, number, random_state, parameters)
    if _looks_like_counts(X):
        warn(
            "The values look like raw counts, in which the depth of a cell hides its "
            "kind; normalise them and take logarithms (scanpy.pp.normalize_total, "
            "scanpy.pp.log1p), or name a layer that has them.",
        )
    if not is_out_of_core(X):
        owner = type(selector).__name__
        X = checked_matrix(X, owner=owner, names=adata.var_names)
    columns = _fitted_columns(selector, X, batches, adata.var_names, key_added)
    if not inplace:
        return columns[columns[key_added]] if subset else columns
    result = adata.copy() if copy else adata
    # All at once, because the first change copies a view.
    stale = result.var.columns.intersection([*columns, f"{key_added}_n_batches"])
    result.var = pd.concat([result.var.drop(columns=stale), columns], axis=1)
    ranked_by = getattr(selector, "selector", None) or selector
    result.uns[key_added] = _storable(
        method=type(ranked_by).__name__,
        parameters=ranked_by.get_params(deep=False)
        | {"n_features_to_select": selector.n_features_to_select},
        batch_key=batch_key,
        layer="raw" if use_raw else layer,
    ) | {"version": __version__}
    if subset:
        result._inplace_subset_var(columns[key_added].to_numpy())
    return result if copy else None


def _matrix_of(adata: Any, layer: str | None, *, use_raw: bool) -> Any:
    """Return the numbers to rank."""
    if use_raw:
        if layer is not None:
            raise ValueError("use_raw=True ranks adata.raw and layer a layer; give one")
        if adata.raw is None:
            raise ValueError("use_raw=True, but adata.raw is empty; leave it out.")
        missing = adata.var_names.difference(adata.raw.var_names)
        if len(missing):
            raise ValueError(
                f"{len(missing)} of {adata.n_vars} genes are not in adata.raw, such as "
                f"{missing[0]!r}; leave use_raw out."
            )
        return adata.raw[:, adata.var_names].X
    if layer is not None and layer not in adata.layers:
        raise ValueError(
            f"layer={layer!r} is not in adata.layers; {_guess(layer, adata.layers)}."
        )
    X = adata.X if layer is None else adata.layers[layer]
    if X is None:
        raise ValueError("adata.X is empty; give it values or name a layer.")
    return X


def _guess(word: str, known: Iterable[Any]) -> str:
    meant = nearest_words(word, map(str, known))
    return f"it could be {meant}" if meant else "there are none"


def _selector(
    method: str | UnsupervisedSelector,
    number: int | float | None,
    random_state: Any,
    parameters: Mapping[str, Any],
) -> UnsupervisedSelector:
    """Return the selector of a name as the command line makes it, or a copy."""
    wanted = dict(parameters)
    if number is not None:
        wanted["n_features_to_select"] = number
    named = selector_of(method) if isinstance(method, str) else method
    checked_selector(named, "tl.select")
    auto = named if isinstance(named, AutoSelect) else AutoSelect()
    deciding = auto.get_params(deep=False) if isinstance(method, str) else {}
    known = {*named.get_params(deep=False), *deciding}
    known -= {"selector", "n_features_to_select"}
    for name in parameters:
        if name not in known:
            raise TypeError(
                f"tl.select with {type(named).__name__} has no parameter {name!r}; "
                f"{_guess(name, [*(select.__kwdefaults__ or ()), *known])}."
            )
    if not isinstance(method, str):
        return checked_selector(clone(named).set_params(**wanted), "tl.select")
    auto.set_params(random_state=random_state)
    auto.set_params(**{name: wanted.pop(name) for name in deciding if name in wanted})
    if named is not auto:
        auto.selector = checked_selector(named.set_params(**wanted), "tl.select")
    return checked_selector(auto, "tl.select")


def _looks_like_counts(X: Any) -> bool:
    some = X[: min(N_LOOKED_AT, X.shape[0])]
    values: Any = some.data if bool(sp.issparse(some)) else np.asarray(some)
    return bool(
        values.size
        and values.min() >= 0
        and values.max() >= MIN_COUNT
        and not np.any(values % 1)
    )


def _batches_of(obs: Any, key: str) -> dict[str, Index]:
    """Return the places of the cells of every batch that a column names."""
    if key not in obs.columns:
        there = _guess(key, obs.columns)
        raise ValueError(f"batch_key={key!r} is not a column of adata.obs; {there}.")
    codes, names = obs[key].factorize()
    n_without = int(np.count_nonzero(codes < 0))
    if n_without:
        raise ValueError(
            f"{n_without} of {len(codes)} cells have no value in adata.obs[{key!r}]; "
            "name their batch or leave them out."
        )
    batches = {
        str(name): np.flatnonzero(codes == code) for code, name in enumerate(names)
    }
    small = [name for name, cells in batches.items() if len(cells) < 2]
    if small:
        raise ValueError(
            f"Batch {small[0]!r} of adata.obs[{key!r}] has a single cell, which ranks "
            "nothing; merge such batches or leave them out."
        )
    return batches


def _fitted_columns(
    selector: UnsupervisedSelector,
    X: Any,
    batches: Mapping[str, Index] | None,
    names: pd.Index,
    key: str,
) -> pd.DataFrame:
    """Return what is written of each feature.

    A selector that decides the number of features may do so for every batch; the
    median of these numbers is chosen in the end.
    """
    columns: dict[str, Any] = {}
    if batches is None:
        fitted = clone(selector).fit(X)
        chosen, scores = fitted.get_support(), fitted.scores_
    else:
        fits = [_fitted(selector, X, *batch) for batch in batches.items()]
        times = np.sum([each.get_support() for each in fits], axis=0)
        scores = frequency_scores(np.array([each.scores_ for each in fits]), times)
        chosen = np.zeros(len(scores), dtype=bool)
        number = int(np.median([each.n_selected_ for each in fits]))
        chosen[np.argsort(-scores, kind="stable")[:number]] = True
        columns[f"{key}_n_batches"] = times
    ranks = np.empty(len(scores), dtype=np.intp)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    first = {key: chosen, f"{key}_rank": ranks, f"{key}_score": scores}
    return pd.DataFrame(first | columns, index=names)


def _fitted(
    selector: UnsupervisedSelector, X: Any, name: str, cells: Index
) -> UnsupervisedSelector:
    piece = out_of_core_rows(X, cells) if is_out_of_core(X) else X.take_rows(cells)
    try:
        return clone(selector).fit(piece)
    except ValueError as error:
        raise ValueError(f"Batch {name!r}: {error}") from error


def _storable(**entries: Any) -> dict[str, Any]:
    """Return what a file can hold: text, numbers, and the rest in Python's words."""
    return {
        name: _storable(**value)
        if isinstance(value, Mapping)
        else (value if isinstance(value, str | int | float | bool) else repr(value))
        for name, value in entries.items()
        if value is not None
    }

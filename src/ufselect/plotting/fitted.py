"""What plots read from fitted selectors and from their tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ufselect.evaluation.checks import checked_table
from ufselect.matrix import (
    DataMatrix,
    Float,
    Index,
    is_out_of_core,
    out_of_core_columns,
)
from ufselect.matrix.inputs import is_anndata, unwrapped
from ufselect.selectors.base import UnsupervisedSelector

# Groups that colours and shapes can tell apart.
MAX_GROUPS = 48


class AnnotatedSelection:
    """What `ufselect.tl.select` has written to an AnnData, as a selector has it."""

    def __init__(self, adata: Any, key: str) -> None:
        missing = [name for name in (key, f"{key}_score") if name not in adata.var]
        if missing:
            raise ValueError(
                f"adata.var has no column {missing[0]!r}; run ufselect.tl.select "
                "first, or give the selector."
            )
        self.scores_ = adata.var[f"{key}_score"].to_numpy(dtype=float)
        self.order_ = np.argsort(adata.var[f"{key}_rank"].to_numpy(), kind="stable")
        self._support = adata.var[key].to_numpy(dtype=bool)

    def get_support(self) -> NDArray[np.bool_]:
        """Return which features are selected."""
        return self._support


def fitted_selector(selector: Any, key: str = "ufselect") -> Any:
    """Return a selector that is fitted, or the selection in an AnnData."""
    if is_anndata(selector):
        return AnnotatedSelection(selector, key)
    if not isinstance(selector, UnsupervisedSelector):
        raise TypeError(
            "The first argument is a fitted selector of ufselect or an AnnData with a "
            f"selection, not {type(selector).__name__}; write for example "
            "pl.heatmap(selector, X)."
        )
    check_is_fitted(selector, "order_")
    return selector


def fitted_with_table(selector: Any, X: Any, key: str) -> tuple[Any, Any]:
    """Return the selection and its table; an AnnData is both."""
    fitted = fitted_selector(selector, key)
    if X is None and fitted is selector:
        raise ValueError(
            f"Give X, the table that {type(selector).__name__} was fitted to, after "
            "the selector."
        )
    return fitted, selector if X is None else X


def chosen_features(selector: Any) -> Index:
    """Return the chosen features, best first; raise ValueError if there are none."""
    chosen: Index = selector.order_[: int(np.count_nonzero(selector.get_support()))]
    if not len(chosen):
        raise ValueError(
            f"{type(selector).__name__} chose no feature, so there is none to draw; "
            "pl.scores draws the scores of all, and n_features_to_select=10 chooses "
            "ten."
        )
    return chosen


def table_of_fit(X: Any, fitted: Any) -> DataMatrix:
    """Return X as a checked matrix; raise ValueError if it is another table."""
    data = checked_table(X, "X")
    _check_width(data, fitted)
    return data


def _check_width(data: Any, fitted: Any) -> None:
    n_features = len(fitted.order_)
    if data.shape[1] != n_features:
        raise ValueError(
            f"X has {data.shape[1]} features, but the selector was fitted to "
            f"{n_features}; give the table of the fit."
        )


def chosen_columns(X: Any, columns: Index, fitted: Any) -> Float:
    """Return columns of whatever a selector was fitted to, as an array."""
    table = unwrapped(X)
    if not is_out_of_core(table):
        return table_of_fit(X, fitted).by_columns().columns(columns)
    _check_width(table, fitted)
    part = out_of_core_columns(table, columns)
    dense = part.toarray() if hasattr(part, "toarray") else part
    return np.asarray(dense, dtype=np.float64)


def names_of(X: Any, selector: Any, given: Sequence[str] | None) -> list[str]:
    """Return the names of all features: those given, of the table, or of the fit."""
    n_features = len(selector.order_)
    names = given
    if names is None:
        names = getattr(X, "var_names", getattr(X, "columns", None))
    if names is None:
        every = [f"x{column}" for column in range(n_features)]
        names = getattr(selector, "feature_names_in_", every)
    if len(names) != n_features:
        raise ValueError(
            f"There are {len(names)} names for {n_features} features; give one for "
            "each."
        )
    return [str(name) for name in names]


def members_of(
    X: Any, given: ArrayLike | str | None, n_samples: int
) -> NDArray[Any] | None:
    """Return groups of samples, or the column of ``adata.obs`` that is named."""
    if given is None:
        return None
    if not isinstance(given, str):
        groups = np.asarray(given)
        if groups.shape != (n_samples,):
            raise ValueError(
                f"Groups of shape {groups.shape} are given for {n_samples} samples; "
                "give one for each sample."
            )
        return groups.astype(str) if groups.dtype == object else groups
    if not is_anndata(X) or given not in X.obs:
        raise ValueError(f"{given!r} is not a column of adata.obs.")
    members: NDArray[Any] = X.obs[given].to_numpy(dtype=str)
    return members


def groups_shown(groups: ArrayLike | None, n_samples: int) -> NDArray[Any] | None:
    """Return the group of each sample, if there are several and not too many."""
    if groups is None or len(np.asarray(groups)) != n_samples:
        return None
    members = np.asarray(groups)
    return members if 1 < len(np.unique(members)) <= MAX_GROUPS else None


def learned(selector: Any, name: str) -> Any:
    """Return what a selector, or the one that it fitted inside, has learned, or None.

    Examples
    --------
    >>> from ufselect import SCFS, AutoSelect
    >>> from ufselect.data import planted
    >>> selector = AutoSelect(SCFS(), random_state=0).fit(planted("blobs").table)
    >>> len(learned(selector, "labels_"))
    90
    """
    inside = getattr(selector, "selector_", None)
    return getattr(selector, name, getattr(inside, name, None))


def marked_clusters(values: Float, clusters: NDArray[Any]) -> list[tuple[Any, bool]]:
    """Return the cluster that each column marks, and whether it is high in it.

    It is the one whose mean differs most from the mean of all other samples.

    Examples
    --------
    >>> marked_clusters(np.array([[0.0, 7.0], [5.0, 7.5], [9.0, 1.0]]), list("aab"))
    [('b', True), ('a', True)]
    """
    kinds, places = np.unique(clusters, return_inverse=True)
    counts = np.bincount(places)
    found = []
    for column in values.T:
        # Divided first, or sums of large numbers would overflow.
        scale = max(float(np.abs(column).max()), np.finfo(float).tiny)
        inside = np.bincount(places, column / scale)
        outside = (inside.sum() - inside) / (len(places) - counts)
        difference = inside / counts - outside
        # Of two clusters, which differ alike, the one where the feature is high.
        best = np.lexsort([difference, np.abs(difference).round(9)])[-1]
        found.append((kinds[best].item(), bool(difference[best] > 0)))
    return found


def in_cluster_order(
    values: Float,
    clusters: NDArray[Any] | None,
    marks: Sequence[tuple[Any, bool]] | None,
) -> tuple[Index, Index, list[Any] | None]:
    """Return samples and features by cluster, and the cluster that each marks.

    Without clusters, samples stand along the direction in which they differ most.
    """
    rows = np.arange(values.shape[1])
    if clusters is not None and marks is not None:
        kinds = [kind for kind, _ in marks]
        rows = np.array(sorted(rows, key=lambda row: kinds[row]))
        order = np.argsort(clusters, kind="stable")
        return order, rows, [kinds[row] for row in rows]
    scale = np.maximum(np.abs(values).max(axis=0), np.finfo(float).tiny)
    centred = values / scale - (values / scale).mean(axis=0)
    first = np.linalg.svd(centred, full_matrices=False)[0][:, 0]
    return np.argsort(first), rows, None

"""What ``select`` is given: the AnnData, its numbers, and who is to rank them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from ufselect.experiments.plan_checks import nearest_words
from ufselect.matrix import is_elsewhere
from ufselect.selectors import UnsupervisedSelector, all_selectors
from ufselect.tuning import AutoSelect
from ufselect.tuning.members import checked_selector


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
    if is_elsewhere(X) or X.dtype.kind != "f":
        return
    named = clone(selector)
    named.feature_names_in_ = np.asarray(names, dtype=object)
    named._refuse_non_finite(X)

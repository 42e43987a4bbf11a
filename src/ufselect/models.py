"""A selector in a file: its class, its parameters and what it learned.

The file holds JSON and arrays of numbers; loading it runs no code from it. It can name
classes of this package only.
"""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ufselect._version import __version__
from ufselect.data.replacing import not_written, replacing
from ufselect.data.tables.isolation import reason_of
from ufselect.evaluation.structure_found import StructureTest
from ufselect.evaluation.subsamples import Stability
from ufselect.registry import all_selectors
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.tuning import AutoSelect, Consensus, StabilitySelection

__all__ = ["ModelError", "load_selector", "save_selector"]

VERSION = 2
# Under this name the arrays of the file, an archive of NumPy, hold its JSON.
DESCRIPTION = "description"
# In JSON, the value of this key says what an object is, if not a dictionary.
KIND = "is"
# Attributes that are named tuples, which JSON knows as lists.
RECORDS: dict[str, Any] = {"stability_": Stability, "structure_": StructureTest}
# Where scikit-learn keeps the setting of set_output.
OUTPUT = "_sklearn_output_config"
OUTPUTS = ("default", "pandas", "polars")
AnyPath = str | os.PathLike[str]
Arrays = dict[str, Any]


class ModelError(ValueError):
    """A file that is not a selector file, or a selector that cannot be saved."""


def known_selectors() -> dict[str, type[UnsupervisedSelector]]:
    """Return every class of selectors of this package by its name.

    Examples
    --------
    >>> "AutoSelect" in known_selectors(), "SCFS" in known_selectors()
    (True, True)
    """
    around = (AutoSelect, Consensus, StabilitySelection)
    return {**all_selectors(), **{each.__name__: each for each in around}}


def save_selector(selector: UnsupervisedSelector, path: AnyPath) -> None:
    """Write a selector, fitted or not, to a file that any program may open safely.

    The file holds JSON and arrays, and appears when it is complete. It keeps the
    parameters and everything learned.

    Parameters
    ----------
    selector : selector
        One of this package. What it contains may be selectors, too.
    path : path
        Where to; a file of that name is replaced.

    Raises
    ------
    ModelError
        If the selector, or something that it holds, is of a class that is not known.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import LaplacianScore, load_selector, save_selector
    >>> selector = LaplacianScore(n_features_to_select=2).fit(load_iris().data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_selector(selector, f"{folder}/iris.selector")
    ...     again = load_selector(f"{folder}/iris.selector")
    >>> again
    LaplacianScore(n_features_to_select=2)
    >>> again.transform(load_iris().data[:1])
    array([[1.4, 0.2]])
    """
    arrays: Arrays = {}
    about = {"version": VERSION, "written by": f"ufselect {__version__}"}
    try:
        text = json.dumps(
            {**about, "selector": selector},
            default=lambda value: _description(value, arrays),
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(reason_of(error)) from None
    arrays[DESCRIPTION] = np.frombuffer(text.encode(), np.uint8)
    try:
        with replacing(Path(path)) as part, part.open("wb") as stream:
            np.savez(stream, **arrays)
    except OSError as error:
        raise ModelError(not_written(Path(path), error)) from error


def read_arrays(path: Path) -> Arrays:
    """Read the arrays of a file; ValueError if it is damaged, by their checksums.

    This takes no more memory than the file: compressed arrays, and arrays that declare
    more than they hold, are refused.
    """
    from ufselect.data.tables.matrices import checked_header

    arrays: Arrays = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{member.filename!r} is compressed")
            with archive.open(member) as part:
                checked_header(part, member.compress_size, member.filename)
            with archive.open(member) as part:
                name = member.filename.removesuffix(".npy")
                arrays[name] = np.lib.format.read_array(part, allow_pickle=False)
                part.read()  # its checksum is compared at the end
    return arrays


def _description(value: Any, arrays: Arrays) -> Any:
    """Return what JSON lacks in terms of JSON; arrays go into ``arrays``."""
    if isinstance(value, UnsupervisedSelector):
        return _selector_description(value)
    if isinstance(value, np.generic):
        return value.item() if value.dtype.kind in "biuf" else _refused(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        name = str(len(arrays))
        arrays[name] = value
        return {KIND: "array", "name": name}
    if isinstance(value, np.ndarray) and value.dtype.kind in "OU" and value.ndim == 1:
        texts = value.tolist()
        if all(type(each) is str for each in texts):
            objects = value.dtype.kind == "O"
            return {KIND: "names", "names": texts, "objects": objects}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return _refused(value)


def _refused(value: Any) -> Any:
    kind = getattr(value, "dtype", type(value).__name__)
    raise TypeError(
        f"a selector file cannot hold {str(value)[:50]!r}, which is of type "
        f"{kind}; give a parameter of another type"
    )


def _selector_description(selector: UnsupervisedSelector) -> dict[str, Any]:
    name = type(selector).__name__
    if known_selectors().get(name) is not type(selector):
        raise TypeError(
            f"{name} is not a selector of ufselect, and a selector file holds no "
            "other; save the selectors that it is made of"
        )
    parameters = selector.get_params(deep=False)
    learned = {
        key: value
        for key, value in vars(selector).items()
        if _is_learned(key) and key not in parameters
    }
    output = getattr(selector, OUTPUT, {}).get("transform")
    return {
        KIND: "selector",
        "class": name,
        "parameters": parameters,
        "learned": learned,
        "output": output,
    }


def _is_learned(name: str) -> bool:
    """Tell whether an attribute of this name is one that a fit sets."""
    return name.isidentifier() and name.endswith("_") and not name.startswith("_")


def load_selector(path: AnyPath) -> UnsupervisedSelector:
    """Read a selector from a file that :func:`save_selector` wrote.

    Loading runs no code from the file: classes and attributes are those of this
    package, everything else is numbers and text. Memory is at most a few times the
    size of the file.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    selector : selector
        It has the parameters, the ranking and the names of the one that was saved.

    Raises
    ------
    ModelError
        With one sentence, if the file is damaged, of another kind, or newer.

    Examples
    --------
    >>> import tempfile
    >>> from ufselect import SCFS, load_selector, save_selector
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_selector(SCFS(alpha=0.5, random_state=0), f"{folder}/a.selector")
    ...     load_selector(f"{folder}/a.selector")
    SCFS(alpha=0.5, random_state=0)
    """
    if not Path(path).is_file():  # a pipe would wait for a writer
        raise ModelError(f"{path} is not a file; name one that save_selector wrote")
    try:
        arrays = read_arrays(Path(path))
        text = arrays.pop(DESCRIPTION).tobytes()
        _check_version(json.loads(text), str(path))
        content = json.loads(text, object_hook=lambda found: _value(found, arrays))
        selector = content["selector"]
        if not isinstance(selector, UnsupervisedSelector):
            raise ValueError("it does not describe a selector")
    except ModelError:
        raise
    except Exception as error:  # a damaged file fails in many ways
        raise ModelError(
            f"{path} is not a selector file, or is damaged ({reason_of(error)}); "
            "save the selector again"
        ) from error
    return selector


def _check_version(description: dict[str, Any], name: str) -> None:
    version = description["version"]
    if type(version) is not int or version < 1:
        raise ValueError(f"its version is {str(version)[:50]!r}")
    if version > VERSION:
        raise ModelError(
            f"{name} is of version {version} of the format, written by "
            f"{str(description.get('written by'))[:50]}, but this is ufselect "
            f"{__version__}, which reads up to version {VERSION}; install a newer one"
        )


def _value(content: dict[str, Any], arrays: Arrays) -> Any:
    """Return what an object of JSON stands for, most often a dictionary."""
    kind = content.get(KIND)
    if kind is None:
        return content
    if kind == "array":
        return arrays[content["name"]]
    if kind == "names":
        if not all(isinstance(each, str) for each in content["names"]):
            raise ValueError("it has names that are not text")
        return np.array(content["names"], object if content["objects"] else np.str_)
    if kind == "selector":
        return _selector(content)
    raise ValueError(f"it has an object of unknown kind {str(kind)[:50]!r}")


def _selector(content: dict[str, Any]) -> UnsupervisedSelector:
    name, known = content["class"], known_selectors()
    if name not in known:
        raise ValueError(f"{str(name)[:50]!r} is not a selector")
    parameters = content["parameters"]
    if set(parameters) != set(known[name]().get_params(deep=False)):
        raise ValueError(f"its parameters are not those of {name}")
    if isinstance(parameters.get("selectors"), list):
        # JSON knows pairs of a name and a selector as lists.
        pairs = parameters["selectors"]
        parameters["selectors"] = [
            tuple(each) if isinstance(each, list) else each for each in pairs
        ]
    selector = known[name](**parameters)
    selector._validate_params()
    for key, value in content["learned"].items():
        if not _is_learned(key) or hasattr(type(selector), key):
            raise ValueError(f"{name} does not learn {str(key)[:50]!r}")
        record = RECORDS.get(key)
        setattr(selector, key, value if record is None else record(*value))
    if content["output"] is not None:
        if content["output"] not in OUTPUTS:
            raise ValueError("its output container is unknown")
        selector.set_output(transform=content["output"])
    if content["learned"]:
        _check_ranking(selector)
    return selector


def _check_ranking(selector: UnsupervisedSelector) -> None:
    """Refuse parts of a fit, and parts that do not fit together."""
    width = selector.n_features_in_
    names = getattr(selector, "feature_names_in_", None)
    scores, order = selector.scores_, selector.order_
    fits = (
        type(width) is int
        and type(selector.n_selected_) is int
        and 0 <= selector.n_selected_ <= width
        and scores.shape == order.shape == (width,)
        and scores.dtype.kind == "f"
        and bool(np.isfinite(scores).all())
        and order.dtype.kind == "i"
        and np.array_equal(np.sort(order), np.arange(width))
        and (names is None or (names.shape == (width,) and names.dtype == object))
    )
    if not fits:
        raise ValueError("its parts do not fit together")

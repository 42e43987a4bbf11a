"""A data set by its name: found or downloaded, read, and checked."""

import warnings
from pathlib import Path

import numpy as np

from ufselect.data.catalogue import CataloguedSet, catalogued_sets
from ufselect.data.checksums import has_checksum
from ufselect.data.download import fetch
from ufselect.data.labelled import LabelledSet, read_labelled
from ufselect.data.transfer import Progress


def load_set(
    name: str, folder: Path | str | None = None, *, progress: Progress | None = None
) -> LabelledSet:
    """Return a data set by its name in the catalogue, or in a local folder.

    The set is looked for, and downloaded if need be, as by :func:`fetch`. One that
    is catalogued must have the catalogued shape and number of classes. A local file
    with another checksum is accepted if it has them, with a warning: it may be
    another version of the data.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from scipy.io import savemat
    >>> from ufselect.data import load_set
    >>> with TemporaryDirectory() as folder:
    ...     savemat(Path(folder, "mine.mat"), {"X": [[1, 2], [3, 4]], "Y": [1, 2]})
    ...     load_set("mine", folder).table.shape
    (2, 2)
    """
    path = fetch(name, folder, progress=progress)
    data = read_labelled(path)
    known = catalogued_sets().get(name)
    if known is not None:
        _check(data, path, known)
    return data


def _check(data: LabelledSet, path: Path, known: CataloguedSet) -> None:
    found = (*data.table.shape, len(np.unique(data.classes)))
    expected = (known.n_samples, known.n_features, known.n_classes)
    if found != expected:
        raise ValueError(
            f"{path} has {_in_words(found)}, but {known.name} of the catalogue has "
            f"{_in_words(expected)}; rename the file, or put the right one in its place"
        )
    if not has_checksum(path, known.checksum):
        warnings.warn(
            f"{path} is not the catalogued file of {known.name}: it has the same shape "
            "and number of classes, but another checksum",
            stacklevel=3,
        )


def _in_words(shape: tuple[int, ...]) -> str:
    n_samples, n_features, n_classes = shape
    return f"{n_samples} samples, {n_features} features and {n_classes} classes"

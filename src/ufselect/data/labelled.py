"""Research data with known classes, from MATLAB files on disk."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ufselect.data.tables.isolation import reason_of
from ufselect.data.tables.table import Request

FOLDER_VARIABLE = "UFSELECT_DATA"


class LabelledSet(NamedTuple):
    """A table (dense float array or CSR) and its classes, for evaluation only."""

    name: str
    table: Any
    classes: NDArray[np.intp]


def data_folder() -> Path | None:
    """Return the folder of research data, or None where there is none.

    It is named by the environment variable ``UFSELECT_DATA``; in a source checkout
    ``../shared/data`` is looked at too.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        folder = Path(named)
        if not folder.is_dir():
            raise ValueError(
                f"{FOLDER_VARIABLE}={named} is not a folder; set it to the folder of "
                "the .mat files, or unset it"
            )
        return folder
    beside = Path(__file__).resolve().parents[4] / "shared" / "data"
    return beside if beside.is_dir() else None


def read_labelled(path: Path) -> LabelledSet:
    """Read a MATLAB file with a matrix ``X`` (samples in rows) and labels ``Y``."""
    from scipy.io import loadmat  # takes half a second to import

    from ufselect.data.tables.matrices import check_matlab_elements, floating

    if not path.is_file():
        raise ValueError(
            f"{path} is not a file; set {FOLDER_VARIABLE} to the folder of the data"
        )
    try:
        check_matlab_elements(path, str(path))
        content = loadmat(path)
    except Exception as error:  # SciPy trusts a file, and fails in many ways
        raise ValueError(
            f"{path} cannot be read as a MATLAB file: {reason_of(error)}"
        ) from error
    for key in ("X", "Y"):
        if key not in content:
            raise ValueError(
                f"{path} has no variable {key!r}, which must hold the data"
            )
    table, labels = content["X"], content["Y"]
    if not isinstance(labels, np.ndarray) or labels.dtype.kind not in "fiubU":
        raise ValueError(f"{path} has labels in Y that are neither numbers nor text")
    labels = labels.ravel()
    if table.shape[0] != len(labels):
        raise ValueError(
            f"{path} has {table.shape[0]} rows in X but {len(labels)} labels in Y"
        )
    try:
        table = floating(table, Request(), f"'X' in {path}")
    except ValueError as error:
        raise ValueError(" ".join(str(error).split())) from error
    # Arithmetic in less than float64 would lose digits.
    make = sp.csr_array if sp.issparse(table) else np.ascontiguousarray
    classes = np.unique(labels, return_inverse=True)[1]
    return LabelledSet(path.stem, make(table, dtype=np.float64), classes)

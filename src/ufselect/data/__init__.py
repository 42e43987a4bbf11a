"""Data to work on: embedded sets, and research data from files."""

from ufselect.data.embedded import DataSet, digits_with_decoys, union_of_subspaces
from ufselect.data.labelled import LabelledSet, data_folder, read_labelled

__all__ = [
    "DataSet",
    "LabelledSet",
    "data_folder",
    "digits_with_decoys",
    "read_labelled",
    "union_of_subspaces",
]

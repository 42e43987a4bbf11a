"""Data to work on: embedded sets, planted sets, and research data from files."""

from ufselect.data.catalogue import CataloguedSet, catalogued_sets
from ufselect.data.download import (
    DataUnavailableError,
    Patience,
    cache_folder,
    fetch,
    load_set,
)
from ufselect.data.labelled import LabelledSet, data_folder, read_labelled
from ufselect.data.planted import (
    GEOMETRIES,
    DataSet,
    digits_with_decoys,
    planted,
    union_of_subspaces,
)
from ufselect.data.tables import Table, TableError, read_table, write_table

__all__ = [
    "GEOMETRIES",
    "CataloguedSet",
    "DataSet",
    "DataUnavailableError",
    "LabelledSet",
    "Patience",
    "Table",
    "TableError",
    "cache_folder",
    "catalogued_sets",
    "data_folder",
    "digits_with_decoys",
    "fetch",
    "load_set",
    "planted",
    "read_labelled",
    "read_table",
    "union_of_subspaces",
    "write_table",
]

"""Readers and writers of users' files, one file per family of formats."""

from ufselect.data.tables.reading import read_table
from ufselect.data.tables.table import Table, TableError

__all__ = ["Table", "TableError", "read_table"]

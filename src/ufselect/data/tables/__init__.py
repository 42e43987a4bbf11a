"""Readers and writers of users' files."""

from ufselect.data.tables.reading import read_table
from ufselect.data.tables.table import Table, TableError
from ufselect.data.tables.writing import write_table

__all__ = ["Table", "TableError", "read_table", "write_table"]

"""Reading and writing tables of any known format."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ufselect.data.tables.reading import read_table as read_table
    from ufselect.data.tables.table import Remedy as Remedy
    from ufselect.data.tables.table import Table as Table
    from ufselect.data.tables.table import TableError as TableError
    from ufselect.data.tables.writing import write_table as write_table
else:
    from ufselect._names import attach

    __getattr__, __dir__, __all__ = attach(__name__)

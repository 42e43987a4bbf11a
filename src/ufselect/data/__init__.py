"""Tables from files, public data sets, and synthetic data."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ufselect.data.catalogue import CataloguedSet as CataloguedSet
    from ufselect.data.catalogue import LabelledSet as LabelledSet
    from ufselect.data.catalogue import catalogued_sets as catalogued_sets
    from ufselect.data.catalogue import data_folder as data_folder
    from ufselect.data.catalogue import read_labelled as read_labelled
    from ufselect.data.download import DataUnavailableError as DataUnavailableError
    from ufselect.data.download import cache_folder as cache_folder
    from ufselect.data.download import fetch as fetch
    from ufselect.data.download import load_set as load_set
    from ufselect.data.previewing import ColumnPreview as ColumnPreview
    from ufselect.data.previewing import Preview as Preview
    from ufselect.data.previewing import preview as preview
    from ufselect.data.synthetic import GEOMETRIES as GEOMETRIES
    from ufselect.data.synthetic import DataSet as DataSet
    from ufselect.data.synthetic import planted as planted
    from ufselect.data.tables.reading import read_table as read_table
    from ufselect.data.tables.table import Remedy as Remedy
    from ufselect.data.tables.table import Table as Table
    from ufselect.data.tables.table import TableError as TableError
    from ufselect.data.tables.writing import write_table as write_table
else:
    from ufselect._names import attach

    __getattr__, __dir__, __all__ = attach(__name__)

"""Old place of a name of ``tables``, for commands that import it here."""

from ufselect.report.tables import csv_text

__all__ = ["csv_text"]

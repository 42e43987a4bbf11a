"""Old place of a name of ``reproduction``, for commands that import it here."""

from ufselect.report.reproduction import read_comparison

__all__ = ["read_comparison"]

"""Old place of a name of ``selection_measures``, for commands that import it here."""

from ufselect.report.selection_measures import who_chose

__all__ = ["who_chose"]

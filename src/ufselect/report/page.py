"""Old place of a name of ``rendering``, for commands that import it here."""

from ufselect.report.rendering import html_page

__all__ = ["html_page"]

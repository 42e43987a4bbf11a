"""From a selection to a report: HTML, text, JSON, and figures.

What draws is imported when the first figure is drawn.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ufselect.plotting import *  # noqa: F403 - figures are public here, too
    from ufselect.plotting.convergence import convergence as convergence
    from ufselect.plotting.convergence import curves as curves
    from ufselect.report.content import SelectionReport as SelectionReport
    from ufselect.report.parts import Effort as Effort
    from ufselect.report.rendering import Bullets as Bullets
    from ufselect.report.rendering import Paragraph as Paragraph
    from ufselect.report.rendering import Picture as Picture
    from ufselect.report.rendering import Preformatted as Preformatted
    from ufselect.report.rendering import Section as Section
    from ufselect.report.rendering import TextTable as TextTable
    from ufselect.report.rendering import html_page as html_page
    from ufselect.report.rendering import markdown_table as markdown_table
    from ufselect.report.rendering import text_table as text_table
    from ufselect.report.selection import selection_report as selection_report
else:
    from ufselect._names import attach

    __getattr__, __dir__, __all__ = attach(__name__)

"""From plain arrays to text tables and pictures."""

from ufselect.report.pixels import PixelPanel, pixel_image
from ufselect.report.tables import text_table

__all__ = ["PixelPanel", "pixel_image", "text_table"]

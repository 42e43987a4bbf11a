"""What ufselect costs, is worth and withstands: `python -m studies --list`."""

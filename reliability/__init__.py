"""What ufselect withstands: `python -m reliability --list`."""

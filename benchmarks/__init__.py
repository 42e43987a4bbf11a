"""What ufselect costs and what it is worth: `python -m benchmarks --list`."""

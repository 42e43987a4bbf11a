"""Studies of the speed, quality and reliability of ufselect; see `studies --list`."""

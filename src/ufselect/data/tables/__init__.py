"""Reading and writing tables of any known format."""

"""The command line: parsing and printing only."""

from ufselect.cli.main import main

__all__ = ["main"]

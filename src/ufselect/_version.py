"""The version of ufselect, read by the build and by ``ufselect.__version__``."""

__version__ = "0.1.0.dev0"

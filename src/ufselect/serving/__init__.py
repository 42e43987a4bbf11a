"""A local web page in front of the command line.

The page uploads a table; each run is a command such as ``ufselect select`` in a
subprocess. Starlette and uvicorn are imported when a server starts.
"""

from ufselect.serving.server import Settings

__all__ = ["Settings"]

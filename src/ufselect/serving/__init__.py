"""A local page in front of the command line, for people who would rather click.

The page uploads a table, and each run is the very command ``ufselect select`` in a
process of its own. Starlette and uvicorn are imported when a server is made, so that
the package does without them until then.
"""

from ufselect.serving.server import Settings

__all__ = ["Settings"]

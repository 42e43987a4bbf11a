"""For AnnData: selections written to ``adata.var``, as the tools of scverse do."""

from ufselect.tl.selection import select

__all__ = ["select"]

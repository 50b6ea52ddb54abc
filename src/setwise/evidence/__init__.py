"""What was measured beyond the paper: every policy in every world, and attempts to break and to beat the best ones.

Each study is a module with `compute`, which returns rows; the rows that `make evidence` computed are kept in `data/`,
and tables, docs and reports read them from there.
"""

from setwise.evidence.store import STUDIES, about, compute, read, write

__all__ = ["STUDIES", "about", "compute", "read", "write"]

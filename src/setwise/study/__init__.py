"""Studies: ask for a set, tell its rewards, durably, from one script or many workers."""

from setwise.errors import StorageError
from setwise.study.records import Arm, Decision, Summary
from setwise.study.study import Study

__all__ = ["Arm", "Decision", "StorageError", "Study", "Summary"]

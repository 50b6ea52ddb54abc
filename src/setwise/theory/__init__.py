"""The paper's theory in code: the assumptions a world satisfies, its gaps and bounds, and audits of real runs."""

from setwise.simulation.certificate import Certificate
from setwise.theory.audit import Audit, audit
from setwise.theory.bounds import Bound, Bounds, bounds
from setwise.theory.check import Check, check
from setwise.theory.consistency import WeakConsistency, weak_consistency
from setwise.theory.gaps import Gaps, gaps
from setwise.theory.order import TotalOrder, total_order
from setwise.theory.recommendations import Recommendation
from setwise.theory.survey import Survey, survey_sets

__all__ = [
    "Audit",
    "Bound",
    "Bounds",
    "Certificate",
    "Check",
    "Gaps",
    "Recommendation",
    "Survey",
    "TotalOrder",
    "WeakConsistency",
    "audit",
    "bounds",
    "check",
    "gaps",
    "survey_sets",
    "total_order",
    "weak_consistency",
]

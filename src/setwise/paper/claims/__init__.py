"""The claims of the paper, in parts. A part is a module with a tuple `CLAIMS`; add one, and name it here."""

from setwise.paper.claims import experiments, lower, order, proofs, rivals, runs, worlds

CLAIMS = (
    *worlds.CLAIMS,
    *order.CLAIMS,
    *runs.CLAIMS,
    *proofs.CLAIMS,
    *lower.CLAIMS,
    *experiments.CLAIMS,
    *rivals.CLAIMS,
)

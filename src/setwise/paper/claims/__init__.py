"""The claims of the paper by topic. A topic is a module with a tuple `CLAIMS`; to add one, list it here."""

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

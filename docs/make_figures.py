"""Make the pictures that the README shows."""

from pathlib import Path

import setwise as sw
from setwise.simulation.plot import plot_regret

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    policies = [sw.UCB(alpha=2.0), sw.UCB(alpha=1.0), sw.UCB(alpha=0.5)]
    results = [sw.simulate(policy, sw.paper.mnl(), horizon=1_000_000, runs=20, seed=0) for policy in policies]
    title = "Algorithm 1 on the paper's multinomial logit (n = 20, k = 10)"
    plot_regret(results, IMAGES / "mnl.png", title, [f"alpha = {policy.alpha:g}" for policy in policies])


if __name__ == "__main__":
    main()

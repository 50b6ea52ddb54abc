"""Setwise: Algorithm 1 with alpha = 2."""


def simulate(n, k, horizon, rounds, buy):
    """`simulate` with `UCB` and its own `MNL`: the whole game in one compiled call, certain rounds drawn at once"""
    import setwise as sw

    world = sw.environments.MNL([1 - 0.8 * i / n for i in range(1, n + 1)], k=k)
    sw.simulate(sw.UCB(alpha=2.0), world, horizon=horizon, threads=1)


def every_round(n, k, horizon, rounds, buy):
    """the same with `fast_forward=False`: every round is played"""
    import setwise as sw

    world = sw.environments.MNL([1 - 0.8 * i / n for i in range(1, n + 1)], k=k)
    sw.simulate(sw.UCB(alpha=2.0), world, horizon=horizon, threads=1, fast_forward=False)


def by_hand(n, k, horizon, rounds, buy):
    """`UCB.select` and `UCB.update` from Python, not compiled; all by the library"""
    import numpy as np

    import setwise as sw

    policy = sw.UCB(alpha=2.0)
    rng = np.random.default_rng(1)
    state = policy.init(n=n, k=k, horizon=horizon, rng=rng)
    for _ in rounds:
        chosen = policy.select(state, rng)
        bought = buy(chosen.tolist())
        policy.update(state, chosen, (chosen == bought).astype(float), rng)

"""river: `bandit.UCB` pulls one arm of those it is given; pulled again without that arm, it gives the next."""


def ucb(n, k, horizon, rounds, buy):
    """`bandit.UCB(delta=1)` with log t; pulling k times, each without the arms before, is our glue"""
    from river import bandit

    policy = bandit.UCB(delta=1, seed=1)
    for _ in rounds:
        left, chosen = list(range(n)), []
        for _ in range(k):
            arm = policy.pull(left)
            left.remove(arm)
            chosen.append(arm)
        bought = buy(chosen)
        for arm in chosen:
            policy.update(arm, arm == bought)

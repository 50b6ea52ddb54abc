"""MABWiser: `UCB1` with log t; an arm that was never played has index 0, so the first n / k rounds play each once."""


def ucb1(n, k, horizon, rounds, buy):
    """`UCB1(alpha=1)` with log t, one `partial_fit` a round; the k largest of `predict_expectations` are our glue"""
    from heapq import nlargest

    from mabwiser.mab import MAB, LearningPolicy

    bandit = MAB(list(range(n)), LearningPolicy.UCB1(alpha=1))
    arms, rewards = [], []
    for start in range(0, n, k):
        chosen = list(range(start, min(start + k, n)))
        bought = buy(chosen)
        arms += chosen
        rewards += [int(arm == bought) for arm in chosen]
    bandit.fit(arms, rewards)
    for _ in rounds:
        expectations = bandit.predict_expectations()
        chosen = nlargest(k, expectations, key=expectations.get)
        bought = buy(chosen)
        bandit.partial_fit(chosen, [int(arm == bought) for arm in chosen])

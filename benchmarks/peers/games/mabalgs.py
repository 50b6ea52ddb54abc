"""mabalgs: `UCB1` counts one impression a round and returns all arms in the order of their indices.

Its own way to k arms is `RBAM`, a `UCB1` for each of the k places, which is another policy and slower. The order that
one `UCB1` returns gives the k arms with the largest indices, if the caller counts the impressions of the other k - 1.
"""


def ranked(n, k, horizon, rounds, buy):
    """`RBAM` with `UCB1`: a bandit for each of the k places; all by the library"""
    from mab.algs import UCB1
    from mab.ranked_algs import RBAM

    policy = RBAM(n, k, UCB1)
    for _ in rounds:
        chosen = policy.select()
        bought = buy(chosen)
        if bought is not None:
            policy.reward(chosen, bought)


def first_of_the_order(n, k, horizon, rounds, buy):
    """`UCB1` with log t, the first k of the order it returns; counting the other k - 1 is our glue"""
    from mab.algs import UCB1

    policy = UCB1(n)
    for _ in rounds:
        chosen = policy.select()[1][:k]
        policy.n_impressions[chosen[1:]] += 1
        bought = buy(chosen)
        if bought is not None:
            policy.reward(bought)

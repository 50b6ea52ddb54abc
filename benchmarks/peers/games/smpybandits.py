"""SMPyBandits: `UCBH` is UCB_i = C_i / N_i + sqrt(alpha log T / (2 N_i)), which for alpha = 4 is Algorithm 1.

`choiceMultiple` picks the k largest, with ties at random. `getReward` is documented for one arm; it takes arrays too.
"""


def arm_by_arm(n, k, horizon, rounds, buy):
    """`UCBH.choiceMultiple(k)`, Algorithm 1 itself; all by the library, `getReward` for each arm"""
    from SMPyBandits.Policies import UCBH

    policy = UCBH(n, horizon=horizon, alpha=4)
    policy.startGame()
    for _ in rounds:
        chosen = policy.choiceMultiple(k).tolist()
        bought = buy(chosen)
        for arm in chosen:
            policy.getReward(arm, arm == bought)


def at_once(n, k, horizon, rounds, buy):
    """`UCBH.choiceMultiple(k)`, Algorithm 1 itself; all by the library, one `getReward` with arrays"""
    from SMPyBandits.Policies import UCBH

    policy = UCBH(n, horizon=horizon, alpha=4)
    policy.startGame()
    for _ in rounds:
        chosen = policy.choiceMultiple(k)
        bought = buy(chosen.tolist())
        policy.getReward(chosen, chosen == bought)

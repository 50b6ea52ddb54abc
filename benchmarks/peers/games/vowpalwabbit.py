"""Vowpal Wabbit: conditional contextual bandits fill k slots from n actions, each action in one slot at most."""


def slots(n, k, horizon, rounds, buy):
    """`--ccb_explore_adf`, k slots and n actions, epsilon-greedy on a linear model; all by the library"""
    from vowpalwabbit import Workspace

    bandit = Workspace("--ccb_explore_adf --epsilon 0.05 --quiet")
    actions = ["ccb shared |"] + [f"ccb action |a {arm}" for arm in range(n)]
    question = actions + ["ccb slot |"] * k
    for _ in rounds:
        slots = [slot[0] for slot in bandit.predict(question)]
        bought = buy([arm for arm, _ in slots])
        bandit.learn(actions + [f"ccb slot {arm}:{-int(arm == bought)}:{chance} |" for arm, chance in slots])

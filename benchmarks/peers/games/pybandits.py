"""pybandits: Thompson sampling that picks one action, and tells the probabilities it drew for all."""


def thompson(n, k, horizon, rounds, buy):
    """`SmabBernoulli`: Thompson sampling; the k largest of the drawn probabilities are our glue"""
    from heapq import nlargest

    from pybandits.model import Beta
    from pybandits.smab import SmabBernoulli

    policy = SmabBernoulli(actions={str(arm): Beta() for arm in range(n)})
    for _ in rounds:
        probabilities = policy.predict()[1][0]
        names = nlargest(k, probabilities, key=probabilities.get)
        chosen = [int(name) for name in names]
        bought = buy(chosen)
        policy.update(actions=names, rewards=[int(arm == bought) for arm in chosen])

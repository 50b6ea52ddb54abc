"""duelpy: bandits that learn from duels. Two arms meet, and one wins: v_i / (v_i + v_j), with no outside option.

Its `RelativeUCB` asks whether the answer to a duel, true or false, is below 0, so that the champion wins them all; the
nearest policy with confidence bounds that learns is `RelativeConfidenceSampling`, which is also faster.
"""


def relative_confidence_sampling(n, k, horizon, rounds, buy):
    """`RelativeConfidenceSampling` on its own `PlackettLuceModel`: a round is one duel, 2 of n and not k of n"""
    import numpy as np
    from duelpy.algorithms import RelativeConfidenceSampling
    from duelpy.experiments.environments.plackett_luce_model import PlackettLuceModel

    random = np.random.RandomState(1)
    world = PlackettLuceModel(n, random, [1 - 0.8 * i / n for i in range(1, n + 1)])
    policy = RelativeConfidenceSampling(world, time_horizon=horizon, random_state=random)
    for _ in rounds:
        policy.step()

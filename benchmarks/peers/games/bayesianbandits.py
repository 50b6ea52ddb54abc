"""bayesianbandits: `pull(top_k=k)`, by Thompson sampling, which its documentation takes first.

Its `UpperConfidenceBound` estimates a quantile from 1,000 draws for every arm, and is slower. The documented way has a
learner for each arm, and updates one arm at a time. A learner that all arms share, with a column for each, can learn
from k arms at once.
"""


def learner_for_each_arm(n, k, horizon, rounds, buy):
    """`Agent.pull(top_k=k)`, `ThompsonSampling` on a `NormalRegressor` for each arm; all by the library"""
    import numpy as np
    from bayesianbandits import Agent, Arm, NormalRegressor, ThompsonSampling

    arms = [Arm(arm, learner=NormalRegressor(alpha=1, beta=1)) for arm in range(n)]
    agent = Agent(arms, ThompsonSampling(), random_seed=1)
    for _ in rounds:
        chosen = agent.pull(top_k=k)[0]
        bought = buy(chosen)
        for arm in chosen:
            agent.select_for_update(arm).update(np.array([float(arm == bought)]))


def shared_learner(n, k, horizon, rounds, buy):
    """`pull(top_k=k)`, `ThompsonSampling` on one shared `NormalRegressor`; its `partial_fit` of k arms is our glue"""
    import numpy as np
    from bayesianbandits import Arm, FunctionArmFeaturizer, LipschitzContextualAgent, NormalRegressor, ThompsonSampling

    columns = np.eye(n)
    agent = LipschitzContextualAgent(
        arms=[Arm(arm, learner=None) for arm in range(n)],
        policy=ThompsonSampling(),
        arm_featurizer=FunctionArmFeaturizer(lambda contexts, arms: columns[:, arms][None]),
        learner=NormalRegressor(alpha=1, beta=1),
        random_seed=1,
    )
    nothing = np.empty((1, 0))
    for _ in rounds:
        chosen = agent.pull(nothing, top_k=k)[0]
        bought = buy(chosen)
        agent.learner.partial_fit(columns[chosen], np.array([float(arm == bought) for arm in chosen]))

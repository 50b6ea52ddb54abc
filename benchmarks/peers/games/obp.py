"""Open Bandit Pipeline: lists of `len_list` actions, by Thompson sampling; it has no UCB without contexts.

Its `EpsilonGreedy` divides means by counts once more, and so prefers arms that were played little. `update_params` is
documented for one action; it takes arrays too.
"""


def action_by_action(n, k, horizon, rounds, buy):
    """`BernoulliTS(len_list=k, batch_size=k)`: Thompson sampling; all by the library, `update_params` for each arm"""
    from obp.policy import BernoulliTS

    policy = BernoulliTS(n_actions=n, len_list=k, batch_size=k, random_state=1)
    for _ in rounds:
        chosen = policy.select_action().tolist()
        bought = buy(chosen)
        for arm in chosen:
            policy.update_params(arm, arm == bought)


def at_once(n, k, horizon, rounds, buy):
    """`BernoulliTS(len_list=k)`: Thompson sampling; all by the library, one `update_params` with arrays"""
    from obp.policy import BernoulliTS

    policy = BernoulliTS(n_actions=n, len_list=k, random_state=1)
    for _ in rounds:
        chosen = policy.select_action()
        bought = buy(chosen.tolist())
        policy.update_params(chosen, chosen == bought)

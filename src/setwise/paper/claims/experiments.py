"""Claims about the setup of the experiments: the random worlds, and the regret they measure."""

import functools
import itertools

import numpy as np

from setwise.environments import RandomWeak
from setwise.environments.enumeration import all_values
from setwise.paper.claim import Answer, Claim
from setwise.paper.instances import random_utility, random_weak
from setwise.theory import weak_consistency
from setwise.theory.rejection import rejection_cost, trials_exponent


def rejection(seed: int) -> Answer:
    """Compare Algorithm 2, which redraws until a sum is small enough, with the exact sampler of the same law."""
    cost = rejection_cost(10, 5, seed=seed)
    worlds = [RandomWeak(10, 5, seed=seed + number) for number in range(10)]
    exact = all(weak_consistency(world).holds for world in worlds)
    return Answer(
        cost.beyond_1e9 == 0.0,  # with more draws it does not finish
        f"exactly, the chance that a draw is accepted, for all 252 sets of {cost.draws} random s* (n = 10, k = 5)",
        f"least acceptance over the sets: median {cost.acceptance_median:.1e}, 10 % quantile {cost.acceptance_low:.1e};"
        f" expected draws for one world: median {cost.trials_median:.1e}, 90 % quantile {cost.trials_high:.1e}, more "
        f"than"
        f" 10^9 in {100 * cost.beyond_1e9:.0f} % of the worlds; as the P(a|s*) that a set lacks tends to 0 they grow "
        f"with its power {trials_exponent(cost.k):g}, so the mean over worlds is infinite",
        exact,
        "the same law is drawn exactly without this rejection (by RandomWeak)",
    )


def sign(seed: int) -> Answer:
    world = random_weak(seed=seed)
    totals = world.probabilities.sum(axis=1)
    printed = totals - totals.max()
    return Answer(
        bool((printed >= 0.0).all()),
        "the printed sum of P(a|s) less the sum of P(a*|s*) for all 252 sets",
        f"from {printed.min():.4f} to {printed.max():.4f}: never positive",
        bool((-printed >= 0.0).all()),
        "the other way round, Q(s*) - Q(s)",
    )


@functools.cache
def _surrogates() -> tuple[np.ndarray, np.ndarray]:
    """Return the paper's regret of every set in the random utility model, and the true regret."""
    world = random_utility()
    sets = np.array(list(itertools.combinations(range(world.n), world.k)))
    surrogate = np.sort(world.utilities)[-world.k :].sum() - world.utilities[sets].sum(axis=1)
    values = all_values(world)
    return surrogate, values.max() - values


def surrogate_is_zero(seed: int) -> Answer:
    surrogate, true = _surrogates()
    same = (surrogate < 1e-12) == (true < 1e-9)
    return Answer(
        bool(same.all()),
        "both regrets for all 15,504 sets of the random utility model",
        f"the surrogate is 0 for {int((surrogate < 1e-12).sum())} set, the expected loss for "
        f"{int((true < 1e-9).sum())}",
    )


def surrogate_is_alike(seed: int) -> Answer:
    surrogate, true = _surrogates()
    worse = true > 1e-9
    ratio = true[worse] / surrogate[worse]
    together = float(np.corrcoef(true, surrogate)[0, 1])
    return Answer(
        bool(ratio.min() > 0.5 and ratio.max() < 2.0),
        "expected loss over the sum-of-means regret for all sub-optimal sets",
        f"from {ratio.min():.4f} to {ratio.max():.4f}, so the panel's scale is {1 / ratio.max():.0f} to "
        f"{1 / ratio.min():.0f} times that of the others; correlation {together:.3f}",
        together > 0.95,
        "alike up to a factor of about 20, so it is not to be compared with the other panels",
    )


CLAIMS = (
    Claim(
        "random-weak-rejection",
        "Appendix D.4, Algorithm 2",
        "Rejection sampling generates the random worlds.",
        rejection,
        seconds=0.5,
    ),
    Claim(
        "random-weak-regret",
        "Appendix D.4",
        "The regret of s is the sum of P(a|s) less the sum of P(a*|s*).",
        sign,
        shown="figure-3",
    ),
    Claim(
        "surrogate-zero",
        "Appendix D.2",
        "Regret by the sum of means is zero once the optimal set is found.",
        surrogate_is_zero,
        shown="figure-3",
        group="surrogates",
        seconds=0.2,
    ),
    Claim(
        "surrogate-alike",
        "Appendix D.2",
        "Regret by the sum of means is only slightly different from the expected loss.",
        surrogate_is_alike,
        shown="figure-3",
        group="surrogates",
    ),
)

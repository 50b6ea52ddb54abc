"""Claims about the paper's worlds and reward models: sizes, optimal sets, consistency, total order."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from setwise.environments import MNL, PRESETS, Independent, RandomUtility
from setwise.paper.claim import Answer, Claim
from setwise.paper.claims.surveys import GROUP, surveys
from setwise.paper.instances import INSTANCES
from setwise.theory import total_order, weak_consistency
from setwise.theory.consistency import consistency_in
from setwise.theory.gaps import gaps_in
from setwise.theory.wording import set_name

TRIALS = 60  # random instances of a reward model


def number_of_sets(name: str, printed: int) -> Callable[[int], Answer]:
    def compute(seed: int) -> Answer:
        world = INSTANCES[name]()
        found = math.comb(world.n, world.k)
        return Answer(found == printed, f"C({world.n}, {world.k})", f"{found:,}")

    return compute


def optimal_set(name: str, printed: tuple[int, ...]) -> Callable[[int], Answer]:
    def compute(seed: int) -> Answer:
        found = [gaps_in(survey) for survey in surveys(name)]
        right = all(g.best == printed and g.ties == 1 for g in found)
        first = found[0]
        more = f", in each of {len(found)} random worlds" if len(found) > 1 else ""
        return Answer(
            right,
            f"Q(s) of all {math.comb(first.environment.n, first.environment.k):,} sets",
            f"the only optimal set is {set_name(first.environment, first.best)}, Q = {first.value:.6f}, epsilon = "
            f"{first.epsilon:.4g}, largest gap {first.largest:.6f}{more}",
        )

    return compute


def assumption(name: str) -> Callable[[int], Answer]:
    def compute(seed: int) -> Answer:
        found = [consistency_in(survey) for survey in surveys(name)]
        margins = [answer.margin for answer in found if answer.margin is not None]
        more = f" over {len(found)} random worlds" if len(found) > 1 else ""
        return Answer(
            all(answer.holds for answer in found),
            f"P(a|s) - P(a|s*) for every arm and set ({found[0].how})",
            f"{sum(answer.violations for answer in found)} violations, least margin {min(margins):.4g}{more}",
        )

    return compute


def _model_instances(model: str, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    made: list[Any] = []
    for _ in range(TRIALS):
        n = int(rng.integers(4, 8))
        k = int(rng.integers(2, n))
        if model == "mnl":
            made.append(MNL(rng.exponential(1.0, n), k, outside=float(rng.exponential(1.0)) + 0.01))
        elif model == "random utility":
            noise = ("gaussian", "gumbel")[int(rng.integers(2))]
            made.append(RandomUtility(rng.normal(0.0, 1.0, n), k, noise=noise, outside=float(rng.normal())))
        else:
            made.append(Independent(rng.random(n), k))
    return made


@functools.cache
def model_is_covered(model: str, seed: int) -> Answer:
    made = _model_instances(model, seed)
    consistent = [weak_consistency(world, method="enumerate") for world in made]
    ordered = [total_order(world, method="enumerate") for world in made]
    return Answer(
        all(answer.holds for answer in consistent) and all(answer.holds for answer in ordered),
        f"all sets of {len(made)} random instances; and a proof: {made[0].proof}",
        f"Assumption 1 holds in {sum(bool(a.holds) for a in consistent)} of {len(made)}, a total order in "
        f"{sum(bool(a.holds) for a in ordered)}",
    )


def random_utility_has_order(seed: int) -> Answer:
    """Test choice models, which are random utility models with noise that is not i.i.d."""
    names = ("markov-chain", "rankings", "nested-logit", "mixed-logit", "unequal-noise")
    consistent = {name: weak_consistency(PRESETS[name]()) for name in names}
    ordered = {name: total_order(PRESETS[name]()) for name in names}
    without = [name for name in names if not ordered[name].holds]
    violating = [name for name in names if not consistent[name].holds]
    chain, noise = consistent["markov-chain"], consistent["unequal-noise"]
    equal = model_is_covered("random utility", seed)
    return Answer(
        not without,
        "Definition 1 and Assumption 1 in five small random utility models",
        f"no total order: {', '.join(without)}; Assumption 1 violated: {', '.join(violating)}; Markov chain: "
        f"{chain.explain()}; unequal noise: {noise.explain()}",
        equal.as_printed,
        "for equal and independent noises: " + equal.found,
    )


CLAIMS = (
    Claim(
        "sets-mnl",
        "Section 7",
        "The multinomial logit has 184756 sets.",
        number_of_sets("mnl", 184756),
    ),
    Claim(
        "sets-random-utility",
        "Section 7",
        "The random utility model has 15504 sets.",
        number_of_sets("random-utility", 15504),
    ),
    Claim(
        "sets-preference-matrix",
        "Appendix D.3",
        "The preference matrix has 45 sets.",
        number_of_sets("preference-matrix", 45),
    ),
    Claim(
        "best-mnl",
        "Appendix D.1",
        "In the multinomial logit the optimal set is a_1, ..., a_10.",
        optimal_set("mnl", tuple(range(10))),
        group=GROUP,
        seconds=0.5,
    ),
    Claim(
        "best-random-utility",
        "Appendix D.2",
        "In the random utility model the optimal set is a_1, ..., a_5.",
        optimal_set("random-utility", tuple(range(5))),
        group=GROUP,
        seconds=0.4,
    ),
    Claim(
        "best-preference-matrix",
        "Appendix D.3",
        "With the preference matrix the optimal set is {a_1, a_2}.",
        optimal_set("preference-matrix", (0, 1)),
        group=GROUP,
    ),
    Claim(
        "best-random-weak",
        "Appendix D.4",
        "In the random worlds the optimal set is a_1, ..., a_k.",
        optimal_set("random-weak", tuple(range(5))),
        group=GROUP,
        seconds=0.5,
    ),
    Claim(
        "best-camera",
        "Section 3.4",
        "In the camera example the optimal set is {Nikon, Sony, Canon}.",
        optimal_set("camera", (0, 1, 2)),
        shown="figure-2-all-sets",
        group=GROUP,
    ),
    Claim(
        "assumption-mnl",
        "Section 3.3",
        "The multinomial logit satisfies Assumption 1.",
        assumption("mnl"),
        group=GROUP,
    ),
    Claim(
        "assumption-random-utility",
        "Section 3.3",
        "The random utility instance satisfies Assumption 1.",
        assumption("random-utility"),
        group=GROUP,
    ),
    Claim(
        "assumption-preference-matrix",
        "Section 7",
        "The preference matrix satisfies Assumption 1.",
        assumption("preference-matrix"),
        group=GROUP,
    ),
    Claim(
        "assumption-random-weak",
        "Appendix D.4",
        "The random worlds satisfy Assumption 1 by construction.",
        assumption("random-weak"),
        group=GROUP,
    ),
    Claim(
        "assumption-camera",
        "Section 3.4",
        "The camera example satisfies Assumption 1.",
        assumption("camera"),
        shown="figure-2-all-sets",
        group=GROUP,
    ),
    Claim(
        "models-mnl",
        "Section 3.3",
        "Every multinomial logit satisfies Assumption 1 and has a total order.",
        functools.partial(model_is_covered, "mnl"),
        seconds=0.1,
    ),
    Claim(
        "models-random-utility",
        "Section 3.3",
        "Every random utility model with i.i.d. noise satisfies Assumption 1 and has a total order.",
        functools.partial(model_is_covered, "random utility"),
        group="models",
        seconds=0.6,
    ),
    Claim(
        "models-independent",
        "Section 3.3",
        "Independent rewards satisfy Assumption 1 and have a total order.",
        functools.partial(model_is_covered, "independent"),
        seconds=0.1,
    ),
    Claim(
        "models-order-of-choice-models",
        "Section 2",
        "Discrete choice and Markov chain models are random utility models, and these assume a total order.",
        random_utility_has_order,
        group="models",
    ),
)

"""Recommend policies for a world: which have a guarantee there, which only evidence, and which have linear regret.

A guarantee is a proof whose conditions hold in the world. Evidence is measured regret in worlds of the same kind (see
docs/policies.md), without a proof. A policy is called linear only if that follows from the world:

**Learning arm by arm is linear** if for every optimal set s* there are an arm a in s* and an arm b outside with

    min over all sets s with b of P(b|s)  >  max over all optimal sets s with a of P(a|s).

Suppose that regret is sublinear. Then optimal sets are played in all but a vanishing share of rounds, and one of them,
s*, in a share that does not vanish. The mean reward of a, and with it its index, comes down to at most the right-hand
side. The mean reward of b is at least the left-hand side wherever b was played, up to an error that vanishes with its
plays, and its index is not below that, with a probability that does not vanish. So b is preferred to a, and s* is not
played: a contradiction, and mean regret is linear. It applies to all policies that play the k arms of largest index,
where the index of an arm is its mean reward in all company, plus a width that vanishes with its plays and does not let
it starve: `EpsilonGreedy`, which has no width, needs c > 0 for that. `ESCB1` and `ESCB2` choose a set by the sum of its
means and a width: b in the place of a raises that sum by a constant, while the width of s* vanishes. `Sparring` has
statistics for each place of the set: the argument holds for the copy that plays a in a share of rounds that does not
vanish, to which b is open whenever s* is played. These are `ARM_BY_ARM`. The condition is impossible under weak optimal
set consistency: b in the place of a would make s* better.
"""

import dataclasses
import re
from typing import Any, NamedTuple

from setwise.environments import MNL
from setwise.environments.enumeration import has_order, number_of_sets
from setwise.environments.ordered import means_of
from setwise.kernels.set_table import FEW_SETS
from setwise.policies import POLICIES
from setwise.simulation.checks import check_pair
from setwise.theory.gaps import Gaps
from setwise.theory.survey import Survey
from setwise.theory.wording import arm_name, format_number, set_name
from setwise.types import InputError
from setwise.validation import exactly

DEFAULT = "robust-ucb"  # what to use if weak optimal set consistency holds
SHOWN = 8  # policies named in a line of text
STANDINGS = ("guarantee", "evidence", "undecided", "no guarantee", "linear", "no learner", "cannot play")

ALWAYS = "no assumption is needed"
CONSISTENT = "weak optimal set consistency holds"
SET_INDEPENDENT = "rewards do not depend on the set"
INDEPENDENT = "rewards are 0 or 1, independent, do not depend on the set, and one set is best"
LOGIT = "it is a multinomial logit"
SMALL_LOGIT = "it is a multinomial logit with no weight above the outside option's"
ONE_REWARD = "at most one arm is rewarded"
ONE_ARM = "sets have one arm"
CONSISTENT_OR_FEW = f"weak optimal set consistency holds, or there are at most {FEW_SETS:,} sets"
COVERAGE = "arms cover topics"


class Proof(NamedTuple):
    """The condition of a policy's guarantee, and the parameters it needs, if other than the defaults."""

    condition: str
    parameters: dict[str, Any]


PROOFS = {
    "ucb": Proof(CONSISTENT, {}),
    "doubling": Proof(CONSISTENT, {"restart": True}),
    "anytime-ucb": Proof(ONE_ARM, {}),
    "thompson": Proof(INDEPENDENT, {}),
    "set-ucb": Proof(ALWAYS, {}),
    "set-kl-ucb": Proof(ALWAYS, {}),
    "set-thompson": Proof(ONE_REWARD, {}),
    "cucb": Proof(SET_INDEPENDENT, {}),
    "comb-ucb1": Proof(SET_INDEPENDENT, {}),
    "escb1": Proof(INDEPENDENT, {"theoretical": True}),
    "escb2": Proof(INDEPENDENT, {"theoretical": True}),
    "mnl-thompson": Proof(SMALL_LOGIT, {"gaussian": True}),
    "mnl-ucb": Proof(SMALL_LOGIT, {}),
}


class Evidence(NamedTuple):
    """The condition under which a policy was measured, and what was found."""

    condition: str
    found: str


IN_THE_PAPERS_WORLDS = Evidence(CONSISTENT, "its regret was about Algorithm 1's or less in the paper's worlds")
ON_THE_LOGIT = Evidence(LOGIT, "it had less regret than Algorithm 1")
EVIDENCE = {
    "kl-ucb": Evidence(
        CONSISTENT, "three parts of Algorithm 1's proof carry over, and in hard worlds hardly a run kept a wrong set"
    ),
    "kl-moss": Evidence(
        CONSISTENT, "it had the least mean regret of the frozen indices, but rare runs keep a wrong set"
    ),
    "thompson": Evidence(CONSISTENT, "it had little mean regret, but rare runs keep a wrong set"),
    "robust-ucb": Evidence(
        CONSISTENT_OR_FEW,
        "its regret was about KL-UCB's where the assumption holds; where it fails it goes over to sets, sometimes late",
    ),
    "set-thompson": Evidence(ALWAYS, "only its proof needs that at most one arm is rewarded"),
    "lsb-greedy": Evidence(COVERAGE, "it had the least regret in such worlds"),
    **dict.fromkeys(("mnl-thompson", "max-min-ucb", "rec-max-min-ucb", "rucb", "multi-dueling"), ON_THE_LOGIT),
    **dict.fromkeys(("ucb-v", "anytime-ucb", "doubling", "cucb", "comb-ucb1", "escb1", "escb2"), IN_THE_PAPERS_WORLDS),
}

ARM_BY_ARM = (
    "ucb", "kl-ucb", "kl-moss", "ucb-v", "anytime-ucb", "doubling", "thompson", "cucb", "comb-ucb1", "escb1", "escb2",
    "sparring", "epsilon-greedy",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Recommendation:
    """The standing of a policy in a world.

    name: as on the command line, with the parameters that the world or the guarantee needs
    standing: one of `STANDINGS`
    why: in one sentence
    policy: the policy itself, ready to play; None if it cannot play
    """

    name: str
    standing: str
    why: str
    policy: Any = dataclasses.field(repr=False)


class Facts(NamedTuple):
    """What decides the standings in a world.

    environment: the world
    conditions: whether each condition holds, None if undecided
    sets: number of sets
    outside: why no proof and no measurement applies, or ""
    linear: why learning arm by arm is linear, or ""
    nothing_to_learn: whether all sets are optimal
    differs: whether some set is known to be worse than another
    """

    environment: Any
    conditions: dict[str, bool | None]
    sets: int
    outside: str
    linear: str
    nothing_to_learn: bool
    differs: bool


def recommend(
    survey: Survey, seen: Survey, gaps: Gaps, consistent: bool | None, set_independent: bool | None, logit: bool | None
) -> tuple[Recommendation, ...]:
    """Return the standing of every policy, the recommended one first, then by standing.

    seen: the sets from which set independence and the logit were decided
    """
    facts = _facts(survey, seen, gaps, consistent, set_independent, logit)
    rows = [row for name in POLICIES for row in _standings(name, facts)]
    rows.sort(key=lambda row: STANDINGS.index(row.standing))
    first = _first_choice(rows, facts)
    return (first, *(row for row in rows if row is not first))


def advice(recommendations: tuple[Recommendation, ...]) -> list[str]:
    """Return the recommendation in a few lines: what to use and why, then the policies by standing."""
    first = recommendations[0]
    learns = STANDINGS.index(first.standing) < STANDINGS.index("linear")
    lines = [
        f"use {first.name}: {first.standing}, {first.why}"
        if learns
        else "use none: no policy learns from what is seen here"
    ]
    for standing in STANDINGS[:5]:
        names = [row.name for row in recommendations if row.standing == standing]
        if names:
            more = [f"{len(names) - SHOWN} more"] if len(names) > SHOWN else []
            lines.append(f"{standing}: {', '.join([*names[:SHOWN], *more])}")
    return lines


def _facts(
    survey: Survey, seen: Survey, gaps: Gaps, consistent: bool | None, set_independent: bool | None, logit: bool | None
) -> Facts:
    environment = survey.environment
    sets, feedback = number_of_sets(environment), getattr(environment, "feedback", None)
    one_arm = int(environment.k) == 1
    alone = (feedback == "independent" or one_arm) and getattr(environment, "rewards", "bounded") == "binary"
    single = survey.ties == 1 if survey.complete else None
    outside = ""
    if has_order(environment):
        outside = "the order of the arms matters here, which it does not learn"
    elif getattr(environment, "missing", False):
        outside = "not all rewards are observed here"
    conditions = {
        ALWAYS: True,
        CONSISTENT: consistent,
        SET_INDEPENDENT: set_independent,
        INDEPENDENT: _all(alone, set_independent, single),
        LOGIT: logit,
        SMALL_LOGIT: _all(logit, _small_weights(seen)),
        ONE_REWARD: feedback == "choice" or one_arm,
        ONE_ARM: one_arm,
        CONSISTENT_OR_FEW: sets <= FEW_SETS or consistent,
        COVERAGE: hasattr(environment, "covers"),
    }
    if outside:
        conditions = {name: holds if name == COVERAGE else False for name, holds in conditions.items()}
    return Facts(
        environment=environment,
        conditions=conditions,
        sets=sets,
        outside=outside,
        linear="" if outside else _linear(survey),
        nothing_to_learn=gaps.largest == 0.0 and survey.complete,
        differs=gaps.largest > max(survey.tolerance, 0.0),
    )


def _all(*values: bool | None) -> bool | None:
    """Whether all hold; None if that depends on one that is undecided."""
    return False if False in values else (None if None in values else True)


def _small_weights(seen: Survey) -> bool | None:
    """Whether no arm's odds P(a|s) / P(nothing|s), its weight in a multinomial logit, are above 1."""
    if isinstance(seen.environment, MNL):
        return bool(seen.environment.values.max() <= seen.environment.outside)
    if seen.relations is None:
        return None
    if any(odds > 1 + seen.tolerance for odds in seen.relations.odds_high.tolist()):
        return False
    return True if seen.complete else None


def _linear(survey: Survey) -> str:
    """Return the arms that show that learning arm by arm is linear, as text, or "" if that is not shown."""
    if not (survey.enumerated and survey.complete) or survey.ties > len(survey.optimal_sets):
        return ""
    environment, margin = survey.environment, 10 * survey.tolerance
    least = survey.relations.low.tolist()
    most: dict[int, Any] = {}
    for chosen in survey.optimal_sets:
        for arm, mean in zip(chosen, means_of(environment, chosen).tolist(), strict=True):
            most[arm] = max(mean, most.get(arm, mean))
    shown = ""
    for chosen in survey.optimal_sets:
        outside = [arm for arm in range(int(environment.n)) if arm not in chosen]
        if not outside:
            return ""
        weak = min(chosen, key=most.__getitem__)
        strong = max(outside, key=least.__getitem__)
        if not least[strong] > most[weak] + max(margin, 1e-12):
            return ""
        shown = shown or (
            f"arm {arm_name(environment, strong)} earns at least {format_number(least[strong])} in every set, arm "
            f"{arm_name(environment, weak)} only {format_number(most[weak])} in the best set "
            f"{set_name(environment, chosen)}, so the best set is not kept"
        )
    return shown


def _standings(name: str, facts: Facts) -> list[Recommendation]:
    """Return the standing of a policy with its defaults, after that of its proved form, if that is another."""
    cls, proof = POLICIES[name], PROOFS.get(name)
    rows = []
    if proof is not None and proof.parameters and facts.conditions[proof.condition] and not facts.nothing_to_learn:
        rows.append(_row(name, facts, proof.parameters, "guarantee", _bound(cls, proof, facts)))
    standing, why = _standing(name, cls, facts)
    return [*rows, _row(name, facts, {}, standing, why)]


def _row(name: str, facts: Facts, parameters: dict[str, Any], standing: str, why: str) -> Recommendation:
    """Return the row, with the reason if the policy cannot play in this world."""
    cls, environment = POLICIES[name], facts.environment
    bound, k = float(getattr(environment, "bound", 1.0)), int(environment.k)
    total = bound if getattr(environment, "feedback", None) == "choice" else k * bound
    values = {key: value for key, value in (("bound", bound), ("total", total)) if key in cls._fields}
    if "base" in cls._fields and bound != 1.0:
        values["base"] = cls._field_defaults["base"]._replace(bound=bound)
    values = {key: value for key, value in values.items() if value != cls._field_defaults[key]} | parameters
    label = name + (":" if values else "") + ",".join(f"{key}={_shown(value)}" for key, value in values.items())
    try:
        policy = cls.for_world(environment) if hasattr(cls, "for_world") else cls(**values)
        check_pair(policy, environment)
    except InputError as error:
        return Recommendation(label, "cannot play", str(error), None)
    return Recommendation(label, standing, why, policy)


def _shown(value: Any) -> str:
    """Write a parameter as on the command line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):  # the base of a policy
        return f"ucb:bound={exactly(value.bound)}"  # type: ignore[attr-defined]
    return exactly(value)


def _standing(name: str, cls: Any, facts: Facts) -> tuple[str, str]:
    """Return the standing of a policy with its default parameters, and why."""
    if name == "oracle":
        return "no learner", "it knows the best set"
    if facts.nothing_to_learn:
        return "guarantee", "every set is optimal"
    if name == "uniform":
        if facts.differs:
            return "linear", "it plays worse sets as often as the best, for ever"
        return "undecided", "it is linear if some set is worse than another, and none was found"
    proof, evidence = PROOFS.get(name), EVIDENCE.get(name)
    if proof is not None and proof.parameters:
        proof = None
    needs = [part.condition for part in (proof, evidence) if part is not None]
    if proof is not None and facts.conditions[proof.condition]:
        return "guarantee", _bound(cls, proof, facts)
    if evidence is not None and facts.conditions[evidence.condition]:
        return "evidence", f"{evidence.condition}; {evidence.found}"
    if facts.linear and name in ARM_BY_ARM:
        return "linear", facts.linear
    undecided = [need for need in needs if facts.conditions[need] is None]
    if undecided:
        kind = "a guarantee" if proof is not None and undecided[0] == proof.condition else "evidence"
        return "undecided", f"it has {kind} if {undecided[0]}, which is not decided"
    return "no guarantee", facts.outside or _nothing_known(name, cls, needs, facts)


def _bound(cls: Any, proof: Proof, facts: Facts) -> str:
    """State the published bound, without its condition, and that the condition holds."""
    bound = re.split(r",? (?:if|for|with) ", cls.regret_bound)[0]
    return f"{bound}, since {proof.condition}" + (f"; there are {facts.sets:,} sets" if cls.over_sets else "")


def _nothing_known(name: str, cls: Any, needs: list[str], facts: Facts) -> str:
    """Say why nothing is known about a policy in this world."""
    if name == "robust-ucb":
        return (
            f"the assumption fails, and of the {facts.sets:,} sets it searches only those near what it has seen; in "
            "general nothing beats trying them all (see needle)"
        )
    if name in ARM_BY_ARM and facts.conditions[CONSISTENT] is False:
        return "where weak optimal set consistency fails, learning arm by arm can stay with a wrong set"
    if "single arm" in cls.regret_bound:
        return "its bound is about the best single arm, not the best set"
    if needs:
        return f"it has a proof or evidence only if {needs[0]}"
    known = cls.regret_bound and not cls.regret_bound.startswith("none")
    return f"{'its bound' if known else 'no bound is known, and it'} assumes: {cls.assumptions or 'not stated'}"


def _first_choice(rows: list[Recommendation], facts: Facts) -> Recommendation:
    """Return the first policy made for this case that can play here, else the one of best standing."""
    consistent = facts.conditions[CONSISTENT]
    wanted = {
        True: (DEFAULT,),
        None: ("robust-ucb",),
        False: ("set-thompson", "robust-ucb") if facts.sets <= FEW_SETS else ("robust-ucb",),
    }[consistent]
    if facts.outside:
        wanted = ("lsb-greedy", DEFAULT)
    able = {row.name.partition(":")[0]: row for row in rows if row.policy is not None and row.standing != "no learner"}
    return next((able[name] for name in (*wanted, "kl-ucb") if name in able), rows[0])

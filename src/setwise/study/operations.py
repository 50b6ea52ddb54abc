"""The operations on a study: ask, tell, close, change arms. Each runs inside one transaction.

Each operation validates its input, then writes rows through the replica, which applies them.
"""

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from setwise.declare import check_total, largest_accepted_total
from setwise.study.journal import Row, body_of, to_runs
from setwise.study.names import check_name
from setwise.study.records import Decision, moment
from setwise.study.replica import ACTIVE, STATUS, Open, Replica
from setwise.types import InputError
from setwise.validation import counted, refused, shown


def close_expired(replica: Replica, now: int) -> None:
    """Close the decisions whose window has passed, with rewards of zero."""
    window = replica.definition.window
    if window is None:
        return
    now = max(now, replica.time)  # the clock may have been set back
    expired = []
    for name, decision in replica.open.items():
        if decision.time + window > now:
            break
        expired.append((name, decision))
    for name, decision in expired:
        zeros = [0] * len(decision.arms)
        replica.write("tell", name, now, {"arms": list(decision.arms), "rewards": zeros, "closed": True})


def ask(replica: Replica, name: str, known: bool, available: Sequence[str] | None) -> Decision:
    """Choose a set. If `known`, return the decision of that name if it exists already."""
    replica.check_open()
    now = replica.storage.now()
    close_expired(replica, now)
    if known or name in replica.open:
        rows = rows_of(replica, name)
        if rows:
            return decision_of(replica.names, rows)
    mask = replica.available(available)
    k = replica.definition.k
    free = replica.n if mask is None else int(mask.sum())
    if free < k:
        whose = "active" if available is None else "available and active"
        count = "1 arm is" if free == 1 else f"{free} arms are"
        raise InputError(f"{count} {whose}, which is less than k={k}; activate or add others")
    if mask is not None:
        check_ability(replica, "select_from", "choose among some of its arms only")
    round = replica.rounds + 1
    arms = replica.select(round, mask)
    check_set(replica, arms, mask)
    body: dict[str, Any] = {"round": round, "arms": arms}
    if available is not None:
        body["available"] = to_runs(list(range(replica.n)) if mask is None else np.flatnonzero(mask).tolist())
    row = replica.write("ask", name, now, body)
    return Decision(name, tuple([replica.names[arm] for arm in arms]), round, row.position, moment(row.time))


def check_set(replica: Replica, arms: list[int], mask: Any) -> None:
    """Raise InputError if the policy chose an invalid set."""
    least = replica.definition.k if getattr(replica.policy, "pad", True) else 1
    right = least <= len(arms) <= replica.definition.k and len(set(arms)) == len(arms)
    if not right or min(arms) < 0 or max(arms) >= replica.n or (mask is not None and not mask[arms].all()):
        raise InputError(
            f"{type(replica.policy).__name__} chose {arms}, which is not a set of {replica.definition.k} arms"
        )


def check_ability(replica: Replica, method: str, what: str) -> None:
    """Raise InputError if the policy lacks a method."""
    if not hasattr(replica.policy, method):
        raise InputError(
            f"{type(replica.policy).__name__} cannot {what} (it has no method {method}); UCB, Thompson and others can"
        )


def tell(replica: Replica, name: str, rewards: Any, winner: Any) -> Decision:
    """Learn the rewards of a set. Idempotent; raise InputError if different rewards were told before."""
    replica.check_open()
    now = replica.storage.now()
    close_expired(replica, now)
    found = replica.open.get(name)
    rows: list[Row] = []
    if found is None:
        rows = rows_of(replica, name)
        if not rows:
            raise unknown(name)
        body = body_of(rows[0])
        found = Open(body["round"], tuple(body["arms"]), rows[0].time, rows[0].position)
    names = [replica.names[arm] for arm in found.arms]
    amounts = read_feedback(names, rewards, winner, replica.definition.policy)
    before = next((row for row in rows if row.kind == "late"), None)
    told = next((row for row in rows if row.kind == "tell"), None)
    closed = told is not None and body_of(told).get("closed", False)
    if before is None and told is not None and not closed:
        before = told
    if before is not None:
        earlier = body_of(before)["rewards"]
        if [float(amount) for amount in earlier] != amounts:
            raise InputError(
                f"decision {name} was told {_format_rewards(names, earlier)} before, and is told "
                f"{_format_rewards(names, amounts)} now; it counts once, and nothing was changed"
            )
        return decision_of(replica.names, rows)
    kept = [int(amount) if amount.is_integer() and amount < 1e15 else amount for amount in amounts]
    row = replica.write("late" if closed else "tell", name, now, {"arms": list(found.arms), "rewards": kept})
    if rows:
        return decision_of(replica.names, [*rows, row])
    return Decision(
        name, tuple(names), found.round, found.position, moment(found.time),
        dict(zip(names, amounts, strict=True)), moment(row.time), "told",
    )  # fmt: skip


def _format_rewards(names: Sequence[str], amounts: Sequence[float]) -> str:
    return shown({name: float(amount) for name, amount in zip(names, amounts, strict=True) if amount})


def look_up(replica: Replica, name: str) -> Decision:
    """Return a decision by its id; raise InputError if there is none."""
    rows = rows_of(replica, name)
    if not rows:
        raise unknown(name)
    return decision_of(replica.names, rows)


def unknown(name: str) -> InputError:
    """Return the error for an unknown decision."""
    return InputError(f"there is no decision {shown(name)} in this study; tell by the id that `ask` gave")


def rows_of(replica: Replica, name: str) -> list[Row]:
    """Return all rows of a decision, including those not stored yet."""
    new = [row for row in replica.written if row.decision == name]
    return replica.storage.of_decision(replica.key, name) + new


def decision_of(names: Sequence[str], rows: Sequence[Row]) -> Decision:
    """Build a decision from its rows."""
    asked = rows[0]
    body = body_of(asked)
    found: dict[str, Any] = {}
    for row in rows[1:]:
        told = body_of(row)
        earned = {names[arm]: float(amount) for arm, amount in zip(told["arms"], told["rewards"], strict=True)}
        if row.kind == "late":
            found["late"] = earned
        else:
            found["rewards"], found["told"] = earned, moment(row.time)
            found["status"] = "closed" if told.get("closed") else "told"
    arms = tuple(names[arm] for arm in body["arms"])
    return Decision(asked.decision or "", arms, body["round"], asked.position, moment(asked.time), **found)


def add_arm(replica: Replica, name: str, active: bool, again: bool) -> int:
    """Add an arm and return its number; `again` marks a retry, when the arm may exist already."""
    replica.check_open()
    check_name("the name of the arm", name)
    if name in replica.numbers:
        status = STATUS[replica.status[replica.numbers[name]]]
        if again and status == ("active" if active else "pending"):
            return replica.numbers[name]
        how = "" if status == "active" else f": activate_arm({name!r}) brings it back"
        raise InputError(f"there is an arm {name!r} already, which is {status}{how}")
    check_ability(replica, "grow", "take in new arms")
    if not active:
        check_ability(replica, "select_from", "leave some arms out")
    now = replica.storage.now()
    close_expired(replica, now)
    replica.write("arms", None, now, {"add": [name], "status": "active" if active else "pending"})
    return replica.numbers[name]


def set_status(replica: Replica, name: str, status: int) -> int:
    """Activate or retire an arm, and return its number."""
    replica.check_open()
    number = replica.number(name)
    if replica.status[number] != status:
        if status != ACTIVE:
            check_ability(replica, "select_from", "leave some arms out")
        now = replica.storage.now()
        close_expired(replica, now)
        replica.write("arms", None, now, {"set": [number], "status": STATUS[status]})
    return number


def read_feedback(names: Sequence[str], rewards: Any, winner: Any, policy: Any) -> list[float]:
    """Return the rewards in the order of the arms, from a mapping, a list, or the name of the winner."""
    if rewards is not None and winner is not None:
        raise InputError("rewards and winner were both given; give one of them")
    if winner is not None:
        if not isinstance(winner, str):
            raise InputError(f"winner is {shown(winner)}; give the name of an arm")
        _check_shown([winner], names)
        found = [1.0 if name == winner else 0.0 for name in names]
    elif isinstance(rewards, Mapping):
        _check_shown(list(rewards), names)
        found = [_reward(name, rewards.get(name, 0.0)) for name in names]
    elif isinstance(rewards, Sequence | np.ndarray) and not isinstance(rewards, str | bytes) and _has_length(rewards):
        if len(rewards) != len(names):
            raise InputError(
                f"the {counted(len(names), 'arm')} {_join(names)} got {counted(len(rewards), 'reward')}; "
                "give one for each arm"
            )
        found = [_reward(name, reward) for name, reward in zip(names, rewards, strict=True)]
    else:
        raise InputError(
            f"rewards is {shown(rewards)}; give a mapping such as {{{names[0]!r}: 1}} (arms left out earned 0, {{}} if "
            "nothing was earned), a list with a reward for each arm, or winner="
        )
    _check_bounds(names, found, policy)
    return found


def _has_length(rewards: Any) -> bool:
    return getattr(rewards, "ndim", 1) > 0


def _check_shown(given: Sequence[Any], names: Sequence[str]) -> None:
    for name in given:
        if name not in names:
            raise InputError(f"{shown(name)} was not shown; the decision has {_join(names)}")


def _reward(name: str, reward: Any) -> float:
    if isinstance(reward, np.generic):
        reward = reward.item()
    if not isinstance(reward, numbers.Real):
        raise InputError(f"the reward of {name!r} is {shown(reward)}, which is not a number")
    try:
        return float(reward)
    except OverflowError:
        raise InputError(f"the reward of {name!r} is larger than any float can be") from None


def reward_limits(policy: Any) -> tuple[float, bool]:
    """Return the largest reward of an arm, infinite if the policy names none, and whether only one arm is rewarded."""
    only_winners = tuple(getattr(policy, "feedback", ())) == ("choice",)
    return 1.0 if only_winners else float(getattr(policy, "bound", math.inf)), only_winners


def largest_rewards(policy: Any, k: int) -> tuple[float, float]:
    """Return the largest reward of an arm and the largest total of a set that `tell` accepts; they may be infinite."""
    bound, only_winners = reward_limits(policy)
    total = largest_accepted_total(policy)
    return min(bound, total), min(total, bound if only_winners else k * bound)


def _check_bounds(names: Sequence[str], rewards: Sequence[float], policy: Any) -> None:
    kind = type(policy).__name__
    bound, only_winners = reward_limits(policy)
    for name, reward in zip(names, rewards, strict=True):
        if not 0.0 <= reward <= bound or math.isinf(reward):
            most = "0 or more" if math.isinf(bound) else f"from 0 to {bound:g}"
            found = refused(reward, lambda amount: 0.0 <= amount <= bound)
            raise InputError(f"the reward of {name!r} is {found}; for {kind} rewards are numbers {most}")
        if only_winners and reward not in (0.0, 1.0):
            found = refused(reward, (0.0, 1.0).__contains__)
            raise InputError(f"the reward of {name!r} is {found}; {kind} learns who was chosen, so it is 0 or 1")
    winners = [name for name, reward in zip(names, rewards, strict=True) if reward > 0.0]
    if only_winners and len(winners) > 1:
        raise InputError(f"{_join(winners)} are rewarded; {kind} learns from one winner at most")
    check_total(policy, rewards)


def _join(names: Sequence[str]) -> str:
    return shown(list(names)) if len(names) > 20 else ", ".join(map(repr, names))

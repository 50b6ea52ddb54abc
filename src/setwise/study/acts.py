"""What is done to a study in a transaction: asking, telling, closing, changing arms.

Each refuses what is wrong before it writes anything, and writes rows through the fold, which applies them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from setwise.declare import shown
from setwise.study.feedback import read_feedback
from setwise.study.fold import ACTIVE, STATUS, Fold, Open
from setwise.study.journal import Row, body_of, to_runs
from setwise.study.ledger import Ledger
from setwise.study.names import check_name
from setwise.study.records import Decision, moment
from setwise.types import InputError


def close_expired(fold: Fold, now: int) -> None:
    """Close decisions whose window is over: every arm of them earned nothing."""
    window = fold.definition.window
    if window is None:
        return
    now = max(now, fold.time)  # the clock may have been set back
    expired = []
    for name, decision in fold.open.items():
        if decision.time + window > now:
            break
        expired.append((name, decision))
    for name, decision in expired:
        zeros = [0] * len(decision.arms)
        fold.write("tell", name, now, {"arms": list(decision.arms), "rewards": zeros, "closed": True})


def ask(ledger: Ledger, name: str, known: bool, available: Sequence[str] | None) -> Decision:
    """Decide on a set; `known` says that a decision of that name may be there already, and is the answer then."""
    fold = ledger.current()
    now = ledger.storage.now()
    close_expired(fold, now)
    if known or name in fold.open:
        rows = rows_of(ledger, name)
        if rows:
            return decision_of(fold, rows)
    mask = fold.available(available)
    k = fold.definition.k
    free = fold.n if mask is None else int(mask.sum())
    if free < k:
        whose = "active" if available is None else "available and active"
        count = "1 arm is" if free == 1 else f"{free} arms are"
        raise InputError(f"{count} {whose}, which is less than k={k}; activate or add others")
    if mask is not None:
        check_ability(fold, "select_from", "choose among some of its arms only")
    round = fold.rounds + 1
    arms = fold.select(round, mask)
    check_set(fold, arms, mask)
    body: dict[str, Any] = {"round": round, "arms": arms}
    if available is not None:
        body["available"] = to_runs(list(range(fold.n)) if mask is None else np.flatnonzero(mask).tolist())
    row = fold.write("ask", name, now, body)
    return Decision(name, tuple([fold.names[arm] for arm in arms]), round, row.position, moment(row.time))


def check_set(fold: Fold, arms: list[int], mask: Any) -> None:
    """Refuse a set that a policy should not have chosen."""
    least = fold.definition.k if getattr(fold.policy, "pad", True) else 1
    right = least <= len(arms) <= fold.definition.k and len(set(arms)) == len(arms)
    if not right or min(arms) < 0 or max(arms) >= fold.n or (mask is not None and not mask[arms].all()):
        raise InputError(f"{type(fold.policy).__name__} chose {arms}, which is not a set of {fold.definition.k} arms")


def check_ability(fold: Fold, method: str, what: str) -> None:
    """Refuse what a policy has no method for."""
    if not hasattr(fold.policy, method):
        raise InputError(
            f"{type(fold.policy).__name__} cannot {what} (it has no method {method}); UCB, Thompson and others can"
        )


def tell(ledger: Ledger, name: str, rewards: Any, winner: Any) -> Decision:
    """Learn what a set earned, once."""
    fold = ledger.current()
    now = ledger.storage.now()
    close_expired(fold, now)
    found = fold.open.get(name)
    rows: list[Row] = []
    if found is None:
        rows = rows_of(ledger, name)
        if not rows:
            raise unknown(name)
        body = body_of(rows[0])
        found = Open(body["round"], tuple(body["arms"]), rows[0].time, rows[0].position)
    names = [fold.names[arm] for arm in found.arms]
    amounts = read_feedback(names, rewards, winner, fold.definition.policy)
    before = next((row for row in rows if row.kind == "late"), None)
    counted = next((row for row in rows if row.kind == "tell"), None)
    closed = counted is not None and body_of(counted).get("closed", False)
    if before is None and counted is not None and not closed:
        before = counted
    if before is not None:
        earlier = body_of(before)["rewards"]
        if [float(amount) for amount in earlier] != amounts:
            raise InputError(
                f"decision {name} was told {_told(names, earlier)} before, and is told {_told(names, amounts)} now; "
                "it counts once, and nothing was changed"
            )
        return decision_of(fold, rows)
    kept = [int(amount) if amount.is_integer() and amount < 1e15 else amount for amount in amounts]
    row = fold.write("late" if closed else "tell", name, now, {"arms": list(found.arms), "rewards": kept})
    if rows:
        return decision_of(fold, [*rows, row])
    return Decision(
        name, tuple(names), found.round, found.position, moment(found.time),
        dict(zip(names, amounts, strict=True)), moment(row.time), "told",
    )  # fmt: skip


def _told(names: Sequence[str], amounts: Sequence[float]) -> str:
    return shown({name: float(amount) for name, amount in zip(names, amounts, strict=True) if amount})


def look_up(ledger: Ledger, name: str) -> Decision:
    """A decision by its name."""
    rows = rows_of(ledger, name)
    if not rows:
        raise unknown(name)
    return decision_of(ledger.current(), rows)


def unknown(name: str) -> InputError:
    """What to say of a decision that is not there."""
    return InputError(f"there is no decision {shown(name)} in this study; tell by the id that `ask` gave")


def rows_of(ledger: Ledger, name: str) -> list[Row]:
    """All rows about a decision, those included that are not stored yet."""
    new = [row for row in ledger.current().written if row.decision == name]
    return ledger.storage.of_decision(ledger.key, name) + new


def decision_of(fold: Fold, rows: Sequence[Row]) -> Decision:
    """A decision, from all rows about it."""
    asked = rows[0]
    body = body_of(asked)
    found: dict[str, Any] = {}
    for row in rows[1:]:
        told = body_of(row)
        earned = {fold.names[arm]: float(amount) for arm, amount in zip(told["arms"], told["rewards"], strict=True)}
        if row.kind == "late":
            found["late"] = earned
        else:
            found["rewards"], found["told"] = earned, moment(row.time)
            found["status"] = "closed" if told.get("closed") else "told"
    arms = tuple(fold.names[arm] for arm in body["arms"])
    return Decision(asked.decision or "", arms, body["round"], asked.position, moment(asked.time), **found)


def add_arm(ledger: Ledger, name: str, active: bool, again: bool) -> int:
    """Add an arm, to be tried first, as any that was never played; `again`: it may be there from the first time."""
    fold = ledger.current()
    check_name("the name of the arm", name)
    if name in fold.numbers:
        status = STATUS[fold.status[fold.numbers[name]]]
        if again and status == ("active" if active else "pending"):
            return fold.numbers[name]
        how = "" if status == "active" else f": activate_arm({name!r}) brings it back"
        raise InputError(f"there is an arm {name!r} already, which is {status}{how}")
    check_ability(fold, "grow", "take in new arms")
    if not active:
        check_ability(fold, "select_from", "leave some arms out")
    now = ledger.storage.now()
    close_expired(fold, now)
    fold.write("arms", None, now, {"add": [name], "status": "active" if active else "pending"})
    return fold.numbers[name]


def set_status(ledger: Ledger, name: str, status: int) -> int:
    """Let an arm be chosen from now on, or no longer."""
    fold = ledger.current()
    number = fold.number(name)
    if fold.status[number] != status:
        if status != ACTIVE:
            check_ability(fold, "select_from", "leave some arms out")
        now = ledger.storage.now()
        close_expired(fold, now)
        fold.write("arms", None, now, {"set": [number], "status": STATUS[status]})
    return number

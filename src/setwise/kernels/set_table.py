"""What was seen of single sets: a table of bounded size from sets to their plays and rewards.

A set is found by its code, the sum of the codes of its arms, which are random numbers of about 60 bits: among a million
sets, two have the same code with a chance of about 10^-6. The code names a slot; the set is in it or in one of the next
ones, `WINDOW` in all. If all of these hold other sets, the one with the fewest plays gives way, and what was seen of it
is forgotten. A table for up to `FEW_SETS` sets is so large that none has to.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.types import Floats, Ints

WINDOW = 16
FEW_SETS = 1024  # so many are never forgotten
MOST_PLACES = 4096 * 1024  # slots times arms; more than a thousand arms a set leave fewer slots
NO_SET = -1  # in place of a slot


class SetTable(NamedTuple):
    """Sets and what was seen of them.

    codes: of every arm
    taken: of every slot, the code of its set, or 0
    arms, rewards: of every slot, the arms of its set, and the sums of their rewards
    plays, totals, squares: of every slot, number of rounds, sum of the total rewards, and of their squares
    sets: number of different sets so far, forgotten ones again when they come back
    """

    codes: Ints
    taken: Ints
    arms: Ints
    rewards: Floats
    plays: Floats
    totals: Floats
    squares: Floats
    sets: Ints


def new_set_table(n: int, k: int) -> SetTable:
    """Return an empty table for sets of k of n arms."""
    slots = 64
    while slots < 4 * min(math.comb(n, k), FEW_SETS) and 2 * slots * k <= MOST_PLACES:
        slots *= 2
    return SetTable(
        codes=np.random.default_rng(2021).integers(1, 2**62 // k, n),
        taken=np.zeros(slots, np.int64),
        arms=np.zeros((slots, k), np.int64),
        rewards=np.zeros((slots, k)),
        plays=np.zeros(slots),
        totals=np.zeros(slots),
        squares=np.zeros(slots),
        sets=np.zeros(1, np.int64),
    )


def code_of(table: SetTable, chosen: Ints) -> int:
    """Return the code of a set; its arms may be in any order."""
    code = 0
    for j in range(len(chosen)):
        code += table.codes[chosen[j]]
    return code


def find_slot(table: SetTable, code: int) -> int:
    """Return the slot of a set, or `NO_SET`."""
    mask = len(table.taken) - 1
    for step in range(WINDOW):
        slot = (code + step) & mask
        if table.taken[slot] == code:
            return slot
        if table.taken[slot] == 0:
            return NO_SET
    return NO_SET


def slot_to_take(table: SetTable, code: int) -> int:
    """Return the slot for a set that is not in the table: the first free one, or that of the set with fewest plays."""
    mask = len(table.taken) - 1
    best = code & mask
    for step in range(WINDOW):
        slot = (code + step) & mask
        if table.taken[slot] == 0:
            return slot
        if table.plays[slot] < table.plays[best]:
            best = slot
    return best


def take_slot(table: SetTable, slot: int, code: int, chosen: Ints) -> None:
    """Put a set that was never seen into a slot."""
    table.taken[slot] = code
    table.plays[slot] = 0.0
    table.totals[slot] = 0.0
    table.squares[slot] = 0.0
    for j in range(len(chosen)):
        table.arms[slot, j] = chosen[j]
        table.rewards[slot, j] = 0.0
    table.sets[0] += 1


def place_in_slot(table: SetTable, slot: int, arm: int, likely: int) -> int:
    """Return the place of an arm among the arms of a slot; `likely` is tried first."""
    if table.arms[slot, likely] == arm:
        return likely
    place, last = 0, table.arms.shape[1] - 1
    while place < last and table.arms[slot, place] != arm:
        place += 1
    return place


def slot_has(table: SetTable, slot: int, chosen: Ints) -> bool:
    """Whether the set of a slot has all these arms, which is certain only up to the chance of equal codes."""
    for j in range(len(chosen)):
        place = j
        if table.arms[slot, j] != chosen[j]:
            place = 0
            while place < len(chosen) and table.arms[slot, place] != chosen[j]:
                place += 1
        if place == len(chosen):
            return False
    return True


def add_round(table: SetTable, slot: int, chosen: Ints, rewards: Floats) -> float:
    """Add a round to a slot; return the total reward."""
    total = 0.0
    for j in range(len(chosen)):
        table.rewards[slot, place_in_slot(table, slot, chosen[j], j)] += rewards[j]
        total += rewards[j]
    table.plays[slot] += 1.0
    table.totals[slot] += total
    table.squares[slot] += total * total
    return total


def copy_sets(table: SetTable, larger: SetTable) -> None:
    """Copy all sets to an empty table of more arms, in which the arms have the same codes."""
    if len(table.taken) == len(larger.taken):  # the slots are the same
        for name in ("taken", "arms", "rewards", "plays", "totals", "squares"):
            getattr(larger, name)[:] = getattr(table, name)
    else:
        for slot in np.flatnonzero(table.taken):
            place = slot_to_take(larger, table.taken[slot])
            take_slot(larger, place, table.taken[slot], table.arms[slot])
            for name in ("rewards", "plays", "totals", "squares"):
                getattr(larger, name)[place] = getattr(table, name)[slot]
    larger.sets[0] = table.sets[0]

"""The table of sets, against a dictionary."""

import itertools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seeded import generator
from setwise.kernels.set_table import (
    FEW_SETS,
    MOST_PLACES,
    NO_SET,
    WINDOW,
    SetTable,
    add_round,
    code_of,
    copy_sets,
    find_slot,
    new_set_table,
    slot_to_take,
    take_slot,
)

Arms = tuple[int, ...]


def small_table(n: int, k: int, slots: int) -> SetTable:
    """A table of so few slots that sets have to give way."""
    fields = {name: getattr(new_set_table(n, k), name) for name in SetTable._fields}
    by_slot = ("taken", "arms", "rewards", "plays", "totals", "squares")
    return SetTable(**{name: array[:slots].copy() if name in by_slot else array for name, array in fields.items()})


def learn(table: SetTable, chosen: Iterable[int], rewards: Iterable[float]) -> int:
    """Add a round of a set, in the table or not; return its slot."""
    arms, earned = np.array(list(chosen)), np.array(list(rewards))
    code = code_of(table, arms)
    slot = find_slot(table, code)
    if slot == NO_SET:
        slot = slot_to_take(table, code)
        take_slot(table, slot, code, arms)
    assert add_round(table, slot, arms, earned) == pytest.approx(earned.sum())
    return slot


def seen(table: SetTable, chosen: Iterable[int]) -> tuple[float, ...] | None:
    """Plays, total, squares, and the reward of every arm by its number; None if the set is not in the table."""
    arms = np.array(sorted(chosen))
    slot = find_slot(table, code_of(table, arms))
    if slot == NO_SET:
        return None
    assert sorted(table.arms[slot].tolist()) == arms.tolist()
    rewards = dict(zip(table.arms[slot].tolist(), table.rewards[slot].tolist(), strict=True))
    return (table.plays[slot], table.totals[slot], table.squares[slot], *(rewards[arm] for arm in arms.tolist()))


def rounds_of(n: int, k: int) -> st.SearchStrategy[Any]:
    """Rounds: the arms in any order, and whole rewards, so that sums are exact."""
    arms = st.permutations(range(n)).map(lambda order: order[:k])
    return st.lists(st.tuples(arms, st.lists(st.integers(0, 3), min_size=k, max_size=k)), max_size=60)


@given(played=rounds_of(6, 3))
def test_it_has_what_a_dictionary_has_whatever_the_order_of_the_arms(played: Any) -> None:
    table, known = new_set_table(6, 3), {}
    for chosen, rewards in played:
        learn(table, chosen, rewards)
        arms = tuple(sorted(chosen))
        before = known.get(arms, (0, 0, 0, *[0] * 3))
        earned = dict(zip(chosen, rewards, strict=True))
        total = sum(rewards)
        own = (value + earned[arm] for arm, value in zip(arms, before[3:], strict=True))
        known[arms] = (before[0] + 1, before[1] + total, before[2] + total**2, *own)
    for arms in itertools.combinations(range(6), 3):
        assert seen(table, arms) == known.get(arms)
    assert table.sets[0] == len(known) == np.count_nonzero(table.taken)


@given(seed=st.integers(0, 10**6), slots=st.sampled_from([16, 32, 64]))
@settings(max_examples=30)
def test_the_set_with_fewest_plays_in_the_window_gives_way(seed: int, slots: int) -> None:
    """Slots hold the sets that a list holds by that rule, and nothing else is forgotten."""
    table, rng = small_table(10, 3, slots), generator(seed)
    every = list(itertools.combinations(range(10), 3))
    holders: list[Arms | None] = [None] * slots
    plays: dict[Arms, int] = {}
    replaced = 0
    for _ in range(400):
        arms = every[int(len(every) * rng.random() ** 2)]
        if arms not in plays:
            home = int(table.codes[list(arms)].sum()) % slots
            window = [(home + step) % slots for step in range(WINDOW)]
            free = [slot for slot in window if holders[slot] is None]
            slot = free[0] if free else min(window, key=lambda slot: plays[holders[slot]])  # type: ignore[index]
            replaced += plays.pop(holders[slot], 0) > 0  # type: ignore[arg-type]
            holders[slot], plays[arms] = arms, 0
        plays[arms] += 1
        assert holders[learn(table, rng.permutation(arms), [1.0, 0.0, 0.0])] == arms
    assert replaced > 20
    for arms in every:
        found = seen(table, arms)
        assert (None if found is None else found[0]) == plays.get(arms)
    assert table.sets[0] == len(plays) + replaced


def longest_run(taken: Any) -> int:
    """Of taken slots, around the end."""
    free = np.flatnonzero(~taken)
    return int(np.diff(np.append(free, free[0] + len(taken))).max()) - 1


def test_few_sets_are_never_forgotten() -> None:
    """Which slots are taken does not depend on the order of sets, and no set is beyond the end of a run of them."""
    sizes = [(n, k) for n in range(1, 46) for k in range(1, n + 1) if math.comb(n, k) <= FEW_SETS]
    sizes += [(n, k) for n in (200, 445, 974, 1024) for k in (1, n - 1, n)]
    for n, k in sizes:
        table = new_set_table(n, k)
        slots = len(table.taken)
        assert slots & (slots - 1) == 0 and slots >= 4 * math.comb(n, k)
        smaller = itertools.combinations(range(n), min(k, n - k))
        parts = np.array([table.codes[list(arms)].sum() for arms in smaller], np.int64)
        codes = parts if k <= n - k else table.codes.sum() - parts
        assert len(set(codes.tolist())) == math.comb(n, k) and codes.min() > 0
        taken = np.zeros(slots, np.bool_)
        for home in (codes % slots).tolist():
            while taken[home]:
                home = (home + 1) % slots
            taken[home] = True
        assert longest_run(taken) <= WINDOW, (n, k)


def test_the_table_stays_small_and_sums_of_codes_fit() -> None:
    for n, k in [(20, 10), (10_000, 5000), (1000, 999), (100_000, 3)]:
        table = new_set_table(n, k)
        assert len(table.taken) <= 4 * FEW_SETS
        assert 0 < sum(sorted(table.codes.tolist())[-k:]) < 2**63


def test_all_sets_of_10_of_20_arms_have_codes_of_their_own() -> None:
    codes = new_set_table(20, 10).codes
    sums = np.zeros(1, np.int64)
    sizes = np.zeros(1, np.int64)
    for code in codes:
        sums, sizes = np.append(sums, sums + code), np.append(sizes, sizes + 1)
    found = sums[sizes == 10]
    assert len(np.unique(found)) == len(found) == math.comb(20, 10)


@pytest.mark.parametrize(("n", "k"), [(1000, 3), (10_000, 12)])
def test_a_million_sets_have_codes_of_their_own(n: int, k: int) -> None:
    sets = np.sort(generator(1).integers(0, n, (1_000_000, k)), axis=1)
    sets = sets[(np.diff(sets, axis=1) > 0).all(axis=1)]
    order = np.lexsort(sets.T)
    different = 1 + int((np.diff(sets[order], axis=0) != 0).any(axis=1).sum())
    assert different > 900_000
    assert len(np.unique(new_set_table(n, k).codes[sets].sum(axis=1))) == different


def test_a_set_just_taken_is_found_and_others_are_not() -> None:
    table = new_set_table(30, 4)
    code = code_of(table, np.array([7, 1, 29, 3]))
    assert code == code_of(table, np.array([29, 3, 7, 1]))
    assert find_slot(table, code) == NO_SET
    slot = slot_to_take(table, code)
    take_slot(table, slot, code, np.array([7, 1, 29, 3]))
    assert find_slot(table, code) == slot and table.sets[0] == 1
    assert find_slot(table, code_of(table, np.array([7, 1, 29, 4]))) == NO_SET
    learn(table, [3, 29, 1, 7], [4.0, 3.0, 2.0, 1.0])
    assert seen(table, [1, 3, 7, 29]) == (1, 10, 100, 2, 4, 1, 3)


@pytest.mark.parametrize(("n", "more"), [(6, 7), (6, 40), (13, 14), (60, 61)])
def test_all_that_is_known_is_copied_to_a_table_of_more_arms(n: int, more: int) -> None:
    """The arms keep their codes; where the table grows as well, the sets move to other slots."""
    table, larger, rng = new_set_table(n, 3), new_set_table(more, 3), generator(2)
    assert np.array_equal(table.codes, larger.codes[:n])
    every = list(itertools.combinations(range(n), 3))
    played = [every[place] for place in rng.integers(0, len(every), 300)]
    for arms in played:
        learn(table, rng.permutation(arms), rng.integers(0, 3, 3))
    copy_sets(table, larger)
    assert larger.sets[0] == table.sets[0] == len(set(played)) == np.count_nonzero(larger.taken)
    for arms in set(played):
        assert seen(larger, arms) == seen(table, arms) is not None
    assert seen(larger, (0, 1, more - 1)) is None
    learn(larger, (more - 1, 0, 1), [1.0, 2.0, 0.0])
    assert seen(larger, (0, 1, more - 1)) == (1, 3, 9, 2, 0, 1)


def test_a_table_of_as_many_slots_has_the_same_ones_also_if_sets_gave_way() -> None:
    """Nothing is forgotten again, and later rounds of the copy do not change the original."""
    table, larger, rng = small_table(10, 3, 16), small_table(11, 3, 16), generator(3)
    for _ in range(300):
        learn(table, rng.permutation(10)[:3], rng.integers(0, 3, 3))
    before = SetTable(*(array.copy() for array in table))
    copy_sets(table, larger)
    assert (table.taken != 0).all() and larger.sets[0] == table.sets[0] > 100
    for name in ("taken", "arms", "rewards", "plays", "totals", "squares"):
        assert np.array_equal(getattr(larger, name), getattr(table, name))
    for _ in range(100):
        learn(larger, rng.permutation(11)[:3], rng.integers(0, 3, 3))
    assert larger.sets[0] > table.sets[0]
    assert all(np.array_equal(one, other) for one, other in zip(table, before, strict=True))


def test_with_thousands_of_arms_a_set_there_are_fewer_slots_but_few_sets_always_fit() -> None:
    for n, k, slots in ((10_000, 5000, 512), (10_000, 1025, 2048), (10_000, 1024, 4096), (1024, 1023, 4096)):
        table = new_set_table(n, k)
        assert len(table.taken) == slots and slots * k <= MOST_PLACES

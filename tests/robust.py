"""Robust UCB for tests: feedback, small tables of sets, and comparisons with the reference and with the table."""

import copy
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from reference.index_policies import is_top
from setwise.kernels.set_table import NO_SET, SetTable
from setwise.lazy_compiler import load_compiler
from setwise.policies._company import index_of
from setwise.simulation.checks import check_request
from setwise.simulation.play import clear_record, play
from setwise.simulation.simulate import Runs

KINDS = ["choice", "independent", "amounts"]


def draw(kind: str, chosen: Any, values: Any, bound: float, rng: Any) -> Any:
    """Rewards of a set: the bound for at most one arm, for any, or amounts up to the bound, by the arms' values."""
    k = len(chosen)
    if kind == "choice":
        rewards = np.zeros(k)
        winner = int(rng.random() * k)
        rewards[winner] = bound * float(rng.random() < values[chosen[winner]])
        return rewards
    shares = rng.random(k)
    return bound * ((shares < values[chosen]) * 1.0 if kind == "independent" else shares * values[chosen])


def draw_together(kind: str, chosen: Any, bound: float, rng: Any) -> Any:
    """Beside each other, arms 0 and 1 earn a lot, and elsewhere next to nothing; the others earn something."""
    values = np.array([0.05, 0.05, *np.linspace(0.6, 0.2, 8)])
    if {0, 1} <= set(chosen.tolist()):
        values = np.array([0.95, 0.95, *np.full(8, 0.5)])
    return draw(kind, chosen, values, bound, rng)


def draw_apart(kind: str, chosen: Any, n: int, rng: Any) -> Any:
    """What arms earn depends on their company: in every third set it is a fifth."""
    return draw(kind, chosen, np.linspace(0.9, 0.3, n) * (0.2 if chosen.sum() % 3 == 0 else 1.0), 1.0, rng)


def arrays(thing: Any) -> list[Any]:
    """All arrays of a state."""
    return [part for field in thing for part in (arrays(field) if isinstance(field, tuple) else [field])]


def small(state: Any, slots: int) -> Any:
    """The state with a table of so few slots that sets have to give way."""
    by_slot = ("taken", "arms", "rewards", "plays", "totals", "squares")
    parts = {name: getattr(state.table, name) for name in SetTable._fields}
    table = SetTable(**{name: part[:slots].copy() if name in by_slot else part for name, part in parts.items()})
    return state._replace(table=table)


def assert_right(policy: Any, state: Any) -> None:
    """That indices follow from the table, and that everything is finite and in its range."""
    table = state.table
    for arm in np.flatnonzero(state.pulls):
        index, slot = index_of(state, state.reward[arm], state.pulls[arm], policy.bound), state.company[arm]
        if slot != NO_SET:
            earned = table.rewards[slot, table.arms[slot].tolist().index(arm)]
            index = min(index, index_of(state, earned, table.plays[slot], policy.bound))
        assert state.indices[arm] == index and 0 <= index <= policy.bound
    assert np.isinf(state.indices[state.pulls == 0]).all()
    doubt = state.doubt
    assert doubt.evidence[0] >= 0 and 0 <= state.share[1] <= state.share[0] <= 1
    assert (state.pulls[state.current] > 0).all() and (state.last <= state.rounds[0]).all()
    assert state.rounds[2] == (state.pulls == 0).sum()
    assert 0 < doubt.variance[1] <= doubt.variance[0] and doubt.largest[0] >= policy.bound
    for array in (*doubt, *table, state.pulls, state.reward, state.level, state.share):
        assert np.isfinite(array).all()


def kept_of(state: Any, arm: int) -> Any:
    """The set that is kept for an arm, or None."""
    slot = state.company[arm]
    return None if slot == NO_SET else frozenset(state.table.arms[slot].tolist())


def assert_same(state: Any, plain: Any) -> None:
    """That the policy knows what its reference knows, up to rounding."""
    assert state.indices.tolist() == pytest.approx([plain.index_of(arm) for arm in range(plain.n)], rel=1e-12)
    assert [kept_of(state, arm) for arm in range(plain.n)] == [plain.kept.get(arm) for arm in range(plain.n)]
    assert state.pulls.tolist() == [len(rewards) for rewards in plain.rewards]
    assert state.table.sets[0] == len(plain.sets)
    doubt = state.doubt
    assert state.last.tolist() == plain.last and state.rounds.tolist()[:2] == [plain.rounds, plain.next_assessment]
    assert state.current.tolist() == [plain.counts(arm) for arm in range(plain.n)]
    assert state.budget.tolist() == pytest.approx(plain.budgets)
    assert bool(state.scattered[0]) is plain.scattered
    found = [doubt.largest[0], *state.share, doubt.evidence[0], doubt.deviation[0], *doubt.variance]
    wanted = [plain.largest(), *plain.chances, plain.evidence, plain.deviation, plain.variance, plain.least_variance]
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-7)
    assert doubt.evidence[1] == pytest.approx(min(plain.threshold, 1e9))
    assert doubt.sure[0] == pytest.approx(plain.sure, rel=1e-6, abs=1e-7 * plain.bound)


def laws_of(state: Any, plain: Any, arms: Sequence[int]) -> Any:
    """The law of every set of these arms, as the policy has just drawn from it; it is that of the reference."""
    laws, row = {}, 0
    for number, members in enumerate(itertools.combinations(range(plain.n), plain.k)):
        if set(members) <= set(arms):
            assert state.candidates[row] == number
            up, down = state.posteriors[row].tolist()
            assert (up, down) == pytest.approx(plain.posterior(frozenset(members), plain.alone()), rel=1e-8)
            laws[frozenset(members)] = (up, down)
            row += 1
    return laws


def choose_both(policy: Any, state: Any, plain: Any, rng: Any, available: Sequence[int] | None = None) -> Any:
    """Choose a set of few, as the reference does; return it, and how.

    By "arms", by "sets", by "sets alone", by arms since sets are "too costly", or the set that is "surer" than arms.
    """
    arms = range(plain.n) if available is None else available
    twin = copy.deepcopy(rng)
    if available is None:
        chosen = np.array(policy.select(state, rng))
    else:
        chosen = np.array(policy.select_from(state, np.isin(range(plain.n), arms), rng))
    drawn = plain.explores(twin, arms)
    wanted = None if drawn is None else plain.explored(twin, laws_of(state, plain, arms), drawn)
    if wanted is None and plain.surer(arms):
        assert set(chosen.tolist()) == plain.surest
        return chosen, "surer"
    if wanted is None:
        place = {arm: j for j, arm in enumerate(arms)}
        assert is_top([plain.index_of(arm) for arm in arms], [place[arm] for arm in chosen.tolist()], plain.k)
        return chosen, "arms" if drawn is None else "too costly"
    assert set(chosen.tolist()) == wanted
    assert twin.bit_generator.state == rng.bit_generator.state
    return chosen, "sets alone" if plain.alone() else "sets"


def learn_both(policy: Any, state: Any, plain: Any, chosen: Any, rewards: Any, rng: Any) -> None:
    """Learn a round; where rounding decides which set is kept or surest, the reference takes what the policy has."""
    policy.update(state, chosen, rewards, rng)
    plain.update(chosen.tolist(), rewards.tolist())
    for arm, allowed in plain.tied.items():
        kept = kept_of(state, arm)
        assert kept in allowed
        plain.kept.pop(arm, None)
        if kept is not None:
            plain.kept[arm] = kept
    surest = frozenset(state.doubt.surest.tolist())
    if surest != plain.surest:
        assert max(plain.lower.get(surest, 0.0), 0.0) == pytest.approx(plain.sure, rel=1e-6, abs=1e-7 * plain.bound)
        plain.surest = surest


def states(policy: Any, world: Any, seed: int, rounds: int, block: int = 500) -> Iterator[Any]:
    """The state after every block of rounds; it is the same one, and changes."""
    options = {"fast_forward": None, "record_indices": False, "first_run": 0, "tabulate": False}
    request = check_request(policy, world, block, 1, seed, 2, "log", *options.values(), False, False)
    arguments = Runs(request).game.take_first()
    state, record = arguments[2], arguments[-1]
    compiled = load_compiler().compile_for(play, *arguments)
    for played in range(rounds // block):
        compiled(*arguments)
        clear_record(record)
        assert state.rounds[0] == (played + 1) * block
        yield state

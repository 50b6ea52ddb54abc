"""Draws and choices for users' policies: NumPy's law, and the same bits compiled and interpreted."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

import setwise as sw
from setwise import kernels
from setwise.compiled import compile_for
from setwise.environments import MNL
from setwise.testing import check_policy

FALSE_ALARM = 1e-6  # of each statistical test here, with a fixed seed
DRAWS = 20_000


class Numbers(NamedTuple):
    """What the helpers are given and write: their arguments, and the draws of each."""

    a: np.ndarray
    b: np.ndarray
    counts: np.ndarray
    out: np.ndarray


def draw_all(numbers, rng):
    """Every helper once, in a form that can be compiled."""
    n = len(numbers.a)
    numbers.out[0] = kernels.draw_betas(numbers.a, numbers.b, rng)
    numbers.out[1] = kernels.draw_gammas(numbers.a, numbers.b, rng)
    numbers.out[2] = kernels.draw_normals(numbers.a, numbers.b, rng)
    numbers.out[3] = kernels.draw_exponentials(numbers.a, rng)
    numbers.out[4] = kernels.draw_bernoullis(numbers.b, rng)
    numbers.out[5] = kernels.choose(n, n, rng)
    numbers.out[6] = kernels.choose_weighted(numbers.a, n, rng)
    numbers.out[7] = kernels.choose_one(numbers.a, rng)
    numbers.out[8] = kernels.largest(numbers.counts, n, rng)
    numbers.out[9] = kernels.draw_betas(numbers.counts, numbers.counts, rng)


def new_numbers():
    a, counts = np.array([0.5, 1.0, 2.0, 3.5]), np.array([1, 2, 2, 1])
    return Numbers(a, np.array([0.3, 0.5, 0.7, 0.9]), counts, np.zeros((10, 4)))


def test_every_helper_has_the_same_bits_compiled_and_interpreted():
    interpreted, compiled = new_numbers(), new_numbers()
    draw_all(interpreted, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    compile_for(draw_all, compiled, rng)(compiled, rng)
    assert interpreted.out.tobytes() == compiled.out.tobytes()
    assert (interpreted.out != 0).any(axis=1).all()


def test_every_helper_is_in_that_test():
    assert set(kernels.__all__) == {name for name in draw_all.__code__.co_names if hasattr(kernels, name)}


def repeated(function, *args, draws=DRAWS, seed=3):
    rng = np.random.default_rng(seed)
    return np.array([function(*args, rng) for _ in range(draws)])


LAWS = [
    (kernels.draw_betas, [(0.5, 2.0), (3.0, 1.5)], lambda a, b: stats.beta(a, b)),
    (kernels.draw_gammas, [(0.5, 2.0), (3.0, 1.5)], lambda shape, scale: stats.gamma(shape, scale=scale)),
    (kernels.draw_normals, [(0.5, 2.0), (-3.0, 0.5)], lambda mean, deviation: stats.norm(mean, deviation)),
    (kernels.draw_exponentials, [(0.5,), (3.0,)], lambda scale: stats.expon(scale=scale)),
]


@pytest.mark.parametrize(("helper", "parameters", "law"), LAWS, ids=[helper.__name__ for helper, *_ in LAWS])
def test_draws_have_the_law_that_is_said(helper, parameters, law):
    columns = repeated(helper, *np.array(parameters).T, draws=4000)
    for column, own in zip(columns.T, parameters, strict=True):
        assert stats.kstest(column, law(*own).cdf).pvalue > FALSE_ALARM


def frequencies_fit(found, expected):
    """Whether counts fit probabilities, by a chi-squared test."""
    return stats.chisquare(found, np.array(expected) * sum(found)).pvalue > FALSE_ALARM


def test_bernoullis_are_one_as_often_as_said():
    found = repeated(kernels.draw_bernoullis, np.array([0.0, 0.3, 1.0])).sum(axis=0)
    assert (found[0], found[2]) == (0, DRAWS)
    assert frequencies_fit([found[1], DRAWS - found[1]], [0.3, 0.7])


def test_all_sequences_are_equally_likely():
    found = repeated(kernels.choose, 4, 2)
    counts = [(found == pair).all(axis=1).sum() for pair in itertools.permutations(range(4), 2)]
    assert sum(counts) == DRAWS
    assert frequencies_fit(counts, [1 / 12] * 12)


def test_one_is_chosen_in_proportion_to_its_weight():
    weights = np.array([0.0, 1.0, 0.0, 3.0, 0.0])
    counts = np.bincount(repeated(kernels.choose_one, weights), minlength=5)
    assert counts[[0, 2, 4]].tolist() == [0, 0, 0]
    assert frequencies_fit(counts[[1, 3]], [0.25, 0.75])


def test_several_are_chosen_one_after_the_other_in_proportion_to_their_weights():
    weights = np.array([1.0, 2.0, 5.0])
    found = repeated(kernels.choose_weighted, weights, 2)
    pairs = list(itertools.permutations(range(3), 2))
    expected = [weights[i] / 8 * weights[j] / (8 - weights[i]) for i, j in pairs]
    assert frequencies_fit([(found == pair).all(axis=1).sum() for pair in pairs], expected)


def test_weights_of_zero_are_chosen_last_and_evenly():
    found = repeated(kernels.choose_weighted, np.array([0.0, 4.0, 0.0, 0.0]), 2)
    assert (found[:, 0] == 1).all()
    assert frequencies_fit(np.bincount(found[:, 1], minlength=4)[[0, 2, 3]], [1 / 3] * 3)


def test_the_largest_are_found_and_ties_are_drawn():
    found = repeated(kernels.largest, np.array([1.0, 5.0, 1.0, 0.0, 1.0]), 2)
    assert (found == 1).any(axis=1).all()
    others = found[found != 1]
    assert frequencies_fit(np.bincount(others, minlength=5)[[0, 2, 4]], [1 / 3] * 3)


class Beliefs(NamedTuple):
    wins: np.ndarray
    losses: np.ndarray
    k: np.ndarray


@sw.policy
class FirstLines(NamedTuple):
    """Thompson sampling as its author would write it first, with the helpers."""

    def init(self, n, k, horizon, rng):
        return Beliefs(np.ones(n), np.ones(n), np.array([k]))

    def select(self, state, rng):
        return kernels.largest(kernels.draw_betas(state.wins, state.losses, rng), state.k[0], rng)

    def update(self, state, chosen, rewards, rng):
        state.wins[chosen] += rewards
        state.losses[chosen] += 1.0 - rewards


def test_a_policy_of_a_few_lines_with_the_helpers_keeps_the_contract():
    check_policy(FirstLines())


class Tied(NamedTuple):
    """Breaks ties by argsort."""

    def init(self, n, k, horizon, rng):
        return Beliefs(np.ones(n), np.ones(n), np.array([k]))

    def select(self, state, rng):
        return np.argsort(-state.wins)[: state.k[0]]

    def update(self, state, chosen, rewards, rng):
        state.wins[chosen] += rewards


def test_who_breaks_ties_by_argsort_is_told_so():
    with pytest.raises(AssertionError, match=r"Tied in MNL: .* differ from round \d+ on; argsort orders ties diff"):
        check_policy(Tied(), MNL(np.linspace(3.0, 0.1, 40), k=5))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rng.choice(4, 2, replace=False)", ["has no rng.choice", "choose, choose_one and choose_weighted"]),
        ("rng.beta(state.wins, state.losses)", ["rng.beta for single numbers only", "draw_betas of setwise.kernels"]),
        ("rng.dirichlet(state.wins)", ["has no rng.dirichlet", "rng.random()"]),
    ],
)
def test_the_error_names_what_to_use_instead(line, words):
    space = {"__name__": "notebook", "np": np}
    exec(compile(f"def select(self, state, rng):\n    x = {line}\n    return np.arange(2)\n", "<cell>", "exec"), space)
    mine = type("Mine", (Tied,), {"init": Tied.init, "select": space["select"], "update": Tied.update})
    with pytest.raises(sw.InputError) as refusal:
        sw.simulate(mine(), MNL([1.0, 2.0, 3.0], k=2), 10, compiled=True)
    for word in words:
        assert word in str(refusal.value)


@pytest.mark.parametrize("weights", [[np.nan, 1.0], [np.inf, 1.0], [-1.0, 2.0], [0.0, 0.0], []])
def test_weights_that_mean_nothing_are_refused(weights):
    with pytest.raises(ValueError, match="weights"):
        kernels.choose_one(np.array(weights), np.random.default_rng(0))


def test_weights_whose_sum_is_too_large_for_a_float_are_drawn_from():
    counts = np.bincount(repeated(kernels.choose_one, np.array([1e308, 1e308, 1e308])), minlength=3)
    assert frequencies_fit(counts, [1 / 3] * 3)


@pytest.mark.parametrize("helper", [kernels.draw_betas, kernels.draw_gammas])
@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_parameters_that_mean_nothing_are_refused(helper, wrong):
    with pytest.raises(ValueError, match="parameters"):
        helper(np.array([1.0, wrong]), np.ones(2), np.random.default_rng(0))


def test_no_more_are_chosen_than_there_are_and_none_if_none_are_asked_for():
    rng = np.random.default_rng(0)
    for helper, given in ((kernels.choose, 3), (kernels.largest, np.ones(3)), (kernels.choose_weighted, np.ones(3))):
        with pytest.raises(ValueError, match="more than there are"):
            helper(given, 4, rng)
        assert helper(given, 0, rng).tolist() == []
        assert sorted(helper(given, 3, rng).tolist()) == [0, 1, 2]


def test_what_is_not_a_number_is_never_among_the_largest():
    assert set(repeated(kernels.largest, np.array([1.0, np.nan, 2.0]), 2, draws=50).ravel().tolist()) == {0, 2}
